//! Recorded runs: the recorder is created before the run, and writes its files after it. The same for every chip, and
//! for nodes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use ringlane_engine::api::backend::Site;
use ringlane_engine::chip_runtime::{CopyLog, CounterColumns, Counters, HookThreads, LaunchLog, Observable};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::Probe;
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::{
    Copies, Cores, DumpSelection, Exported, Launches, Logged, ModelCounters, Pool, Recorder, RunFacts,
    Settings, WithProbe, logs_submitter, pmu,
};
use ringlane_task::{CallConfig, DfxFlags, Explain, KernelId, UnknownPmuGroup, topics};
use ringlane_trace::RunDir;
use ringlane_trace::rows::KernelRow;
use ringlane_trace::swimlane::{CopyDirection, CopyRow, LaunchRow};
use tracing::{Level, enabled, error, info};

/// What the following runs record.
#[derive(Clone, Debug)]
pub struct Observing {
    /// Flags, overflow policy, group of counters and output prefix.
    pub config: CallConfig,
    /// Which arguments a dump captures.
    pub dump: DumpSelection,
    /// Memory of the last recording, which the next one reuses.
    pub pool: Pool,
    /// Whether the program was asked to stop: then the export of a long recording stops.
    pub stop_asked: Option<fn() -> bool>,
}

impl Observing {
    /// From a configuration.
    pub fn new(config: CallConfig) -> Self {
        Observing { config, dump: DumpSelection::default(), pool: Pool::default(), stop_asked: None }
    }
}

/// A run, its duration, and its recording.
pub struct ObservedRun<R> {
    /// An orchestration that panics has a report and a recording too.
    pub result: thread::Result<Result<R>>,
    /// Its totals.
    pub report: RunReport,
    /// Its wall time, without the export of a recording.
    pub wall: Duration,
    /// The result of the instruments, if any was on.
    pub recording: Option<Exported>,
}

impl<R> ObservedRun<R> {
    /// A run that did not start.
    pub fn refused(error: Error) -> Self {
        let (report, wall) = (RunReport::default(), Duration::ZERO);
        ObservedRun { result: Ok(Err(error)), report, wall, recording: None }
    }
}

/// A run on a chip, with a probe of any type.
pub trait ProbedRun<T> {
    /// The result of the orchestration.
    type Answer;
    /// Runs.
    fn run(self, chip: &mut T, probe: &impl Probe) -> Run<Self::Answer>;
}

/// A run and its chip.
struct OnChip<'c, T, W> {
    chip: &'c mut T,
    run: W,
}

impl<T, W: ProbedRun<T>> WithProbe for OnChip<'_, T, W> {
    type Done = Run<W::Answer>;

    fn with(self, probe: &impl Probe) -> Self::Done {
        self.run.run(self.chip, probe)
    }
}

/// Runs on a chip, recording into a directory or not at all; `platform` is its name in the files.
pub fn run<T: Observable, W: ProbedRun<T>>(
    chip: &mut T,
    observing: &Observing,
    platform: &'static str,
    dir: Option<&RunDir>,
    run: W,
) -> ObservedRun<W::Answer> {
    let recorder = match dir.map(|dir| start(chip, observing, dir)).transpose() {
        Ok(recorder) => recorder,
        Err(error) => return ObservedRun::refused(error),
    };
    let start = Instant::now();
    let on_chip = OnChip { chip: &mut *chip, run };
    let ran = catch_unwind(AssertUnwindSafe(|| match &recorder {
        _ if logs_submitter() => on_chip.with(&Logged::new(recorder.as_ref())),
        // A probe specialized for these instruments is faster if each core calls it; for one thread that models all
        // cores the difference is negligible.
        Some(recorder) if T::HOOKS == HookThreads::EachCore => recorder.watch(on_chip),
        Some(recorder) => on_chip.with(&recorder.probe()),
        None => on_chip.with(&()),
    }));
    let wall = start.elapsed();
    let (report, result) = (chip.last_report(), ran.map(|run| run.result));
    let recording = recorder.map(|recorder| {
        let mut exported = recorder.export(&facts(chip, platform, &report, &result));
        if let Some(ticks) = chip.facts().record_wait_ticks {
            exported.cost.writer_wait_ticks = ticks;
        }
        exported
    });
    ObservedRun { result, report, wall, recording }
}

#[allow(unsafe_code)]
fn start<T: Observable>(chip: &mut T, observing: &Observing, dir: &RunDir) -> Result<Recorder<T::Clock>> {
    let config = &observing.config;
    let columns = chip.count(config.dfx_flags.contains(DfxFlags::PMU).then_some(config.pmu_group));
    let count = chip.layout().core_types.len() as u32;
    let cores = match T::HOOKS {
        HookThreads::EachCore => {
            let counters = processor_group(config.pmu_group).map_err(|error| cannot_record(&error))?;
            Cores::Threads { count, counters }
        }
        HookThreads::One => {
            let CounterColumns { group, columns, measured } = columns;
            let columns = columns.iter().map(|name| name.to_string()).collect();
            Cores::Modelled { count, counters: ModelCounters { group, columns, measured } }
        }
    };
    let settings = Settings {
        // The node itself records the timeline of its processes.
        flags: config.dfx_flags.without(DfxFlags::NODE_SWIMLANE),
        overflow: config.overflow().map_err(Fault::Config)?,
        dump: observing.dump.clone(),
        cores,
        slots: chip.table().slot_count(),
        pool: observing.pool.clone(),
        stop_asked: observing.stop_asked,
    };
    // SAFETY: it is the probe of this chip's run only, whose hooks are called by the threads that `Observable`
    // guarantees.
    let recorder = unsafe { Recorder::start(chip.clock(), dir, settings) };
    recorder.map_err(|error| cannot_record(&error))
}

