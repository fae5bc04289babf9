//! Which task waits for which, as a graph of positions: its reduction, one task's neighbourhood, and the same graph
//! collapsed by kernel.
//!
//! ```text
//! Deps     ──▶ TaskGraph ──▶ reduce: the edges that follow from no others
//! Timeline ──┘          └──▶ neighbourhood: one task, and the bytes that tie it to others
//!                       └──▶ by_kernel: a node for each kernel
//! ```

mod collapse;
mod neighbourhood;
mod reduction;
mod wired;

use std::collections::HashMap;

use ringlane_task::TaskId;
use ringlane_trace::deps::{Deps, DepsEdge, DepsTask};

use crate::timeline::{EdgeOrigin, Edges, TaskIndex};
pub use collapse::{KernelGraph, KernelLink, KernelNode, by_kernel};
pub use neighbourhood::{Neighbourhood, Tie, neighbourhood};
pub use reduction::{REDUCTION_STEPS_MAX, TooManySteps, reduce};

/// The tasks of a run and why one waits for another.
#[derive(Clone, Debug)]
pub struct TaskGraph {
    /// Tasks, in the order of submission.
    pub tasks: Vec<DepsTask<'static>>,
    /// Every reason for a wait, by the task that waits, then by the one it waits for; none if the engine's edges are all that
    /// is known.
    pub reasons: Vec<Reason>,
    /// Which task waits for which, each pair once.
    pub edges: Edges,
    /// Where the edges come from.
    pub origin: EdgeOrigin,
    /// Tasks that were lost; edges from and to them are left out.
    pub lost: u64,
    positions: HashMap<TaskId, TaskIndex>,
}

/// An edge between positions, with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The task that has to be done first.
    pub before: TaskIndex,
    /// The task that waits.
    pub after: TaskIndex,
    /// Why.
    pub edge: DepsEdge,
}

impl TaskGraph {
    /// The graph of recorded dependencies. The error says what is wrong with them.
    pub fn new(deps: Deps) -> Result<Self, String> {
        let Deps { mut tasks, edges, dropped, .. } = deps;
        tasks.sort_by_key(|task| task.seq);
        if u32::try_from(tasks.len()).is_err() {
            return Err(format!("{} tasks are more than 32-bit positions can number", tasks.len()));
        }
        let mut positions = HashMap::with_capacity(tasks.len());
        for (task, position) in tasks.iter().zip(0..) {
            if positions.insert(task.task_id, TaskIndex(position)).is_some() {
                return Err(format!("task {} appears twice", task.task_id));
            }
        }
        let mut reasons = Vec::with_capacity(edges.len());
        for edge in edges {
            let DepsEdge { pred, succ, .. } = edge;
            match (positions.get(&pred), positions.get(&succ)) {
                (Some(&before), Some(&after)) if before < after => {
                    reasons.push(Reason { before, after, edge })
                }
                _ if dropped > 0 => {}
                (Some(_), Some(_)) => return Err(format!("an edge leads from task {pred} back to {succ}")),
                _ => return Err(format!("an edge leads from task {pred} to {succ}, and one is none")),
            }
        }
        reasons.sort_by_key(|reason| (reason.after, reason.before));
        let pairs = reasons.iter().map(|reason| (reason.before, reason.after)).collect();
        let edges = Edges::new(tasks.len(), pairs);
        let origin = EdgeOrigin::Dependencies;
        Ok(TaskGraph { tasks, reasons, edges, origin, lost: dropped, positions })
    }

    /// The positions of all tasks.
    pub fn indices(&self) -> impl Iterator<Item = TaskIndex> + use<> {
        (0..self.tasks.len() as u32).map(TaskIndex)
    }

    /// What a task is called. Without its arguments, an allocation, a barrier and a task that was skipped are indistinguishable.
    pub fn label(&self, task: TaskIndex) -> String {
        let row = self.task(task);
        match self.origin {
            EdgeOrigin::Engine | EdgeOrigin::Nowhere if row.kernels.is_empty() => "no kernel".to_string(),
            _ => label(row),
        }
    }

    /// The same with the name that its submit gave it, in quotes: `QK "layer 3"`.
    pub fn title(&self, task: TaskIndex) -> String {
        let called = self.label(task);
        match &self.task(task).label {
            Some(given) => format!("{called} {given:?}"),
            None => called,
        }
    }

    /// A task by its position.
    pub fn task(&self, task: TaskIndex) -> &DepsTask<'static> {
        &self.tasks[task.at()]
    }

    /// The task with this name.
    pub fn find(&self, task: TaskId) -> Option<TaskIndex> {
        self.positions.get(&task).copied()
    }

    /// Why a task waits, by the tasks that it waits for.
    pub fn reasons_of(&self, after: TaskIndex) -> &[Reason] {
        let from = self.reasons.partition_point(|reason| reason.after < after);
        let of = self.reasons[from..].partition_point(|reason| reason.after == after);
        &self.reasons[from..from + of]
    }

    /// Why one task waits for another; nothing if it does not.
    pub fn reasons_between(&self, before: TaskIndex, after: TaskIndex) -> &[Reason] {
        let reasons = self.reasons_of(after);
        let from = reasons.partition_point(|reason| reason.before < before);
        let between = reasons[from..].partition_point(|reason| reason.before == before);
        &reasons[from..from + between]
    }
}

/// What a task is called: its kernels, or what it is without one.
///
/// ```
/// use ringlane_trace::deps::DepsTask;
/// assert_eq!(ringlane_insight::deps::label(&DepsTask::default()), "barrier");
/// ```
pub fn label(task: &DepsTask<'_>) -> String {
    let names: Vec<&str> = task.kernels.iter().map(|one| one.kernel.name.as_str()).collect();
    match names.as_slice() {
        [] if task.args.is_empty() => "barrier".to_string(),
        [] => "alloc".to_string(),
        names => names.join("+"),
    }
}
