//! Experiments on a run on the machine's own cores: replays on a model of the machine.

use std::sync::Arc;

use ringlane_insight::units::microseconds;

use super::change::{Change, Cores};
use super::experiment::{DroppedEdges, drop_between, drop_cause};
use super::limits::THREADS_MAX;
use super::measured::{blocks_of, is_captured_by, scale};
use super::{Baseline, Experiment, Laboratory, baseline_of, bound_of};
use crate::error::ReplayError;
use crate::machine::{Measured, RecordedMachine};

/// The options that the model of a machine knows.
const OPTIONS: &str =
    "on cpu: --kernel, --submit, --runtime host_build_graph, --cores threads=N, --drop-edges";

/// A recorded run on the machine's own cores, ready for experiments.
#[derive(Debug)]
pub struct MachineLaboratory<'r> {
    recorded: &'r RecordedMachine,
    baseline_ticks: u64,
}

impl<'r> MachineLaboratory<'r> {
    /// Replays a run unchanged.
    pub fn new(recorded: &'r RecordedMachine) -> Self {
        let baseline_ticks = recorded.replay(&recorded.measured, recorded.threads);
        MachineLaboratory { recorded, baseline_ticks }
    }
}

/// What an experiment changes of a machine.
struct Changed {
    measured: Measured,
    threads: u32,
    dropped: DroppedEdges,
}

impl Laboratory for MachineLaboratory<'_> {
    fn baseline(&self) -> Baseline {
        let manifest = &self.recorded.manifest;
        baseline_of(manifest.makespan_ticks, self.baseline_ticks, manifest.clock_freq_hz)
    }

    fn makespan_us(&self, experiment: &Experiment) -> Result<f64, ReplayError> {
        let (measured, threads) = (self.recorded.measured.clone(), self.recorded.threads);
        let mut changed = Changed { measured, threads, dropped: Arc::default() };
        // Another runtime first: a captured graph has no submits to change.
        let is_build = |change: &&Change| matches!(change, Change::Build(_));
        let changes = experiment.changes.iter();
        for change in changes.clone().filter(is_build).chain(changes.filter(|change| !is_build(change))) {
            self.apply(change, &mut changed)?;
        }
        let ticks = match changed.dropped.is_empty() {
            true => self.recorded.replay(&changed.measured, changed.threads),
            false => {
                let mut without = self.recorded.clone();
                let is_kept =
                    |before: u32, after: u32| !changed.dropped.contains(&(before.into(), after.into()));
                without.program.edges.retain(|edge| is_kept(edge.before, edge.after));
                without.replay(&changed.measured, changed.threads)
            }
        };
        Ok(microseconds(ticks as f64, self.recorded.manifest.clock_freq_hz))
    }

    fn bound_us(&self) -> Result<f64, ReplayError> {
        bound_of(&self.recorded.dir)
    }

    /// Threads that were slower than others: their cores were busy with something else too.
    fn notes(&self) -> Vec<String> {
        let slower: Vec<f64> = self.recorded.measured.slowness.slower().map(|(_, times)| times).collect();
        let most = slower.iter().copied().fold(1.0, f64::max);
        let note = format!(
            "{} of {} threads took up to {most:.1} times as long as the fastest for the same work: something else used \
             their cores too. Of fewer threads the fastest are assumed to remain, and further threads to be as fast as those",
            slower.len(),
            self.recorded.threads
        );
        if slower.is_empty() { Vec::new() } else { vec![note] }
    }
}

impl MachineLaboratory<'_> {
    fn apply(&self, change: &Change, changed: &mut Changed) -> Result<(), ReplayError> {
        let program = &self.recorded.program;
        match change {
            Change::Kernel(name, time) => {
                let frequency = self.recorded.manifest.clock_freq_hz;
                for block in blocks_of(program, &mut changed.measured.blocks, name)? {
                    block.kernel = time.of_block(block.kernel, frequency);
                }
            }
            Change::Submit(_) if changed.measured.is_captured => {
                return Err(ReplayError::Impossible {
                    what: format!("{change}: a captured graph has no submits"),
                    hint: "on such a run: --kernel, --cores threads=N, --drop-edges".to_string(),
                });
            }
            Change::Submit(factor) => scale(&mut changed.measured.submits, *factor),
            Change::Build(build) => {
                if is_captured_by(*build, changed.measured.is_captured, program, OPTIONS)? {
                    changed.measured.capture();
                }
            }
            Change::Cores(Cores::Threads(count)) => changed.threads = *count,
            Change::Cores(Cores::OneMoreCluster) => changed.threads += 1,
            Change::Cores(Cores::Twice) => changed.threads *= 2,
            Change::Cores(Cores::Unlimited) => changed.threads = THREADS_MAX,
            Change::DropCause(cause) => drop_cause(program, &mut changed.dropped, cause)?,
            Change::DropBetween(before, after) => drop_between(program, &mut changed.dropped, before, after)?,
            Change::Cores(Cores::Of { .. } | Cores::Processors(_)) => {
                return Err(ReplayError::Impossible {
                    what: "the run is of cpu, whose cores are threads".to_string(),
                    hint: format!("--cores threads={}", 2 * self.recorded.threads),
                });
            }
            other => {
                return Err(ReplayError::Impossible {
                    what: format!("{other}: the model of a run of cpu does not know this change"),
                    hint: OPTIONS.to_string(),
                });
            }
        }
        Ok(())
    }
}
