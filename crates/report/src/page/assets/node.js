// The lanes of a node: a lane for each worker with its calls, and below those the cores of the workers' chips, all on the
// node's clock.

/** What a call is made of, in the order of time; what a callable did has its own colour. */
const STEPS_OF_CALL = ["in the mailbox", "accepted, not started", "", "the node has not noticed the end"];
const STATUSES = ["ok", "failed", "died", "late"];
const [MAILBOX, TAKEN, ANSWER, BAD, CALLABLE] = [0, 1, 2, 3, 4];

/** Calls, worker by worker in the order of time. Steps are stored as their distance from the submit. */
async function loadCalls() {
  if (!run.node) return;
  const counts = await columns.read("calls.count", Uint32Array);
  const calls = { counts, first: starts_of(counts) };
  for (const name of ["seq", "ring", "local", "callable", "status", "submit", "sent", "accepted", "run", "end", "done", "own"]) calls[name] = await columns.read(`calls.${name}`);
  for (const name of ["sent", "accepted", "run", "end", "done"]) for (let call = 0; call < calls.submit.length; call += 1) calls[name][call] += calls.submit[call];
  calls.length = calls.submit.length;
  model.calls = calls;
  if (!run.timeline) model.span = Math.max(1, manifest.makespan_ticks);
  for (let call = 0; call < calls.length; call += 1) model.span = Math.max(model.span, untilOf(call));
}

/** The last that is known of a call. */
function untilOf(call) {
  const { submit, sent, accepted, run: began, end, done } = model.calls;
  return Math.max(submit[call], ...[sent, accepted, began, end, done].map((step) => step[call]).filter((at) => !Number.isNaN(at)));
}

/** Blocks of the workers' chips, core by core. A start is stored as its distance from the end before. */
async function loadChips() {
  if (!run.node) return;
  const counts = await columns.read("chips.count", Uint32Array);
  const start = await columns.read("chips.gap");
  const end = await columns.read("chips.took");
  const first = starts_of(counts);
  for (let lane = 0; lane < counts.length; lane += 1) {
    let before = 0;
    for (let row = first[lane]; row < first[lane + 1]; row += 1) {
      start[row] += before;
      before = end[row] += start[row];
    }
  }
  model.chips = { first, start, end, kernel: await columns.read("chips.kernel", Uint16Array) };
  for (let row = 0; row < end.length; row += 1) if (end[row] > model.span) model.span = end[row];
}

/** Kernels of chips are coloured after those of the node itself; one name has one colour. */
function rankChipKernels() {
  const own = run.node?.kernels ?? [];
  const order = own.map((_, at) => at).sort((a, b) => own[b].total - own[a].total);
  let next = run.kernels.length;
  palette.chips = [];
  for (const at of order) {
    const same = run.kernels.findIndex((kernel) => kernel.name === own[at].name);
    palette.chips[at] = same >= 0 ? palette.kernels[same] : next++;
  }
  palette.callables = (run.node?.callables ?? []).map((name) => {
    const same = run.kernels.findIndex((kernel) => kernel.name === name);
    return same >= 0 ? palette.kernels[same] : next++;
  });
}

/** The colour of a call, by the kind of its step. */
function callColor(kind) {
  if (kind === BAD) return theme.color("red");
  if (kind >= CALLABLE) return theme.kernel(palette.callables[kind - CALLABLE] ?? 0);
  return Object.values(theme.colors.steps)[kind];
}

/** A lane for each worker; the workers of a node are in a group of their own. */
function addWorkers() {
  const { calls } = model;
  if (!calls) return;
  const byNode = new Map();
  run.node.workers.forEach((worker, at) => {
    const above = worker.path.slice(0, Math.max(0, worker.path.length - worker.name.length - 1));
    if (!byNode.has(above)) byNode.set(above, []);
    byNode.get(above).push(workerLane(worker, at));
  });
  for (const [above, lanes] of byNode) {
    addGroup(`workers ${above}`, "workers", above ? above.replaceAll("/", " \u203a ") : "workers", `\u00d7${lanes.length}`, lanes);
    // Few of them are high enough for the names of what was called.
    if (run.node.workers.length <= WORKERS_TALL && lanes.some((lane) => lane.length > 0)) groups.at(-1).laneHeight = 17;
  }
}

const WORKERS_TALL = 24;

/** The cores of the workers' chips, below all workers. */
function addChips() {
  for (const own of chipGroups().values()) groups.push(...own);
}

