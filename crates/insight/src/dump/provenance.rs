//! Where a task's inputs come from, according to the recorded dependencies.

use std::collections::HashMap;

use ringlane_task::{Seq, TaskId};
use ringlane_trace::deps::{Deps, DepsEdge, DepsTask, Hazard, Origin, TensorIndex};

use serde::Serialize;

use crate::deps::label;

/// A task that wrote something which another reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Producer {
    /// The task.
    #[serde(rename = "task_id")]
    pub task: TaskId,
    /// Its place in the order of submission.
    pub seq: Seq,
    /// Its kernels.
    pub kernel: String,
}

/// Where one input comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Which argument.
    pub arg: u32,
    /// Whose memory it is.
    pub origin: Origin,
    /// The tasks that wrote it; none for what the caller brought or what was only allocated.
    pub producers: Vec<Producer>,
}

/// The dependencies of a run, laid out to be asked about many tasks.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    tasks: HashMap<TaskId, DepsTask<'static>>,
    origins: HashMap<TensorIndex, Origin>,
    /// Which task reads, by which argument, what which task wrote; sorted by the first two.
    reads: Vec<(TaskId, u32, TaskId)>,
}

impl Sources {
    /// Lays out what was recorded.
    pub fn new(deps: Deps) -> Self {
        let mut reads: Vec<_> = deps.edges.iter().filter_map(read_of).collect();
        // Stable: the tasks that wrote one argument stay in the order of the file.
        reads.sort_by_key(|&(reader, arg, _)| (reader, arg));
        Sources {
            tasks: deps.tasks.into_iter().map(|task| (task.task_id, task)).collect(),
            origins: deps.tensors.into_iter().map(|tensor| (tensor.tensor, tensor.origin)).collect(),
            reads,
        }
    }

    /// Where the inputs of a task come from; nothing if the task is not on record.
    pub fn of(&self, task: TaskId) -> Vec<Provenance> {
        let args = self.tasks.get(&task).into_iter().flat_map(|row| row.args.iter());
        let reads = args.filter(|arg| arg.access.reads());
        reads
            .map(|arg| Provenance {
                arg: arg.index,
                origin: self.origins.get(&arg.tensor).copied().unwrap_or(Origin::External),
                producers: self.producers(task, arg.index),
            })
            .collect()
    }

    fn producers(&self, reader: TaskId, arg: u32) -> Vec<Producer> {
        let from = self.reads.partition_point(|&(task, at, _)| (task, at) < (reader, arg));
        let own = self.reads[from..].iter().take_while(|&&(task, at, _)| (task, at) == (reader, arg));
        let writers = own.filter_map(|(_, _, writer)| self.tasks.get(writer));
        let mut producers: Vec<_> = writers.filter(|row| !row.kernels.is_empty()).map(producer).collect();
        producers.dedup();
        producers
    }
}

/// What an edge says of an argument that is read after it was written.
fn read_of(edge: &DepsEdge) -> Option<(TaskId, u32, TaskId)> {
    let cause = edge.cause.filter(|cause| cause.hazard == Hazard::Raw)?;
    Some((edge.succ, cause.arg, edge.pred))
}

fn producer(row: &DepsTask<'_>) -> Producer {
    Producer { task: row.task_id, seq: row.seq, kernel: label(row) }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use ringlane_task::{Access, DType, KernelId};
    use ringlane_trace::deps::{DepsArg, DepsTensor, EdgeCause, EdgeSource, Overlap, TaskKernel};
    use ringlane_trace::rows::{KernelRow, ViewRow};

    use super::*;

    fn task(id: u64, kernel: &str, args: &[(Access, u32)]) -> DepsTask<'static> {
        let view = ViewRow::new(DType::Float32, 0, &[]).unwrap();
        let arg = |(index, &(access, tensor)): (u32, &(Access, u32))| DepsArg {
            index,
            access,
            tensor: TensorIndex(tensor),
            view,
            split: None,
        };
        let row = KernelRow { func_id: KernelId(0), name: kernel.to_string(), core_type: "any".to_string() };
        let row = TaskKernel { kernel: Cow::Owned(row), lane: 0 };
        DepsTask {
            task_id: TaskId(id),
            seq: Seq(id),
            block_num: 1,
            kernels: if kernel.is_empty() { Cow::default() } else { vec![row].into() },
            args: (0..).zip(args).map(arg).collect(),
            ..DepsTask::default()
        }
    }

    fn edge(pred: u64, succ: u64, arg: u32, hazard: Hazard) -> DepsEdge {
        let cause = Some(EdgeCause { hazard, arg, tensor: TensorIndex(0), overlap: Overlap::Covered });
        DepsEdge { pred: TaskId(pred), succ: TaskId(succ), source: EdgeSource::TensorMap, cause }
    }

    #[test]
    fn each_input_names_those_that_wrote_it_and_nobody_else() {
        let tensor = |number, origin| DepsTensor { tensor: TensorIndex(number), bytes: 4, origin };
        let sources = Sources::new(Deps {
            tasks: vec![
                task(1, "A", &[(Access::Output, 0)]),
                task(2, "B", &[(Access::InOut, 0)]),
                task(3, "", &[(Access::Output, 1)]),
                task(4, "C", &[(Access::Input, 1), (Access::Input, 0), (Access::Output, 0)]),
            ],
            tensors: vec![tensor(0, Origin::External), tensor(1, Origin::Heap)],
            edges: vec![
                edge(2, 4, 1, Hazard::Raw),
                edge(3, 4, 0, Hazard::Raw),
                edge(1, 4, 1, Hazard::Raw),
                edge(1, 4, 0, Hazard::War),
                edge(1, 2, 0, Hazard::Raw),
            ],
            dropped: 0,
            ..Deps::default()
        });
        let of = |task| -> Vec<(u32, Origin, Vec<String>)> {
            let names = |producers: Vec<Producer>| producers.into_iter().map(|made| made.kernel).collect();
            let all = sources.of(TaskId(task)).into_iter();
            all.map(|found| (found.arg, found.origin, names(found.producers))).collect()
        };
        let [a, b] = ["A", "B"].map(str::to_string);
        // An allocation, which runs no kernel, made tensor 1; so no task is listed for it.
        assert_eq!(of(4), [(0, Origin::Heap, vec![]), (1, Origin::External, vec![b, a.clone()])]);
        assert_eq!(of(2), [(0, Origin::External, vec![a])]);
        assert_eq!(of(1), []);
        assert_eq!(of(9), []);
    }
}
