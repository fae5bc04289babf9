// The lanes of the swimlane, in groups from top to bottom, and the colours of what is in them.

const palette = { kernels: [] };

/** Kernels are coloured by how much time they took, so that the largest differ most in colour. */
function rankKernels() {
  const order = run.kernels.map((kernel, at) => at).sort((a, b) => run.kernels[b].total - run.kernels[a].total);
  order.forEach((kernel, rank) => { palette.kernels[kernel] = rank; });
}
const kernelColor = (kernel) => theme.kernel(palette.kernels[kernel] ?? kernel);

const phaseName = (at) => run.names.phases[model.phases.row.phase[at]] ?? "";
const KINDS = { aic: "AIC", aiv: "AIV", cpu: "CPU", sm: "SMs", chip: "tasks on chips", function: "functions", node: "tasks on nodes" };

/** Cores of one kind, or the workers of a node. */
const manyOf = (kind) => (kind === "sm" ? "SMs" : run.node ? `${kind}s` : `${kind} cores`);

/** A group's colours for the kinds of its things. */
const groupColor = {
  path: (kind) => theme.cause(run.time.path[kind]?.cause),
  orchestrator: (kind) => (kind === 1 ? theme.color("red") : theme.colors.lanes.submit),
  schedulers: (kind) => theme.phase(run.names.phases[kind]),
  cores: (kind) => kernelColor(kind),
  labels: (kind) => theme.colors.scopes[kind % 2],
  scopes: (kind) => theme.colors.scopes[kind % 2],
  workers: (kind) => callColor(kind),
  chips: (kind) => chipColor(kind),
  copies: () => theme.colors.lanes.copy,
};

const groups = [];

/** Groups of more lanes are closed at first. */
const LANES_OPEN = 256;

function addGroup(key, colors, name, about, lanes) {
  if (lanes.some((lane) => lane.length > 0)) groups.push({ key, colors, name, about, lanes, open: true });
}

/** Makes the lanes of what has been read. */
function buildLanes() {
  groups.length = 0;
  addPathLane();
  addOrchestrator();
  addCopies();
  addSchedulers();
  addWorkers();
  addLabels();
  addCores();
  addScopeBand();
  addChips();
}

function addPathLane() {
  const { path } = model;
  if (!path) return;
  const lane = new Lane("path", "critical path", path.start, path.end, path.cause);
  addGroup("path", "path", "critical path", "", [lane]);
  if (groups.length) groups[0].single = true;
}

function addOrchestrator() {
  const { tasks } = model;
  if (!tasks?.submit) return;
  const rows = [];
  for (let task = 0; task < tasks.length; task += 1) if (!Number.isNaN(tasks.submit[task])) rows.push(task);
  const start = Float64Array.from(rows, (task) => tasks.submit[task]);
  const end = Float64Array.from(rows, (task) => tasks.submit[task] + tasks.took[task]);
  const kinds = Uint8Array.from(rows, (task) => (tasks.parts.stall[task] > 0 ? 1 : 0));
  const lane = new Lane("orchestrator", "submits", start, end, kinds);
  lane.rows = Uint32Array.from(rows);
  addGroup("orchestrator", "orchestrator", "orchestrator", "", [lane]);
  groups.at(-1).single = true;
}

function addCopies() {
  const copies = (run.timeline?.copies ?? []).slice().sort((a, b) => a.start - b.start);
  const lane = new Lane("copies", "copies", Float64Array.from(copies, (c) => c.start), Float64Array.from(copies, (c) => c.end), new Uint8Array(copies.length));
  lane.copies = copies;
  addGroup("copies", "copies", "copies", "", [lane]);
  if (copies.length) groups.at(-1).single = true;
}

function addSchedulers() {
  const { phases } = model;
  if (!phases) return;
  const lanes = [];
  const threads = phases.row.thread;
  const idle = run.names.phases.indexOf("idle");
  for (let first = 0; first < threads.length;) {
    const thread = threads[first];
    let end = first;
    while (end < threads.length && threads[end] === thread) end += 1;
    const kinds = Uint8Array.from(phases.row.phase.subarray(first, end), (phase) => (phase === idle ? Lane.CLEAR : phase));
    lanes.push(new Lane("schedulers", `thread ${thread}`, phases.start.subarray(first, end), phases.end.subarray(first, end), kinds, first));
    first = end;
  }
  addGroup("schedulers", "schedulers", "schedulers", "", lanes);
}

function addCores() {
  const { blocks } = model;
  if (!blocks) return;
  const kinds = [...new Set(run.timeline.cores)];
  for (const kind of Object.keys(KINDS).filter((kind) => kinds.includes(kind))) {
    const lanes = [];
    run.timeline.cores.forEach((of, core) => {
      if (of !== kind) return;
      const [first, end] = [blocks.first[core], blocks.first[core] + blocks.counts[core]];
      const colors = Uint8Array.from(blocks.kernel.subarray(first, end), (kernel) => kernel % 254);
      const lane = new Lane("cores", `${kind} ${core}`, blocks.start.subarray(first, end), blocks.end.subarray(first, end), colors, first);
      lane.core = core;
      lanes.push(lane);
    });
    const busy = run.overview?.busy.find((series) => series.name === kind);
    const share = busy ? busy.values.reduce((sum, value) => sum + value, 0) / busy.values.length : NaN;
    // Cores that did nothing are worth a line, and no more.
    const open = lanes.some((lane) => lane.length > 0) && lanes.length <= LANES_OPEN && !run.node;
    groups.push({ key: kind, colors: "cores", name: KINDS[kind], about: `\u00d7${lanes.length}${run.node ? "" : ` \u00b7 ${percent(share)}`}`, lanes, open });
  }
}

/** Neighbours in a table that belong to one lane, as lanes. */
function lanesBy(of, { start, end }, group, name) {
  const lanes = [];
  for (let first = 0; first < of.length;) {
    let last = first;
    while (last < of.length && of[last] === of[first]) last += 1;
    const kinds = Uint8Array.from({ length: last - first }, (_, at) => at % 2);
    lanes.push(new Lane(group, name(of[first]), start.subarray(first, last), end.subarray(first, last), kinds, first));
    first = last;
  }
  return lanes;
}

function addLabels() {
  const { labels } = model;
  if (!labels) return;
  addGroup("labels", "labels", "labelled scopes", "", lanesBy(labels.lane, labels, "labels", () => ""));
  groups.at(-1).laneHeight = 15;
}

function addScopeBand() {
  const { scopes } = model;
  if (scopes) addGroup("scopes", "scopes", "open scopes", "", lanesBy(scopes.depth, scopes, "scopes", (depth) => `depth ${depth}`));
}
