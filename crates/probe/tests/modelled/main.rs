//! Recordings of a chip that keeps its own time: the files hold what it reports, and two recordings are equal.

mod chip;

use std::collections::BTreeMap;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use chip::{BEGUN, CORES, Queue, Reporter, THREADS, Time, Tiny};
use ringlane_engine::observe::{PlacedBlock, ThreadPhase, ThreadWork};
use ringlane_engine::orchestrator::State;
use ringlane_engine::prelude::*;
use ringlane_engine::seams::Probe;
use ringlane_engine::session;
use ringlane_engine::slot::TaskRecord;
use ringlane_engine::table::Table;
use ringlane_probe::{
    Copies, Cores, DumpSelection, Exported, ModelCounters, Pool, Recorder, RunFacts, Settings, StartError,
};
use ringlane_task::{Capacities, CoreId, DfxFlags, Explain, KernelId, Overflow, Ticks};
use ringlane_trace::dump::Dump;
use ringlane_trace::pmu::Pmu;
use ringlane_trace::rows::KernelRow;
use ringlane_trace::swimlane::{CopyDirection, CopyRow, Swimlane, SwimlaneLevel};
use ringlane_trace::{Manifest, PmuSource, RunDir, UtcTime, check_run};

kernel! { static FILL = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
kernel! { static ADD = any fn(x: &[u32], y: &mut [u32]) { y.iter_mut().zip(x).for_each(|(y, x)| *y += x); } }
kernel! { static CHECK_15 = any fn(x: &[u32]) { assert_eq!(x[0], 15); } }

/// A directory for one test, removed when the test ends.
struct TestDir(PathBuf);

impl TestDir {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let path = std::env::temp_dir().join(format!("ringlane-modelled-{}-{number}", std::process::id()));
        TestDir(path)
    }

    fn create(&self) -> RunDir {
        RunDir::create_exact(&self.0).unwrap()
    }
}

impl Drop for TestDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn timeline(level: u8) -> DfxFlags {
    DfxFlags::default().with_swimlane_level(level).unwrap()
}

fn all_flags(level: u8) -> DfxFlags {
    let others = [DfxFlags::DUMP, DfxFlags::PMU, DfxFlags::DEPS, DfxFlags::SCOPES];
    others.into_iter().fold(timeline(level), DfxFlags::with)
}

fn settings(flags: DfxFlags, slots: usize) -> Settings {
    let columns = ["vec_busy_cycles", "icache_miss"].map(String::from).to_vec();
    Settings {
        flags,
        overflow: Overflow::Drop,
        dump: DumpSelection::Everything,
        cores: Cores::Modelled {
            count: CORES,
            counters: ModelCounters { group: 2, columns, measured: false },
        },
        slots,
        pool: Pool::default(),
        stop_asked: None,
    }
}

fn start(dir: &RunDir, settings: Settings) -> (Recorder<Time>, Time) {
    let time = Time::new();
    // SAFETY: each test calls its hooks from its own thread alone.
    let recorder = unsafe { Recorder::start(time.clone(), dir, settings) };
    (recorder.unwrap(), time)
}

fn facts(makespan_ticks: u64) -> RunFacts {
    RunFacts {
        platform: "a5sim".to_string(),
        clock_freq_hz: 1_000_000_000,
        started_ticks: BEGUN,
        makespan_ticks,
        core_types: ["aic", "aiv", "aiv"].map(String::from).to_vec(),
        threads: THREADS as u32,
        core_to_thread: vec![0, 1, 0],
        copies: Some(Copies { rows: copies().to_vec(), dropped: 3 }),
        launches: None,
        kernels: vec![KernelRow { func_id: KernelId(0), name: "K".into(), core_type: "any".into() }],
        sites: Vec::new(),
        capacities: Capacities::default(),
        has_cost_model: true,
        external_bytes: Vec::new(),
        fatal: None,
    }
}

fn copies() -> [CopyRow; 2] {
    [copy(CopyDirection::HostToDevice, 0, 5), copy(CopyDirection::DeviceToHost, 20, 30)]
}

fn copy(direction: CopyDirection, start: u64, end: u64) -> CopyRow {
    let what = "buffer 0".to_string();
    CopyRow { direction, what, bytes: 256, start: Ticks(BEGUN + start), end: Ticks(BEGUN + end) }
}

