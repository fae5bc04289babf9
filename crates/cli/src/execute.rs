//! Runs one case and writes what it left behind.
//!
//! ```text
//! directory ──▶ runtime ──▶ rounds: inputs, run, golden ──▶ run.json, written last
//! ```
//! Whatever happens after the directory exists ends in a `run.json` that tells it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ringlane_engine::report::RunReport;
use ringlane_engine::{Error, Fault};
use ringlane_scenes::{Golden, Program};
use ringlane_task::{CallConfig, Explain};
use ringlane_trace::{Manifest, RunDir, RunError, RunStatus, UtcTime};

use crate::errors::CliError;
use crate::memory;
use crate::monitor::Monitor;
use crate::options::GraphRuntime;
use crate::panics::quietly;
use crate::progress::Progress;
use crate::runtime::{Platform, Runtime};
use crate::select::Job;

/// How the cases of a command are run.
pub struct Setup {
    /// What on.
    pub platform: Platform,
    /// How the graph is built.
    pub runtime: GraphRuntime,
    /// Capacities, threads and seed.
    pub config: CallConfig,
    /// How often.
    pub rounds: u32,
    /// The exact directory, if one was named.
    pub output: Option<PathBuf>,
    /// Whether people look on.
    pub progress: Progress,
}

/// What became of a case.
pub struct Outcome {
    /// What `run.json` says.
    pub manifest: Manifest,
    /// Where it is.
    pub dir: PathBuf,
    /// Wall time of each round, in microseconds.
    pub walls_us: Vec<f64>,
    /// The most memory the process had during the case.
    pub peak_rss_bytes: u64,
    /// Why the case did not end well.
    pub failure: Option<Failure>,
}

/// Why a case did not end well, and what that makes of it.
pub struct Failure {
    /// The status that follows.
    pub status: RunStatus,
    /// The error itself.
    pub error: Box<dyn Explain>,
}

/// One round of a case.
#[derive(Default)]
struct Round {
    wall_us: f64,
    report: RunReport,
    golden: Option<Golden>,
    failure: Option<Failure>,
}

/// A golden that does not agree.
#[derive(Debug, thiserror::Error)]
#[error("the values are not the known answer")]
struct GoldenMismatch(Golden);

impl Explain for GoldenMismatch {
    fn name(&self) -> &'static str {
        "GoldenMismatch"
    }
    fn detail(&self) -> String {
        let Golden { checked, failed, max_abs_error, .. } = &self.0;
        if *checked == 0 {
            return "no value was compared".to_string();
        }
        format!(
            "{failed} of {checked} values are outside the tolerance, the largest error is {max_abs_error:e}"
        )
    }
    fn hint(&self) -> String {
        "compare with --threads 1: if that fails too, a kernel or the golden is wrong".to_string()
    }
}

/// Runs a case. An error means that nothing was run; a run that failed is an outcome.
pub fn execute(mut job: Job, setup: &Setup, monitor: &Monitor) -> Result<Outcome, CliError> {
    let started_at = UtcTime::now();
    let dir = match &setup.output {
        Some(path) => RunDir::create_exact(path)?,
        None => RunDir::create_unique("outputs", job.scene.name, job.case.name, started_at)?,
    };
    memory::reset_peak();
    let mut manifest = Manifest::new(job.scene.name, job.case.name, setup.platform.as_str(), started_at);
    manifest.params = job.settings.params.clone();
    manifest.runtime = setup.runtime.as_str().to_string();
    manifest.seed = setup.config.seed;
    let mut walls_us = Vec::new();
    let last = match runtime_for(setup, dir.path()) {
        Ok(mut runtime) => {
            manifest.threads = runtime.threads();
            rounds(&mut job, &mut runtime, setup, monitor, &mut walls_us)
        }
        Err(failure) => Round { failure: Some(failure), ..Round::default() },
    };
    fill(&mut manifest, &last);
    manifest.write(&dir)?;
    let (dir, peak_rss_bytes) = (dir.path().to_path_buf(), memory::peak_rss_bytes());
    Ok(Outcome { manifest, dir, walls_us, peak_rss_bytes, failure: last.failure })
}

