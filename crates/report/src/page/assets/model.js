// The run's tables, as the page's data gives them: columns of blocks, tasks, phases, scopes, edges and arguments.

const model = { span: 1, loading: true, blocks: null, tasks: null, phases: null, scopes: null, labels: null, path: null, edges: null };

/** Blocks, core by core in the order of time. A start is stored as its distance from the end before. */
async function loadBlocks() {
  const counts = await columns.read("cores.blocks", Uint32Array);
  if (!counts) return;
  const gap = await columns.read("blocks.gap");
  const took = await columns.read("blocks.took");
  const start = gap;
  const end = took;
  const core = new Uint16Array(start.length);
  let row = 0;
  const first = [];
  for (let lane = 0; lane < counts.length; lane += 1) {
    first.push(row);
    let before = 0;
    for (const last = row + counts[lane]; row < last; row += 1) {
      start[row] = before + gap[row];
      before = end[row] = start[row] + took[row];
      core[row] = lane;
    }
  }
  const blocks = { length: start.length, start, end, core, counts, first };
  blocks.kernel = await columns.read("blocks.kernel", Uint16Array);
  blocks.task = await columns.read("blocks.task", Uint32Array);
  model.blocks = blocks;
  let latest = run.timeline.makespan;
  for (let lane = 0; lane < counts.length; lane += 1) if (counts[lane]) latest = Math.max(latest, end[first[lane] + counts[lane] - 1]);
  model.span = Math.max(1, latest);
}

/** Columns of blocks that are only read one by one. */
async function loadBlockDetails() {
  const { blocks } = model;
  if (!blocks) return;
  blocks.row = await columns.readAll("blocks.row.");
  const waited = await columns.read("blocks.waited");
  const seen = await columns.read("blocks.seen");
  if (waited) for (let row = 0; row < waited.length; row += 1) { waited[row] = blocks.start[row] - waited[row]; seen[row] += blocks.end[row]; }
  blocks.dispatch = waited;
  blocks.finish = seen;
}

async function loadTasks() {
  const ring = await columns.read("tasks.ring", Uint32Array);
  if (!ring) return;
  const local = await columns.read("tasks.step");
  const last = new Map();
  for (let task = 0; task < ring.length; task += 1) {
    local[task] += last.get(ring[task]) ?? -1;
    last.set(ring[task], local[task]);
  }
  const tasks = { length: ring.length, ring, local, seq: await columns.read("tasks.seq") };
  tasks.submit = await columns.read("tasks.submit");
  tasks.took = await columns.read("tasks.took");
  tasks.parts = { stall: await columns.read("tasks.submit.stall") };
  if (tasks.submit) {
    let before = 0;
    for (let task = 0; task < ring.length; task += 1) {
      if (!Number.isNaN(tasks.submit[task])) before = tasks.submit[task] += before;
    }
  }
  model.tasks = tasks;
  // Before anything can be clicked: which blocks are a task's is on every card.
  if (model.blocks) model.blocks.ofTask = grouped_by(model.blocks.task, tasks.length);
}

/** The remaining task columns: read on first use, or when the page is idle. */
async function loadTaskDetails() {
  const { tasks } = model;
  if (!tasks) return;
  tasks.ready = await columns.read("tasks.ready");
  tasks.reclaim = await columns.read("tasks.reclaim");
  if (tasks.ready) {
    for (let task = 0; task < tasks.length; task += 1) {
      const submitted = tasks.submit?.[task] ?? 0;
      tasks.ready[task] += Number.isNaN(submitted) ? 0 : submitted;
      tasks.reclaim[task] += Number.isNaN(tasks.ready[task]) ? 0 : tasks.ready[task];
    }
  }
  Object.assign(tasks.parts, await columns.readAll("tasks.submit."));
  tasks.site = await columns.read("tasks.site");
  tasks.label = await columns.read("tasks.label");
  tasks.scope = await columns.read("tasks.scope", Uint32Array);
  tasks.manual = await columns.read("tasks.manual", Uint8Array);
  await loadArguments(tasks);
  const counted = await columns.read("tasks.counted", Uint32Array);
  if (counted) tasks.counted = { first: starts_of(counted), values: await columns.read("pmu.values") };
  await loadEdges(tasks);
}

async function loadArguments(tasks) {
  const counts = await columns.read("tasks.args", Uint32Array);
  if (!counts) return;
  const args = { first: starts_of(counts) };
  for (const [name, Type] of [["index", Uint32Array], ["access", Uint8Array], ["tensor", Uint32Array], ["form", Uint32Array], ["offset", Float64Array]]) {
    args[name] = await columns.read(`args.${name}`, Type);
  }
  tasks.args = args;
  model.tensors = await columns.readAll("tensors.");
}