/// Runs a small program with everything on, and leaves its directory as a run does.
fn record(dir: &RunDir, level: u8) -> Exported {
    let table = Table::new(&Capacities::default(), CORES as usize).unwrap();
    let mut state = State::new(&table);
    let (recorder, time) = start(dir, settings(all_flags(level), table.slot_count()));
    let reporter = Reporter::new(&recorder, time);
    let mut buffers = Buffers::new();
    let x = buffers.add(&[64], &[1u32; 64]).unwrap();
    let chip = Tiny { table: &table, probe: &reporter, queue: Queue::default(), taken: 0 };
    let (site, buffers) = (Location::caller(), &mut buffers);
    let orchestration = |o: &mut Orch<'_, '_>| {
        let x = o.external(x)?;
        o.scope(|o| {
            for to in 2..6u32 {
                let made = o.submit(&FILL, [out(u32, [64]), scalar(to)])?;
                o.submit(&ADD, [made.out(0).read(), x.inout()])?;
            }
            Ok(())
        })?;
        o.submit(CHECK_15.blocks(3), [x.read()])?;
        Ok(())
    };
    // SAFETY: the table is new and nobody else's; the chip runs each task that it is given once.
    let run = unsafe { session::run(&table, &mut state, chip, &reporter, site, buffers, orchestration) };
    run.result.unwrap();
    reporter.finish_phases();
    drop(reporter);
    let kernel = |(id, kernel): (usize, &Kernel)| KernelRow {
        func_id: KernelId(id as u32),
        name: kernel.name().to_string(),
        core_type: kernel.core().as_str().to_string(),
    };
    let exported = recorder.export(&RunFacts {
        kernels: table.kernels().enumerate().map(kernel).collect(),
        sites: table.sites().collect(),
        capacities: *table.capacities(),
        has_cost_model: true,
        external_bytes: table.external_bytes(),
        ..facts(run.report.makespan_ticks)
    });
    let mut manifest =
        Manifest::new("tiny", "small", "a5sim", UtcTime::now()).with_dfx_flags(all_flags(level));
    manifest.makespan_ticks = run.report.makespan_ticks;
    (manifest.tasks, manifest.blocks) = (run.report.tasks, run.report.blocks);
    (manifest.scopes, manifest.cores) = (run.report.scopes, CORES);
    (manifest.pmu, manifest.files) = (exported.pmu.clone(), exported.files.clone());
    manifest.write(dir).unwrap();
    exported
}

/// Every file of a directory but the manifest, which holds dates.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path).into_iter().map(|(name, bytes)| (path.join(name), bytes)));
        } else if path.file_name().unwrap() != "run.json" {
            files.insert(path.file_name().unwrap().into(), std::fs::read(&path).unwrap());
        }
    }
    files.into_iter().map(|(path, bytes)| (path.file_name().unwrap().into(), bytes)).collect()
}

#[test]
fn what_a_modelled_chip_reports_is_what_its_files_hold() {
    let test = TestDir::new();
    let exported = record(&test.create(), 3);
    assert!(exported.problems.is_empty(), "{:?}", exported.problems);
    assert_eq!(exported.pmu, Some(PmuSource { source: "model".into(), group: 2 }));
    let report = check_run(&test.0).unwrap();
    assert!(report.broken.is_empty(), "{:?}", report.broken);

    let swimlane = Swimlane::read(&test.0).unwrap();
    let meta = &swimlane.head.meta;
    assert_eq!((meta.platform.as_str(), meta.num_scheduler_threads), ("a5sim", 2));
    assert_eq!((meta.core_types[2].as_str(), &meta.core_to_thread[..]), ("aiv", &[0, 1, 0][..]));
    let cores: Vec<u32> = swimlane.blocks.iter().map(|block| block.core.0).collect();
    assert_eq!(cores, (0..11).map(|block| block % CORES).collect::<Vec<_>>());
    let first = &swimlane.blocks[0];
    assert_eq!((first.start.0 - first.dispatch.0, first.end.0 - first.start.0), (2, 50));
    assert_eq!(first.finish.0 - first.end.0, 3);
    assert_eq!((swimlane.tasks.len(), swimlane.submits.len()), (9, 9));
    let rounds = |thread| swimlane.phases.iter().filter(move |row| row.thread == thread).map(|row| row.loop_);
    assert!(rounds(0).is_sorted() && rounds(0).max() > Some(1));
    // What is shorter than a tick is kept if it concerns a task.
    assert!(swimlane.phases.iter().all(|row| row.start < row.end || row.tasks > 0));
    let copies = swimlane.head.copies.unwrap();
    assert_eq!(
        (copies[1].direction, copies[1].start, copies[1].end.0),
        (CopyDirection::DeviceToHost, Ticks(20), 30)
    );
    assert_eq!((copies.len(), copies[0].bytes), (2, 256));
    assert_eq!((swimlane.head.counts.copies.collected, swimlane.head.counts.copies.dropped), (2, 3));

    let pmu = Pmu::read(&test.0).unwrap();
    assert_eq!(pmu.counter_columns().collect::<Vec<_>>(), ["vec_busy_cycles", "icache_miss"]);
    let row = &pmu.rows[1];
    assert_eq!((row.thread_id, row.core_id, &*row.core_type), (1, CoreId(1), "aiv"));
    assert_eq!((row.pmu_total_cycles, &row.counters[..], row.event_type), (50, &[7, 9][..], 2));
    let dump = Dump::read(&test.0).unwrap();
    // Of four fills a scalar and an output, of four sums an input and an inout at both ends, of the last its input.
    assert_eq!(dump.records.len(), 4 * 2 + 4 * 3 + 1);
}

