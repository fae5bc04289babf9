// What to check first; a click goes there.

function drawFindings() {
  const section = byId("findings");
  if (!run.findings.length) {
    absent(section, "Findings", run.timeline ? "No findings." : ["Findings need a timeline; ", h("code", "--chip-swimlane"), " records one."]);
    return;
  }
  const kinds = { problem: "problem", costly: "warning", fact: "" };
  sheet(section, "Findings", "what to check first", h("ol", run.findings.map((finding) =>
    h("li", h("button.finding." + (kinds[finding.severity] || "fact"), { type: "button", "data-target": targetOf(finding)[0], onclick: () => follow(finding) },
      h("span.mark", { title: finding.severity }), h("span", finding.text), h("span.go", "show \u2192"))))));
}

/** What a finding is about: the kind of thing, and which. */
const targetOf = ({ target }) => (typeof target === "string" ? [target] : Object.entries(target)[0]);

/** Shows all of what a finding is about. */
async function follow(finding) {
  const [kind, value] = targetOf(finding);
  if (kind === "header") return reveal("summary");
  if (kind === "time" || kind === "gains") return reveal(kind);
  if (kind === "scope") {
    reveal("scopes");
    return highlightSite(value);
  }
  reveal("timeline");
  await swim.shown;
  state.set({ picked: null });
  state.select(-1);
  if (kind === "range") { const pad = Math.max(1, (value[1] - value[0]) * 0.08); state.show(value[0] - pad, value[1] + pad); }
  if (kind === "task") state.select(findTask(Math.floor(value / 2 ** 32), value % 2 ** 32));
  if (kind === "path_cause") pickCause(run.time.path.findIndex((part) => part.cause === value));
  if (kind === "path_kernel") pickOnPath(run.kernels.findIndex((kernel) => kernel.func_id === value));
}

/** Picks the segments of the critical path with one cause, and the submits or the blocks of their tasks; shows all of them. */
function pickCause(cause) {
  const { path } = model;
  const name = run.time.path[cause].cause;
  const tasks = new Set();
  let segments = 0;
  for (let at = 0; at < path.length; at += 1) {
    if (path.cause[at] !== cause || (name === "submit" && Number.isNaN(path.task[at]))) continue;
    segments += 1;
    tasks.add(path.task[at]);
  }
  const submits = { orchestrator: (place, lane) => tasks.has(lane.rows[place]) };
  const waiting = { cores: (block) => tasks.has(model.blocks.task[block]) };
  pick(name, { path: (segment) => path.cause[segment] === cause, ...(name === "submit" ? submits : waiting) },
    { words: name === "submit" ? `${plural(segments, "submit")} on the critical path` : `${plural(segments, "segment")} of the critical path: ${name}` });
  fitPicked();
}

/** Picks the blocks of a kernel that are on the critical path, and shows all of them. */
function pickOnPath(kernel) {
  const { path, blocks } = model;
  const [picked, segments] = [new Set(), new Set()];
  for (let at = 0; at < path.length; at += 1) {
    if (run.time.path[path.cause[at]].cause !== "compute" || Number.isNaN(path.task[at])) continue;
    for (const block of blocks.ofTask(path.task[at])) {
      const ran = blocks.core[block] === path.core[at] && blocks.start[block] < path.end[at] && blocks.end[block] > path.start[at];
      if (blocks.kernel[block] === kernel && ran) { picked.add(block); segments.add(at); }
    }
  }
  pick(kernelName(kernel), { cores: (block) => picked.has(block), path: (segment) => segments.has(segment) },
    { words: `${plural(picked.size, "block")} of ${kernelName(kernel)} on the critical path` });
  fitPicked();
}

function reveal(id) {
  const section = byId(id);
  section.scrollIntoView({ block: "start" });
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
}
