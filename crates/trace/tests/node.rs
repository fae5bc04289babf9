//! A node's run and those of its workers: a true one is found true, and every invariant between them, broken on purpose,
//! is seen to be broken.

mod common;

use std::fs;
use std::path::Path;

use common::{ADD, MAKESPAN, MIX, SCALE, TestDir, script, write_run};
use ringlane_task::{DfxFlags, TaskId, Ticks};
use ringlane_trace::dist::*;
use ringlane_trace::swimlane::SwimlaneLevel;
use ringlane_trace::{ChildRun, FileEntry, Manifest, RunDir, check_run, check_tree};

const DIST: &str = "dist_swimlane.json";
const RUN: &str = "run.json";

fn worker(name: &str, kind: WorkerKind, clock_error_ticks: u64) -> DistWorker {
    DistWorker {
        name: name.to_string(),
        kind,
        pid: 7,
        clock_offset_ticks: -3,
        clock_error_ticks: Some(clock_error_ticks),
        restarts: 0,
    }
}

fn call(worker: u32, seq: u64, task: TaskId, steps: [u64; 6], dir: Option<&'static str>) -> CallRow<'static> {
    let [submit, sent, accepted, run, end, done] = steps;
    CallRow {
        sent: Some(Ticks(sent)),
        accepted: Some(Ticks(accepted)),
        run: Some(Ticks(run)),
        end: Some(Ticks(end)),
        done: Some(Ticks(done)),
        dir: dir.map(Into::into),
        chip_start: dir.map(|_| Ticks(run + 1)),
        chip_ticks: dir.map(|_| MAKESPAN),
        chip_freq_hz: dir.map(|_| 50_000_000),
        ..CallRow::submitted(WorkerIndex(worker), CallSeq(seq), task, Ticks(submit))
    }
}

/// Two chips and a function: the second chip dies of its second call, and its clock may be off by 5.
fn calls() -> Vec<CallRow<'static>> {
    let died = CallRow {
        sent: Some(Ticks(260)),
        accepted: Some(Ticks(270)),
        run: Some(Ticks(280)),
        done: Some(Ticks(900)),
        status: CallStatus::Died,
        dir: Some("chip1/2".into()),
        ..CallRow::submitted(WorkerIndex(1), CallSeq(2), ADD, Ticks(91))
    };
    vec![
        call(0, 1, SCALE, [5, 20, 30, 40, 95, 100], Some("chip0/1")),
        // Sent at 120 on the node's clock, accepted at 117 on the worker's: the clocks are that far apart.
        call(1, 1, MIX, [35, 120, 117, 130, 210, 209], Some("chip1/1")),
        call(2, 1, MIX, [36, 121, 131, 141, 200, 210], None),
        died,
    ]
}

fn write_dist(dir: &RunDir) -> FileEntry {
    let workers = vec![
        worker("chip0", WorkerKind::Chip, 0),
        worker("chip1", WorkerKind::Chip, 5),
        worker("function0", WorkerKind::Function, 0),
    ];
    let meta = DistMeta {
        platform: "a2a3sim".to_string(),
        clock_freq_hz: 50_000_000,
        makespan: Ticks(MAKESPAN),
        level: 3,
        workers,
        callables: vec!["scale".to_string()],
    };
    let mut file = dir.create_file(FILE_NAME).unwrap();
    let mut writer = DistWriter::new(&mut file, &meta);
    calls().iter().for_each(|call| writer.call(call).unwrap());
    let counts = writer.finish(0).unwrap();
    FileEntry::with_rows(FILE_NAME, file.commit().unwrap(), counts.collected, counts.dropped)
}

fn write_node(path: &Path) {
    write_run(path, SwimlaneLevel::Phases);
    let mut manifest = Manifest::read(path).unwrap();
    fs::remove_file(path.join(RUN)).unwrap();
    let dir = RunDir::create_exact(path).unwrap();
    manifest.files.push(write_dist(&dir));
    let child = |call: &CallRow<'_>| {
        let dir = call.dir.clone()?.into_owned();
        let (worker, _) = dir.split_once('/').unwrap();
        let (worker, seq, task_id, status) = (worker.to_string(), call.seq.0, call.task_id, call.status);
        Some(ChildRun { worker, seq, dir, task_id, status })
    };
    manifest.children = calls().iter().filter_map(child).collect();
    for child in &manifest.children {
        write_run(&path.join(&child.dir), SwimlaneLevel::Blocks);
    }
    // The one that died had made its directory, and no more.
    fs::remove_dir_all(path.join("chip1/2")).unwrap();
    fs::create_dir(path.join("chip1/2")).unwrap();
    let flags = manifest.dfx_flags().with(DfxFlags::NODE_SWIMLANE);
    manifest.with_dfx_flags(flags).write(&dir).unwrap();
}

