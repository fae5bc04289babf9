//! Runs one case and writes its files.
//!
//! ```text
//! directory ──▶ runtime ──▶ rounds: inputs, run, golden ──▶ run.json, written last
//!                                 └─ observed: files, here or in a directory of the round with a run.json of its own
//! ```
//! Whatever happens after the directory exists ends in a `run.json` that says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringlane_chip_sim::Totals;
use ringlane_engine::report::RunReport;
use ringlane_engine::{Error, Fault};
use ringlane_probe::Exported;
use ringlane_scenes::Golden;
use ringlane_task::{CallConfig, DfxFlags, Explain, topics};
use ringlane_trace::{ChildRun, GraphFacts, Manifest, RunDir, RunError, RunStatus, UtcTime};
use tracing::info;

use crate::diagnostics::{DfxRounds, Diagnostics, RecordedBy, RoundFiles};
use crate::errors::CliError;
use crate::interrupted::{ExportInterrupted, RoundsInterrupted};
use crate::jobs::{JobMessage, Pages};
use crate::machine::Machine;
use crate::monitor::Monitor;
use crate::panics::{last_panic, quietly};
use crate::progress::{Bar, Progress};
use crate::recorded::RecordingSummary;
use crate::run_arg::OUTPUTS;
use crate::select::SelectedCase;
use crate::workers;
use ringlane::RunRequest;
use ringlane::manifest::{node_clock, status_of, with_recording, with_report};
use ringlane::memory;

/// How the cases of a command are run.
pub struct Setup {
    /// What each case is asked for. Its diagnostics are those of the observed rounds.
    pub request: RunRequest,
    /// Which rounds are observed.
    pub dfx_rounds: DfxRounds,
    /// The workers that each case is shared out to, if it is.
    pub workers: Option<workers::Plan>,
    /// How often.
    pub rounds: u32,
    /// The exact directory, if one was named.
    pub output: Option<PathBuf>,
    /// Whether a page is written of each run.
    pub pages: Pages,
    /// Whether a progress bar is shown.
    pub progress: Progress,
    /// Who is notified of the cases.
    pub audience: Audience,
}

/// Who is notified of a case while it runs.
#[derive(Clone, Debug)]
pub enum Audience {
    /// People, at a terminal or not.
    People,
    /// The process that wants it, through this.
    Parent(Arc<JobMessage>),
}

impl Setup {
    /// What is known of a case before it runs.
    pub fn manifest(&self, job: &SelectedCase) -> Manifest {
        let mut manifest =
            Manifest::new(job.scene.name, job.case.name, self.request.platform.as_str(), UtcTime::now());
        manifest.program = std::env::args_os().next().map(|program| program.to_string_lossy().into_owned());
        manifest.params = job.settings.params.clone();
        manifest.runtime = self.request.runtime.as_str().to_string();
        manifest.seed = self.request.config.seed;
        manifest
    }

    /// What is observed, and in which rounds.
    pub fn diagnostics(&self) -> Diagnostics {
        let of = if self.workers.is_some() { RecordedBy::Node } else { RecordedBy::Chip };
        Diagnostics { config: self.request.config, of, rounds: self.dfx_rounds }
    }

    /// A line of progress, for people who watch.
    fn bar(&self, label: &str) -> Bar {
        match &self.audience {
            Audience::People => Bar::start(self.progress, label),
            Audience::Parent(message) => Bar::for_parent(message),
        }
    }
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
    /// What the diagnostics left, if a round was observed.
    pub recorded: Option<RecordingSummary>,
    /// What the round was like on a modelled chip.
    pub modelled: Option<Totals>,
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
    recording: Option<Exported>,
    children: Vec<ChildRun>,
    modelled: Option<Totals>,
    graph: Option<GraphFacts>,
    failure: Option<Failure>,
}

/// All rounds of a case.
#[derive(Default)]
struct Rounds {
    walls_us: Vec<f64>,
    /// The one that `run.json` is about: the one whose files are beside it, otherwise the last.
    reported: Round,
    recorded: Option<RecordingSummary>,
    /// Of the last.
    failure: Option<Failure>,
}

/// Where a case is run, and what is known of it beforehand.
struct Stage<'a> {
    setup: &'a Setup,
    diagnostics: Diagnostics,
    monitor: &'a Monitor,
    dir: &'a RunDir,
    manifest: &'a Manifest,
}

