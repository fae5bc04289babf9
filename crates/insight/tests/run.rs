//! The bound of runs written by hand: a chip of two kinds, lost rows, and files that do not belong together.

use std::io::Cursor;
use std::path::Path;

use ringlane_insight::CoreKind::{Aic, Aiv};
use ringlane_insight::InsightError;
use ringlane_insight::bound::{RunBound, of_run};
use ringlane_task::{BlockIndex, CoreId, DfxFlags, Explain, KernelId, Seq, TaskId, Ticks};
use ringlane_trace::deps::{self, DepsEdge, DepsTask, DepsWriter, EdgeSource, KernelRow};
use ringlane_trace::swimlane::{
    self, BlockRow, SwimlaneDropped, SwimlaneLevel, SwimlaneMeta, SwimlaneWriter,
};
use ringlane_trace::{FileEntry, Manifest, RunDir};
use tempfile::TempDir;

/// Tasks of an inner and an outer ring: ids do not follow the order of submission.
const FIRST: u64 = 1 << 32;
const MIXED: u64 = 0;
const LAST: u64 = 1;

const MATRIX: u32 = 0;
const VECTOR: u32 = 1;
const ANY: u32 = 2;

/// A run on one aic and two aiv cores, and how to spoil it.
///
/// ```text
/// core 0 (aic)   FIRST (any)   MIXED
/// core 1 (aiv)                 MIXED ─────   LAST
/// core 2 (aiv)                 MIXED
/// ```
struct Run {
    core_types: Vec<&'static str>,
    /// Core, task, kernel, start, end.
    blocks: Vec<(u32, u64, u32, u64, u64)>,
    tasks: Vec<u64>,
    edges: Vec<(u64, u64)>,
    lost: u64,
    makespan: u64,
    /// Ticks in a second, as run.json has it.
    clock_freq_hz: u64,
}

impl Run {
    fn good() -> Self {
        Run {
            core_types: vec!["aic", "aiv", "aiv"],
            blocks: vec![
                (0, FIRST, ANY, 10, 30),
                (0, MIXED, MATRIX, 35, 45),
                (1, MIXED, VECTOR, 35, 55),
                (2, MIXED, VECTOR, 36, 46),
                (1, LAST, VECTOR, 60, 90),
            ],
            tasks: vec![FIRST, MIXED, LAST],
            edges: vec![(FIRST, MIXED), (MIXED, LAST)],
            lost: 0,
            makespan: 100,
            clock_freq_hz: 50_000_000,
        }
    }

    fn bound(&self) -> Result<RunBound, InsightError> {
        let temp = TempDir::new().unwrap();
        let dir = RunDir::create_exact(temp.path().join("run")).unwrap();
        self.write_swimlane(&dir);
        self.write_deps(&dir);
        let flags = DfxFlags::DEPS.with_swimlane_level(1).unwrap();
        let now = "2026-11-15T09:30:12Z".parse().unwrap();
        let mut manifest = Manifest::new("by_hand", "small", "a2a3sim", now).with_dfx_flags(flags);
        (manifest.makespan_ticks, manifest.clock_freq_hz) = (self.makespan, self.clock_freq_hz);
        manifest.files = [swimlane::FILE_NAME, deps::FILE_NAME]
            .map(|name| FileEntry::plain(name, std::fs::metadata(dir.path().join(name)).unwrap().len()))
            .to_vec();
        manifest.write(&dir).unwrap();
        of_run(dir.path())
    }

    fn write_swimlane(&self, dir: &RunDir) {
        let meta = SwimlaneMeta {
            platform: "a2a3sim".to_string(),
            clock_freq_hz: 50_000_000,
            core_types: self.core_types.iter().map(|name| name.to_string()).collect(),
            num_scheduler_threads: 1,
            core_to_thread: vec![0; self.core_types.len()],
            kernels: kernels(),
        };
        let mut file = dir.create_file(swimlane::FILE_NAME).unwrap();
        let mut writer = SwimlaneWriter::new(&mut file, SwimlaneLevel::Blocks, &meta);
        for &(core, task, func, start, end) in &self.blocks {
            let row = BlockRow {
                core: CoreId(core),
                task_id: TaskId(task),
                func_id: KernelId(func),
                block: BlockIndex(core),
                start: Ticks(start),
                end: Ticks(end),
                ..BlockRow::default()
            };
            writer.row(&row).unwrap();
        }
        writer.finish(&SwimlaneDropped { blocks: self.lost, ..Default::default() }).unwrap();
        file.commit().unwrap();
    }

    fn write_deps(&self, dir: &RunDir) {
        let mut file = dir.create_file(deps::FILE_NAME).unwrap();
        let spools = [Cursor::new(Vec::new()), Cursor::new(Vec::new())];
        let mut writer = DepsWriter::new(&mut file, spools);
        for (&task, seq) in self.tasks.iter().zip(0..) {
            let (task_id, seq, site) = (TaskId(task), Seq(seq), "src/run.rs:7".into());
            let row = DepsTask { task_id, seq, block_num: 1, site, ..DepsTask::default() };
            writer.task(&row).unwrap();
        }
        for &(pred, succ) in &self.edges {
            let (pred, succ) = (TaskId(pred), TaskId(succ));
            writer.edge(&DepsEdge { pred, succ, source: EdgeSource::Explicit, cause: None }).unwrap();
        }
        writer.finish(self.lost).unwrap();
        file.commit().unwrap();
    }
}