#[test]
fn a_nodes_run_is_found_true_here_and_by_the_script_and_so_are_its_workers() {
    let root = TestDir::new();
    let path = root.join("node");
    write_node(&path);
    let reports = check_tree(&path).unwrap();
    let found: Vec<_> = reports.iter().map(|(dir, _)| dir.to_str().unwrap()).collect();
    assert_eq!(found, ["", "chip0/1", "chip1/1"], "the one that died left nothing to check");
    for (dir, report) in &reports {
        assert_eq!(report.broken, [], "{}", dir.display());
    }
    let alone = check_run(&path).unwrap().held;
    assert_eq!(reports[0].1.held, alone);
    if let Some(printed) = script(&[path.clone(), path.join("chip0/1")]) {
        assert!(printed.ends_with(" 0 broken\n"), "{printed}");
    }
}

/// What is done to a file of a node's run, the file that is blamed, and what is said of it.
struct Case {
    edits: &'static [(&'static str, &'static str, &'static str)],
    blamed: &'static str,
    what: &'static str,
}

const fn dist(edits: &'static [(&'static str, &'static str, &'static str)], what: &'static str) -> Case {
    Case { edits, blamed: DIST, what }
}

const fn run(edits: &'static [(&'static str, &'static str, &'static str)], what: &'static str) -> Case {
    Case { edits, blamed: RUN, what }
}

const HEADS: &[Case] = &[
    run(&[(RUN, "0xff", "0x7f")], "dfx_flags 0x7f and the file dist_swimlane.json disagree"),
    run(&[(RUN, "dist_swimlane.json", "dust_swimlane.json")], "the entry dist_swimlane.json disagree"),
    dist(&[(DIST, "a2a3sim", "a5sim")], "platform or clock differs from run.json"),
    dist(&[(DIST, "\"clock_freq_hz\":50000000", "\"clock_freq_hz\":50000001")], "platform or clock differs"),
    dist(&[(DIST, "\"makespan_ticks\":1000", "\"makespan_ticks\":999")], "999 ticks, run.json says 1000"),
    dist(&[(DIST, "\"level\":3", "\"level\":2")], "level 2 is not a node's"),
    dist(&[(DIST, "\"total\":4", "\"total\":5")], "4 collected and 0 dropped are not 5"),
];

const TIMES: &[Case] = &[
    dist(&[(DIST, ",5,20,30,", ",21,20,30,")], "call 1 of chip0 has submit at 21 after sent at 20"),
    dist(&[(DIST, ",5,20,30,", ",5,31,30,")], "call 1 of chip0 has sent at 31 after accepted at 30"),
    dist(&[(DIST, ",35,120,117,", ",35,123,117,")], "call 1 of chip1 has sent at 123 after accepted at 117"),
    dist(&[(DIST, ",30,40,95,", ",41,40,95,")], "call 1 of chip0 has accepted at 41 after run at 40"),
    dist(&[(DIST, ",40,95,100,", ",40,39,100,")], "call 1 of chip0 has run at 40 after end at 39"),
    dist(&[(DIST, ",40,95,100,", ",40,101,100,")], "call 1 of chip0 has end at 101 after done at 100"),
    dist(&[(DIST, ",130,210,209,", ",130,215,209,")], "call 1 of chip1 has end at 215 after done at 209"),
    dist(&[(DIST, ",null,900,", ",null,1001,")], "call 2 of chip1 has done at 1001, outside the run's 1000"),
    dist(&[(DIST, ",30,40,95,", ",null,40,95,")], "call 1 of chip0 has a step without the one before"),
    dist(&[(DIST, ",5,20,30,", ",5,null,30,")], "call 1 of chip0 has a step without the one before"),
    dist(&[(DIST, ",30,40,95,", ",30,null,95,")], "call 1 of chip0 has a step without the one before"),
    dist(&[(DIST, ",40,95,100,", ",40,null,100,")], "call 1 of chip0 ended as ok without having come so far"),
    dist(&[(DIST, ",95,100,\"ok\"", ",95,null,\"ok\"")], "call 1 of chip0 ended as ok without"),
    dist(&[(DIST, ",210,209,\"ok\"", ",210,null,\"failed\"")], "call 1 of chip1 ended as failed without"),
    dist(
        &[(DIST, "\"chip0/1\",41,", "\"chip0/1\",39,")],
        "the run of call 1 of chip0 began at 39, outside the call",
    ),
    dist(
        &[(DIST, "\"chip0/1\",41,", "\"chip0/1\",96,")],
        "the run of call 1 of chip0 began at 96, outside the call",
    ),
    dist(
        &[("chip0/1/run.json", "\"makespan_ticks\":1000", "\"makespan_ticks\":1001")],
        "has another length than its run.json, 1001 ticks of 50000000 Hz",
    ),
    dist(&[(DIST, ",41,1000,50000000]", ",41,1000,50000001]")], "has another length than its run.json"),
    dist(
        &[("chip0/1/run.json", "a2a3sim", "cpu")],
        "the run of call 1 of chip0 took 1000 ticks, but only 54 were left",
    ),
    dist(&[(DIST, ",91,260,270,", ",91,208,270,")], "call 2 of chip1 was sent before call 1 was done"),
    dist(&[(DIST, "[1,2,", "[1,1,")], "call 1 of chip1 appears twice"),
];

