// Directories of nodes, made of real runs of their workers and a record of calls that is written here.

import fs from "node:fs";
import path from "node:path";
import { call, emptyManifest, emptySwimlane, scratch } from "./pages.mjs";

const HZ = 1_000_000_000;
const COLUMNS = ["worker", "seq", "task_id", "member", "callable", "submit", "sent", "accepted", "run", "end", "done", "status", "dir", "chip_start", "chip_ticks", "chip_freq_hz"];

const worker = (name, kind, at) => ({ name, kind, pid: 4000 + at, clock_offset_ticks: [0, -1200, 35000][at % 3], clock_error_ticks: 900 + 100 * at, restarts: 0 });
const readJson = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

/** Runs a program as the call of a worker would, and says how long it took. */
function childRun(dir, args) {
  call(["run", ...args, "-o", dir]);
  const { makespan_ticks: ticks, clock_freq_hz: hz, status, model } = readJson(path.join(dir, "run.json"));
  return { ticks, hz, status, real: !model };
}

/**
 * Writes the directory of a node over workers. `workers` are `[name, kind]`, `calls` are `{worker, callable, at, took, make}`:
 * what runs from `at` for `took` ticks; `make(dir)` leaves a run there and says how long it was by its own clock.
 */
export function writeNode(dir, { level = 3, workers, calls, platform = "cpu", status = {}, swimlane = true }) {
  fs.mkdirSync(dir, { recursive: true });
  const callables = [...new Set(calls.map((one) => one.callable))];
  const seqs = new Map();
  const children = [];
  const free = new Map();
  const rows = calls.map((asked, index) => {
    // A worker has one call at a time, and a run takes as long as it does.
    const one = { ...asked, at: Math.max(asked.at, (free.get(asked.worker) ?? 0) + 300_000) };
    const at = index;
    const name = workers[one.worker][0];
    const seq = (seqs.get(name) ?? 0) + 1;
    seqs.set(name, seq);
    const below = one.make ? `${name}/${seq}` : null;
    const own = one.make?.(path.join(dir, below));
    if (own?.real) one.took = Math.max(one.took, Math.ceil((own.ticks * HZ) / own.hz) + 20_000);
    free.set(one.worker, one.at + one.took + 60_000);
    const how = status[at] ?? "ok";
    if (below) children.push({ worker: name, seq, dir: below, task_id: at, status: how });
    const died = how === "died";
    return [one.worker, seq, at, 0, callables.indexOf(one.callable), one.submit ?? at * 20_000, one.at - 260_000, one.at - 90_000, one.at, died ? null : one.at + one.took, one.at + one.took + 60_000, how,
      below, own ? one.at + 5000 : null, own ? own.ticks : null, own ? own.hz : null];
  });
  const makespan = Math.max(...rows.map((row) => row[10])) + 100_000;
  const dist = { version: 1, metadata: { platform, clock_freq_hz: HZ, makespan_ticks: makespan, level, workers: workers.map(([name, kind], at) => worker(name, kind, at)), callables },
    call_columns: COLUMNS, calls: rows, total: rows.length, collected: rows.length, dropped: 0 };
  const files = [write(dir, "dist_swimlane.json", dist, rows.length)];
  if (swimlane) files.push(write(dir, "l2_perf_records.json", ownSwimlane(rows, callables, workers.map(([, kind]) => kind), platform), rows.length));
  const failed = rows.some((row) => row[11] !== "ok");
  const manifest = { ...emptyManifest(swimlane), program: "ringlane", scene: "decode_tokens", case: "two_chips", platform, makespan_ticks: makespan, clock_freq_hz: HZ, cores: workers.length, tasks: rows.length, blocks: rows.length,
    dfx_flags: swimlane ? "0x81" : "0x80", status: failed ? "failed" : "ok", error: failed ? { name: "WorkerDied", detail: "chip1 died", hint: "check its captured output" } : null, files, children };
  fs.writeFileSync(path.join(dir, "run.json"), JSON.stringify(manifest));
  return { ticks: makespan, hz: HZ, status: manifest.status, real: true };
}

function write(dir, name, value, rows) {
  const text = JSON.stringify(value);
  fs.writeFileSync(path.join(dir, name), text);
  return { path: name, bytes: Buffer.byteLength(text), total: rows, collected: rows, dropped: 0 };
}

/** What the node itself recorded: its cores are the workers, its blocks their calls. */
function ownSwimlane(rows, callables, kinds, platform) {
  const cores = kinds.length;
  const metadata = { platform, clock_freq_hz: HZ, num_cores: cores, core_types: kinds, num_scheduler_threads: 1, core_to_thread: Array(cores).fill(0),
    kernels: callables.map((name, func_id) => ({ func_id, name, core_type: "any" })) };
  const blocks = rows.map((row) => [row[0], row[2], row[4], 0, 0, row[6], row[10]]);
  return { ...emptySwimlane(), metadata, blocks, counts: { blocks: { total: rows.length, collected: rows.length, dropped: 0 } } };
}

/** A level-3 node: two chips run `program` twice each, a function joins what they made. */
export function nodeOver(dir, program, more = {}) {
  const chip = (at) => (own) => childRun(own, [...program, "--seed", String(at)]);
  const took = more.took ?? 3_000_000;
  const calls = [
    { worker: 0, callable: "decode", at: 400_000, took, make: chip(1) },
    { worker: 1, callable: "decode", at: 450_000, took: took * 0.9, make: chip(2) },
    { worker: 2, callable: "join", at: 800_000 + took, took: took * 0.2 },
    { worker: 0, callable: "decode", at: 1_500_000 + took * 1.25, took: took * 0.8, make: chip(3) },
    { worker: 1, callable: "prefill", at: 1_520_000 + took * 1.25, took: took * 0.6, make: chip(4) },
  ];
  return writeNode(dir, { workers: [["chip0", "chip"], ["chip1", "chip"], ["function0", "function"]], calls, ...more });
}

/** A level-4 node: two nodes like that one. */
export function nodeOfNodes(dir, program) {
  const below = (own) => nodeOver(own, program, { took: 2_000_000 });
  const calls = [{ worker: 0, callable: "decode_half", at: 500_000, took: 7_000_000, make: below }, { worker: 1, callable: "decode_half", at: 700_000, took: 7_200_000, make: below }];
  return writeNode(dir, { level: 4, workers: [["node0", "node"], ["node1", "node"]], calls });
}

/** The page of a node, `write` being one of the above. */
export function pageOfNode(name, write, ...args) {
  const dir = path.join(scratch, name);
  write(dir, ...args);
  call(["report", dir]);
  return path.join(dir, "report.html");
}
