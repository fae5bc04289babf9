//! Experiments on a run on a modelled chip: replays by the engine, on the model.

use std::sync::Arc;

use ringlane_insight::units::microseconds;

use super::{Baseline, Experiment, Laboratory, baseline_of, bound_of, rounds};
use crate::error::ReplayError;
use crate::recorded::Recorded;
use crate::replay::{Replayable, Replayed};

/// A recorded run on a modelled chip, ready for experiments.
#[derive(Debug)]
pub struct ChipLaboratory<'r> {
    recorded: &'r Recorded,
    replayable: Replayable<'r>,
    baseline: Replayed,
}

impl<'r> ChipLaboratory<'r> {
    /// Replays a run unchanged.
    pub fn new(recorded: &'r Recorded) -> Result<Self, ReplayError> {
        let replayable = Replayable::new(&recorded.program)?;
        let baseline = replayable.replay(&recorded.setup, Arc::new(recorded.costs.clone()))?;
        Ok(ChipLaboratory { recorded, replayable, baseline })
    }
}

impl Laboratory for ChipLaboratory<'_> {
    fn baseline(&self) -> Baseline {
        let manifest = &self.recorded.manifest;
        baseline_of(manifest.makespan_ticks, self.baseline.makespan_ticks, manifest.clock_freq_hz)
    }

    fn makespan_us(&self, experiment: &Experiment) -> Result<f64, ReplayError> {
        let (setup, costs) = experiment.apply(self.recorded)?;
        let replayed = self.replayable.replay(&setup, Arc::new(costs))?;
        Ok(microseconds(replayed.makespan_ticks as f64, setup.chip.counter_hz))
    }

    fn bound_us(&self) -> Result<f64, ReplayError> {
        bound_of(&self.recorded.dir)
    }

    fn notes(&self) -> Vec<String> {
        let Recorded { program, costs, setup, .. } = self.recorded;
        rounds::note(program, costs, &setup.chip, self.baseline().recorded_us).into_iter().collect()
    }
}
