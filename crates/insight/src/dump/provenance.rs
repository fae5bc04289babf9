//! Where a task's inputs come from, as the recorded dependencies tell it.

use ringlane_task::{Seq, TaskId};
use ringlane_trace::deps::{Deps, DepsTask, Hazard, Origin};

/// A task that wrote something which another reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// The task.
    pub task: TaskId,
    /// Its place in the order of submission.
    pub seq: Seq,
    /// Its kernels.
    pub kernel: String,
}

/// Where one input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Which argument.
    pub arg: u32,
    /// Whose memory it is.
    pub origin: Origin,
    /// The tasks that wrote it; none for what the caller brought or what was only allocated.
    pub producers: Vec<Producer>,
}

/// Where the inputs of a task come from; nothing if the task is not on record.
pub fn provenance(deps: &Deps, task: TaskId) -> Vec<Provenance> {
    let Some(row) = deps.tasks.iter().find(|row| row.task_id == task) else { return Vec::new() };
    let reads = row.args.iter().filter(|arg| arg.access.reads());
    reads
        .map(|arg| {
            let wrote = deps.edges.iter().filter(|edge| {
                edge.succ == task
                    && edge.cause.is_some_and(|cause| cause.arg == arg.index && cause.hazard == Hazard::Raw)
            });
            let tasks = wrote.filter_map(|edge| deps.tasks.iter().find(|row| row.task_id == edge.pred));
            let tensor = deps.tensors.iter().find(|tensor| tensor.tensor == arg.tensor);
            let mut producers: Vec<_> = tasks.filter(|row| !row.kernels.is_empty()).map(producer).collect();
            producers.dedup();
            Provenance {
                arg: arg.index,
                origin: tensor.map_or(Origin::External, |tensor| tensor.origin),
                producers,
            }
        })
        .collect()
}

fn producer(row: &DepsTask) -> Producer {
    let names: Vec<_> = row.kernels.iter().map(|(kernel, _)| kernel.name.as_str()).collect();
    Producer { task: row.task_id, seq: row.seq, kernel: names.join("+") }
}
