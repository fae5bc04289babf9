//! The static path: the longest chain of tasks by the time they took, which no number of cores makes shorter.

use ringlane_task::Ticks;

use crate::timeline::{TaskIndex, Timeline};

/// The longest chain of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongestPath {
    /// How long its tasks take, one after another: the floor with as many cores as one likes.
    pub ticks: Ticks,
    /// Its tasks that ran, in order.
    pub tasks: Vec<TaskIndex>,
}

/// The longest chain of tasks that wait for each other. A task takes as long as its longest block.
pub fn longest(timeline: &Timeline) -> LongestPath {
    let takes = |task: TaskIndex| {
        timeline.blocks_of(task).iter().map(|block| block.duration().0).max().unwrap_or_default()
    };
    // When each task would end if it began right after its last producer, and which one that is.
    let mut ends: Vec<(u64, Option<TaskIndex>)> = Vec::with_capacity(timeline.tasks.len());
    for task in timeline.indices() {
        let producers = timeline.edges.producers(task).iter();
        let last =
            producers.copied().max_by_key(|producer| (ends[producer.at()].0, std::cmp::Reverse(*producer)));
        let before = last.map_or(0, |last| ends[last.at()].0);
        ends.push((before.saturating_add(takes(task)), last));
    }
    let last = timeline.indices().max_by_key(|task| (ends[task.at()].0, std::cmp::Reverse(*task)));
    let ticks = Ticks(last.map_or(0, |last| ends[last.at()].0));
    let chain = std::iter::successors(last, |task| ends[task.at()].1);
    let mut tasks: Vec<_> = chain.filter(|&task| !timeline.blocks_of(task).is_empty()).collect();
    tasks.reverse();
    LongestPath { ticks, tasks }
}
