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

use crate::signals::is_stop_asked;
pub(crate) use cpu::{pmu_group, run_on_cpu};
pub(crate) use sim::{model_group, run_on_sim};

/// What is recorded of the runs to come.
#[derive(Clone, Debug)]
pub(crate) struct Observing {
    /// Its flags, overflow policy, group of counters and output prefix.
    pub(crate) config: CallConfig,
    pub(crate) dump: DumpSelection,
    /// What one recording touched the next one has warm.
    pub(crate) pool: Pool,
}

/// A run, how long it took, and what was recorded of it.
pub(crate) struct Watched<R> {
    /// An orchestration that panics leaves a report and a recording too.
    pub(crate) result: thread::Result<Result<R>>,
    pub(crate) report: RunReport,
    pub(crate) wall: Duration,
    pub(crate) recording: Option<Exported>,
}

/// Whether anything of a run is logged.
pub(crate) fn is_logged() -> bool {
    enabled!(target: topics::RUN, Level::ERROR) || logs_submitter()
}

/// Logs the beginning and the end of a run.
pub(crate) fn log_run<R>(
    platform: Platform,
    threads: u32,
    site: Site,
    run: impl FnOnce() -> Watched<R>,
) -> Watched<R> {
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
pub(crate) fn settings(observing: &Observing, table: &Table, cores: Cores) -> Result<Settings> {
    let config = &observing.config;
    Ok(Settings {
        flags: config.dfx_flags,
        overflow: config.overflow().map_err(Fault::Config)?,
        dump: observing.dump.clone(),
        cores,
        slots: table.slot_count(),
        pool: observing.pool.clone(),
        // Never so in a program that does not run the command: nothing else catches signals.
        stop_asked: Some(is_stop_asked),
    })
}

/// A run that did not begin, because it could not be recorded.
pub(crate) fn refused<R>(error: Error) -> Watched<R> {
    let (report, wall) = (RunReport::default(), Duration::ZERO);
    Watched { result: Ok(Err(error)), report, wall, recording: None }
}

/// A chip's part in what the files tell beside the records.
pub(crate) struct ChipFacts {
    pub(crate) platform: String,
    pub(crate) core_types: Vec<String>,
    pub(crate) threads: u32,
    pub(crate) core_to_thread: Vec<u32>,
    pub(crate) copies: Option<Copies>,
}

/// What the files tell beside the records.
pub(crate) fn facts<R>(
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
pub(crate) fn cannot_record(error: &dyn Explain) -> Error {
    Fault::CannotRecord { name: error.name(), detail: error.detail(), hint: error.hint() }.into()
}
