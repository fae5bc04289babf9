//! Runs that are recorded: the recorder is made before the run, and writes its files after it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use ringlane_chip_cpu::{CpuClock, CpuRuntime};
use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::report::RunReport;
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::pmu::{Group, UnknownGroup};
use ringlane_probe::{Cores, DumpSelection, Exported, Pool, Recorder, RunFacts, Settings};
use ringlane_task::{CallConfig, Explain, KernelId};
use ringlane_trace::RunDir;
use ringlane_trace::rows::KernelRow;

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

/// The group of counters that a configuration names; 0 is the default.
pub(crate) fn pmu_group(config: &CallConfig) -> core::result::Result<Group, UnknownGroup> {
    match config.pmu_group {
        0 => Ok(Group::default()),
        number => Group::from_number(number),
    }
}

/// Runs on the cpu chip, and records if that is asked for. `dir` is where.
pub(crate) fn run_on_cpu<'e, R>(
    cpu: &mut CpuRuntime,
    observing: &Observing,
    dir: Option<&RunDir>,
    site: Site,
    buffers: &'e mut Buffers<'_>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> Watched<R> {
    let recorder = match dir.map(|dir| start(cpu, observing, dir)).transpose() {
        Ok(recorder) => recorder,
        Err(error) => {
            let (report, wall) = (RunReport::default(), Duration::ZERO);
            return Watched { result: Ok(Err(error)), report, wall, recording: None };
        }
    };
    let start = Instant::now();
    let run = catch_unwind(AssertUnwindSafe(|| match &recorder {
        Some(recorder) if recorder.watches_cores() => cpu.run_at(site, buffers, recorder, f),
        Some(recorder) => cpu.run_at(site, buffers, &recorder.submitter_only(), f),
        None => cpu.run_at(site, buffers, &(), f),
    }));
    let wall = start.elapsed();
    let (report, result) = (cpu.last_report(), run.map(|run| run.result));
    let recording = recorder.map(|recorder| recorder.export(&facts(cpu, &report, &result)));
    Watched { result, report, wall, recording }
}

fn start(cpu: &CpuRuntime, observing: &Observing, dir: &RunDir) -> Result<Recorder<CpuClock>> {
    let config = &observing.config;
    let settings = Settings {
        flags: config.dfx_flags,
        overflow: config.overflow().map_err(Fault::Config)?,
        dump: observing.dump.clone(),
        cores: Cores::Threads {
            count: cpu.threads(),
            counters: pmu_group(config).map_err(|error| cannot_record(&error))?,
        },
        slots: cpu.table().slot_count(),
        pool: observing.pool.clone(),
    };
    // SAFETY: it is used by `run_at` of a `CpuRuntime` alone, whose workers and submitter are the threads they say.
    #[allow(unsafe_code)]
    let recorder = unsafe { Recorder::start(CpuClock::get(), dir, settings) };
    recorder.map_err(|error| cannot_record(&error))
}

/// What the files tell beside the records.
fn facts<R>(cpu: &CpuRuntime, report: &RunReport, result: &thread::Result<Result<R>>) -> RunFacts {
    let (table, clock) = (cpu.table(), CpuClock::get());
    let kernel = |(id, kernel): (usize, &ringlane_engine::prelude::Kernel)| KernelRow {
        func_id: KernelId(id as u32),
        name: kernel.name().to_string(),
        core_type: kernel.core().as_str().to_string(),
    };
    let fault = result.as_ref().ok().and_then(|result| result.as_ref().err()).map(Error::fault);
    RunFacts {
        platform: "cpu".to_string(),
        clock_freq_hz: clock.freq_hz(),
        started_ticks: report.started_ticks,
        makespan_ticks: report.makespan_ticks,
        core_types: vec!["cpu".to_string(); cpu.threads() as usize],
        threads: cpu.threads(),
        core_to_thread: (0..cpu.threads()).collect(),
        copies: None,
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
