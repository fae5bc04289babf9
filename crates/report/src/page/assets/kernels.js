// What each kernel took; a bar of a histogram picks its blocks.

function drawKernels() {
  const section = byId("kernels");
  if (!run.kernels.some((kernel) => kernel.count > 0)) {
    absent(section, "Kernels", run.timeline ? "No block ran." : noteOn("swimlane"));
    return;
  }
  const list = run.kernels.map((kernel, at) => ({ ...kernel, at })).filter((kernel) => kernel.count > 0);
  const column = (name, value, cell, title) => ({ name, num: true, value, cell, title });
  sheet(section, "Kernels", "click a bar of a histogram to select its blocks", sortable([
    { name: "kernel", value: (k) => k.name, cell: (k) => h("span", h("i.swatch", { "data-swatch": k.at, style: { background: kernelColor(k.at) } }), k.name, h("span.dim", ` ${k.core_type}`)) },
    column("blocks", (k) => k.count, (k) => count(k.count)),
    column("total", (k) => k.total, (k) => time(k.total)),
    column("mean", (k) => k.mean, (k) => time(k.mean)),
    column("p50", (k) => k.p50, (k) => time(k.p50)),
    column("p95", (k) => k.p95, (k) => time(k.p95)),
    column("max", (k) => k.max, (k) => time(k.max)),
    { name: "durations", cell: histogram, title: "The last bar also contains the slowest 1 %" },
    column("of block time", (k) => k.total, (k) => h("div.share", h("div.meter", h("i", { style: { width: `${k.busy_share * 100}%`, background: kernelColor(k.at) } })), percent(k.busy_share))),
  ], list, "total"));
}

function histogram(kernel) {
  const { from, width, bars } = kernel.histogram;
  const most = Math.max(1, ...bars);
  return h("div.histogram", { "--bar": kernelColor(kernel.at), role: "group", "aria-label": `Durations of ${kernel.name}` }, bars.map((blocks, bar) => {
    const low = from + bar * width;
    const high = bar === bars.length - 1 ? Infinity : low + width;
    const words = `${time(low)} to ${high === Infinity ? time(kernel.max) : time(high)}: ${plural(blocks, "block")}`;
    return h("button", { type: "button", title: words, "aria-label": words, tabindex: blocks ? "0" : "-1", "data-bar": `${kernel.at}.${bar}`, onclick: (event) => pickBar(event, kernel, bar, low, high) },
      h("i", { style: { height: blocks ? `${Math.max(6, Math.sqrt(blocks / most) * 100)}%` : "1px", opacity: blocks ? "" : ".25" } }));
  }));
}

/** Durations are whole ticks, so a bar holds those from its low end to just before the next. */
function pickBar(event, kernel, bar, low, high) {
  const { blocks } = model;
  if (!blocks) return;
  const again = state.picked?.bar === `${kernel.at}.${bar}`;
  if (again) return state.set({ picked: null });
  const test = (block) => {
    const took = blocks.end[block] - blocks.start[block];
    return blocks.kernel[block] === kernel.at && took >= low && took < high;
  };
  pick(`${kernel.name}, ${time(low)} and more`, { cores: test }, { kernel: kernel.at, bar: `${kernel.at}.${bar}` });
}

state.on((changed) => {
  if (!changed.has("picked")) return;
  for (const button of document.querySelectorAll("[data-bar]")) button.setAttribute("aria-pressed", String(button.dataset.bar === state.picked?.bar));
});