#[test]
fn two_recordings_of_one_program_are_equal_byte_for_byte() {
    for level in 1..=3 {
        let tests = [TestDir::new(), TestDir::new()];
        let costs = [0, 1].map(|i| record(&tests[i].create(), level).cost.bytes);
        let [first, second] = [0, 1].map(|i| files(&tests[i].0));
        assert_eq!(first.len(), 6, "{:?}", first.keys());
        assert!(first == second, "the files of level {level} differ");
        assert_eq!(costs[0], costs[1]);
    }
}

/// Reports `blocks` blocks, more than the memory of a recording holds.
fn many(dir: &RunDir, blocks: u32) -> Exported {
    let flags = timeline(3).with(DfxFlags::PMU);
    let (recorder, _) = start(dir, settings(flags, 16));
    for i in 0..blocks {
        let (record, at) = (TaskRecord { local: i, ..TaskRecord::default() }, BEGUN + u64::from(i));
        let (core, thread) = (CoreId(i * 7 % CORES), i % THREADS as u32);
        let [dispatch, start, end, finish] = [0, 1, 5, 6].map(|after| Ticks(at + after));
        let (record, counters, lane, block) = (&record, &[4, 3, 2][..], 0, 0);
        recorder.probe().block(&PlacedBlock {
            work: None,
            core,
            thread,
            record,
            kernel: 0,
            lane,
            block,
            dispatch,
            start,
            end,
            finish,
            counters,
        });
        let (work, round) = (ThreadWork::Complete, u64::from(i));
        recorder.probe().phase(&ThreadPhase { thread, work, start, end, round, tasks: 1 });
    }
    recorder.export(&facts(u64::from(blocks) + 10))
}

#[test]
fn rows_that_were_spooled_to_disk_keep_the_order_in_which_they_were_reported() {
    let (blocks, tests) = (150_000, [TestDir::new(), TestDir::new()]);
    let costs = [0, 1].map(|i| many(&tests[i].create(), blocks).cost);
    assert_eq!((costs[0].bytes, costs[0].writer_wait_ticks), (costs[1].bytes, 0));
    let swimlane = Swimlane::read(&tests[0].0).unwrap();
    assert!(swimlane.blocks.iter().map(|block| block.task_id.local()).eq(0..blocks));
    assert!(swimlane.phases.iter().map(|phase| phase.loop_).eq(0..u64::from(blocks)));
    assert_eq!(swimlane.head.counts.blocks.dropped, 0);
    assert!(files(&tests[0].0) == files(&tests[1].0), "the files differ");
}

#[test]
fn a_level_holds_nothing_of_those_above_it() {
    for (level, expected) in [(1, SwimlaneLevel::Blocks), (2, SwimlaneLevel::Tasks)] {
        let test = TestDir::new();
        record(&test.create(), level);
        let swimlane = Swimlane::read(&test.0).unwrap();
        assert_eq!((swimlane.head.level, swimlane.blocks.len()), (expected, 11));
        assert!(swimlane.phases.is_empty() && swimlane.head.copies.is_some());
        let report = check_run(&test.0).unwrap();
        assert!(report.broken.is_empty(), "{:?}", report.broken);
    }
}

#[test]
fn a_stretch_of_no_length_is_left_out_unless_the_run_has_none() {
    for (makespan, rows) in [(9, 1), (0, 2)] {
        let test = TestDir::new();
        let (recorder, _) = start(&test.create(), settings(timeline(3), 16));
        for (thread, end) in [(0, 0), (0, makespan), (1, 0)] {
            let (work, start, end) = (ThreadWork::Idle, Ticks(BEGUN), Ticks(BEGUN + end));
            recorder.probe().phase(&ThreadPhase { thread, work, start, end, round: 0, tasks: 0 });
        }
        recorder.export(&facts(makespan));
        assert_eq!(Swimlane::read(&test.0).unwrap().phases.len(), rows);
    }
}

#[test]
fn more_counters_than_there_is_room_for_are_refused_by_name() {
    let test = TestDir::new();
    let columns = (0..=ModelCounters::MAX).map(|i| format!("c{i}")).collect();
    let counters = ModelCounters { group: 1, columns, measured: false };
    let cores = Cores::Modelled { count: CORES, counters };
    let settings = Settings { cores, ..settings(DfxFlags::PMU, 16) };
    // SAFETY: it does not start.
    let refused = unsafe { Recorder::start(Time::new(), &test.create(), settings) };
    let error = refused.map(|_| ()).unwrap_err();
    assert!(matches!(error, StartError::Probe(_)));
    let detail = "11 counters in addition to cycles, at most 10".to_string();
    assert_eq!((error.name(), error.detail()), ("TooManyCounters", detail));
}
