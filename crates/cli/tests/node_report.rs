//! What `report`, `swimlane` and `check` make of a node's run: real runs of its workers, on cpu and modelled, and a record of
//! calls that is written here.

mod common;
mod trace;

use std::fs;
use std::path::Path;

use common::Sandbox;
use ringlane_insight::Run;
use ringlane_task::{DfxFlags, TaskId, Ticks};
use ringlane_trace::dist::*;
use ringlane_trace::{ChildRun, FileEntry, Manifest, RunDir};
use trace::{Trace, chrome, perfetto};

/// When the callables ran, on the node's clock: long enough for what is run on cpu.
const STARTS: [u64; 3] = [1_000_000, 1_100_000, 900_000_000_000];
const TOOK: u64 = 800_000_000_000;

/// A run in place of the node's own, the runs of `chips` (their platforms) and of a function, and the record of calls.
fn write_node(sandbox: &Sandbox, chips: [&str; 2]) {
    let run = |dir: &str, scene, platform: &str, recording: &[&str]| {
        let answer = sandbox
            .ringlane(&[&["run", scene, "--case", "small", "-p", platform, "-o", dir], recording].concat());
        assert_eq!(answer.status, 0, "{}", answer.stderr);
    };
    run("node", "vector", "cpu", &["--dfx"]);
    run("node/chip0/1", "paged_attention", chips[0], &["--dfx"]);
    run("node/chip1/1", "paged_attention", chips[1], &["--chip-swimlane", "--seed", "7"]);
    let path = sandbox.path().join("node");
    let tasks: Vec<TaskId> =
        Run::open(&path).unwrap().dependencies().unwrap().tasks.iter().map(|task| task.task_id).collect();
    let mut manifest = Manifest::read(&path).unwrap();
    fs::remove_file(path.join("run.json")).unwrap();
    manifest.makespan_ticks = 2 * STARTS[2];
    let (entry, children) = write_dist(&path, &manifest, &tasks);
    manifest.files.push(entry);
    manifest.children = children;
    let flags = manifest.dfx_flags().with(DfxFlags::NODE_SWIMLANE);
    manifest.with_dfx_flags(flags).write(&RunDir::create_exact(&path).unwrap()).unwrap();
}

fn write_dist(path: &Path, manifest: &Manifest, tasks: &[TaskId]) -> (FileEntry, Vec<ChildRun>) {
    let worker = |name: &str, kind, clock_offset_ticks| DistWorker {
        name: name.to_string(),
        kind,
        pid: 4711,
        clock_offset_ticks,
        clock_error_ticks: Some(100),
        restarts: 0,
    };
    let meta = DistMeta {
        platform: manifest.platform.clone(),
        clock_freq_hz: manifest.clock_freq_hz,
        makespan: Ticks(manifest.makespan_ticks),
        level: 3,
        workers: vec![
            worker("chip0", WorkerKind::Chip, 0),
            worker("chip1", WorkerKind::Chip, -2_000),
            worker("function0", WorkerKind::Function, 3),
        ],
        callables: vec!["attend".to_string(), "join".to_string()],
    };
    let dir = RunDir::create_exact(path).unwrap();
    let mut file = dir.create_file(FILE_NAME).unwrap();
    let mut writer = DistWriter::new(&mut file, &meta);
    let mut children = Vec::new();
    for (at, (&task_id, &start)) in (0..).zip(tasks.iter().zip(&STARTS)) {
        let dir = (at < 2).then(|| child_dir(&meta.workers[at as usize].name, CallSeq(1)));
        writer.call(&call(path, at, task_id, start, dir.clone())).unwrap();
        let worker = meta.workers[at as usize].name.clone();
        children.extend(dir.map(|dir| ChildRun { worker, seq: 1, dir, task_id, status: CallStatus::Ok }));
    }
    let counts = writer.finish(0).unwrap();
    (FileEntry::with_rows(FILE_NAME, file.commit().unwrap(), counts.collected, counts.dropped), children)
}

