//! Experiments on a run over several workers: on the run of each call, put together for each worker.
//!
//! A worker runs its calls one after another, and workers run at the same time. So the time of a node is that of its busiest worker: the
//! sum of what its calls take on its chip. Calls themselves are not replayed: what processes wait for each other is measured
//! in the time of this machine, and that of modelled chips is their own.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use ringlane_insight::Run;
use ringlane_insight::units::counted;

use super::{Baseline, Experiment, Laboratory, Subject};
use crate::error::ReplayError;

/// Levels of nodes that are followed: a node of hosts, their nodes, and a few more.
const LEVELS_MAX: usize = 8;

/// The run of a call.
#[derive(Debug)]
pub struct CallSubject {
    /// The worker, with the names of the nodes above it: `node0/chip1`.
    pub worker: String,
    /// Its run.
    pub subject: Subject,
}

/// Opens the runs of all calls of a node, and of the nodes below it, each with the name of its worker.
pub(super) fn runs(node: &Run) -> Result<Vec<(String, Run)>, ReplayError> {
    let mut open = vec![(String::new(), node.dir.clone(), node.manifest.clone(), 0)];
    let mut runs = Vec::new();
    while let Some((path, dir, manifest, level)) = open.pop() {
        for child in &manifest.children {
            let worker =
                if path.is_empty() { child.worker.clone() } else { format!("{path}/{}", child.worker) };
            let run = Run::open(dir.join(&child.dir))?;
            match run.manifest.children.is_empty() || level + 1 == LEVELS_MAX {
                true => runs.push((worker, run)),
                false => open.push((worker, run.dir, run.manifest, level + 1)),
            }
        }
    }
    Ok(runs)
}

/// Reads the runs of all calls of a node.
pub(super) fn read(node: &Run) -> Result<Vec<CallSubject>, ReplayError> {
    let read = |(worker, run): (String, Run)| Ok(CallSubject { worker, subject: Subject::read(&run.dir)? });
    runs(node)?.into_iter().map(read).collect()
}

/// The experiments on any of the runs, each once.
pub(super) fn experiments(calls: &[CallSubject]) -> Vec<Experiment> {
    let mut all: Vec<Experiment> = Vec::new();
    for experiment in calls.iter().flat_map(|call| call.subject.experiments()) {
        if !all.contains(&experiment) {
            all.push(experiment);
        }
    }
    all
}

/// The runs of a node, ready for experiments.
pub struct NodeLaboratory<'r> {
    runs: Vec<(&'r str, Box<dyn Laboratory + 'r>)>,
}

impl<'r> NodeLaboratory<'r> {
    /// Replays the run of each call unchanged.
    pub(super) fn new(calls: &'r [CallSubject]) -> Result<Self, ReplayError> {
        let run = |call: &'r CallSubject| Ok((call.worker.as_str(), call.subject.laboratory()?));
        Ok(NodeLaboratory { runs: calls.iter().map(run).collect::<Result<_, ReplayError>>()? })
    }

    /// The time of the busiest worker.
    fn busiest(
        &self,
        time: impl Fn(&dyn Laboratory) -> Result<f64, ReplayError>,
    ) -> Result<f64, ReplayError> {
        let mut sums: HashMap<&str, f64> = HashMap::new();
        for (worker, run) in &self.runs {
            *sums.entry(worker).or_default() += time(&**run)?;
        }
        Ok(sums.into_values().fold(0.0, f64::max))
    }
}

impl Laboratory for NodeLaboratory<'_> {
    fn baseline(&self) -> Baseline {
        let of = |time: fn(&Baseline) -> f64| self.busiest(|run| Ok(time(&run.baseline()))).unwrap_or(0.0);
        let (recorded_us, replayed_us) = (of(|one| one.recorded_us), of(|one| one.replayed_us));
        let error = (replayed_us - recorded_us) / recorded_us.max(f64::MIN_POSITIVE);
        Baseline { recorded_us, replayed_us, error }
    }

    fn makespan_us(&self, experiment: &Experiment) -> Result<f64, ReplayError> {
        let refused = Cell::new(None);
        let applied = Cell::new(0);
        let time = self.busiest(|run| match run.makespan_us(experiment) {
            // A kernel that only the runs of other workers have.
            Err(error @ ReplayError::Unknown { .. }) => {
                refused.set(Some(error));
                Ok(run.baseline().replayed_us)
            }
            answer => {
                applied.set(applied.get() + 1);
                answer
            }
        })?;
        match refused.take() {
            Some(error) if applied.get() == 0 => Err(error),
            _ => Ok(time),
        }
    }

    fn bound_us(&self) -> Result<f64, ReplayError> {
        self.busiest(|run| run.bound_us())
    }

    fn notes(&self) -> Vec<String> {
        let workers: HashSet<&str> = self.runs.iter().map(|(worker, _)| *worker).collect();
        vec![format!(
            "the times are those of the busiest of {} on its chip: calls stay on their workers, and time between calls is left out",
            counted(workers.len() as u64, "worker")
        )]
    }
}