/** The steps of a worker's calls, one after the other. */
function workerLane(worker, at) {
  const { calls } = model;
  const [starts, ends, kinds, rows] = [[], [], [], []];
  const step = (call, from, to, kind) => {
    if (Number.isNaN(from) || Number.isNaN(to) || to < from) return;
    starts.push(from); ends.push(to); kinds.push(kind); rows.push(call);
  };
  for (let call = calls.first[at]; call < calls.first[at + 1]; call += 1) {
    const [sent, accepted, began, end, done] = ["sent", "accepted", "run", "end", "done"].map((name) => calls[name][call]);
    const last = untilOf(call);
    const kind = calls.status[call] === 0 ? CALLABLE + (calls.callable[call] % 200) : BAD;
    step(call, sent, Number.isNaN(accepted) ? last : accepted, Number.isNaN(accepted) && kind === BAD ? BAD : MAILBOX);
    step(call, accepted, Number.isNaN(began) ? last : began, Number.isNaN(began) && kind === BAD ? BAD : TAKEN);
    step(call, began, Number.isNaN(end) ? last : end, kind);
    step(call, end, done, ANSWER);
  }
  const lane = new Lane("workers", worker.name, Float64Array.from(starts), Float64Array.from(ends), Uint8Array.from(kinds));
  lane.calls = rows;
  lane.worker = at;
  return lane;
}

/** The cores of each worker's chip, by worker. */
function chipGroups() {
  const { chips } = model;
  const byWorker = new Map();
  if (!chips) return byWorker;
  const lanes = run.node.lanes.map(({ worker, kind, core }, at) => {
    const [first, end] = [chips.first[at], chips.first[at + 1]];
    const kinds = Uint8Array.from(chips.kernel.subarray(first, end), (kernel) => kernel % 254);
    const lane = new Lane("chips", `${kind} ${core}`, chips.start.subarray(first, end), chips.end.subarray(first, end), kinds, first);
    return Object.assign(lane, { worker, kind });
  });
  let shown = 0;
  run.node.workers.forEach((worker, at) => {
    const own = lanes.filter((lane) => lane.worker === at);
    if (!own.length) return;
    // Of many cores those that did nothing are counted and not shown.
    const busy = own.length > CORES_ALL ? own.filter((lane) => lane.length > 0) : own;
    const visibleLanes = busy.length ? busy : own;
    shown += visibleLanes.length;
    byWorker.set(at, [{ key: `chip ${worker.path}`, colors: "chips", name: worker.path.replaceAll("/", " \u203a "), about: busy.length === own.length ? `\u00d7${own.length}` : `${busy.length}/${own.length}`,
      title: `${busy.length} of ${plural(own.length, "core")} ran blocks`,
      lanes: visibleLanes.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0)), open: busy.some((lane) => lane.length > 0) && shown <= CHIP_LANES_OPEN }]);
  });
  return byWorker;
}

/** Chips of more cores show only those that ran something. */
const CORES_ALL = 16;

/** Chips of more lanes in all are closed at first: a closed one shows how many of its cores were busy, and with what. */
const CHIP_LANES_OPEN = 160;

const chipKernelName = (kernel) => run.node.kernels[kernel]?.name ?? "?";
const chipColor = (kernel) => theme.kernel(palette.chips[kernel] ?? kernel);

/** What the thing of a worker's lane is called. */
function callName(lane, place) {
  const kind = lane.kinds[place];
  const call = lane.calls[place];
  return kind >= CALLABLE || kind === BAD ? run.node.callables[model.calls.callable[call]] : "";
}

/** The run of a worker that was going on at a moment. */
function runAt(worker, moment) {
  return run.node.runs.find((one) => one.worker === worker && one.start <= moment && moment <= one.end);
}

function describeCall(found) {
  const { lane } = found.row;
  const { calls } = model;
  const call = lane.calls[found.place];
  const gap = (name, from, to) => !Number.isNaN(calls[from][call]) && !Number.isNaN(calls[to][call]) && fact(name, time(calls[to][call] - calls[from][call]));
  const status = STATUSES[calls.status[call]];
  return [h("b", run.node.callables[calls.callable[call]]), status !== "ok" && h("span.bad", ` ${status}`),
    h("dl", fact("worker", `${run.node.workers[lane.worker].path} \u00b7 call ${count(calls.seq[call])}`), fact("task", `${calls.ring[call]}:${calls.local[call]}`),
      fact("submitted at", time(calls.submit[call])), gap("waited to be sent", "submit", "sent"), gap("in the mailbox", "sent", "accepted"), gap("accepted, not started", "accepted", "run"),
      gap("ran", "run", "end"), gap("until the node noticed the end", "end", "done"))];
}

function describeChip(found) {
  const { lane } = found.row;
  const worker = run.node.workers[lane.worker];
  const own = runAt(lane.worker, found.start);
  return [h("b", chipKernelName(model.chips.kernel[found.thing])), h("dl", fact("core", `${worker.path} \u00b7 ${lane.name}`), own && fact("run", own.dir),
    fact("at", time(found.start)), fact("took", time(found.end - found.start)), own?.stretch && fact("by the model", time((found.end - found.start) / own.stretch)))];
}
