// What was run, how it ended, what was recorded and how complete that is.

function drawHeader() {
  const cores = run.node ? workersLine() : run.timeline ? coresLine() : plural(manifest.cores, "core");
  const params = Object.entries(manifest.params).map(([name, value]) => `${name}=${value}`).join(" ");
  const title = h("h1", manifest.scene, " ", h("span.case", manifest.case), " ", h("span.pill." + manifest.status, manifest.status));
  const about = h("p.facts",
      h("span", manifest.platform), h("span", cores),
      manifest.model && h("span", `policy ${manifest.model.policy}`),
      manifest.graph && h("span", { title: graphTitle(manifest.graph) }, graphLine(manifest.graph)),
      params && h("span.mono", params),
      h("span", `seed ${run.seed}`),
      h("span", when(manifest.started_at)));
  fill(byId("summary"), h("div.title", title, stats()), about, recorded(), trouble(), notes());
}

function coresLine() {
  const kinds = new Map();
  for (const kind of run.timeline.cores) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const cores = [...kinds].map(([kind, of]) => `${of} ${kind}`).join(" + ");
  const threads = manifest.platform === "cpu" || run.timeline.threads === 0 ? "" : `, ${plural(run.timeline.threads, "scheduler thread")}`;
  return `${cores} ${run.timeline.cores.length === 1 ? "core" : "cores"}${threads}`;
}

/** The workers of a node, by what they do. */
function workersLine() {
  const words = { chip: "chip", function: "function worker", node: "node" };
  const own = run.node.workers.filter((worker) => worker.depth === 0);
  const kinds = Object.keys(words).flatMap((kind) => { const of = own.filter((worker) => worker.kind === kind).length; return of ? [plural(of, words[kind])] : []; });
  return `level-${run.node.level} run over ${kinds.join(" + ")}`;
}

/** A captured graph: its size, and the memory of the tensors that it makes. */
const graphLine = (graph) => `captured graph, ${plural(graph.edges, "edge")}, tensors ${bytes(graph.memory_bytes)}`;

function graphTitle(graph) {
  const limit = graph.memory_limit_bytes == null ? "" : `; limit ${bytes(graph.memory_limit_bytes)}, ${plural(graph.added_edges, "edge")} added`;
  const upload = graph.upload_ticks == null ? "" : `; upload ${timeParts(graph.upload_ticks).join("\u202f")}, not part of the makespan`;
  return `${bytes(graph.memory_sum_bytes)} if no tensors shared memory, at least ${bytes(graph.memory_lower_bound_bytes)}${limit}${upload}`;
}

const when = (text) => text.replace("T", " ").replace(/(:\d\d)Z$/, "$1 UTC");

function stats() {
  const busy = busyShare();
  const entry = (name, value, unit, title) => h("div", { title }, h("dt", name), h("dd", value, unit && h("small", unit)));
  const [makespan, unit] = timeParts(manifest.makespan_ticks);
  return h("dl.stats",
    entry("makespan", makespan, "\u202f" + unit, `${count(manifest.makespan_ticks)} ticks`),
    entry("tasks", count(manifest.tasks), manifest.skipped ? `, ${count(manifest.skipped)} skipped` : null),
    entry("blocks", count(manifest.blocks)),
    entry(run.node ? "workers" : "cores", count(manifest.cores)),
    Number.isFinite(busy) && entry("busy", ...percent(busy).split("\u202f").map((part, at) => (at ? "\u202f" + part : part)), "Share of all cores' time spent in blocks"));
}

/** The share of all cores' time spent in blocks; unknown without a timeline. */
const busyShare = () => (run.timeline ? run.kernels.reduce((sum, kernel) => sum + kernel.core_share, 0) : NaN);

const INSTRUMENTS = [...(manifest.children?.length || run.node ? [["dist", "dist_swimlane.json"]] : []), ["swimlane", "l2_perf_records.json"], ["deps", "deps.json"], ["scopes", "scope_stats.json"], ["pmu", "pmu.csv"], ["dump", "tensor_dump/tensor_dump.json"]];

function recorded() {
  const items = INSTRUMENTS.map(([name, path]) => {
    const entry = manifest.files.find((file) => file.path === path);
    const note = run.notes.find((note) => note.about === name && note.kind !== "left_out");
    if (!entry) return h("span.off", { title: note?.text }, name, " not recorded", note?.option && [" (", h("code", note.option), ")"]);
    const level = name === "swimlane" ? ` level ${manifest.swimlane_level}` : "";
    const lost = entry.incomplete ? ", incomplete" : entry.dropped ? `, ${count(entry.dropped)} dropped` : "";
    const broken = note?.kind === "damaged" ? ", cannot be read" : "";
    return h(lost || broken ? "span.lossy" : "span", { title: `${path}, ${bytes(entry.bytes)}` },
      h("b", name + level), ` ${plural(entry.collected ?? 0, "row")}${lost}${broken}`);
  });
  const golden = manifest.golden;
  const checked = golden && h(golden.failed ? "span.lossy" : "span",
    h("b", "golden"), golden.failed ? ` ${count(golden.failed)} of ${count(golden.checked)} wrong` : ` ${plural(golden.checked, "value")} correct`);
  return h("div.recorded", { "aria-label": "What was recorded" }, items, checked);
}

function trouble() {
  if (manifest.status === "ok") return null;
  const error = manifest.error ?? { name: "Interrupted", detail: "the user stopped the run", hint: "" };
  const what = { failed: "The run failed", fatal: "The runtime stopped the run", interrupted: "The run was interrupted" }[manifest.status];
  return h("div.trouble." + manifest.status, { role: "alert" },
    h("p", h("strong", `${what}: ${error.name}`)), h("p", error.detail), error.hint && h("p.hint", "What to do: ", error.hint));
}

function notes() {
  const shown = run.notes.filter((note) => note.kind !== "absent");
  return shown.length ? h("ul.notes", { "aria-label": "What is not on this page" }, shown.map((note) => h("li", note.text))) : null;
}
