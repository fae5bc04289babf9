// A lane: things one after the other in time. Everything in the swimlane is one: a core's blocks, a thread's phases,
// submits, the scopes of one depth.
//
// A lane with many things has levels: time cut into equal bins, each with how much of it was busy, what most of that was
// and how many things begin in it; each level has bins twice as wide as the one below. Drawing reads as many bins as there
// are pixels, whatever the number of things.

class Lane {
  /** `kinds` says what each thing is, for its colour; `first` is the row of the first thing in its table. */
  constructor(group, name, starts, ends, kinds, first = 0) {
    Object.assign(this, { group, name, starts, ends, kinds, first, levels: null });
  }

  get length() { return this.starts.length; }

  /** The first thing that begins after this moment. */
  after(moment) {
    let [low, high] = [0, this.starts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.starts[middle] <= moment) low = middle + 1; else high = middle;
    }
    return low;
  }

  /** The thing at a moment, within some slack on both sides; -1 if there is none. */
  at(moment, slack) {
    const next = this.after(moment);
    if (next > 0 && this.ends[next - 1] >= moment) return next - 1;
    if (next > 0 && moment - this.ends[next - 1] <= slack) return next - 1;
    return next < this.length && this.starts[next] - moment <= slack ? next : -1;
  }

  /** How many things begin in a stretch of time. */
  countIn(from, to) { return this.after(to) - this.after(from); }

  /** Builds the levels, once; `span` is the time of the whole run. */
  index(span) {
    if (this.levels || this.length < Lane.SMALL) return;
    let bins = 1 << Math.min(19, Math.ceil(Math.log2(this.length)));
    const width = span / bins;
    let level = this.lowest(bins, width);
    this.levels = [level];
    while (bins > 256) {
      bins >>= 1;
      level = Lane.halved(level, bins);
      this.levels.push(level);
    }
  }

  lowest(bins, width) {
    const level = { width, busy: new Float32Array(bins), most: new Uint8Array(bins), share: new Float32Array(bins) };
    const tally = new Float64Array(256);
    let touched = [];
    let open = -1;
    const close = () => {
      for (const kind of touched) {
        if (tally[kind] > level.share[open]) { level.share[open] = tally[kind]; level.most[open] = kind; }
        tally[kind] = 0;
      }
      touched = [];
    };
    for (let at = 0; at < this.length; at += 1) {
      const [start, end, kind] = [this.starts[at], this.ends[at], this.kinds[at]];
      if (kind === Lane.CLEAR) continue;
      const last = Math.min(bins - 1, Math.floor(end / width));
      for (let bin = Math.max(0, Math.min(bins - 1, Math.floor(start / width))); bin <= last; bin += 1) {
        if (bin !== open) { if (open >= 0) close(); open = bin; }
        const part = Math.max(0, Math.min(end, (bin + 1) * width) - Math.max(start, bin * width)) || width * 1e-6;
        level.busy[bin] += part;
        if (tally[kind] === 0) touched.push(kind);
        tally[kind] += part;
      }
    }
    if (open >= 0) close();
    return level;
  }

  /** Bins twice as wide. What most of two bins was is exact if they agree, and the larger of the two if not. */
  static halved(level, bins) {
    const half = { width: level.width * 2, busy: new Float32Array(bins), most: new Uint8Array(bins), share: new Float32Array(bins) };
    for (let bin = 0; bin < bins; bin += 1) {
      const [a, b] = [2 * bin, 2 * bin + 1];
      half.busy[bin] = level.busy[a] + level.busy[b];
      if (level.most[a] === level.most[b]) {
        half.most[bin] = level.most[a];
        half.share[bin] = level.share[a] + level.share[b];
      } else {
        const larger = level.share[a] >= level.share[b] ? a : b;
        half.most[bin] = level.most[larger];
        half.share[bin] = level.share[larger];
      }
    }
    return half;
  }

  /** The level whose bins are no wider than a pixel; null if things are drawn one by one. */
  levelFor(perPixel) {
    if (!this.levels || perPixel < this.levels[0].width) return null;
    let place = 0;
    while (place + 1 < this.levels.length && this.levels[place + 1].width <= perPixel) place += 1;
    return this.levels[place];
  }

  /** The things that a test picks, as a lane of their own. */
  filtered(test) {
    const rows = [];
    for (let at = 0; at < this.length; at += 1) if (test(this.first + at)) rows.push(at);
    const pick = (from) => from.constructor.from(rows, (at) => from[at]);
    const lane = new Lane(this.group, this.name, pick(this.starts), pick(this.ends), pick(this.kinds));
    lane.things = Uint32Array.from(rows, (at) => this.first + at);
    return lane;
  }
}

/** Lanes with fewer things are drawn thing by thing. */
Lane.SMALL = 2000;
/** A kind that is not drawn. */
Lane.CLEAR = 255;
