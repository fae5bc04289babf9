//! Runs over several processes, put on one clock.

use std::path::Path;

use ringlane_insight::Run;
use ringlane_insight::node::Node;
use ringlane_task::{BlockIndex, CoreId, DfxFlags, KernelId, TaskId, Ticks};
use ringlane_trace::dist::{self, *};
use ringlane_trace::swimlane::{self, *};
use ringlane_trace::{ChildRun, FileEntry, Manifest, ModelFacts, RunDir};
use tempfile::TempDir;

const NODE_HZ: u64 = 1_000_000_000;

/// A run of one block on one core, from tick 10 to tick 30 of its 100.
fn write_chip(path: &Path, platform: &str, hz: u64) {
    let dir = RunDir::create_exact(path).unwrap();
    let mut file = dir.create_file(swimlane::FILE_NAME).unwrap();
    let meta = SwimlaneMeta {
        platform: platform.to_string(),
        clock_freq_hz: hz,
        core_types: vec!["cpu".to_string()],
        num_scheduler_threads: 1,
        core_to_thread: vec![0],
        kernels: vec![KernelRow { func_id: KernelId(0), name: "ADD".into(), core_type: "any".into() }],
    };
    let mut writer = SwimlaneWriter::new(&mut file, SwimlaneLevel::Blocks, &meta);
    let (start, end) = (Ticks(10), Ticks(30));
    writer
        .row(&BlockRow { core: CoreId(0), block: BlockIndex(0), start, end, ..BlockRow::default() })
        .unwrap();
    writer.finish(&SwimlaneDropped::default()).unwrap();
    let entry = FileEntry::with_rows(swimlane::FILE_NAME, file.commit().unwrap(), 1, 0);
    let mut manifest = manifest(platform, DfxFlags::SWIMLANE_CORES);
    (manifest.makespan_ticks, manifest.clock_freq_hz) = (100, hz);
    manifest.model = platform.ends_with("sim").then(ModelFacts::default);
    manifest.files = vec![entry];
    manifest.write(&dir).unwrap();
}

fn manifest(platform: &str, flags: DfxFlags) -> Manifest {
    let now = "2026-11-15T09:30:12Z".parse().unwrap();
    Manifest::new("by_hand", "small", platform, now).with_dfx_flags(flags)
}

fn worker(name: &str, kind: WorkerKind) -> DistWorker {
    let name = name.to_string();
    DistWorker { name, kind, pid: 1, clock_offset_ticks: -5, clock_error_ticks: Some(4), restarts: 0 }
}

/// A call of worker `at` whose callable ran from `run` for 500 ticks, and whose own run began 7 ticks into it.
fn call(at: u32, seq: u64, run: u64, dir: Option<&'static str>) -> CallRow<'static> {
    CallRow {
        sent: Some(Ticks(run - 20)),
        accepted: Some(Ticks(run - 22)),
        run: Some(Ticks(run)),
        end: Some(Ticks(run + 500)),
        done: Some(Ticks(run + 510)),
        dir: dir.map(Into::into),
        chip_start: dir.map(|_| Ticks(run + 7)),
        chip_ticks: dir.map(|_| 100),
        chip_freq_hz: dir.map(|_| NODE_HZ),
        ..CallRow::submitted(WorkerIndex(at), CallSeq(seq), TaskId(seq), Ticks(run - 30))
    }
}

fn write_node(path: &Path, level: u8, workers: Vec<DistWorker>, calls: &[CallRow<'static>]) {
    let dir = RunDir::create_exact(path).unwrap();
    let mut file = dir.create_file(dist::FILE_NAME).unwrap();
    let names = workers.iter().map(|worker| worker.name.clone()).collect::<Vec<_>>();
    let meta = DistMeta {
        platform: "cpu".to_string(),
        clock_freq_hz: NODE_HZ,
        makespan: Ticks(10_000),
        level,
        workers,
        callables: vec!["decode".to_string()],
    };
    let mut writer = DistWriter::new(&mut file, &meta);
    calls.iter().for_each(|call| writer.call(call).unwrap());
    writer.finish(0).unwrap();
    let entry = FileEntry::with_rows(dist::FILE_NAME, file.commit().unwrap(), calls.len() as u64, 0);
    let mut manifest = manifest("cpu", DfxFlags::NODE_SWIMLANE);
    (manifest.makespan_ticks, manifest.clock_freq_hz, manifest.files) = (10_000, NODE_HZ, vec![entry]);
    let child = |call: &CallRow<'static>| {
        let worker = names[call.worker.at()].clone();
        let dir = call.dir.clone()?.into_owned();
        Some(ChildRun { worker, seq: call.seq.0, dir, task_id: call.task_id, status: call.status })
    };
    manifest.children = calls.iter().filter_map(child).collect();
    manifest.write(&dir).unwrap();
}

fn node_of(path: &Path) -> Node {
    Run::open(path).unwrap().node().unwrap()
}

/// The block of a run: 10 to 30 of its own ticks.
fn block_of(node: &Node, run: usize) -> (u64, u64) {
    let blocks = node.runs[run].blocks().unwrap().blocks;
    assert_eq!(blocks.len(), 1);
    (blocks[0].start.0, blocks[0].end.0)
}

#[test]
fn a_run_on_this_machine_is_placed_where_it_was_and_one_of_another_rate_in_its_ticks() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("node");
    let workers = vec![worker("chip0", WorkerKind::Chip), worker("chip1", WorkerKind::Chip)];
    write_node(&path, 3, workers, &[call(0, 1, 1000, Some("chip0/1")), call(1, 1, 2000, Some("chip1/1"))]);
    write_chip(&path.join("chip0/1"), "cpu", NODE_HZ);
    write_chip(&path.join("chip1/1"), "cpu", NODE_HZ / 2);
    let node = node_of(&path);
    assert_eq!((node.level, node.workers.len(), &node.callables[..]), (3, 2, &["decode".to_string()][..]));
    assert_eq!(block_of(&node, 0), (1007 + 10, 1007 + 30));
    assert_eq!(block_of(&node, 1), (2007 + 20, 2007 + 60));
    assert_eq!(node.runs[1].span(), (Ticks(2007), Ticks(2207)));
    assert_eq!(node.runs.iter().map(|run| run.stretch).collect::<Vec<_>>(), [None, None]);
}

