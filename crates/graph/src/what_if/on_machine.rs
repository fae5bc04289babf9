//! Experiments on a run on the machine's own cores: replays on a model of the machine.

use std::sync::Arc;

use ringlane_insight::units::microseconds;

use super::change::{Change, Cores, KernelTime};
use super::experiment::{DroppedEdges, check_kernel, drop_between, drop_cause};
use super::limits::THREADS_MAX;
use super::{Baseline, Experiment, Laboratory, baseline_of, bound_of};
use crate::error::ReplayError;
use crate::machine::{Measured, RecordedMachine};
use crate::recorded::GraphBuild;

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
            Change::Kernel(name, time) => self.apply_kernel(name, *time, &mut changed.measured)?,
            Change::Submit(_) if changed.measured.is_captured => {
                return Err(ReplayError::Impossible {
                    what: format!("{change}: a captured graph has no submits"),
                    hint: "on such a run: --kernel, --cores threads=N, --drop-edges".to_string(),
                });
            }
            Change::Submit(factor) => {
                changed
                    .measured
                    .submits
                    .iter_mut()
                    .for_each(|ticks| *ticks = (*ticks as f64 * factor) as u64);
            }
            Change::Build(build) => self.apply_build(*build, &mut changed.measured)?,
            Change::Cores(Cores::Threads(count)) => changed.threads = *count,
            Change::Cores(Cores::OneMoreCluster) => changed.threads += 1,
            Change::Cores(Cores::Twice) => changed.threads *= 2,
            Change::Cores(Cores::Unlimited) => changed.threads = THREADS_MAX,
            Change::DropCause(cause) => drop_cause(program, &mut changed.dropped, cause)?,
            Change::DropBetween(before, after) => drop_between(program, &mut changed.dropped, before, after)?,
            Change::Cores(Cores::Of { .. }) => {
                return Err(ReplayError::Impossible {
                    what: "the run is of cpu, whose cores are threads".to_string(),
                    hint: format!("--cores threads={}", 2 * self.recorded.threads),
                });
            }
            other => {
                return Err(ReplayError::Impossible {
                    what: format!("{other}: the model of a run of cpu does not know this change"),
                    hint: "on cpu: --kernel, --submit, --runtime host_build_graph, --cores threads=N, --drop-edges"
                        .to_string(),
                });
            }
        }
        Ok(())
    }

    /// A captured graph is there before it runs. What submits of a streamed run take is not known from a captured one.
    fn apply_build(&self, build: GraphBuild, measured: &mut Measured) -> Result<(), ReplayError> {
        let impossible =
            |what: &str, hint: &str| ReplayError::Impossible { what: what.into(), hint: hint.into() };
        match (build, measured.is_captured) {
            (GraphBuild::Captured { .. }, true) | (GraphBuild::Streamed, false) => Ok(()),
            (GraphBuild::Streamed, true) => Err(impossible(
                "the run is of a captured graph: it shows no times of submits, which streaming has",
                "record the run again with --runtime tensormap_and_ringbuffer",
            )),
            (GraphBuild::Captured { .. }, false) if self.recorded.program.reads_values() => Err(impossible(
                "the program reads values while it submits tasks, so it cannot be captured",
                "on cpu: --kernel, --submit, --cores threads=N, --drop-edges",
            )),
            (GraphBuild::Captured { .. }, false) => {
                measured.capture();
                Ok(())
            }
        }
    }

    fn apply_kernel(&self, name: &str, time: KernelTime, measured: &mut Measured) -> Result<(), ReplayError> {
        let program = &self.recorded.program;
        check_kernel(program, name)?;
        let ticks = |picoseconds: u64| {
            (u128::from(picoseconds) * u128::from(self.recorded.manifest.clock_freq_hz) / 1_000_000_000_000)
                as u64
        };
        for (task, blocks) in program.tasks.iter().zip(&mut measured.blocks) {
            let lanes = task.lanes.iter().flatten().zip(blocks.chunks_mut(task.blocks.max(1) as usize));
            for (_, lane) in lanes.filter(|(kernel, _)| program.kernels[usize::from(**kernel)].name == name) {
                for block in lane {
                    block.kernel = match time {
                        KernelTime::Factor(factor) => (block.kernel as f64 * factor) as u64,
                        KernelTime::Picoseconds(picoseconds) => ticks(picoseconds),
                    };
                }
            }
        }
        Ok(())
    }
}
