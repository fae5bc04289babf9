//! The graph from a timeline alone: the tasks that ran, and the edges that the engine wired between them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ringlane_trace::deps::{DepsTask, TaskKernel};
use ringlane_trace::swimlane::SwimlaneLevel;

use super::TaskGraph;
use crate::InsightError;
use crate::timeline::{TaskIndex, TaskLife, Timeline};

impl TaskGraph {
    /// The graph of a timeline of level 2 or 3. Its tasks have kernels and no arguments, its edges no reasons, and an edge
    /// from a producer that was reclaimed before the submit is not among them: nothing had to wait for it.
    pub fn wired(timeline: &Timeline) -> Result<Self, InsightError> {
        timeline.needs(SwimlaneLevel::Tasks)?;
        let positions = timeline.indices().map(|task| (timeline.task(task).task_id, task)).collect();
        Ok(TaskGraph {
            tasks: timeline.indices().map(|task| task_of(timeline, task)).collect(),
            reasons: Vec::new(),
            edges: timeline.edges.clone(),
            origin: timeline.edge_origin,
            lost: timeline.lost_tasks,
            positions,
        })
    }
}

fn task_of(timeline: &Timeline, task: TaskIndex) -> DepsTask<'static> {
    let TaskLife { task_id, seq, .. } = timeline.task(task);
    let blocks = timeline.blocks_of(task);
    let lanes: BTreeSet<_> = blocks.iter().map(|block| (block.lane, block.func_id)).collect();
    let kernels = lanes.into_iter().filter_map(|(lane, kernel)| {
        Some(TaskKernel { kernel: Cow::Owned(timeline.kernel(kernel)?.clone()), lane })
    });
    DepsTask {
        task_id: *task_id,
        seq: *seq,
        block_num: blocks.iter().map(|block| block.block.0 + 1).max().unwrap_or(1),
        kernels: kernels.collect(),
        label: timeline.label(task).map(|label| Cow::Owned(label.to_string())),
        ..DepsTask::default()
    }
}
