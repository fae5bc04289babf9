//! Runs that are recorded: the recorder is made before the run, and writes its files after it.

mod cpu;
mod sim;

use std::thread;
use std::time::Duration;

use ringlane_engine::api::backend::Site;
use ringlane_engine::report::RunReport;
use ringlane_engine::table::Table;
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::{Copies, Cores, DumpSelection, Exported, Pool, RunFacts, Settings, logs_submitter};
use ringlane_task::{CallConfig, Explain, KernelId, topics};
use ringlane_trace::rows::KernelRow;
use tracing::{Level, enabled, error, info};

use crate::runtime::Platform;

pub use cpu::{pmu_group, run_on_cpu};
pub use sim::{model_group, run_on_sim};

/// What is recorded of the runs to come.
#[derive(Clone, Debug)]
pub struct Observing {
    /// Its flags, overflow policy, group of counters and output prefix.
    pub config: CallConfig,
    /// Which arguments a dump captures.
    pub dump: DumpSelection,
    /// What one recording touched the next one has warm.
    pub pool: Pool,
    /// Whether somebody asks for the end of the program: the export of a long recording gives up then.
    pub stop_asked: Option<fn() -> bool>,
}

/// A run, how long it took, and what was recorded of it.
pub struct ObservedRun<R> {
    /// An orchestration that panics leaves a report and a recording too.
    pub result: thread::Result<Result<R>>,
    /// Its totals.
    pub report: RunReport,
    /// Its wall time, the export of a recording left out.
    pub wall: Duration,
    /// What the instruments left, if any was on.
    pub recording: Option<Exported>,
}

/// Whether anything of a run is logged.
pub fn is_logged() -> bool {
    enabled!(target: topics::RUN, Level::ERROR) || logs_submitter()
}

/// Logs the beginning and the end of a run.
pub fn log_run<R>(
    platform: Platform,
    threads: u32,
    site: Site,
    run: impl FnOnce() -> ObservedRun<R>,
) -> ObservedRun<R> {
    let place = format!("{}:{}", site.file(), site.line());
    info!(target: topics::RUN, platform = platform.as_str(), threads, site = place, "a run begins");
    let watched = run();
    let (RunReport { tasks, blocks, .. }, wall_us) = (&watched.report, watched.wall.as_micros() as u64);
    match &watched.result {
        Ok(Ok(_)) => info!(target: topics::RUN, tasks, blocks, wall_us, "a run ended"),
        Ok(Err(error)) => {
            let (name, detail) = (error.name(), error.detail());
            error!(target: topics::RUN, tasks, blocks, wall_us, name, detail, "a run failed");
        }
        Err(_) => error!(target: topics::RUN, tasks, blocks, wall_us, "an orchestration panicked"),
    }
    watched
}

/// What every recording is asked for; the chip says what its cores are.
pub fn settings(observing: &Observing, table: &Table, cores: Cores) -> Result<Settings> {
    let config = &observing.config;
    Ok(Settings {
        flags: config.dfx_flags,
        overflow: config.overflow().map_err(Fault::Config)?,
        dump: observing.dump.clone(),
        cores,
        slots: table.slot_count(),
        pool: observing.pool.clone(),
        stop_asked: observing.stop_asked,
    })
}

/// A run that did not begin, because it could not be recorded.
pub fn refused<R>(error: Error) -> ObservedRun<R> {
    let (report, wall) = (RunReport::default(), Duration::ZERO);
    ObservedRun { result: Ok(Err(error)), report, wall, recording: None }
}

/// A chip's part in what the files tell beside the records.
pub struct ChipFacts {
    /// The name of the platform.
    pub platform: String,
    /// The type of each core.
    pub core_types: Vec<String>,
    /// Number of control threads.
    pub threads: u32,
    /// The control thread of each core.
    pub core_to_thread: Vec<u32>,
    /// Copies between host and chip, where there are any.
    pub copies: Option<Copies>,
}

/// What the files tell beside the records.
pub fn facts<R>(
    chip: ChipFacts,
    table: &Table,
    report: &RunReport,
    result: &thread::Result<Result<R>>,
) -> RunFacts {
    let kernel = |(id, kernel): (usize, &ringlane_engine::prelude::Kernel)| KernelRow {
        func_id: KernelId(id as u32),
        name: kernel.name().to_string(),
        core_type: kernel.core().as_str().to_string(),
    };
    let fault = result.as_ref().ok().and_then(|result| result.as_ref().err()).map(Error::fault);
    let ChipFacts { platform, core_types, threads, core_to_thread, copies } = chip;
    RunFacts {
        platform,
        clock_freq_hz: report.clock_freq_hz,
        started_ticks: report.started_ticks,
        makespan_ticks: report.makespan_ticks,
        core_types,
        threads,
        core_to_thread,
        copies,
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

/// An error of the recorder as one of the run.
pub fn cannot_record(error: &dyn Explain) -> Error {
    Fault::CannotRecord { name: error.name(), detail: error.detail(), hint: error.hint() }.into()
}
