// The card of a task: its life with every gap named, its producers and consumers, its arguments.

function drawCard() {
  const section = byId("card");
  const task = state.task;
  section.hidden = task < 0 || !model.tasks;
  if (section.hidden) return;
  const { tasks, blocks } = model;
  const own = Array.from(blocks?.ofTask?.(task) ?? []);
  const kernels = new Set(own.map((block) => blocks.kernel[block]));
  const site = tasks.site && !Number.isNaN(tasks.site[task]) ? run.names.sites[tasks.site[task]] : null;
  fill(section, h("div.sheet",
    h("div.card-head",
      [...kernels].map((kernel) => h("i.swatch", { "data-swatch": kernel, style: { background: kernelColor(kernel) } })),
      h("h2", taskKernels(task)), taskLabel(task) && h("b", taskLabel(task)), h("span.dim", { title: `${taskId(task)} in artifacts` }, `task ${taskName(task)} \u00b7 seq ${tasks.seq[task] >= 0 ? count(tasks.seq[task]) : "unknown"}`),
      h("span.right", h("button.control", { type: "button", onclick: () => zoomToTask(task) }, "zoom to it"), " ",
        h("button.control", { type: "button", "aria-label": "Close", onclick: () => state.select(-1) }, "\u00d7"))),
    life(task, own),
    h("div.cols", producers(task), consumers(task), argumentList(task), facts(task, own, site))));
}

function zoomToTask(task) {
  const own = model.blocks?.ofTask?.(task) ?? [];
  if (!own.length) return;
  zoomTo(Math.min(...own.map((block) => model.blocks.start[block])), Math.max(...own.map((block) => model.blocks.end[block])));
}

const GAPS = [
  ["submitted", "ready", "waits for producers"], ["ready", "dispatched", "waits to be dispatched"], ["dispatched", "started", "dispatched, not started"],
  ["started", "ended", "runs"], ["ended", "reclaimed", "waits to be reclaimed"],
];

/** The moments of a task's life that are known. */
function moments(task, own) {
  const { tasks, blocks } = model;
  const known = {};
  const put = (name, value) => { if (Number.isFinite(value)) known[name] = value; };
  const least = (of) => own.reduce((least, block) => Math.min(least, of[block]), Infinity);
  put("submitted", tasks.submit?.[task]);
  put("ready", tasks.ready?.[task]);
  if (own.length) {
    if (blocks.dispatch) put("dispatched", least(blocks.dispatch));
    put("started", least(blocks.start));
    put("ended", own.reduce((most, block) => Math.max(most, blocks.end[block]), 0));
  }
  put("reclaimed", tasks.reclaim?.[task]);
  return known;
}

function life(task, own) {
  const known = moments(task, own);
  const names = ["submitted", "ready", "dispatched", "started", "ended", "reclaimed"].filter((name) => name in known);
  if (names.length < 2) return h("p.absent", own.length ? "" : "It ran no block. ", names.length ? `${names[0]} at ${time(known[names[0]])}.` : "");
  const whole = Math.max(1, known[names.at(-1)] - known[names[0]]);
  const gaps = names.slice(1).map((to, at) => {
    const from = names[at];
    const name = GAPS.find(([a, b]) => a === from && b === to)?.[2] ?? `${from} \u2192 ${to}`;
    return { from, to, name, ticks: Math.max(0, known[to] - known[from]), runs: to === "ended" };
  });
  const color = kernelColor(own.length ? model.blocks.kernel[own[0]] : 0);
  return h("div.life",
    h("div.track", { role: "img", "aria-label": gaps.map((gap) => `${gap.name} ${time(gap.ticks)}`).join(", ") }, gaps.map((gap) =>
      h(gap.runs ? "span" : "span.wait", { title: `${gap.name}: ${time(gap.ticks)}`, style: { flex: `${gap.ticks / whole} 0 0`, background: gap.runs ? color : null } },
        gap.ticks / whole > 0.09 ? gap.name : ""))),
    h("table", h("tbody",
      h("tr", gaps.map((gap) => h("td", h("span.dim", `${gap.from} \u2192 ${gap.to}`), h("br"), h("b", time(gap.ticks)), h("span.dim", ` ${percent(gap.ticks / whole)}`), h("br"), gap.name))),
    )));
}

const taskLink = (task) => h("button", { type: "button", "data-task": taskName(task), onclick: () => state.select(task) }, `${taskKernels(task)} ${taskName(task)}`);

function why(edge) {
  const { edges } = model;
  if (!edges.source) return null;
  if (run.names.sources[edges.source[edge]] === "explicit") return "explicit";
  const words = { raw: "reads what it wrote", waw: "overwrites what it wrote", war: "overwrites what it read" };
  const name = run.names.hazards[edges.hazard[edge]];
  const overlap = run.names.overlaps[edges.overlap[edge]];
  return `${words[name] ?? name}: argument ${edges.arg[edge]}, ${regionOf(edges.after[edge], edges.arg[edge], edges.tensor[edge])}${overlap === "covered" ? "" : `, ${overlap}`}`;
}

/** The part of a tensor that an argument of a task is. */
function regionOf(task, index, tensor) {
  const { args } = model.tasks;
  const name = `tensor ${tensor}`;
  if (!args) return name;
  for (let at = args.first[task]; at < args.first[task + 1]; at += 1) {
    if (args.index[at] !== index) continue;
    const form = run.names.forms[args.form[at]];
    return `${name} [${shapeText(form.shape)}] at ${bytes(args.offset[at])}`;
  }
  return name;
}