fn call(path: &Path, at: u32, task_id: TaskId, start: u64, dir: Option<String>) -> CallRow<'static> {
    let own = dir.as_ref().map(|dir| Manifest::read(path.join(dir)).unwrap());
    CallRow {
        callable: CallableIndex(at / 2),
        sent: Some(Ticks(start - 3_000)),
        accepted: Some(Ticks(start - 2_000)),
        run: Some(Ticks(start)),
        end: Some(Ticks(start + TOOK)),
        done: Some(Ticks(start + TOOK + 1_000)),
        dir: dir.map(Into::into),
        chip_start: own.as_ref().map(|_| Ticks(start + 500)),
        chip_ticks: own.as_ref().map(|own| own.makespan_ticks),
        chip_freq_hz: own.map(|own| own.clock_freq_hz),
        ..CallRow::submitted(WorkerIndex(at), CallSeq(1), task_id, Ticks(start - 5_000))
    }
}

#[test]
fn the_page_of_a_node_has_its_workers_their_chips_and_how_the_clocks_fit() {
    let sandbox = Sandbox::new();
    write_node(&sandbox, ["cpu", "a2a3sim"]);
    assert_eq!(sandbox.ringlane(&["report", "node/chip0/1"]).status, 0);
    let answer = sandbox.ringlane(&["report", "node"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, "node/report.html\n"), "{}", answer.stderr);
    let data = sandbox.page_data("node/report.html");
    let node = &data["node"];
    let paths: Vec<_> = node["workers"].as_array().unwrap().iter().map(|worker| &worker["path"]).collect();
    assert_eq!(paths, ["chip0", "chip1", "function0"]);
    assert_eq!(
        (&node["workers"][1]["offset"], &node["workers"][1]["error"]),
        (&(-2000.0).into(), &100.0.into())
    );
    let [cpu, sim] = [&node["runs"][0], &node["runs"][1]];
    assert_eq!((&cpu["report"], sim.get("report")), (&"chip0/1/report.html".into(), None));
    assert_eq!((cpu.get("stretch"), &cpu["start"]), (None, &(STARTS[0] + 500).into()));
    assert!(sim["stretch"].as_f64().unwrap() > 1e6, "microseconds of a model over minutes: {sim}");
    assert_eq!((&sim["start"], &sim["end"]), (&STARTS[1].into(), &(STARTS[1] + TOOK).into()));
    // What the node recorded of itself is there as on any page.
    assert_eq!(data["timeline"]["tasks"], 5);
    assert!(data["scopes"].is_object() && data["counters"].is_object() && data["dump"].is_object());
    let lanes = node["lanes"].as_array().unwrap();
    assert_eq!(lanes.iter().filter(|lane| lane["worker"] == 1).count(), 72);
    let own = Run::open(sandbox.path().join("node/chip0/1")).unwrap().manifest.blocks;
    let other = Run::open(sandbox.path().join("node/chip1/1")).unwrap().manifest.blocks;
    assert_eq!(node["blocks"], own + other);
}

#[test]
fn a_page_that_is_stored_elsewhere_names_directories_and_does_not_link_them() {
    let sandbox = Sandbox::new();
    write_node(&sandbox, ["a2a3sim", "a2a3sim"]);
    assert_eq!(sandbox.ringlane(&["report", "node/chip0/1"]).status, 0);
    assert_eq!(sandbox.ringlane(&["report", "node", "-o", "page.html"]).status, 0);
    let data = sandbox.page_data("page.html");
    assert_eq!(
        (&data["node"]["runs"][0]["dir"], data["node"]["runs"][0].get("report")),
        (&"chip0/1".into(), None)
    );
}

