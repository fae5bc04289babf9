// What is drawn over the lanes: the ruler, the selected task, its producers and consumers, the critical path.

const STEPS = [1, 2, 5];

/** Moments for the ruler: round numbers, far enough apart. */
function rulerMarks(from, to, width) {
  const wanted = ((to - from) / hz) * (110 / width);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = (STEPS.find((step) => step * power >= wanted) ?? 10) * power * hz;
  const marks = [];
  for (let at = Math.ceil(from / step) * step; at <= to && marks.length < 60; at += step) marks.push(at);
  return { marks, step };
}

function drawRuler(context, view) {
  const { from, perPixel, width, ratio, height } = view;
  const cssWidth = width / ratio;
  const { marks, step } = rulerMarks(from, from + perPixel * width, cssWidth);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const at of marks) {
    const x = GUTTER + (at - from) / perPixel / ratio;
    context.fillStyle = theme.color("line");
    context.fillRect(x, RULER - 4, 1, height);
    context.fillStyle = theme.color("ink-3");
    context.fillText(moment(at, step), x + 4, RULER / 2);
  }
}

/** Where a block is drawn: its middle, its ends, its row. */
function placeOfBlock(block, view) {
  const lane = laneOfCore(model.blocks.core[block]);
  const row = lane && rowOf(lane);
  if (!row) return null;
  const x = (moment) => GUTTER + (moment - view.from) / view.perPixel / view.ratio;
  return { left: x(model.blocks.start[block]), right: x(model.blocks.end[block]), y: row.y, height: row.height };
}

function drawSelection(context, view) {
  if (state.task < 0 || !model.blocks?.ofTask) return;
  for (const block of model.blocks.ofTask(state.task)) {
    const place = placeOfBlock(block, view);
    if (!place) continue;
    context.strokeStyle = theme.color("ink");
    context.lineWidth = block === state.block ? 2 : 1;
    context.strokeRect(place.left - 1, place.y - 1, Math.max(2, place.right - place.left) + 1, place.height + 0.5);
  }
  drawArrows(context, view);
}

/** At most this many arrows each way: more cannot be distinguished. */
const ARROWS = 60;

function drawArrows(context, view) {
  const { edges, blocks } = model;
  if (!edges) return;
  const task = state.task;
  const ends = (task) => { const own = blocks.ofTask(task); return own.length ? own[own.length - 1] : -1; };
  const starts = (task) => { const own = blocks.ofTask(task); return own.length ? own[0] : -1; };
  const here = starts(task);
  if (here < 0) return;
  context.lineWidth = 1.3;
  context.strokeStyle = context.fillStyle = theme.color("accent");
  const producers = new Set(edges.before.subarray(edges.first[task], edges.first[task + 1]));
  [...producers].slice(0, ARROWS).forEach((producer) => arrow(context, view, ends(producer), here));
  context.strokeStyle = context.fillStyle = theme.color("ink-3");
  const consumers = new Set(Array.from(edges.byProducer(task), (edge) => edges.after[edge]));
  [...consumers].slice(0, ARROWS).forEach((consumer) => arrow(context, view, ends(task), starts(consumer)));
}

function arrow(context, view, before, after) {
  if (before < 0 || after < 0) return;
  const [a, b] = [placeOfBlock(before, view), placeOfBlock(after, view)];
  if (!a || !b) return;
  const [x0, y0, x1, y1] = [a.right, a.y + a.height / 2, b.left, b.y + b.height / 2];
  const bend = Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 4, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 6, y1 - 3);
  context.lineTo(x1 - 6, y1 + 3);
  context.fill();
}

/** Segments of the critical path that are drawn over the cores, at most. */
const PATH_SHOWN = 1500;

/** The critical path over the cores: what computed is framed or filled in red, and joined to what followed. */
function drawPath(context, view) {
  const { path } = model;
  if (!state.path || !path) return;
  const x = (moment) => GUTTER + (moment - view.from) / view.perPixel / view.ratio;
  const to = view.from + view.perPixel * view.width;
  const lane = groups.find((group) => group.key === "path")?.lanes[0];
  // More than can be distinguished would paint the lanes red; the path's own lane shows them.
  if (!lane || lane.countIn(view.from, to) > PATH_SHOWN) return;
  context.strokeStyle = context.fillStyle = theme.color("red");
  let before = null;
  for (let at = Math.max(0, lane.after(view.from) - 1); at < path.length && path.start[at] < to; at += 1) {
    if (Number.isNaN(path.core[at])) continue;
    const core = laneOfCore(path.core[at]);
    const row = core && rowOf(core);
    if (!row) continue;
    const [left, right] = [x(path.start[at]), x(path.end[at])];
    if (before && right - before.left < 1.5) continue;
    const frame = [left, row.y - 0.5, Math.max(1.5, right - left), Math.max(3, row.height - 0.5)];
    // In low lanes a frame would leave nothing of the block, so the block itself is red.
    context.fillStyle = theme.color(row.height < NAMED ? "red" : "sheet");
    context.strokeStyle = theme.color(row.height < NAMED ? "sheet" : "red");
    context.lineWidth = row.height < NAMED ? 1 : 2;
    if (row.height < NAMED) context.fillRect(...frame);
    context.strokeRect(...frame);
    context.strokeStyle = theme.color("red");
    const middle = row.y + row.height / 2;
    if (before) {
      context.lineWidth = 1.3;
      context.globalAlpha = 0.85;
      context.beginPath();
      context.moveTo(before.right, before.middle);
      context.lineTo(left, middle);
      context.stroke();
      context.globalAlpha = 1;
    }
    before = { left, right, middle };
  }
}