function edgeList(title, list, other) {
  const by = new Map();
  for (const edge of list) { const task = other(edge); by.set(task, [...(by.get(task) ?? []), edge]); }
  const shown = [...by].slice(0, 200);
  return h("div", h("h3", `${title} (${count(by.size)})`), by.size
    ? h("ul.edges", shown.map(([task, edges]) => h("li", taskLink(task), edges.slice(0, 4).map((edge) => h("div.why", why(edge))))), by.size > shown.length && h("li.dim", `and ${count(by.size - shown.length)} more`))
    : h("p.dim", "none"));
}

function producers(task) {
  const { edges } = model;
  if (!edges && model.loading) return h("div", h("h3", "Producers and consumers"), h("p.absent", "Loading \u2026"));
  if (!edges) return h("div", h("h3", "Producers and consumers"), h("p.absent", model.tasks.length > 200000 ? "Left out because the run is large; ringlane deps --task shows them." : ["Not recorded; ", h("code", "--dep-gen"), " records them."]));
  const list = Array.from({ length: edges.first[task + 1] - edges.first[task] }, (_, at) => edges.first[task] + at);
  return edgeList("Waited for", list, (edge) => edges.before[edge]);
}

function consumers(task) {
  const { edges } = model;
  return edges && edgeList("Waiting for it", Array.from(edges.byProducer(task)), (edge) => edges.after[edge]);
}

function argumentList(task) {
  const { args } = model.tasks;
  if (!args) return null;
  const list = [];
  for (let at = args.first[task]; at < args.first[task + 1]; at += 1) {
    const form = run.names.forms[args.form[at]];
    list.push(h("li", h("b", String(args.index[at])), ` ${run.names.accesses[args.access[at]]} `, h("span.mono", `${form.dtype}[${shapeText(form.shape)}]`),
      h("div.why", `tensor ${args.tensor[at]}${run.names.origins[model.tensors.origin[args.tensor[at]]] === "heap" ? " on the heap" : ""}, offset ${bytes(args.offset[at])}${form.strides ? `, strides ${form.strides.join(",")}` : ""}`)));
  }
  return h("div", h("h3", `Arguments (${list.length})`), list.length ? h("ul.edges", list) : h("p.dim", "none"));
}

function facts(task, own, site) {
  const { tasks, blocks } = model;
  const pair = (name, value) => value !== null && value !== undefined && [h("dt", name), h("dd", value)];
  const submitted = tasks.took && !Number.isNaN(tasks.submit[task]);
  const parts = submitted && tasks.parts.alloc ? ["stall", "alloc", "lookup", "insert", "wire"].filter((part) => tasks.parts[part][task] > 0).map((part) => `${part} ${time(tasks.parts[part][task])}`).join(", ") : "";
  const longest = own.reduce((most, block) => Math.max(most, blocks.end[block] - blocks.start[block]), 0);
  return h("div", h("h3", "Facts"), h("dl.pairs",
    pair("submitted at", site && h("code", site)), pair("scope", tasks.scope ? String(tasks.scope[task]) : null),
    pair("submit took", submitted ? `${time(tasks.took[task])}${parts ? ` (${parts})` : ""}` : null),
    pair("output bytes", tasks.parts.heap_bytes?.[task] ? bytes(tasks.parts.heap_bytes[task]) : null),
    pair("dependencies", tasks.manual?.[task] ? "explicit only" : null),
    pair("blocks", own.length ? `${count(own.length)}${own.length > 1 ? `, longest ${time(longest)}` : ""}` : "none"),
    own.length > 0 && pair("on", [...new Set(own.slice(0, 12).map((block) => `${run.timeline.cores[blocks.core[block]]} ${blocks.core[block]}`))].join(", ") + (own.length > 12 ? " \u2026" : ""))),
    own.length > 0 && kernelContext(blocks.kernel[own[0]], longest), counted(task),
    run.dump && h("p.note", "Captured values: ", h("code", `${program} dump ${quoted(run.dir)} --task ${taskName(task)}`)));
}

/** What was counted in its blocks, together. */
function counted(task) {
  const rows = model.tasks.counted;
  if (!rows || rows.first[task] === rows.first[task + 1]) return null;
  const names = [CYCLES, ...run.counters.columns];
  const sums = names.map(() => 0);
  for (let row = rows.first[task]; row < rows.first[task + 1]; row += 1) names.forEach((_, at) => { sums[at] += rows.values[row * names.length + at]; });
  const fallback = manifest.pmu?.source === "tsc";
  return [h("h3", { style: { margin: "8px 0 3px" } }, "Counters"), h("dl.pairs", names.map((name, at) => sums[at] > 0 && [h("dt", words(name, fallback)), h("dd", count(sums[at]))]))];
}

/** How long it took among the blocks of its kernel. */
function kernelContext(kernel, took) {
  const all = run.kernels[kernel];
  return all && h("p.note", `${kernelName(kernel)}: p50 ${time(all.p50)}, p95 ${time(all.p95)}; this one ${took > all.p95 ? "is among the slowest 5\u202f%" : took > all.p50 ? "is above the median" : "is at or below the median"}.`);
}