fn runtime_for(setup: &Setup, dir: &Path) -> Result<Runtime, Failure> {
    let mut config = setup.config;
    let prefix = dir.to_str().unwrap_or_default();
    config.set_output_prefix(prefix).map_err(|error| Failure::of(Fault::Config(error).into()))?;
    Runtime::on(setup.platform).with(&config).map_err(|error| Failure::of(error.into()))
}

/// Runs all rounds, or as many as go well; answers with the last.
fn rounds(
    job: &mut Job,
    runtime: &mut Runtime,
    setup: &Setup,
    monitor: &Monitor,
    walls_us: &mut Vec<f64>,
) -> Round {
    let label = format!("{} {}", job.scene.name, job.case.name);
    let mut last = Round::default();
    for number in 1..=setup.rounds {
        let _watch = monitor.watch(runtime.remote(), setup.progress, &label);
        last = round(&mut *job.program, runtime, monitor);
        walls_us.push(last.wall_us);
        let is_over = number == setup.rounds || last.failure.is_some() || monitor.interrupted();
        if is_over {
            break;
        }
    }
    last
}

fn round(program: &mut dyn Program, runtime: &mut Runtime, monitor: &Monitor) -> Round {
    let mut buffers = match quietly(|| program.buffers()) {
        Ok(Ok(buffers)) => buffers,
        Ok(Err(error)) => return Round { failure: Some(Failure::of(error)), ..Round::default() },
        Err(panic) => return Round { failure: Some(Failure::fatal(panic)), ..Round::default() },
    };
    if monitor.interrupted() {
        let failure = Failure::of(Fault::Interrupted { tasks: 0 }.into());
        return Round { failure: Some(failure), ..Round::default() };
    }
    let start = Instant::now();
    let run = quietly(|| runtime.run(&mut buffers, |o| program.orchestrate(o)));
    let mut round = Round { wall_us: start.elapsed().as_nanos() as f64 / 1e3, ..Round::default() };
    match run {
        Ok(run) => {
            round.report = run.report;
            round.failure = run.result.err().map(Failure::of);
        }
        Err(panic) => round.failure = Some(Failure::fatal(panic)),
    }
    if round.failure.is_none() {
        match quietly(|| program.golden(&buffers)) {
            Ok(Ok(golden)) => {
                round.failure = (!golden.passed()).then(|| Failure::failed(GoldenMismatch(golden.clone())));
                round.golden = Some(golden);
            }
            Ok(Err(error)) => round.failure = Some(Failure::failed(error)),
            Err(panic) => round.failure = Some(Failure::failed(panic)),
        }
    }
    round
}

fn fill(manifest: &mut Manifest, round: &Round) {
    let RunReport { tasks, blocks, scopes, skipped, peak_heap_bytes, .. } = round.report;
    let RunReport { makespan_ticks, clock_freq_hz, cores, .. } = round.report;
    manifest.wall_us = round.wall_us;
    manifest.makespan_ticks = makespan_ticks;
    if clock_freq_hz != 0 {
        manifest.clock_freq_hz = clock_freq_hz;
    }
    manifest.cores = cores;
    (manifest.tasks, manifest.blocks, manifest.scopes) = (tasks, blocks, scopes);
    (manifest.skipped, manifest.peak_heap_bytes) = (skipped, peak_heap_bytes);
    manifest.golden = round.golden.as_ref().map(|golden| ringlane_trace::Golden {
        checked: golden.checked,
        failed: golden.failed,
        max_abs_error: golden.max_abs_error,
        output_hash: golden.output_hash.clone(),
    });
    if let Some(Failure { status, error }) = &round.failure {
        manifest.fail(*status, RunError::of(&**error));
    }
}

impl Failure {
    /// What an error of the engine makes of a run.
    fn of(error: Error) -> Self {
        let status = match error.fault() {
            Fault::TaskFailed(_) | Fault::User(_) => RunStatus::Failed,
            Fault::Interrupted { .. } => RunStatus::Interrupted,
            _ => RunStatus::Fatal,
        };
        Failure { status, error: Box::new(error) }
    }

    fn failed(error: impl Explain + 'static) -> Self {
        Failure { status: RunStatus::Failed, error: Box::new(error) }
    }

    fn fatal(error: impl Explain + 'static) -> Self {
        Failure { status: RunStatus::Fatal, error: Box::new(error) }
    }
}
