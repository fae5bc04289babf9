// The swimlane: one canvas, its tools, and how it answers to the pointer.

const swim = { canvas: null, hover: null, ready: false };
/** Resolves when the first lanes are drawn. */
swim.shown = new Promise((resolve) => { swim.markShown = resolve; });

function drawTimelineSection() {
  const section = byId("timeline");
  if (!run.timeline && !run.node) {
    absent(section, "Timeline", noteOn("swimlane"));
    return;
  }
  swim.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "Swimlane. Press ? for keys.", "aria-describedby": "swim-words" });
  swim.holder = h("div.lanes", swim.canvas);
  swim.progress = h("i");
  swim.words = h("span.about", { id: "swim-words", role: "status" });
  swim.pathButton = h("button.control.red", { type: "button", "aria-pressed": "true", title: "Critical path (c)", onclick: () => state.set({ path: !state.path }) }, "critical path");
  swim.tallButton = h("button.control", { type: "button", "aria-pressed": "false", title: "Make lanes tall enough for names (t)", onclick: () => state.set({ tall: !state.tall }) }, "tall");
  const button = (text, title, action) => h("button.control", { type: "button", title, onclick: action }, text);
  const tools = h("div.tools.right", searchNode(),
    run.time && swim.pathButton,
    swim.tallButton, button("\u2212", "Zoom out (-)", () => state.zoom(1.6)), button("+", "Zoom in (+)", () => state.zoom(1 / 1.6)), button("fit", "Show the whole run (f)", () => state.fit()));
  fill(section, h("div.sheet",
    h("div.head", h("h2", { id: "timeline-title" }, "Timeline"), swim.words, tools),
    overviewNode(), h("div.progress", swim.progress), swim.holder, kernelLegend(), run.node && nodeLegend()));
  pointing(swim.canvas);
  new ResizeObserver(() => { drawOverview(); resizeSwimlane(); }).observe(swim.holder);
}

function kernelLegend() {
  const order = run.kernels.map((_, kernel) => kernel).sort((a, b) => palette.kernels[a] - palette.kernels[b]);
  swim.legend = h("div.legend.kernels", order.slice(0, 24).map((kernel) => h("button", { type: "button", "data-kernel": kernel, title: "Highlight its blocks",
    onclick: () => (state.picked?.kernel === kernel && !state.picked.bar ? state.set({ picked: null }) : pickKernel(kernel)) },
    h("i.swatch", { "data-swatch": kernel }), kernelName(kernel))));
  colorSwatches();
  return swim.legend;
}

/** What the colours of calls and of the chips' kernels mean. */
function nodeLegend() {
  const swatch = (color, name) => h("span", h("i.swatch", { style: { background: color() }, onrecolor: (event) => { event.target.style.background = color(); } }), name);
  const order = run.node.kernels.map((_, at) => at).filter((at) => run.node.kernels[at].total > 0).sort((a, b) => palette.chips[a] - palette.chips[b]);
  const callables = run.node.callables.map((name, at) => [name, at]).filter(([name]) => !run.kernels.some((kernel) => kernel.name === name));
  return [
    h("div.legend.kernels", h("span.dim", "calls"), swatch(() => callColor(MAILBOX), "in the mailbox"), swatch(() => callColor(TAKEN), "accepted, not started"),
      callables.slice(0, 12).map(([name, at]) => swatch(() => callColor(CALLABLE + at), name)), swatch(() => callColor(ANSWER), "until the node noticed the end"), swatch(() => callColor(BAD), "not ok")),
    order.length > 0 && h("div.legend.kernels", h("span.dim", "on the chips"), order.slice(0, 24).map((at) => swatch(() => chipColor(at), chipKernelName(at)))),
  ];
}

/** Swatches follow the theme wherever they are. */
function colorSwatches() {
  for (const swatch of document.querySelectorAll(".legend i.swatch:not([data-swatch])")) swatch.dispatchEvent(new Event("recolor"));
  for (const swatch of document.querySelectorAll("[data-swatch]")) swatch.style.background = kernelColor(Number(swatch.dataset.swatch));
  for (const swatch of swim.legend?.querySelectorAll("[data-swatch]") ?? []) swatch.style.background = kernelColor(Number(swatch.dataset.swatch));
}

function resizeSwimlane() {
  if (!swim.ready) return;
  placeRows(Math.max(340, Math.min(620, innerHeight - 440)));
  placeToggles();
  drawSwimlane();
}

/** Buttons that open and close groups. */
function placeToggles() {
  swim.holder.querySelectorAll(".toggle").forEach((button) => button.remove());
  for (const group of groups.filter((group) => !group.single)) {
    swim.holder.append(h("button.toggle", { type: "button", "aria-expanded": String(group.open), style: { top: `${group.y}px` },
      title: `${group.open ? "Close" : "Open"}${group.title ? ` \u00b7 ${group.title}` : ""}`, onclick: () => { group.open = !group.open; resizeSwimlane(); } }, group.name, h("span", group.about)));
  }
}

/** What is in view, in the numbers that drawing needs. */
function currentView() {
  const ratio = Math.min(2, devicePixelRatio || 1);
  const width = Math.max(1, Math.round((swim.holder.clientWidth - GUTTER) * ratio));
  return { from: state.from, perPixel: (state.to - state.from) / width, width, ratio, height: rows.height };
}

