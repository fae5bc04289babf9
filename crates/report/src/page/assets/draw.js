// Drawing lanes. What is narrower than a pixel goes into one row of pixels for each lane, which is stretched to the lane's
// height; what is wider is drawn as it is. A frame costs as much as there are pixels, not as there are blocks.

const strip = { canvas: document.createElement("canvas"), image: null, pixels: null, width: 0, lanes: 0 };

/** Rows of pixels, one for each lane. */
function prepareStrip(width, lanes) {
  if (strip.width !== width || strip.lanes < lanes) {
    strip.canvas.width = width;
    strip.canvas.height = lanes;
    strip.context = strip.canvas.getContext("2d");
    strip.image = strip.context.createImageData(width, lanes);
    strip.pixels = new Uint32Array(strip.image.data.buffer);
    strip.cover = new Float32Array(width);
    strip.kind = new Uint8Array(width);
    strip.bars = [];
    Object.assign(strip, { width, lanes });
  }
  strip.pixels.fill(0);
}

/** The colours of a group's kinds, as style sheets and as pixels have them; made again when the theme changes. */
function paintOf(group) {
  if (group.paint?.theme === theme.name) return group.paint;
  const css = Array.from({ length: 256 }, (_, kind) => groupColor[group.colors](kind));
  const pixels = Uint32Array.from(css, (color) => {
    const number = parseInt(color.slice(1), 16);
    return Number.isNaN(number) ? 0 : ((number & 255) << 16) | (number & 0xff00) | (number >> 16);
  });
  group.paint = { theme: theme.name, css, pixels };
  return group.paint;
}

/** Reads a lane into `strip.cover` and `strip.kind`, and wide things into `wide`. */
function sampleLane(lane, from, perPixel, width, wide) {
  const { cover, kind } = strip;
  cover.fill(0);
  const level = lane.levelFor(perPixel);
  if (level) sampleLevel(level, from, perPixel, width);
  else sampleThings(lane, from, perPixel, width, wide);
  return { cover, kind };
}

function sampleLevel(level, from, perPixel, width) {
  const { cover, kind } = strip;
  const bins = level.busy.length;
  for (let x = 0; x < width; x += 1) {
    const start = from + x * perPixel;
    const end = start + perPixel;
    const first = Math.max(0, Math.floor(start / level.width));
    const last = Math.min(bins - 1, Math.floor(end / level.width));
    let [busy, most, best] = [0, 0, 0];
    for (let bin = first; bin <= last; bin += 1) {
      if (level.busy[bin] === 0) continue;
      const part = (Math.min(end, (bin + 1) * level.width) - Math.max(start, bin * level.width)) / level.width;
      busy += level.busy[bin] * part;
      if (level.share[bin] * part > best) { best = level.share[bin] * part; most = level.most[bin]; }
    }
    if (busy > 0) { cover[x] = Math.min(1, busy / perPixel); kind[x] = most; }
  }
}

function sampleThings(lane, from, perPixel, width, wide) {
  const { cover, kind } = strip;
  const { starts, ends, kinds } = lane;
  const to = from + width * perPixel;
  let best = 0;
  let bestAt = -1;
  for (let at = Math.max(0, lane.after(from) - 1); at < starts.length && starts[at] < to; at += 1) {
    if (ends[at] < from || kinds[at] === Lane.CLEAR) continue;
    const took = ends[at] - starts[at];
    if (took >= perPixel * 2) { wide.push(at); continue; }
    const place = (starts[at] - from) / perPixel;
    const x = Math.floor(place);
    // It may reach into the next pixel or the one after; what is shorter than a pixel still shows.
    let left = Math.max(took / perPixel, 0.15);
    for (let part = Math.min(left, x + 1 - place), to = x; left > 1e-6 && to < width; to += 1, left -= part, part = Math.min(1, left)) {
      if (to < 0) continue;
      cover[to] = Math.min(1, cover[to] + part);
      if (to !== bestAt || part > best) { kind[to] = kinds[at]; best = part; bestAt = to; }
    }
  }
}

/** Draws one lane. `dim` is how much of its colour stays. */
function drawLane(row, place, view, dim) {
  const { from, perPixel, width } = view;
  const { pixels } = paintOf(row.group);
  const wide = [];
  const { cover, kind } = sampleLane(row.lane, from, perPixel, width, wide);
  const line = place * strip.width;
  for (let x = 0; x < width; x += 1) {
    if (cover[x] === 0) continue;
    strip.pixels[line + x] = ((((0.3 + 0.7 * cover[x]) * 255 * dim) << 24) | pixels[kind[x]]) >>> 0;
  }
  row.wide = wide;
  row.dim = dim;
}

