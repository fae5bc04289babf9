//! Recorded runs on the cpu chip.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use ringlane_chip_cpu::{CpuClock, CpuRuntime};
use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::report::Run;
use ringlane_engine::seams::Probe;
use ringlane_probe::pmu::Group;
use ringlane_probe::{Cores, Logged, Recorder, WithProbe, logs_submitter};
use ringlane_task::{CallConfig, UnknownPmuGroup};
use ringlane_trace::RunDir;

use super::{ChipFacts, ObservedRun, Observing, cannot_record, facts, refused, settings};

/// The group of counters that a configuration names; 0 is the default.
pub fn pmu_group(config: &CallConfig) -> core::result::Result<Group, UnknownPmuGroup> {
    match config.pmu_group {
        0 => Ok(Group::default()),
        number => Group::from_number(number),
    }
}

/// A run on the cpu chip, whoever watches it.
struct OnCpu<'c, 'b, 'e, F> {
    cpu: &'c mut CpuRuntime,
    site: Site,
    buffers: &'e mut Buffers<'b>,
    f: F,
}

impl<'e, F, R> WithProbe for OnCpu<'_, '_, 'e, F>
where
    F: for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
{
    type Done = Run<R>;

    fn with(self, probe: &impl Probe) -> Run<R> {
        self.cpu.run_at(self.site, self.buffers, probe, self.f)
    }
}

/// Runs on the cpu chip, and records if that is asked for. `dir` is where.
pub fn run_on_cpu<'e, R>(
    cpu: &mut CpuRuntime,
    observing: &Observing,
    dir: Option<&RunDir>,
    site: Site,
    buffers: &'e mut Buffers<'_>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> ObservedRun<R> {
    let recorder = match dir.map(|dir| start(cpu, observing, dir)).transpose() {
        Ok(recorder) => recorder,
        Err(error) => return refused(error),
    };
    let start = Instant::now();
    let on_cpu = OnCpu { cpu, site, buffers, f };
    let run = catch_unwind(AssertUnwindSafe(|| match &recorder {
        _ if logs_submitter() => on_cpu.with(&Logged::new(recorder.as_ref())),
        Some(recorder) => recorder.watch(on_cpu),
        None => on_cpu.with(&()),
    }));
    let wall = start.elapsed();
    let (report, result) = (cpu.last_report(), run.map(|run| run.result));
    let recording =
        recorder.map(|recorder| recorder.export(&facts(chip_facts(cpu), cpu.table(), &report, &result)));
    ObservedRun { result, report, wall, recording }
}

fn start(cpu: &CpuRuntime, observing: &Observing, dir: &RunDir) -> Result<Recorder<CpuClock>> {
    let counters = pmu_group(&observing.config).map_err(|error| cannot_record(&error))?;
    let settings = settings(observing, cpu.table(), Cores::Threads { count: cpu.threads(), counters })?;
    // SAFETY: it is used by `run_at` of a `CpuRuntime` alone, whose workers and submitter are the threads they say.
    #[allow(unsafe_code)]
    let recorder = unsafe { Recorder::start(CpuClock::get(), dir, settings) };
    recorder.map_err(|error| cannot_record(&error))
}

fn chip_facts(cpu: &CpuRuntime) -> ChipFacts {
    let threads = cpu.threads();
    ChipFacts {
        platform: "cpu".to_string(),
        core_types: vec!["cpu".to_string(); threads as usize],
        threads,
        core_to_thread: (0..threads).collect(),
        copies: None,
    }
}