const PLACES: &[Case] = &[
    dist(
        &[(DIST, "[0,1,0,", "[0,1,9,"), (RUN, "\"task_id\":0,", "\"task_id\":9,")],
        "is of task 0:9, which is none",
    ),
    dist(
        &[(DIST, "[2,1,4294967296,", "[2,1,4294967297,")],
        "call 1 of function0 ended well, and task 1:1 has no block",
    ),
    dist(
        &[(DIST, "\"chip0/1\"", "\"chip0/2\"")],
        "call 1 of chip0 left chip0/2, which run.json does not list so",
    ),
    dist(&[(DIST, "\"chip0/1\"", "\"chip0/2\"")], "run.json lists [\"chip0/1\"], which no call wrote"),
    dist(&[(DIST, "\"chip1/1\"", "\"chip0/1\"")], "two calls have the directory chip0/1"),
    dist(&[(DIST, "\"chip0/1\"", "null")], "run.json lists [\"chip0/1\"], which no call wrote"),
    dist(&[(RUN, "\"seq\":2", "\"seq\":3")], "call 2 of chip1 left chip1/2, which run.json does not list so"),
    dist(&[(RUN, "\"status\":\"died\"", "\"status\":\"late\"")], "which run.json does not list so"),
    run(
        &[(RUN, "\"chip0/1\"", "\"chip0/3\""), (DIST, "\"chip0/1\"", "\"chip0/3\"")],
        "it lists chip0/3, which does not exist",
    ),
    run(&[(RUN, "\"chip0/1\"", "\"../1\"")], "child \"../1\" is not inside the run directory"),
    run(&[(RUN, "\"status\":\"died\"", "\"status\":\"ok\"")], "chip1/2 is listed as ok and has no run.json"),
    run(
        &[(RUN, "\"status\":\"died\"", "\"status\":\"failed\"")],
        "chip1/2 is listed as failed and has no run.json",
    ),
    run(
        &[("chip0/1/run.json", "\"status\":\"ok\",\"error\":null", FAILED)],
        "chip0/1 is listed as ok, its own run.json says failed",
    ),
];

const FAILED: &str =
    "\"status\":\"failed\",\"error\":{\"name\":\"TaskFailed\",\"detail\":\"so\",\"hint\":\"why\"}";

#[test]
fn every_invariant_between_a_node_and_its_workers_that_is_broken_is_found_and_named() {
    let root = TestDir::new();
    for (at, case) in [HEADS, TIMES, PLACES].into_iter().flatten().enumerate() {
        let path = root.join(&format!("case-{at}"));
        write_node(&path);
        case.edits.iter().for_each(|edit| apply(&path, edit));
        let report = check_run(&path).unwrap();
        let found =
            report.broken.iter().any(|broken| broken.file == case.blamed && broken.what.contains(case.what));
        assert!(found, "{:?} in {} of {:#?}", case.what, case.blamed, report.broken);
    }
}

#[test]
fn what_is_wrong_in_a_workers_run_is_found_below_the_nodes() {
    let root = TestDir::new();
    let path = root.join("node");
    write_node(&path);
    apply(&path, &("chip1/1/run.json", "\"tasks\":4", "\"tasks\":5"));
    let reports = check_tree(&path).unwrap();
    let broken: Vec<_> =
        reports.iter().map(|(dir, report)| (dir.to_str().unwrap(), report.broken.len())).collect();
    assert_eq!(broken, [("", 0), ("chip0/1", 0), ("chip1/1", 1)]);
}

#[test]
fn directories_that_lead_back_to_themselves_have_an_end() {
    let root = TestDir::new();
    let path = root.join("node");
    write_node(&path);
    fs::remove_dir_all(path.join("chip0/1")).unwrap();
    std::os::unix::fs::symlink("../../node", path.join("chip0/1")).unwrap();
    let reports = check_tree(&path).unwrap();
    let dirs: Vec<_> = reports.iter().map(|(dir, _)| dir.to_str().unwrap()).collect();
    assert_eq!(dirs, ["", "chip1/1"]);
    let broken = &reports[0].1.broken;
    assert!(
        broken.iter().any(|broken| broken.what == "it lists chip0/1, which does not exist"),
        "{broken:?}"
    );
}

fn apply(run: &Path, (file, from, to): &(&str, &str, &str)) {
    let text = fs::read_to_string(run.join(file)).unwrap();
    assert!(text.contains(from), "{from:?} is not in {file}: {text}");
    let changed = text.replacen(from, to, 1);
    fs::write(run.join(file), &changed).unwrap();
    if *file == DIST {
        // Only what the case is about is wrong.
        let entry = |bytes| format!("\"path\":\"{file}\",\"bytes\":{bytes}");
        let manifest = fs::read_to_string(run.join(RUN)).unwrap();
        fs::write(run.join(RUN), manifest.replace(&entry(text.len()), &entry(changed.len()))).unwrap();
    }
}
