//! Arrows: which block an edge begins at, which it ends at, and its number.

use ringlane_insight::timeline::{TaskIndex, Timeline};

/// The numbers of all edges: those that lead to one task follow each other.
pub(super) struct Arrows<'a> {
    timeline: &'a Timeline,
    /// The number of the first edge that leads to each task.
    first: Vec<u32>,
    /// The task of each block.
    task_of_block: Vec<TaskIndex>,
    /// The block that started first and the one that ended last, of each task that has blocks.
    ends: Vec<(u32, u32)>,
}

impl<'a> Arrows<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let mut first = Vec::with_capacity(timeline.tasks.len());
        let mut task_of_block = Vec::with_capacity(timeline.blocks.len());
        let mut ends = Vec::with_capacity(timeline.tasks.len());
        let mut next = 1;
        for task in timeline.indices() {
            first.push(next);
            next += timeline.edges.producers(task).len() as u32;
            let blocks = timeline.blocks_of(task);
            let place = task_of_block.len() as u32;
            let last =
                (place..).zip(blocks).max_by_key(|(_, block)| block.end).map_or(place, |(last, _)| last);
            ends.push((place, last));
            task_of_block.extend(blocks.iter().map(|_| task));
        }
        Arrows { timeline, first, task_of_block, ends }
    }

    /// The task that a block, by its place in the timeline, belongs to.
    pub(super) fn task_of(&self, block: u32) -> TaskIndex {
        self.task_of_block[block as usize]
    }

    /// Whether arrows can begin and end at a task: it has a block, or a moment at which it was ready.
    pub(super) fn is_shown(&self, task: TaskIndex) -> bool {
        !self.timeline.blocks_of(task).is_empty() || self.timeline.task(task).ready.is_some()
    }

    /// The numbers of the edges that lead to a task from one that is shown.
    pub(super) fn into(&self, task: TaskIndex, numbers: &mut Vec<u64>) {
        numbers.clear();
        let producers = self.timeline.edges.producers(task).iter().zip(u64::from(self.first[task.at()])..);
        numbers.extend(producers.filter(|(producer, _)| self.is_shown(**producer)).map(|(_, number)| number));
    }

    /// The numbers of the edges that lead from a task to one that is shown.
    pub(super) fn out_of(&self, task: TaskIndex, numbers: &mut Vec<u64>) {
        numbers.clear();
        let consumers = self.timeline.edges.consumers(task).iter().filter(|&&to| self.is_shown(to));
        numbers.extend(consumers.filter_map(|&consumer| {
            let place = self.timeline.edges.producers(consumer).binary_search(&task).ok()?;
            Some(u64::from(self.first[consumer.at()]) + place as u64)
        }));
    }

    /// Whether a block is the one of its task that started first.
    pub(super) fn is_first(&self, block: u32) -> bool {
        self.ends[self.task_of(block).at()].0 == block
    }

    /// Whether a block is the one of its task that ended last.
    pub(super) fn is_last(&self, block: u32) -> bool {
        self.ends[self.task_of(block).at()].1 == block
    }
}
