//! Experiments on a run on a device whose processors run lists of blocks: replays on a model of it.

use ringlane_insight::units::microseconds;

use super::change::{Change, Cores};
use super::experiment::{DroppedEdges, drop_between, drop_cause};
use super::limits::PROCESSORS_UNLIMITED;
use super::measured::{blocks_of, is_captured_by, scale};
use super::{Baseline, Experiment, Laboratory, baseline_of, bound_of};
use crate::device::{Follows, Measured, RecordedDevice};
use crate::error::ReplayError;

/// The options that the model of a device knows.
const OPTIONS: &str =
    "on cuda: --kernel, --submit, --copies, --runtime host_build_graph, --cores sms=N, --drop-edges";

/// A recorded run on a device, ready for experiments.
#[derive(Debug)]
pub struct DeviceLaboratory<'r> {
    recorded: &'r RecordedDevice,
    baseline_ticks: u64,
}

impl<'r> DeviceLaboratory<'r> {
    /// Replays a run unchanged.
    pub fn new(recorded: &'r RecordedDevice) -> Self {
        let baseline_ticks = recorded.replay(&recorded.measured, &recorded.follows);
        DeviceLaboratory { recorded, baseline_ticks }
    }
}

impl Laboratory for DeviceLaboratory<'_> {
    fn baseline(&self) -> Baseline {
        let manifest = &self.recorded.manifest;
        baseline_of(manifest.makespan_ticks, self.baseline_ticks, manifest.clock_freq_hz)
    }

    fn makespan_us(&self, experiment: &Experiment) -> Result<f64, ReplayError> {
        let mut measured = self.recorded.measured.clone();
        let mut dropped = DroppedEdges::default();
        // Another runtime first: a captured graph has no submits to change.
        let is_build = |change: &&Change| matches!(change, Change::Build(_));
        let changes = experiment.changes.iter();
        for change in changes.clone().filter(is_build).chain(changes.filter(|change| !is_build(change))) {
            self.apply(change, &mut measured, &mut dropped)?;
        }
        let ticks = match dropped.is_empty() {
            true => self.recorded.replay(&measured, &self.recorded.follows),
            false => self.recorded.replay(&measured, &Follows::without(&self.recorded.program, &dropped)),
        };
        Ok(microseconds(ticks as f64, self.recorded.manifest.clock_freq_hz))
    }

    fn bound_us(&self) -> Result<f64, ReplayError> {
        bound_of(&self.recorded.dir)
    }
}

impl DeviceLaboratory<'_> {
    fn apply(
        &self,
        change: &Change,
        measured: &mut Measured,
        dropped: &mut DroppedEdges,
    ) -> Result<(), ReplayError> {
        let program = &self.recorded.program;
        match change {
            Change::Kernel(name, time) => {
                let frequency = self.recorded.manifest.clock_freq_hz;
                for block in blocks_of(program, &mut measured.blocks, name)? {
                    block.kernel = time.of_block(block.kernel, frequency);
                }
            }
            Change::Submit(_) if measured.is_captured => {
                return Err(ReplayError::Impossible {
                    what: format!("{change}: a captured graph has no submits"),
                    hint: "on such a run: --kernel, --copies, --cores sms=N, --drop-edges".to_string(),
                });
            }
            Change::Submit(factor) => scale(&mut measured.submits, *factor),
            Change::Copies(factor) => scale(&mut measured.copies, *factor),
            Change::Build(build) => {
                if is_captured_by(*build, measured.is_captured, program, OPTIONS)? {
                    measured.capture();
                }
            }
            Change::Cores(Cores::Processors(count)) => measured.lists = *count,
            Change::Cores(Cores::OneMoreCluster) => measured.lists += 1,
            Change::Cores(Cores::Twice) => measured.lists *= 2,
            Change::Cores(Cores::Unlimited) => measured.lists = measured.lists.max(PROCESSORS_UNLIMITED),
            Change::DropCause(cause) => drop_cause(program, dropped, cause)?,
            Change::DropBetween(before, after) => drop_between(program, dropped, before, after)?,
            other => {
                return Err(ReplayError::Impossible {
                    what: format!("{other}: the model of a run of cuda does not know this change"),
                    hint: OPTIONS.to_string(),
                });
            }
        }
        Ok(())
    }
}