function drawSwimlane() {
  if (!swim.ready) return;
  const view = currentView();
  const context = sized(swim.canvas, swim.holder.clientWidth, rows.height);
  drawRuler(context, view);
  const lanes = rows.list.filter((row) => row.lane);
  prepareStrip(view.width, lanes.length + 1);
  const picked = state.picked;
  const dim = (group) => (picked?.tests[group.colors] ? 0.16 : 1);
  lanes.forEach((row, place) => drawLane(row, place, view, dim(row.group)));
  strip.context.putImageData(strip.image, 0, 0);
  context.imageSmoothingEnabled = false;
  const cssWidth = view.width / view.ratio;
  lanes.forEach((row, place) => {
    context.fillStyle = theme.color("lane");
    const height = row.height > 7 ? row.height - 1.5 : row.height - 0.5;
    context.fillRect(GUTTER, row.y, cssWidth, height);
    context.drawImage(strip.canvas, 0, place, view.width, 1, GUTTER, row.y, cssWidth, height);
    clipped(context, row, cssWidth, () => drawWide(context, row, view));
    if (row.named || row.height >= NAMED) rowName(context, row);
  });
  rows.list.filter((row) => !row.lane).forEach((row) => drawClosed(context, row, view, dim(row.group)));
  if (picked) drawPicked(context, view);
  context.save();
  context.beginPath();
  context.rect(GUTTER, 0, cssWidth, rows.height);
  context.clip();
  drawPath(context, view);
  drawSelection(context, view);
  context.restore();
  swim.words.textContent = state.to - state.from >= model.span ? `all ${time(model.span)}` : `${time(state.to - state.from)} of ${time(model.span)}`;
}

function clipped(context, row, width, draw) {
  context.save();
  context.beginPath();
  context.rect(GUTTER, row.y - 1, width, row.height + 2);
  context.clip();
  draw();
  context.restore();
}

function rowName(context, row) {
  context.fillStyle = theme.color(row.named ? "ink-2" : "ink-3");
  context.font = row.named ? "600 11.5px system-ui, sans-serif" : "10.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillText(row.named ? row.group.name : row.lane.name, row.named ? 0 : 14, row.y + row.height / 2);
}

/** Blocks that were picked, in their colours over the dimmed others. */
function drawPicked(context, view) {
  for (const row of rows.list) {
    if (!row.lane) drawSums(context, row, view, row.group.lanes.flatMap((lane) => state.picked.lanes.get(lane) ?? []));
    const lane = row.lane && state.picked.lanes.get(row.lane);
    if (!lane) continue;
    const substitute = { ...row, lane };
    prepareStrip(view.width, 1);
    drawLane(substitute, 0, view, 1);
    strip.context.putImageData(strip.image, 0, 0, 0, 0, view.width, 1);
    const height = row.height > 7 ? row.height - 1.5 : row.height - 0.5;
    context.drawImage(strip.canvas, 0, 0, view.width, 1, GUTTER, row.y, view.width / view.ratio, height);
    clipped(context, row, view.width / view.ratio, () => drawWide(context, substitute, view));
  }
}

/** Picks things by a test for each kind of lane, and shows how many there are. */
function pick(name, tests, more = {}) {
  const lanes = new Map();
  let found = 0;
  for (const group of groups) {
    const test = tests[group.colors];
    for (const lane of test ? group.lanes : []) {
      const some = lane.filtered((thing) => test(thing, lane));
      if (!some.length) continue;
      some.index(model.span);
      some.named = name;
      lanes.set(lane, some);
      found += some.length;
    }
  }
  state.set({ picked: { name, lanes, found, tests, more, ...more } });
}

const pickKernel = (kernel) => pick(kernelName(kernel), { cores: (block) => model.blocks.kernel[block] === kernel }, { kernel });

/** Shows everything that is picked. */
function fitPicked() {
  let [from, to] = [Infinity, -Infinity];
  for (const lane of state.picked.lanes.values()) {
    from = Math.min(from, lane.starts[0]);
    for (const end of lane.ends) to = Math.max(to, end);
  }
  if (from > to) return;
  const pad = Math.max(1, (to - from) * 0.04);
  state.show(from - pad, to + pad);
}

/** Wheel zooms at the pointer, dragging pans, a click selects. */
function pointing(canvas) {
  let drag = null;
  const momentAt = (event) => {
    const box = canvas.getBoundingClientRect();
    return state.from + ((event.clientX - box.left - GUTTER) / (box.width - GUTTER)) * (state.to - state.from);
  };
  canvas.addEventListener("wheel", (event) => {
    if (event.altKey) return;
    event.preventDefault();
    hideTooltip();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return state.pan((event.deltaX || event.deltaY) / 800);
    state.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), momentAt(event));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, y: event.clientY, from: state.from, to: state.to, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return hover(event, momentAt(event));
    const by = event.clientX - drag.x;
    if (!drag.moved && Math.abs(by) < 4) return;
    drag.moved = true;
    canvas.classList.add("dragging");
    hideTooltip();
    const shift = (by / (canvas.clientWidth - GUTTER)) * (drag.to - drag.from);
    state.show(drag.from - shift, drag.to - shift);
  });
  const release = (event) => {
    canvas.classList.remove("dragging");
    if (drag && !drag.moved && event.type === "pointerup") clicked(event, momentAt(event));
    drag = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTooltip);
  canvas.addEventListener("dblclick", (event) => { const found = thingAt(event, momentAt(event)); if (found) zoomTo(found.start, found.end); });
}

function zoomTo(start, end) {
  const pad = Math.max(1, (end - start) * 0.6);
  state.show(start - pad, end + pad);
}
