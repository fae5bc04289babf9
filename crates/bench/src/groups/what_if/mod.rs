//! `ringlane bench what-if`: predictions of `ringlane what-if` on this machine, compared with real runs.
//!
//! ```text
//! round    for each number of threads T:  a recorded run ──▶ its unchanged replay, kernel K 2x, threads T'
//!                                         a recorded run with K really slower
//! after all rounds                        predictions of T ──▶ the real runs with K slower on T, and those on T'
//! ```
//! All runs of a program are in one process and take turns, so that a slow period of the machine slows all of them. All
//! are recorded, so that they have the same overhead. K is the kernel with the most work.

mod subjects;

use ringlane::replays::ReplayError;
use ringlane::replays::what_if::{Change, Cores, Experiment, KernelTime, Laboratory, Subject as Recording};
use ringlane::{Platform, Runtime};
use ringlane_engine::chip_runtime::ChipOptions;
use ringlane_engine::slowdown::Slowdown;
use ringlane_task::{CallConfig, DfxFlags};

use crate::accuracy::{self, Accuracy, Changed, Pair, Predicted};
use crate::error::BenchError;
use crate::limits::{PREDICTED_ROUNDS_MAX, REPETITIONS_MIN};
use crate::measure::run_delay_ns;
use crate::scratch::Scratch;
use crate::spin::{self, Calibration};
use crate::workload::Workload;
use crate::{Bench, Session};
use subjects::{SCENES, Subject};

/// What `what-if` needs.
const RECORDED: DfxFlags = DfxFlags::SWIMLANE_PHASES.with(DfxFlags::DEPS);
/// How much slower the kernel is made.
const FACTOR: f64 = 2.0;

/// Compares the predictions of the chosen workloads; of the scenes too unless workloads were chosen.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let calibration = Calibration::measure();
    session.results.calibration = Some(calibration);
    let scratch = Scratch::new()?;
    let scenes = if bench.workloads.len() == Workload::ALL.len() { &SCENES[..] } else { &[] };
    let time = bench.time_of_each(bench.workloads.len() * bench.spins.len() + scenes.len());
    for &workload in &bench.workloads {
        for &spin in &bench.spins {
            let subject = Subject::workload(workload, spin, calibration)?;
            check(session, &scratch, &bench.threads, subject, time)?;
        }
    }
    spin::set_iterations(0);
    for &case in scenes {
        check(session, &scratch, &bench.threads, Subject::scene(case)?, time)?;
    }
    let targets = accuracy::targets(&session.results.predictions);
    session.results.bars.extend(targets);
    Ok(())
}

/// One run: how long it took, and how long its threads had no core.
#[derive(Clone, Copy)]
struct Timed {
    us: f64,
    delay_us: f64,
}

/// Time without a core, as a part of the time of some runs.
fn delay_share(runs: &[Timed]) -> f64 {
    let sum = |of: fn(&Timed) -> f64| runs.iter().map(of).sum::<f64>();
    sum(|run| run.delay_us) / sum(|run| run.us).max(f64::MIN_POSITIVE)
}

/// What the recordings on one number of threads predict, and what ran there.
#[derive(Default)]
struct OnThreads {
    real: Vec<Timed>,
    real_slow: Vec<Timed>,
    replayed_us: Vec<f64>,
    predicted_slow_us: Vec<f64>,
    /// For each number of threads.
    predicted_threads_us: Vec<Vec<f64>>,
}

/// Runtimes of one number of threads: as usual, and with a slower kernel.
struct Pool {
    usual: Runtime,
    slow: Runtime,
}

/// All predictions of one program.
fn check(
    session: &mut Session<'_>,
    scratch: &Scratch,
    threads: &[u32],
    mut subject: Subject,
    time: std::time::Duration,
) -> Result<(), BenchError> {
    let most = threads.iter().copied().max().unwrap_or(1);
    session.begin(&format!("what-if {}", subject.name), most);
    let facts = Facts::of(&mut subject, scratch)?;
    let mut pools =
        threads.iter().map(|&count| Pool::new(count, &facts.kernel)).collect::<Result<Vec<_>, _>>()?;
    for pool in &mut pools {
        subject.run(&mut pool.usual)?;
        subject.run(&mut pool.slow)?;
    }
    let mut all: Vec<OnThreads> = threads.iter().map(|_| OnThreads::new(threads.len())).collect();
    let start = std::time::Instant::now();
    while all[0].real.len() < REPETITIONS_MIN
        || (start.elapsed() < time && all[0].real.len() < PREDICTED_ROUNDS_MAX)
    {
        for (place, pool) in pools.iter_mut().enumerate() {
            all[place].round(&mut subject, scratch, pool, threads, &facts.kernel)?;
        }
    }
    let rows = rows_of(&subject, &facts, threads, &all);
    session.progress.end();
    session.results.predictions.extend(rows);
    Ok(())
}

/// What does not differ between the runs of a program.
struct Facts {
    /// The kernel with the most work.
    kernel: String,
    tasks: u64,
    /// The mean time of a block on one thread.
    task_us: f64,
}