/// Facts for the files, in addition to the records.
fn facts<T: Observable, R>(
    chip: &T,
    platform: &str,
    report: &RunReport,
    result: &thread::Result<Result<R>>,
) -> RunFacts {
    let kernel = |(id, kernel): (usize, &ringlane_engine::prelude::Kernel)| KernelRow {
        func_id: KernelId(id as u32),
        name: kernel.name().to_string(),
        core_type: kernel.core().as_str().to_string(),
    };
    let fault = result.as_ref().ok().and_then(|result| result.as_ref().err()).map(Error::fault);
    let (table, layout, own) = (chip.table(), chip.layout(), chip.facts());
    RunFacts {
        platform: platform.to_string(),
        clock_freq_hz: report.clock_freq_hz,
        started_ticks: report.started_ticks,
        makespan_ticks: report.makespan_ticks,
        core_types: layout.core_types.iter().map(|name| name.to_string()).collect(),
        threads: layout.threads,
        core_to_thread: layout.core_to_thread,
        copies: own.copies.map(copies),
        launches: own.launches.map(launches),
        // Only a model keeps the time of its own records.
        has_cost_model: own.record_wait_ticks.is_some(),
        kernels: table.kernels().enumerate().map(kernel).collect(),
        sites: table.sites().collect(),
        capacities: *table.capacities(),
        external_bytes: table.external_bytes(),
        fatal: match fault {
            Some(Fault::FlowControlDeadlock(deadlock)) => Some(deadlock.clone()),
            _ => None,
        },
    }
}

fn copies(log: CopyLog) -> Copies {
    let row = |copy: ringlane_engine::chip_runtime::CopyRecord| CopyRow {
        direction: if copy.to_chip { CopyDirection::HostToDevice } else { CopyDirection::DeviceToHost },
        what: copy.what,
        bytes: copy.bytes,
        start: copy.start,
        end: copy.end,
    };
    Copies { rows: log.copies.into_iter().map(row).collect(), dropped: log.dropped }
}

fn launches(log: LaunchLog) -> Launches {
    let row = |launch: ringlane_engine::chip_runtime::LaunchRecord| {
        let ringlane_engine::chip_runtime::LaunchRecord { tasks, start, end, wait, settled } = launch;
        LaunchRow { tasks, start, end, wait, settled }
    };
    Launches { rows: log.launches.into_iter().map(row).collect(), dropped: log.dropped }
}

fn processor_group(number: i32) -> core::result::Result<pmu::Group, UnknownPmuGroup> {
    if number == 0 { Ok(pmu::Group::default()) } else { pmu::Group::from_number(number) }
}

/// Refuses a group of counters that a chip does not have; 0 is the default.
pub fn check_counters(counters: Counters, number: i32) -> core::result::Result<(), UnknownPmuGroup> {
    let known = match counters {
        Counters::Processor => return processor_group(number).map(drop),
        Counters::Own(groups) => groups,
        Counters::None => &[],
    };
    let is_known = number == 0 || known.iter().any(|group| i32::from(group.number) == number);
    let error = || UnknownPmuGroup::new(number, known.iter().map(|group| (group.number, group.name)));
    is_known.then_some(()).ok_or_else(error)
}

/// Whether anything of a run is logged.
pub fn is_logged() -> bool {
    enabled!(target: topics::RUN, Level::ERROR) || logs_submitter()
}

/// Logs the start and the end of a run.
pub fn log_run<R>(
    platform: &'static str,
    threads: u32,
    site: Site,
    run: impl FnOnce() -> ObservedRun<R>,
) -> ObservedRun<R> {
    let place = format!("{}:{}", site.file(), site.line());
    info!(target: topics::RUN, platform, threads, site = place, "a run begins");
    let observed = run();
    let (RunReport { tasks, blocks, .. }, wall_us) = (&observed.report, observed.wall.as_micros() as u64);
    match &observed.result {
        Ok(Ok(_)) => info!(target: topics::RUN, tasks, blocks, wall_us, "a run ended"),
        Ok(Err(error)) => {
            let (name, detail) = (error.name(), error.detail());
            error!(target: topics::RUN, tasks, blocks, wall_us, name, detail, "a run failed");
        }
        Err(_) => error!(target: topics::RUN, tasks, blocks, wall_us, "an orchestration panicked"),
    }
    observed
}

/// Converts an error of the recorder to one of the run.
pub fn cannot_record(error: &dyn Explain) -> Error {
    Fault::CannotRecord { name: error.name(), detail: error.detail(), hint: error.hint() }.into()
}
