//! What would happen if: a recorded run, replayed with one thing changed.
//!
//! ```text
//! Recorded ──▶ Change, Change, … ──▶ Experiment: another setup, other costs ──▶ replay ──▶ Outcome
//! ```
//! Every experiment is a replay by the same engine and the same chip model, not arithmetic on a path.

mod change;
mod experiment;
mod on_chip;
mod on_machine;
pub mod parse;
mod table;

use std::path::Path;

use ringlane_insight::units::microseconds;
use ringlane_insight::{Run, bound};
use ringlane_trace::RunStatus;
use serde::Serialize;

pub use change::{Change, Cores, KernelTime, RingChange};
pub use experiment::Experiment;
pub use on_chip::ChipLaboratory;
pub use on_machine::MachineLaboratory;

use crate::error::ReplayError;
use crate::machine::RecordedMachine;
use crate::recorded::Recorded;

/// The answer: what `--json` prints, and what the text and the page show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The unchanged replay against the recording.
    pub baseline: Baseline,
    /// A time that no schedule of these blocks can beat.
    pub bound_us: f64,
    /// The experiments, the largest gain first.
    pub experiments: Vec<Outcome>,
    /// Experiments that could not be made, and why.
    pub notes: Vec<String>,
}

/// The unchanged replay against the recording.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// How long the run took.
    pub recorded_us: f64,
    /// How long its replay takes.
    pub replayed_us: f64,
    /// By how much the replay is longer, as a part of the recorded time.
    pub error: f64,
}

/// What an experiment gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The experiment.
    pub name: String,
    /// How long the run would take.
    pub makespan_us: f64,
    /// The part of the replayed time that it would save; negative if the run would be longer.
    pub gain: f64,
}

/// A recorded run of either kind.
#[derive(Debug)]
pub enum Subject {
    /// On a modelled chip: replayed by the engine on the model.
    Chip(Box<Recorded>),
    /// On the machine's own cores: replayed on a model of the machine.
    Machine(Box<RecordedMachine>),
}

impl Subject {
    /// Reads a run directory, or the one that a file is in.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let run = Run::open(path)?;
        if !run.manifest.children.is_empty() {
            return Err(ReplayError::NoModel {
                platform: "a node; name one of the runs below it".to_string(),
            });
        }
        if run.manifest.status == RunStatus::Imported {
            return Err(ReplayError::NothingRan { dir: run.dir });
        }
        match (&run.manifest.model, run.manifest.platform.as_str()) {
            (Some(_), _) => Ok(Subject::Chip(Box::new(Recorded::read(&run.dir)?))),
            (None, "cpu") => Ok(Subject::Machine(Box::new(RecordedMachine::read(&run.dir)?))),
            (None, platform) => Err(ReplayError::NoModel { platform: platform.to_string() }),
        }
    }

    /// The experiments that answer "what would help?".
    pub fn experiments(&self) -> Vec<Experiment> {
        match self {
            Subject::Chip(recorded) => table::of_chip(recorded),
            Subject::Machine(recorded) => table::of_machine(recorded),
        }
    }

    /// Replays it unchanged.
    pub fn laboratory(&self) -> Result<Box<dyn Laboratory + '_>, ReplayError> {
        Ok(match self {
            Subject::Chip(recorded) => Box::new(ChipLaboratory::new(recorded)?),
            Subject::Machine(recorded) => Box::new(MachineLaboratory::new(recorded)),
        })
    }
}

/// Where experiments on one recorded run are made.
pub trait Laboratory {
    /// The unchanged replay against the recording.
    fn baseline(&self) -> Baseline;
    /// How long the run would take, in microseconds.
    fn makespan_us(&self, experiment: &Experiment) -> Result<f64, ReplayError>;
    /// The directory of the run.
    fn dir(&self) -> &Path;

    /// Makes one experiment.
    fn run(&self, experiment: &Experiment) -> Result<Outcome, ReplayError> {
        let (makespan_us, before) = (self.makespan_us(experiment)?, self.baseline().replayed_us);
        let gain = if before > 0.0 { 1.0 - makespan_us / before } else { 0.0 };
        Ok(Outcome { name: experiment.name(), makespan_us, gain })
    }
}

/// Makes these experiments, and says after each how many are done. One that cannot be made becomes a note.
pub fn what_if(
    laboratory: &dyn Laboratory,
    experiments: &[Experiment],
    mut done: impl FnMut(usize),
) -> Result<WhatIf, ReplayError> {
    let (mut outcomes, mut notes) = (Vec::new(), Vec::new());
    for (number, experiment) in experiments.iter().enumerate() {
        match laboratory.run(experiment) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => notes.push(format!("{}: {error}", experiment.name())),
        }
        done(number + 1);
    }
    outcomes.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let bound = bound::of_run(laboratory.dir())?;
    let bound_us = microseconds(bound.bound.ticks.0 as f64, bound.clock_freq_hz);
    Ok(WhatIf { baseline: laboratory.baseline(), bound_us, experiments: outcomes, notes })
}

/// The unchanged replay against the recording, both in ticks of one counter.
fn baseline_of(recorded: u64, replayed: u64, clock_freq_hz: u64) -> Baseline {
    let us = |ticks: u64| microseconds(ticks as f64, clock_freq_hz);
    let error = (replayed as f64 - recorded as f64) / (recorded.max(1) as f64);
    Baseline { recorded_us: us(recorded), replayed_us: us(replayed), error }
}