/** Draws what is wider than a pixel, with names where they fit. */
function drawWide(context, row, view) {
  const { from, perPixel, width, ratio } = view;
  const { starts, ends, kinds, first, things } = row.lane;
  const { css } = paintOf(row.group);
  const height = row.height > 7 ? row.height - 1.5 : row.height - 0.5;
  context.globalAlpha = row.dim;
  for (const at of row.wide) {
    const left = Math.max(-2, (starts[at] - from) / perPixel / ratio);
    const right = Math.min(width / ratio + 2, (ends[at] - from) / perPixel / ratio);
    const color = css[kinds[at]];
    if (color === "transparent") continue;
    context.fillStyle = color;
    context.fillRect(GUTTER + left, row.y, Math.max(0.75, right - left - (right - left > 4 && row.group.key !== "path" ? 0.75 : 0)), height);
    if (row.height >= 11 && right - left > 34) label(context, row, things ? things[at] : first + at, GUTTER + left, right - left);
  }
  context.globalAlpha = 1;
}

function label(context, row, thing, x, width) {
  const text = nameOf(row, thing);
  if (!text) return;
  const room = Math.floor((width - 8) / 6.1);
  if (room < 3) return;
  context.fillStyle = ["scopes", "labels"].includes(row.group.key) ? theme.color("ink-2") : theme.name === "dark" ? "#0d1013" : "#ffffff";
  context.font = "500 10.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillText(text.length > room ? text.slice(0, room - 1) + "\u2026" : text, Math.max(x, GUTTER) + 4, row.y + row.height / 2);
}

/** What a thing of a row is called. */
function nameOf(row, thing) {
  switch (row.group.colors) {
    case "cores": return kernelName(model.blocks.kernel[thing]);
    case "schedulers": return phaseName(thing);
    case "labels": return run.names.bands[thing];
    case "scopes": return run.scopes.site_names[model.scopes.site[thing]] ?? "";
    case "copies": return row.lane.copies[thing].what;
    case "path": return run.time.path[model.path.cause[thing]]?.cause ?? "";
    case "workers": return callName(row.lane, thing);
    case "chips": return chipKernelName(model.chips.kernel[thing]);
    default: return "";
  }
}

/** A closed group: how many of its lanes were busy and with what, one kind on top of the other. */
function drawClosed(context, row, view, dim) {
  context.fillStyle = theme.color("lane");
  context.fillRect(GUTTER, row.y, view.width / view.ratio, row.height);
  context.globalAlpha = dim;
  drawSums(context, row, view, row.group.lanes);
  context.globalAlpha = 1;
}

/** Some lanes of a closed group, as a share of all of them. */
function drawSums(context, row, view, lanes) {
  const { width, ratio } = view;
  const { css } = paintOf(row.group);
  const sums = sumsByKind(lanes, view);
  const base = new Float32Array(width);
  for (const [kind, sum] of sums) {
    context.fillStyle = css[kind];
    for (let x = 0; x < width; x += 1) {
      if (!sum[x]) continue;
      const height = Math.min(row.height - base[x], Math.max(0.5, (sum[x] / row.group.lanes.length) * row.height));
      context.fillRect(GUTTER + x / ratio, row.y + row.height - base[x] - height, 1 / ratio, height);
      base[x] += height;
    }
  }
}

/** For each kind of things how many lanes were busy with it, pixel by pixel. */
function sumsByKind(lanes, view) {
  const { from, perPixel, width } = view;
  const sums = new Map();
  const sumOf = (kind) => { if (!sums.has(kind)) sums.set(kind, new Float32Array(width)); return sums.get(kind); };
  for (const lane of lanes) {
    const wide = [];
    const { cover, kind } = sampleLane(lane, from, perPixel, width, wide);
    for (let x = 0; x < width; x += 1) if (cover[x]) sumOf(kind[x])[x] += cover[x];
    for (const at of wide) {
      const sum = sumOf(lane.kinds[at]);
      const last = Math.min(width - 1, Math.floor((lane.ends[at] - from) / perPixel));
      for (let x = Math.max(0, Math.ceil((lane.starts[at] - from) / perPixel)); x <= last; x += 1) sum[x] += 1;
    }
  }
  return [...sums].sort(([a], [b]) => a - b);
}