fn kernels() -> Vec<KernelRow> {
    let kernel = |func_id, name: &str, core_type: &str| KernelRow {
        func_id: KernelId(func_id),
        name: name.to_string(),
        core_type: core_type.to_string(),
    };
    vec![kernel(MATRIX, "MATRIX", "aic"), kernel(VECTOR, "VECTOR", "aiv"), kernel(ANY, "ANY", "any")]
}

#[track_caller]
fn refused(run: &Run, name: &str, detail: &str) {
    let error = run.bound().unwrap_err();
    assert_eq!(error.name(), name, "{}", error.detail());
    assert!(error.detail().contains(detail), "{}", error.detail());
    assert!(!error.hint().is_empty());
}

#[test]
fn a_run_on_two_kinds_of_cores_has_a_bound_and_a_utilization_for_each() {
    let run = Run::good().bound().unwrap();
    assert_eq!((run.makespan, run.clock_freq_hz), (Ticks(100), 50_000_000));
    // FIRST ran on the aic and could have run elsewhere: the aic's own work is MIXED's block, after 20 and before 30.
    assert_eq!(run.bound.by_kind, [(Aic, Ticks(20 + 10 + 30)), (Aiv, Ticks(20 + 30 / 2 + 30))]);
    assert_eq!(run.bound.longest_path, Ticks(20 + 20 + 30));
    assert_eq!((run.bound.all_cores, run.bound.ticks), (Ticks(20 + 40 / 3 + 30), Ticks(70)));
    assert_eq!(run.ratio(), Some(100.0 / 70.0));
    let used: Vec<_> = run.kinds.iter().map(|used| (used.kind, used.cores, used.blocks, used.busy)).collect();
    assert_eq!(used, [(Aic, 1, 2, Ticks(30)), (Aiv, 2, 3, Ticks(60))]);
    assert_eq!(run.kinds.iter().map(|used| used.utilization).collect::<Vec<_>>(), [0.3, 0.3]);
}

#[test]
fn kernels_for_a_kind_that_the_chip_lacks_count_for_the_kind_it_has() {
    let run = Run { core_types: vec!["cpu", "cpu", "cpu"], ..Run::good() }.bound().unwrap();
    assert_eq!(run.bound.by_kind.len(), 1);
    assert_eq!(run.bound.by_kind[0].1, run.bound.all_cores);
    assert_eq!(run.kinds[0].busy, Ticks(90));
}

#[test]
fn a_run_without_tasks_has_a_bound_of_nothing_and_no_ratio() {
    let run =
        Run { blocks: vec![], tasks: vec![], edges: vec![], makespan: 0, ..Run::good() }.bound().unwrap();
    assert_eq!((run.bound.ticks, run.ratio(), run.kinds[0].utilization), (Ticks(0), None, 0.0));
}

#[test]
fn lost_rows_make_the_bound_smaller_and_are_reported() {
    let run = Run { tasks: vec![FIRST, LAST], lost: 1, ..Run::good() }.bound().unwrap();
    assert_eq!((run.lost_blocks, run.lost_tasks), (1, 1));
    assert_eq!((run.bound.longest_path, run.bound.ticks), (Ticks(20 + 20), Ticks(40)));
    assert_eq!(run.bound.all_cores, Ticks(20 + 40 / 3));
}

#[test]
fn a_swimlane_with_another_clock_than_the_run_is_of_another_run() {
    let refused = Run { clock_freq_hz: 49_999_999, ..Run::good() }.bound().unwrap_err();
    assert_eq!((refused.name(), refused.detail().contains("49999999 Hz")), ("FilesDisagree", true));
}

#[test]
fn a_task_that_ran_and_was_not_submitted_is_refused() {
    refused(&Run { tasks: vec![FIRST, LAST], ..Run::good() }, "FilesDisagree", "task 0:0 ran");
}

#[test]
fn an_edge_of_a_task_that_is_none_is_refused() {
    refused(&Run { edges: vec![(FIRST, 77)], ..Run::good() }, "FilesDisagree", "77");
}

#[test]
fn an_edge_against_the_order_of_submission_is_refused() {
    refused(&Run { edges: vec![(LAST, MIXED)], ..Run::good() }, "FilesDisagree", "from task 0:1 back to 0:0");
}

#[test]
fn a_block_on_a_core_that_is_none_is_refused() {
    refused(&Run { core_types: vec!["aic", "aiv"], ..Run::good() }, "FilesDisagree", "core 2");
}

#[test]
fn a_core_of_a_kind_that_is_not_known_is_refused_by_its_name() {
    refused(&Run { core_types: vec!["aic", "aiv", "npu"], ..Run::good() }, "FilesDisagree", "npu");
}

#[test]
fn a_directory_without_a_run_is_refused_in_the_words_of_its_reader() {
    assert_eq!(of_run(Path::new("/nowhere/at/all")).unwrap_err().name(), "NoManifest");
}