async function loadEdges(tasks) {
  const counts = await columns.read("tasks.producers", Uint32Array);
  if (!counts) return;
  const first = starts_of(counts);
  const before = await columns.read("edges.back");
  const after = new Uint32Array(before.length);
  for (let task = 0; task < tasks.length; task += 1) {
    for (let edge = first[task]; edge < first[task + 1]; edge += 1) { before[edge] = task - before[edge]; after[edge] = task; }
  }
  const edges = { first, before, after, byProducer: grouped_by(before, tasks.length) };
  model.edges = Object.assign(edges, await columns.readAll("edges.row."));
}

async function loadPhases() {
  const row = await columns.readAll("phases.row.");
  if (!row.thread) return;
  const start = await columns.read("phases.start");
  const end = await columns.read("phases.took");
  for (let at = 0; at < end.length; at += 1) end[at] += start[at];
  model.phases = { start, end, row };
}

async function loadScopes() {
  const id = await columns.read("scopes.id", Uint32Array);
  if (!id) return;
  const start = await columns.read("scopes.enter");
  const end = await columns.read("scopes.took");
  for (let row = 0; row < end.length; row += 1) end[row] = Number.isNaN(end[row]) ? model.span : start[row] + end[row];
  model.scopes = { id, start, end, depth: await columns.read("scopes.depth", Uint32Array), site: await columns.read("scopes.site", Uint32Array),
    tasks: await columns.read("scopes.tasks"), ring: await columns.read("scopes.ring", Uint8Array) };
}

/** When the tasks of labelled scopes ran, lane by lane. */
async function loadLabels() {
  const lane = await columns.read("labels.lane", Uint32Array);
  if (!lane) return;
  const start = await columns.read("labels.start");
  const end = await columns.read("labels.took");
  for (let row = 0; row < end.length; row += 1) end[row] += start[row];
  model.labels = { lane, start, end };
}

/** The critical path: segments that follow each other without a gap. */
async function loadPath() {
  const end = await columns.read("path.took");
  if (!end) return;
  const start = new Float64Array(end.length);
  let before = 0;
  for (let row = 0; row < end.length; row += 1) { start[row] = before; before = end[row] += before; }
  const task = await columns.read("path.task");
  before = 0;
  for (let row = 0; row < task.length; row += 1) if (!Number.isNaN(task[row])) before = task[row] += before;
  model.path = { length: end.length, start, end, task, cause: await columns.read("path.cause", Uint8Array), core: await columns.read("path.core") };
}

/** Where each list begins, from the lengths of lists; one longer than they are. */
function starts_of(counts) {
  const starts = new Uint32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at += 1) starts[at + 1] = starts[at] + counts[at];
  return starts;
}

/** Rows by what they belong to: `of(owner)` gives them, in their order. */
function grouped_by(owners, length) {
  const counts = new Uint32Array(length);
  for (let row = 0; row < owners.length; row += 1) counts[owners[row]] += 1;
  const starts = starts_of(counts);
  const next = starts.slice();
  const rows = new Uint32Array(owners.length);
  for (let row = 0; row < owners.length; row += 1) rows[next[owners[row]]++] = row;
  return (owner) => rows.subarray(starts[owner], starts[owner + 1]);
}

const taskName = (task) => `${model.tasks.ring[task]}:${model.tasks.local[task]}`;
const taskId = (task) => (BigInt(model.tasks.ring[task]) << 32n) | BigInt(model.tasks.local[task]);
const kernelName = (kernel) => run.kernels[kernel]?.name ?? "?";

/** A task by ring and number; -1 if there is none. */
function findTask(ring, local) {
  const { tasks } = model;
  for (let task = 0; task < (tasks?.length ?? 0); task += 1) if (tasks.local[task] === local && tasks.ring[task] === ring) return task;
  return -1;
}

/** What a task ran: the names of its kernels. */
/** The name that a task's submit gave it; "" if it has none. */
const taskLabel = (task) => run.names.labels?.[model.tasks?.label?.[task]] ?? "";

function taskKernels(task) {
  const names = new Set();
  for (const block of model.blocks?.ofTask?.(task) ?? []) names.add(kernelName(model.blocks.kernel[block]));
  return names.size ? [...names].join(" + ") : "no kernel";
}
