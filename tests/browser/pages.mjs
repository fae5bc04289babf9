// Reports to test, made with the ringlane binary, and run directories that no run would leave.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const ringlane = process.env.RINGLANE;
export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "ringlane-browser-"));
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));

/** Runs ringlane and gives what it prints; a run that is meant to fail still leaves its directory. */
export function call(args, expected = 0, program = ringlane) {
  try {
    return execFileSync(program, args, { cwd: scratch, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (error.status !== expected) throw new Error(`ringlane ${args.join(" ")}: ${error.status}\n${error.stderr}`);
  }
}

/** The page of a run with these options. */
export function pageOfRun(name, args, expected = 0, program = ringlane) {
  const dir = path.join(scratch, name);
  call(["run", ...args, "-o", dir], expected, program);
  call(["report", dir]);
  return path.join(dir, "report.html");
}

/** The program under a name of its own, as a crate with its own scenes has one. */
export function ownProgram(name) {
  const file = path.join(scratch, name);
  fs.symlinkSync(ringlane, file);
  return file;
}

/** The page of a directory that is written here: `swimlane` is merged into a timeline of level 1. */
export function pageOfFiles(name, { manifest = {}, swimlane = null }) {
  const dir = path.join(scratch, name);
  fs.mkdirSync(dir);
  const files = [];
  if (swimlane) {
    const text = JSON.stringify({ ...emptySwimlane(), ...swimlane });
    fs.writeFileSync(path.join(dir, "l2_perf_records.json"), text);
    const rows = (swimlane.blocks ?? []).length;
    files.push({ path: "l2_perf_records.json", bytes: Buffer.byteLength(text), total: rows, collected: rows, dropped: 0 });
  }
  fs.writeFileSync(path.join(dir, "run.json"), JSON.stringify({ ...emptyManifest(Boolean(swimlane)), files, ...manifest }));
  call(["report", dir]);
  return path.join(dir, "report.html");
}

export const emptyManifest = (recorded) => ({
  version: 1, ringlane: "0.1.0", scene: "made_up", case: "by_hand", params: {}, platform: "cpu", runtime: "tensormap_and_ringbuffer", seed: 0, threads: 1,
  started_at: "2026-11-15T09:30:12Z", wall_us: 1, makespan_ticks: 1000, clock_freq_hz: 1000000000, status: "ok", error: null, cores: 1, tasks: 0, blocks: 0,
  scopes: 1, skipped: 0, peak_heap_bytes: 0, dfx_flags: recorded ? "0x1" : "0x0", swimlane_level: recorded ? 1 : 0, overflow: "block", pmu: null,
  dfx_cost: { writer_wait_ticks: 0, bytes: 0, collector_us: 0, export_us: 0 }, golden: null,
});

export const emptySwimlane = () => ({
  version: 0, chip_swimlane_level: 1,
  metadata: { platform: "cpu", clock_freq_hz: 1000000000, num_cores: 1, core_types: ["cpu"], num_scheduler_threads: 1, core_to_thread: [0], kernels: [] },
  block_columns: ["core", "task_id", "func_id", "lane", "block", "start", "end"], blocks: [],
  counts: { blocks: { total: 0, collected: 0, dropped: 0 } },
});