/// A golden that does not agree.
#[derive(Debug, thiserror::Error)]
struct GoldenMismatch(Golden);

ringlane_task::display_explained!(GoldenMismatch);

impl Explain for GoldenMismatch {
    fn name(&self) -> &'static str {
        "GoldenMismatch"
    }
    fn summary(&self) -> String {
        "the values differ from the golden result".to_string()
    }
    fn detail(&self) -> String {
        let Golden { checked, failed, nan_values, nan_answers, max_abs_error, .. } = &self.0;
        if *checked == 0 {
            return "no value was compared".to_string();
        }
        let how = match (nan_values, nan_answers) {
            (0, 0) => format!("the largest error is {max_abs_error:e}"),
            (values, 0) => format!("{values} of them NaN"),
            (0, answers) => format!("{answers} of the golden values are NaN"),
            (values, answers) => format!("{values} values and {answers} golden values are NaN"),
        };
        format!("{failed} of {checked} values are outside the tolerance, {how}")
    }
    fn hint(&self) -> String {
        match (self.0.nan_values, self.0.nan_answers) {
            (_, 1..) => "the golden computation itself produces NaN: fix it first".to_string(),
            (1.., 0) => {
                "record it with --dump-tensor: `ringlane dump bad` finds the first task that produced one"
                    .to_string()
            }
            (0, 0) => {
                "compare with --threads 1: if that fails too, a kernel or the golden is wrong".to_string()
            }
        }
    }
}

/// Runs a case. An error means that nothing was run; a run that failed is an outcome.
pub fn execute(mut job: SelectedCase, setup: &Setup, monitor: &Monitor) -> Result<Outcome, CliError> {
    let mut manifest = setup.manifest(&job);
    let dir = match &setup.output {
        Some(path) => RunDir::create_exact(path)?,
        None => RunDir::create_unique(OUTPUTS, job.scene.name, job.case.name, manifest.started_at)?,
    };
    let diagnostics = setup.diagnostics();
    if let Err(error) = diagnostics.reserve_for(&dir) {
        dir.abandon();
        return Err(error.into());
    }
    if let Audience::Parent(message) = &setup.audience {
        message.begun(dir.path());
    }
    let (scene, case) = (job.scene.name, job.case.name);
    info!(target: topics::RUN, scene, case, dir = %dir.path().display(), "a case begins");
    memory::reset_peak();
    let rounds = match machine_for(setup, dir.path()) {
        Ok(mut machine) => {
            (manifest.threads, manifest.model) = (machine.threads(), machine.model_facts());
            Stage { setup, diagnostics, monitor, dir: &dir, manifest: &manifest }
                .rounds(&mut job, &mut machine)
        }
        Err(failure) => Rounds { failure: Some(failure), ..Rounds::default() },
    };
    let Rounds { walls_us, reported, recorded, failure } = rounds;
    let manifest = filled(manifest, &reported, failure.as_ref(), &diagnostics);
    manifest.write(&dir)?;
    let modelled = reported.modelled;
    let (dir, peak_rss_bytes) = (dir.path().to_path_buf(), memory::peak_rss_bytes());
    Ok(Outcome { manifest, dir, walls_us, peak_rss_bytes, recorded, modelled, failure })
}

fn machine_for(setup: &Setup, dir: &Path) -> Result<Machine, Failure> {
    // No diagnostics yet: they are not those of every round.
    let config = config_in(dir, setup.request.config.with_dfx_flags(DfxFlags::NONE))?;
    Machine::new(setup, &config).map_err(|error| Failure { status: RunStatus::Fatal, error })
}

fn config_in(dir: &Path, mut config: CallConfig) -> Result<CallConfig, Failure> {
    let prefix = dir.to_str().unwrap_or_default();
    config.set_output_prefix(prefix).map_err(|error| Failure::of(Fault::Config(error).into()))?;
    Ok(config)
}

