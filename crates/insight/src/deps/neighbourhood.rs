//! One task, the tasks it waits for and those that wait for it, with the bytes that tie them.

use ringlane_trace::deps::{DepsArg, Hazard};

use super::{Reason, TaskGraph};
use crate::timeline::TaskIndex;

/// A task and its neighbours.
#[derive(Clone, Debug)]
pub struct Neighbourhood {
    /// The task.
    pub task: TaskIndex,
    /// What it waits for, one tie for each reason, in the order of submission.
    pub producers: Vec<Tie>,
    /// What waits for it.
    pub consumers: Vec<Tie>,
}

/// One reason for a wait, and the arguments that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The edge.
    pub reason: Reason,
    /// The argument of the task that waits; an explicit edge has none.
    pub after: Option<DepsArg>,
    /// The arguments of the earlier task in the same tensor that it writes or, before a write, reads: one or more of them overlap.
    pub before: Vec<DepsArg>,
}

/// The neighbourhood of a task.
pub fn neighbourhood(graph: &TaskGraph, task: TaskIndex) -> Neighbourhood {
    let tie = |reason: &Reason| tie(graph, *reason);
    let consumers = graph.edges.consumers(task).iter();
    Neighbourhood {
        task,
        producers: graph.reasons_of(task).iter().map(tie).collect(),
        consumers: consumers.flat_map(|&after| graph.reasons_between(task, after)).map(tie).collect(),
    }
}

fn tie(graph: &TaskGraph, reason: Reason) -> Tie {
    let Some(cause) = reason.edge.cause else { return Tie { reason, after: None, before: Vec::new() } };
    let args_of = |task| graph.task(task).args.iter().filter(move |arg| arg.tensor == cause.tensor).copied();
    Tie {
        reason,
        after: args_of(reason.after).find(|arg| arg.index == cause.arg),
        before: args_of(reason.before)
            .filter(|arg| match cause.hazard {
                Hazard::Raw | Hazard::Waw => arg.access.writes(),
                Hazard::War => arg.access.reads(),
            })
            .collect(),
    }
}
