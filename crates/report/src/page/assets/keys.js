// Keys. They act on the timeline wherever the focus is, except in fields.

const KEYS = [
  [["w", "s"], "zoom in, out"], [["a", "d"], "pan left, right"], [["\u2190", "\u2192"], "pan, when the swimlane has the focus"], [["+", "-"], "zoom in, out"], [["f"], "show the whole run"],
  [["/"], "search"], [["c"], "critical path on, off"], [["t"], "make lanes tall enough for names"], [["Enter"], "select the block in the middle, or zoom to the selected one"],
  [["Tab", "\u21e7Tab"], "next, previous block of the core, while one is selected"], [["p", "n"], "first producer, first consumer of the task"], [["Esc"], "clear"], [["?"], "this list"],
];
const POINTER = [["wheel", "zoom at the pointer"], ["drag", "pan"], ["click", "select"], ["double click", "zoom to it"], ["\u21e7 wheel", "pan"]];

function showKeys() {
  const dialog = h("dialog", { "aria-label": "Keys" }, h("h2", "Keys"), h("dl",
    KEYS.map(([keys, what]) => [h("dt", keys.map((key) => [h("kbd", key), " "])), h("dd", what)]), POINTER.map(([what, does]) => [h("dt", h("kbd", what)), h("dd", does)])));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

const ACTIONS = {
  w: () => state.zoom(1 / 1.4), s: () => state.zoom(1.4), a: () => state.pan(-0.18), d: () => state.pan(0.18),
  "+": () => state.zoom(1 / 1.4), "=": () => state.zoom(1 / 1.4), "-": () => state.zoom(1.4), f: () => state.fit(), "0": () => state.fit(),
  t: () => state.set({ tall: !state.tall }),
  c: () => model.path && state.set({ path: !state.path }),
  "/": () => { swim.search?.focus(); swim.search?.select(); },
  "?": showKeys,
  Escape: () => { hideTooltip(); search(""); state.select(-1); },
  p: () => walkEdge(true), n: () => walkEdge(false),
};
const ON_CANVAS = {
  ArrowLeft: () => state.pan(-0.12), ArrowRight: () => state.pan(0.12), ArrowUp: () => state.zoom(1 / 1.4), ArrowDown: () => state.zoom(1.4),
  Enter: () => (state.task >= 0 ? zoomToTask(state.task) : selectMiddle()),
};

function listenToKeys() {
  byId("keys-button").addEventListener("click", showKeys);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const onCanvas = event.target === swim.canvas;
    const walks = onCanvas && event.key === "Tab" && state.block >= 0;
    const action = walks ? () => walkLane(event.shiftKey ? -1 : 1) : (onCanvas && ON_CANVAS[event.key]) || ACTIONS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || (!swim.ready && event.key !== "?")) return;
    event.preventDefault();
    action();
  });
}

/** Selects the block nearest to the middle of what is shown. */
function selectMiddle() {
  const middle = (state.from + state.to) / 2;
  let best = { distance: Infinity };
  for (const row of rows.list.filter((row) => row.lane && row.group.colors === "cores")) {
    const next = row.lane.after(middle);
    for (const at of [next - 1, next]) {
      if (at < 0 || at >= row.lane.length) continue;
      const distance = Math.max(0, row.lane.starts[at] - middle, middle - row.lane.ends[at]);
      if (distance < best.distance) best = { distance, block: row.lane.first + at };
    }
  }
  if (best.block !== undefined) state.select(model.blocks.task[best.block], best.block);
}

/** The next or previous block of the same core. */
function walkLane(by) {
  const next = state.block + by;
  const { blocks } = model;
  if (next < 0 || next >= blocks.length || blocks.core[next] !== blocks.core[state.block]) return;
  state.select(blocks.task[next], next);
}

function walkEdge(back) {
  const { edges } = model;
  if (!edges || state.task < 0) return;
  if (back && edges.first[state.task + 1] > edges.first[state.task]) state.select(edges.before[edges.first[state.task]]);
  if (!back) { const list = edges.byProducer(state.task); if (list.length) state.select(edges.after[list[0]]); }
}