impl Stage<'_> {
    /// Runs all rounds, or as many as go well.
    fn rounds(&self, job: &mut SelectedCase, machine: &mut Machine) -> Rounds {
        let label = format!("{} {}", job.scene.name, job.case.name);
        let mut rounds = Rounds::default();
        for number in 1..=self.setup.rounds {
            let place = self.diagnostics.place(number, self.setup.rounds);
            let bar = self.setup.bar(&label);
            let _watch = self.monitor.watch(machine.remote(), bar, Some(self.dir.path()));
            let round = self.round_at(&place, job, machine, &mut rounds.recorded);
            rounds.add(round.unwrap_or_else(Round::that_failed));
            if rounds.failure.is_some() || number < self.setup.rounds && self.monitor.interrupted() {
                rounds.interrupt(number, self.setup.rounds);
                break;
            }
        }
        rounds
    }

    /// Runs one round; a directory of its own gets a `run.json` of its own.
    fn round_at(
        &self,
        place: &RoundFiles,
        job: &mut SelectedCase,
        machine: &mut Machine,
        recorded: &mut Option<RecordingSummary>,
    ) -> Result<Round, Failure> {
        let own_dir = match place {
            RoundFiles::Below(name) => {
                let dir = RunDir::create_exact(self.dir.path().join(name)).map_err(Failure::fatal)?;
                dir.reserve(self.diagnostics.own_flags()).map_err(Failure::fatal)?;
                Some(dir)
            }
            RoundFiles::Run | RoundFiles::Nowhere => None,
        };
        let dir = own_dir.as_ref().unwrap_or(self.dir);
        let observed = *place != RoundFiles::Nowhere;
        if observed {
            let config = config_in(dir.path(), self.diagnostics.config)?;
            machine.observe(&config).map_err(|error| Failure::of(error.into()))?;
        }
        let mut round = round(job, machine, observed.then_some(dir), self.monitor);
        if let Some(recording) = &mut round.recording {
            recorded.get_or_insert_default().add(recording);
        }
        if let Some(dir) = own_dir {
            let manifest = filled(self.manifest.clone(), &round, round.failure.as_ref(), &self.diagnostics);
            manifest.write(&dir).map_err(Failure::fatal)?;
            // Its files, and the runs of its workers, are described where they are.
            (round.recording, round.children) = (None, Vec::new());
        }
        Ok(round)
    }
}

impl Rounds {
    fn add(&mut self, mut round: Round) {
        self.walls_us.push(round.wall_us);
        self.failure = round.failure.take();
        if self.reported.recording.is_none() {
            self.reported = round;
        }
    }

    /// Says how many rounds were done if a stop signal ended them in round `number` or after it, and not a failure.
    fn interrupt(&mut self, number: u32, rounds: u32) {
        let within = match self.failure.take() {
            Some(failure) if failure.status != RunStatus::Interrupted || rounds == 1 => {
                self.failure = Some(failure);
                return;
            }
            failure => failure.map(|failure| failure.error),
        };
        let done = number - u32::from(within.is_some());
        let error = Box::new(RoundsInterrupted { done, rounds, within });
        self.failure = Some(Failure { status: RunStatus::Interrupted, error });
    }
}

impl Round {
    fn that_failed(failure: Failure) -> Self {
        Round { failure: Some(failure), ..Round::default() }
    }
}