impl Facts {
    fn of(subject: &mut Subject, scratch: &Scratch) -> Result<Self, BenchError> {
        let mut runtime = runtime(1, Vec::new())?;
        recorded(subject, scratch, &mut runtime)?;
        let recording = Recording::read(scratch.path()).map_err(BenchError::Replay)?;
        let experiments = recording.experiments();
        let slowed =
            experiments.iter().flat_map(|experiment| &experiment.changes).find_map(|change| match change {
                Change::Kernel(name, _) => Some(name.clone()),
                _ => None,
            });
        let Recording::Machine(machine) = &recording else { return Err(BenchError::Replay(no_model())) };
        let blocks = || machine.measured.blocks.iter().flatten();
        let ticks: u64 = blocks().map(|block| block.kernel).sum();
        let us = ticks as f64 * 1e6 / machine.manifest.clock_freq_hz.max(1) as f64;
        Ok(Facts {
            kernel: slowed.unwrap_or_default(),
            tasks: machine.program.tasks.len() as u64,
            task_us: us / blocks().count().max(1) as f64,
        })
    }
}

/// A recording of `cpu` is one of a machine.
fn no_model() -> ReplayError {
    ReplayError::NoModel { platform: Platform::Cpu.as_str().to_string() }
}

fn runtime(threads: u32, slow: Vec<Slowdown>) -> Result<Runtime, BenchError> {
    let config = CallConfig::default().with_threads(threads as i32);
    let options = ChipOptions { slow, ..ChipOptions::default() };
    Ok(Runtime::on(Platform::Cpu).options(options).with(&config)?)
}

impl Pool {
    fn new(threads: u32, kernel: &str) -> Result<Self, BenchError> {
        let slow = Slowdown { kernel: kernel.to_string(), factor: FACTOR };
        Ok(Pool { usual: runtime(threads, Vec::new())?, slow: runtime(threads, vec![slow])? })
    }
}

/// Records a run in the scratch directory.
fn recorded(subject: &mut Subject, scratch: &Scratch, runtime: &mut Runtime) -> Result<Timed, BenchError> {
    let mut config = CallConfig::default().with_dfx_flags(RECORDED);
    config.set_output_prefix(&scratch.vacant().to_string_lossy()).map_err(ringlane::SetupError::Config)?;
    runtime.observe(&config)?;
    let delay_before = run_delay_ns();
    let report = subject.run(runtime)?;
    let delay_us = run_delay_ns().saturating_sub(delay_before) as f64 / 1e3;
    let us = report.makespan_ticks as f64 * 1e6 / report.clock_freq_hz.max(1) as f64;
    Ok(Timed { us, delay_us })
}

impl OnThreads {
    fn new(counts: usize) -> Self {
        OnThreads { predicted_threads_us: vec![Vec::new(); counts], ..OnThreads::default() }
    }

    /// One recorded run with its predictions, and one with the slower kernel.
    fn round(
        &mut self,
        subject: &mut Subject,
        scratch: &Scratch,
        pool: &mut Pool,
        threads: &[u32],
        kernel: &str,
    ) -> Result<(), BenchError> {
        self.real.push(recorded(subject, scratch, &mut pool.usual)?);
        let recording = Recording::read(scratch.path()).map_err(BenchError::Replay)?;
        let laboratory = recording.laboratory().map_err(BenchError::Replay)?;
        self.replayed_us.push(laboratory.baseline().replayed_us);
        let slow = Change::Kernel(kernel.to_string(), KernelTime::Factor(FACTOR));
        self.predicted_slow_us.push(predicted_us(&*laboratory, slow)?);
        for (predicted, &count) in self.predicted_threads_us.iter_mut().zip(threads) {
            predicted.push(predicted_us(&*laboratory, Change::Cores(Cores::Threads(count)))?);
        }
        self.real_slow.push(recorded(subject, scratch, &mut pool.slow)?);
        Ok(())
    }
}

fn predicted_us(laboratory: &dyn Laboratory, change: Change) -> Result<f64, BenchError> {
    laboratory.makespan_us(&Experiment::from(change)).map_err(BenchError::Replay)
}

/// The rows of a program: for each number of threads, the unchanged replay, the slower kernel, the other numbers.
fn rows_of(subject: &Subject, facts: &Facts, threads: &[u32], all: &[OnThreads]) -> Vec<Accuracy> {
    let mut rows = Vec::new();
    for (place, (&count, on)) in threads.iter().zip(all).enumerate() {
        let mut add = |changed, experiment: String, predicted_us: &[f64], real: &[Timed]| {
            let predicted = Predicted {
                name: subject.name.clone(),
                made: subject.made(),
                threads: count,
                changed,
                experiment,
                tasks: facts.tasks,
                task_us: facts.task_us,
                delay_share: delay_share(&on.real).max(delay_share(real)),
            };
            let real_us = real.iter().map(|run| run.us).collect();
            let pair = Pair { predicted_us: predicted_us.to_vec(), real_us };
            rows.push(Accuracy::of(predicted, &pair));
        };
        add(Changed::Nothing, "unchanged".to_string(), &on.replayed_us, &on.real);
        let slow = Change::Kernel(facts.kernel.clone(), KernelTime::Factor(FACTOR));
        add(Changed::Kernel, slow.to_string(), &on.predicted_slow_us, &on.real_slow);
        for (other, &to) in threads.iter().enumerate().filter(|(other, _)| *other != place) {
            let predicted_us = &on.predicted_threads_us[other];
            add(Changed::Threads, Cores::Threads(to).to_string(), predicted_us, &all[other].real);
        }
    }
    rows
}
