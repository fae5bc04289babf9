//! Runs that are recorded: the recorder is made before the run, and writes its files after it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ringlane_chip_cpu::{CpuClock, CpuRuntime};
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::pmu::{Group, UnknownGroup};
use ringlane_probe::{DumpSelection, Exported, Recorder, RunFacts, Settings};
use ringlane_task::{CallConfig, Explain, KernelId};
use ringlane_trace::RunDir;
use ringlane_trace::rows::KernelRow;

/// What is recorded of the runs to come.
#[derive(Clone, Debug)]
pub(crate) struct Observing {
    /// Its flags, overflow policy, group of counters and output prefix.
    pub(crate) config: CallConfig,
    pub(crate) dump: DumpSelection,
}

/// A run, how long it took, and what was recorded of it.
pub(crate) struct Watched<R> {
    /// With its totals, also if the orchestration panicked; the result is then an error that stands for `panic`.
    pub(crate) run: Run<R>,
    /// What the orchestration panicked with.
    pub(crate) panic: Option<Panic>,
    pub(crate) wall: Duration,
    pub(crate) recording: Option<Exported>,
}

/// What a panic carries.
pub(crate) type Panic = Box<dyn Any + Send>;

/// The group of counters that a configuration names; 0 is the default.
pub(crate) fn pmu_group(config: &CallConfig) -> core::result::Result<Group, UnknownGroup> {
    match config.pmu_group {
        0 => Ok(Group::default()),
        number => Group::from_number(number),
    }
}

/// Runs on the cpu chip, and records if that is asked for. `dir` is where.
#[track_caller]
pub(crate) fn run_on_cpu<'e, R>(
    cpu: &mut CpuRuntime,
    observing: &Observing,
    dir: Option<&RunDir>,
    buffers: &'e mut Buffers<'_>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> Watched<R> {
    let recorder = match dir.map(|dir| start(cpu, observing, dir)).transpose() {
        Ok(recorder) => recorder,
        Err(error) => {
            let run = Run { result: Err(error), report: RunReport::default() };
            return Watched { run, panic: None, wall: Duration::ZERO, recording: None };
        }
    };
    let (remote, mut panic) = (cpu.remote(), None);
    let orchestrate = |o: &mut Orch<'_, 'e>| {
        catch_unwind(AssertUnwindSafe(|| f(o))).unwrap_or_else(|payload| {
            // A panic after the run was stopped follows from that. Otherwise it stops the run, which still has totals.
            panic = Some(payload).filter(|_| !remote.is_stopped());
            remote.interrupt();
            Err(Error::user("the orchestration panicked"))
        })
    };
    // Called from here and from no closure, so that the site of the root scope is the caller's.
    let start = Instant::now();
    let run = match &recorder {
        Some(recorder) => cpu.run_watched(buffers, recorder, orchestrate),
        None => cpu.run(buffers, orchestrate),
    };
    let wall = start.elapsed();
    let recording = recorder.map(|recorder| recorder.export(&facts(cpu, &run)));
    Watched { run, panic, wall, recording }
}

fn start(cpu: &CpuRuntime, observing: &Observing, dir: &RunDir) -> Result<Recorder<CpuClock>> {
    let config = &observing.config;
    let settings = Settings {
        flags: config.dfx_flags,
        overflow: config.overflow().map_err(Fault::Config)?,
        pmu_group: pmu_group(config).map_err(|error| cannot_record(&error))?,
        dump: observing.dump.clone(),
        cores: cpu.threads(),
        slots: cpu.table().slot_count(),
    };
    Recorder::start(CpuClock::get(), dir, settings).map_err(|error| cannot_record(&error))
}

/// What the files tell beside the records.
fn facts<R>(cpu: &CpuRuntime, run: &Run<R>) -> RunFacts {
    let (table, clock) = (cpu.table(), CpuClock::get());
    let kernel = |(id, kernel): (usize, &ringlane_engine::prelude::Kernel)| KernelRow {
        func_id: KernelId(id as u32),
        name: kernel.name().to_string(),
        core_type: kernel.core().as_str().to_string(),
    };
    let fault = run.result.as_ref().err().map(Error::fault);
    RunFacts {
        platform: "cpu".to_string(),
        clock_freq_hz: clock.freq_hz(),
        started_ticks: run.report.started_ticks,
        makespan_ticks: run.report.makespan_ticks,
        core_types: vec!["cpu".to_string(); cpu.threads() as usize],
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