#[test]
fn a_modelled_run_fills_the_time_of_its_call_and_says_by_how_much_it_was_stretched() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("node");
    write_node(&path, 3, vec![worker("chip0", WorkerKind::Chip)], &[call(0, 1, 1000, Some("chip0/1"))]);
    write_chip(&path.join("chip0/1"), "a2a3sim", 50_000_000);
    let node = node_of(&path);
    assert_eq!(node.runs[0].span(), (Ticks(1000), Ticks(1500)));
    assert_eq!(block_of(&node, 0), (1050, 1150));
    // 100 ticks of 20 ns are 2 µs, and the call ran for half of one.
    assert_eq!(node.runs[0].stretch, Some(0.25));
}

#[test]
fn the_chips_of_a_node_below_a_node_are_on_the_clock_of_the_one_at_the_top() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("top");
    let calls = [call(0, 1, 3000, Some("node0/1")), call(0, 2, 5000, Some("node0/2"))];
    write_node(&path, 4, vec![worker("node0", WorkerKind::Node)], &calls);
    for below in ["node0/1", "node0/2"] {
        let workers = vec![worker("chip0", WorkerKind::Chip), worker("f", WorkerKind::Function)];
        write_node(&path.join(below), 3, workers, &[call(0, 1, 100, Some("chip0/1")), call(1, 1, 200, None)]);
        write_chip(&path.join(below).join("chip0/1"), "cpu", NODE_HZ);
    }
    let node = node_of(&path);
    let workers: Vec<_> =
        node.workers.iter().map(|worker| (worker.path.as_str(), worker.depth, worker.calls.len())).collect();
    assert_eq!(workers, [("node0", 0, 2), ("node0/chip0", 1, 2), ("node0/f", 1, 2)]);
    let dirs: Vec<_> = node.runs.iter().map(|run| run.dir.as_str()).collect();
    assert_eq!(dirs, ["node0/1", "node0/2", "node0/1/chip0/1", "node0/2/chip0/1"]);
    assert_eq!(
        node.workers[1].calls.iter().map(|call| call.row.run.unwrap().0).collect::<Vec<_>>(),
        [3107, 5107]
    );
    assert_eq!((block_of(&node, 2), block_of(&node, 3)), ((3124, 3144), (5124, 5144)));
}

#[test]
fn steps_that_two_clocks_put_in_the_wrong_order_are_moved_together() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("node");
    write_node(&path, 3, vec![worker("f", WorkerKind::Function)], &[call(0, 1, 1000, None)]);
    let row = &node_of(&path).workers[0].calls[0].row;
    assert_eq!((row.sent, row.accepted, row.run), (Some(Ticks(980)), Some(Ticks(980)), Some(Ticks(1000))));
}

#[test]
fn a_worker_that_died_and_a_run_that_is_gone_are_reported_in_their_places() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("node");
    let died = CallRow { end: None, status: CallStatus::Died, ..call(0, 1, 1000, Some("chip0/1")) };
    let workers = vec![worker("chip0", WorkerKind::Chip)];
    write_node(
        &path,
        3,
        workers,
        &[died, call(0, 2, 2000, Some("chip0/2")), call(0, 3, 3000, Some("chip0/3"))],
    );
    std::fs::create_dir_all(path.join("chip0/1")).unwrap();
    write_chip(&path.join("chip0/3"), "cpu", NODE_HZ);
    let node = node_of(&path);
    assert_eq!(node.workers[0].calls[0].until(), Ticks(1510));
    let errors: Vec<_> =
        node.runs.iter().map(|run| run.run.as_ref().err().map_or("", String::as_str)).collect();
    assert!(
        errors[0].contains("run.json") && errors[1].contains("chip0/2, which does not exist"),
        "{errors:?}"
    );
    assert_eq!((errors[2], node.runs[0].blocks().unwrap().blocks.len()), ("", 0));
}

#[test]
fn calls_of_another_clock_than_the_runs_are_of_another_run() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("node");
    write_node(&path, 3, vec![worker("f", WorkerKind::Function)], &[call(0, 1, 1000, None)]);
    let run = std::fs::read_to_string(path.join("run.json")).unwrap();
    std::fs::write(
        path.join("run.json"),
        run.replace("\"clock_freq_hz\":1000000000", "\"clock_freq_hz\":999999999"),
    )
    .unwrap();
    let error = Run::open(&path).unwrap().node().unwrap_err();
    assert!(error.to_string().contains("from different runs"), "{error}");
}
