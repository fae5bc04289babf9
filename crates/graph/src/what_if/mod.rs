//! What would happen if: a recorded run, replayed with one thing changed.
//!
//! ```text
//! Recorded ──▶ Change, Change, … ──▶ Experiment: another setup, other costs ──▶ replay ──▶ Outcome
//! ```
//! Every experiment is a replay by the same engine and the same chip model, not arithmetic on a path.

mod change;
mod experiment;
mod gains;
pub mod limits;
mod measured;
mod on_chip;
mod on_device;
mod on_machine;
mod on_node;
pub mod parse;
mod remedy;
mod rounds;
mod table;

use std::path::Path;

use ringlane_insight::units::microseconds;
use ringlane_insight::verdict::Limit;
use ringlane_insight::{Run, bound};
use ringlane_trace::RunStatus;

pub use change::{Change, Cores, KernelTime, RingChange};
pub use experiment::Experiment;
pub use gains::gains;
pub(crate) use gains::too_many;
pub use on_chip::ChipLaboratory;
pub use on_device::DeviceLaboratory;
pub use on_machine::MachineLaboratory;
pub use on_node::{CallSubject, NodeLaboratory};
pub use ringlane_insight::gains::{Baseline, Outcome, WhatIf};

use crate::device::RecordedDevice;
use crate::error::ReplayError;
use crate::machine::RecordedMachine;
use crate::recorded::Recorded;

/// Why more cores do not help a run that waits for memory.
const MEMORY_IS_SHARED: &str = "cores share the memory's bandwidth, so each of more cores moves data more slowly; only with unlimited cores \
     does the bandwidth grow with them";

/// A recorded run of any kind.
#[derive(Debug)]
pub enum Subject {
    /// On a modelled chip: replayed by the engine on the model.
    Chip(Box<Recorded>),
    /// On the machine's own cores: replayed on a model of the machine.
    Machine(Box<RecordedMachine>),
    /// On a device whose processors run lists of blocks: replayed on a model of it.
    Device(Box<RecordedDevice>),
    /// Over several workers: the runs of their calls.
    Node(Vec<CallSubject>),
}

impl Subject {
    /// Reads a run directory, or the one that a file is in.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let run = Run::open(path)?;
        if !run.manifest.children.is_empty() {
            return Ok(Subject::Node(on_node::read(&run)?));
        }
        if run.manifest.status == RunStatus::Imported {
            return Err(ReplayError::NothingRan { dir: run.dir });
        }
        match (&run.manifest.model, run.manifest.platform.as_str()) {
            (Some(_), _) => Ok(Subject::Chip(Box::new(Recorded::read(&run.dir)?))),
            (None, "cpu") => Ok(Subject::Machine(Box::new(RecordedMachine::read(&run.dir)?))),
            (None, "cuda" | "cuda-host") => Ok(Subject::Device(Box::new(RecordedDevice::read(&run.dir)?))),
            (None, platform) => Err(ReplayError::NoModel { platform: platform.to_string() }),
        }
    }

    /// The experiments that answer "what would help?".
    pub fn experiments(&self) -> Vec<Experiment> {
        match self {
            Subject::Chip(recorded) => table::of_chip(recorded),
            Subject::Machine(recorded) => table::of_machine(recorded),
            Subject::Device(recorded) => table::of_device(recorded),
            Subject::Node(calls) => on_node::experiments(calls),
        }
    }

    /// Replays it unchanged.
    pub fn laboratory(&self) -> Result<Box<dyn Laboratory + '_>, ReplayError> {
        Ok(match self {
            Subject::Chip(recorded) => Box::new(ChipLaboratory::new(recorded)?),
            Subject::Machine(recorded) => Box::new(MachineLaboratory::new(recorded)),
            Subject::Device(recorded) => Box::new(DeviceLaboratory::new(recorded)),
            Subject::Node(calls) => Box::new(NodeLaboratory::new(calls)?),
        })
    }
}

/// Where experiments on one recorded run are made.
pub trait Laboratory {
    /// The unchanged replay against the recording.
    fn baseline(&self) -> Baseline;
    /// How long the run would take, in microseconds.
    fn makespan_us(&self, experiment: &Experiment) -> Result<f64, ReplayError>;
    /// A time that no schedule of these blocks on these cores can beat.
    fn bound_us(&self) -> Result<f64, ReplayError>;

    /// What to know of all its times.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes one experiment.
    fn run(&self, experiment: &Experiment) -> Result<Outcome, ReplayError> {
        let makespan_us = self.makespan_us(experiment)?;
        let gain = self.baseline().gain_of(makespan_us);
        Ok(Outcome { name: experiment.name(), makespan_us, gain, remedy: remedy::of(experiment) })
    }
}

/// Makes these experiments, and says after each how many are done. One that cannot be made becomes a note.
pub fn what_if(
    laboratory: &dyn Laboratory,
    experiments: &[Experiment],
    mut done: impl FnMut(usize),
) -> Result<WhatIf, ReplayError> {
    let (mut outcomes, mut notes) = (Vec::new(), laboratory.notes());
    for (number, experiment) in experiments.iter().enumerate() {
        match laboratory.run(experiment) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => notes.push(format!("{}: {error}", experiment.name())),
        }
        done(number + 1);
    }
    let mut answer = WhatIf::new(laboratory.baseline(), laboratory.bound_us()?, outcomes, notes);
    if answer.limit == Some(Limit::Memory) {
        answer.notes.push(MEMORY_IS_SHARED.to_string());
    }
    Ok(answer)
}

/// Makes one experiment. What is wrong with it is an error.
pub fn what_if_one(laboratory: &dyn Laboratory, experiment: &Experiment) -> Result<WhatIf, ReplayError> {
    let outcome = laboratory.run(experiment)?;
    let answer = WhatIf::of_one(laboratory.baseline(), laboratory.bound_us()?, outcome);
    Ok(WhatIf { notes: laboratory.notes(), ..answer })
}

/// A time that no schedule of the blocks of a run on its cores can beat.
fn bound_of(dir: &Path) -> Result<f64, ReplayError> {
    let bound = bound::of_run(dir)?;
    Ok(microseconds(bound.bound.ticks.0 as f64, bound.clock_freq_hz))
}

/// The unchanged replay against the recording, both in ticks of one counter.
fn baseline_of(recorded: u64, replayed: u64, clock_freq_hz: u64) -> Baseline {
    let us = |ticks: u64| microseconds(ticks as f64, clock_freq_hz);
    let error = (replayed as f64 - recorded as f64) / (recorded.max(1) as f64);
    Baseline { recorded_us: us(recorded), replayed_us: us(replayed), error }
}