#[test]
fn both_traces_have_a_process_for_each_worker_with_the_blocks_of_its_chip_and_arrows_to_them() {
    let sandbox = Sandbox::new();
    write_node(&sandbox, ["cpu", "a2a3sim"]);
    for format in ["json", "pftrace"] {
        let answer = sandbox.ringlane(&["swimlane", "node", "--format", format]);
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        assert!(answer.stdout.contains("3 calls of 3 workers in "), "{}", answer.stdout);
    }
    let dir = sandbox.path().join("node");
    let json = chrome::read(&fs::read_to_string(dir.join("merged_swimlane.json")).unwrap());
    let native = perfetto::read(&fs::read(dir.join("merged_swimlane.pftrace")).unwrap());
    let hz = Manifest::read(&dir).unwrap().clock_freq_hz;
    for trace in [&json, &native] {
        check_trace(trace, &dir, hz);
    }
}

fn check_trace(trace: &Trace, dir: &Path, hz: u64) {
    let ns = |ticks: u64| ((u128::from(ticks) * 1_000_000_000 + u128::from(hz) / 2) / u128::from(hz)) as u64;
    for (at, worker) in ["chip0", "chip1"].into_iter().enumerate() {
        let slices = trace.in_lane(&format!("{worker} (pid 4711)"));
        let calls: Vec<_> = slices.iter().filter(|slice| slice.track.1 == "calls").collect();
        let names: Vec<_> = calls.iter().map(|slice| slice.name.as_str()).collect();
        assert_eq!(
            names,
            ["in the mailbox", "accepted, not started", "attend", "until the node noticed the end"]
        );
        assert!(
            calls[2].start.abs_diff(ns(STARTS[at])) <= 1 && calls[2].end.abs_diff(ns(STARTS[at] + TOOK)) <= 1
        );
        let own = Run::open(dir.join(worker).join("1")).unwrap();
        let blocks: Vec<_> = slices.iter().filter(|slice| slice.track.1 != "calls").collect();
        assert_eq!(blocks.len() as u64, own.manifest.blocks, "{worker}");
        assert!(blocks.iter().all(|block| block.start >= calls[2].start && block.end <= calls[2].end));
        let entered: Vec<_> = blocks.iter().flat_map(|block| &block.arrows_in).collect();
        assert_eq!(entered, calls[1].arrows_out.iter().collect::<Vec<_>>());
        assert_eq!(entered.len(), 1);
    }
    let of_function = trace.in_lane("function0 (pid 4711)");
    assert_eq!(of_function.iter().filter(|slice| slice.name == "join").count(), 1);
}

#[test]
fn check_goes_through_the_runs_of_workers_and_names_what_is_wrong_in_each() {
    let sandbox = Sandbox::new();
    write_node(&sandbox, ["cpu", "a2a3sim"]);
    let answer = sandbox.ringlane(&["check", "node"]);
    assert_eq!(answer.status, 0, "{}", answer.stdout);
    for line in ["  chip0/1: ", "  chip1/1: "] {
        assert!(answer.stdout.contains(line), "{}", answer.stdout);
    }
    let json = sandbox.ringlane(&["check", "node", "--json"]).json();
    assert_eq!((&json["workers"][1]["run"], &json["workers"][1]["broken"]), (&"chip1/1".into(), &0.into()));
    let path = sandbox.path().join("node/chip1/1/run.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"swimlane_level\":3", "\"swimlane_level\":2", 1)).unwrap();
    let answer = sandbox.ringlane(&["check", "node"]);
    assert_eq!(answer.status, 1);
    assert!(answer.stdout.contains("  chip1/1/run.json: "), "{}", answer.stdout);
}

#[test]
fn the_projects_script_finds_nothing_wrong_with_a_node_and_its_workers() {
    let sandbox = Sandbox::new();
    write_node(&sandbox, ["cpu", "a2a3sim"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/check_run.py");
    if !script.exists() {
        return;
    }
    let runs = ["node", "node/chip0/1", "node/chip1/1"].map(|run| sandbox.path().join(run));
    let Ok(output) = std::process::Command::new("python3").arg(script).args(runs).output() else { return };
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.ends_with(" 0 broken\n"), "{printed}");
}