/// Runs one round, recorded into a directory or not.
fn round(job: &mut SelectedCase, machine: &mut Machine, dir: Option<&RunDir>, monitor: &Monitor) -> Round {
    let mut buffers = match quietly(|| job.program.buffers()) {
        Ok(Ok(buffers)) => buffers,
        Ok(Err(error)) => return Round::that_failed(Failure::of(error)),
        Err(panic) => return Round::that_failed(Failure::fatal(panic)),
    };
    if monitor.interrupted() {
        return Round::that_failed(Failure::of(Fault::Interrupted { tasks: 0 }.into()));
    }
    let (watched, children) = match quietly(|| machine.run(dir, job, &mut buffers)) {
        Ok(ran) => ran,
        Err(panic) => return Round::that_failed(Failure::fatal(panic)),
    };
    let mut round = Round { wall_us: watched.wall.as_nanos() as f64 / 1e3, ..Round::default() };
    (round.report, round.recording, round.children) = (watched.report, watched.recording, children);
    (round.modelled, round.graph) = (machine.modelled().cloned(), machine.graph_facts());
    match watched.result {
        Ok(result) => round.failure = result.err().map(Failure::of),
        Err(_) => round.failure = Some(Failure::fatal(last_panic())),
    }
    let gave_up = round.recording.as_ref().and_then(|files| ExportInterrupted::of(round.report.tasks, files));
    if let Some(error) = gave_up.filter(|_| round.failure.is_none()) {
        round.failure = Some(Failure { status: RunStatus::Interrupted, error: Box::new(error) });
    }
    if round.failure.is_none() && job.program.has_golden() {
        match quietly(|| job.program.golden(&buffers)) {
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

/// The manifest of a round.
fn filled(
    mut manifest: Manifest,
    round: &Round,
    failure: Option<&Failure>,
    diagnostics: &Diagnostics,
) -> Manifest {
    manifest = with_report(manifest, &round.report);
    if diagnostics.of == RecordedBy::Node {
        manifest.clock = Some(node_clock());
    }
    manifest.graph = round.graph;
    manifest.children = round.children.clone();
    manifest.wall_us = round.wall_us;
    manifest.golden = round.golden.as_ref().map(|golden| ringlane_trace::Golden {
        checked: golden.checked,
        failed: golden.failed,
        max_abs_error: golden.max_abs_error,
        output_hash: golden.output_hash.clone(),
    });
    if let Some(Failure { status, error }) = failure {
        manifest.fail(*status, RunError::of(&**error));
    }
    match &round.recording {
        Some(recording) => with_recording(manifest, recording, &diagnostics.reported()),
        None => manifest,
    }
}

impl Failure {
    /// What an error of the engine makes of a run.
    fn of(error: Error) -> Self {
        Failure { status: status_of(&error), error: Box::new(error) }
    }

    fn failed(error: impl Explain + 'static) -> Self {
        Failure { status: RunStatus::Failed, error: Box::new(error) }
    }

    fn fatal(error: impl Explain + 'static) -> Self {
        Failure { status: RunStatus::Fatal, error: Box::new(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(tasks: u64, recording: Option<Exported>) -> Round {
        Round { report: RunReport { tasks, ..RunReport::default() }, recording, ..Round::default() }
    }

    fn manifest_of(rounds: Rounds) -> Manifest {
        let config = CallConfig::default().with_dfx_flags(DfxFlags::DEPS);
        let diagnostics = Diagnostics { config, ..Diagnostics::default() };
        let manifest = Manifest::new("vector", "small", "cpu", UtcTime::from_unix_seconds(0));
        filled(manifest, &rounds.reported, rounds.failure.as_ref(), &diagnostics)
    }

    #[test]
    fn run_json_describes_the_round_whose_files_are_next_to_it() {
        let mut rounds = Rounds::default();
        rounds.add(round(1, Some(Exported::default())));
        rounds.add(round(2, None));
        let manifest = manifest_of(rounds);
        assert_eq!((manifest.tasks, manifest.dfx_flags()), (1, DfxFlags::DEPS));
    }

    #[test]
    fn run_json_describes_the_last_round_if_no_files_are_next_to_it() {
        let mut rounds = Rounds::default();
        rounds.add(round(1, None));
        rounds.add(round(2, None));
        let manifest = manifest_of(rounds);
        assert_eq!((manifest.tasks, manifest.dfx_flags()), (2, DfxFlags::NONE));
    }

    #[test]
    fn a_round_that_fails_after_the_observed_one_fails_the_run() {
        let mut rounds = Rounds::default();
        rounds.add(round(1, Some(Exported::default())));
        rounds.add(Round::that_failed(Failure::of(Fault::Interrupted { tasks: 3 }.into())));
        let manifest = manifest_of(rounds);
        assert_eq!((manifest.status, manifest.tasks), (RunStatus::Interrupted, 1));
    }

    #[test]
    fn rounds_that_are_interrupted_between_two_of_them_are_not_well_and_are_counted() {
        let mut rounds = Rounds::default();
        rounds.add(round(1, None));
        rounds.interrupt(1, 3);
        let error = manifest_of(rounds).error.unwrap();
        assert_eq!((&*error.name, &*error.detail), ("Interrupted", "1 of 3 rounds were done"));
        let mut rounds = Rounds::default();
        rounds.add(Round::that_failed(Failure::of(Fault::Interrupted { tasks: 7 }.into())));
        rounds.interrupt(2, 3);
        let error = manifest_of(rounds).error.unwrap();
        assert_eq!(error.detail, "1 of 3 rounds were done; the next: after 7 submitted tasks");
    }
}
