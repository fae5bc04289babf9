// The command lines that repeat this run, and those that analyse it further.

function drawReproduce() {
  const dir = quoted(run.dir);
  const lines = [
    manifest.program && ["The same program, inputs and recording", again().map(quoted).join(" ")],
    (run.timeline || run.node) && ["The timeline for Perfetto and chrome://tracing", `${program} swimlane ${dir}`],
    run.timeline && ["The makespan, broken down by cause", `${program} critical-path ${dir}`],
    run.timeline && ["What limits the run, and how its cores spent their time", `${program} overhead ${dir}`],
    run.scopes && ["Capacities that suffice, as options", `${program} scopes ${dir}`],
    ["Check that the files are consistent", `${program} check ${dir}`],
  ].filter(Boolean);
  sheet(byId("reproduce"), "Reproduce", `ringlane ${manifest.ringlane}`,
    !manifest.program && h("p.absent", "A library run: a program called the runtime directly, so there is no command line. Run that program again to repeat it."),
    h("ul.commands", lines.map(([what, line]) => h("li", h("p", what), h("pre", line), copyButton(line)))),
    !run.scopes && h("p.note", "The ring capacities are not in this command line: ", h("code", "--scope-stats"), " records them."));
}

/** The words of the command line that repeats the run. */
function again() {
  const params = Object.entries(manifest.params).flatMap(([name, value]) => ["--param", `${name}=${value}`]);
  return [manifest.program, "run", manifest.scene, "--case", manifest.case, ...machine(), ...graphOptions(), ...workerCounts(), "--seed", run.seed, ...params, ...capacities(), ...recording()];
}

function machine() {
  const { model: facts, platform, threads } = manifest;
  if (platform === "cpu") return ["--threads", String(threads)];
  const given = (option, value) => (value === null || value === undefined ? [] : [option, String(value)]);
  return ["--platform", platform, ...given("--policy", facts?.policy), ...given("--chaos", facts?.chaos), ...given("--costs", facts?.costs)];
}

/** How the graph was built, if it was captured. */
function graphOptions() {
  if (manifest.runtime !== "host_build_graph") return [];
  const limit = manifest.graph?.memory_limit_bytes;
  return ["--runtime", manifest.runtime, ...(limit == null ? [] : ["--graph-memory", String(limit)])];
}

/** How many workers: chips of a node, or nodes times their chips. */
function workerCounts() {
  const chips = (depth) => (run.node?.workers ?? []).filter((worker) => worker.kind === "chip" && worker.depth === depth).length;
  const nodes = (run.node?.workers ?? []).filter((worker) => worker.kind === "node" && worker.depth === 0).length;
  if (!run.node) return [];
  return ["--workers", nodes ? `${nodes}x${chips(1) / nodes}` : String(chips(0))];
}

/** Capacities that differ from their defaults. A captured graph has exactly those that it needs. */
const capacities = () => (manifest.graph ? [] : run.scopes?.given ?? []).flatMap((option) => option.split(" "));

function recording() {
  const flags = parseInt(manifest.dfx_flags, 16) || 0;
  const selection = run.dump?.selection;
  const group = manifest.pmu?.source === "tsc" ? 0 : manifest.pmu?.group;
  const options = [
    manifest.swimlane_level && `--chip-swimlane=${manifest.swimlane_level}`, flags & 8 && `--dump-tensor${selection ? `=${selection}` : ""}`,
    flags & 16 && `--pmu${group ? `=${group}` : ""}`, flags & 32 && "--dep-gen", flags & 64 && "--scope-stats", flags & 128 && "--dist-swimlane",
  ].filter(Boolean);
  const all = (flags & 0x7f) === 0x7f && !selection ? ["--dfx"] : options;
  return manifest.overflow === "drop" ? [...all, "--overflow", "drop"] : all;
}

function copyButton(text) {
  const button = h("button.control", { type: "button" }, "copy");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch { getSelection().selectAllChildren(button.previousSibling); button.textContent = "selected"; }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  return button;
}
