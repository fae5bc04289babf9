//! From a task's place in submission order to its id, in memory that grows with the changes of ring, not with the tasks.

use ringlane_task::TaskId;

/// Tasks in submission order, as runs of neighbours on one ring.
#[derive(Default)]
pub(crate) struct Sequence {
    /// First place and first id of each run.
    runs: Vec<(u64, u64)>,
    next: (u64, u64),
}

impl Sequence {
    /// The next task. Tasks come in order; places may be left out.
    pub(crate) fn push(&mut self, seq: u64, task: TaskId) {
        if self.runs.is_empty() || self.next != (seq, task.0) {
            self.runs.push((seq, task.0));
        }
        self.next = (seq + 1, task.0 + 1);
    }

    /// The task at a place.
    pub(crate) fn task(&self, seq: u64) -> Option<TaskId> {
        // Most are asked for soon after they came.
        let &(first, id) = self.runs.last()?;
        if (first..self.next.0).contains(&seq) {
            return Some(TaskId(id + (seq - first)));
        }
        let run = self.runs.partition_point(|&(first, _)| first <= seq).checked_sub(1)?;
        let (first, id) = self.runs[run];
        let end = self.runs.get(run + 1).map_or(self.next.0, |next| next.0);
        (seq < end).then_some(TaskId(id + (seq - first)))
    }

    /// The tasks from one place to another.
    pub(crate) fn range(&self, from: u64, to: u64, add: impl FnMut(TaskId)) {
        (from..to).filter_map(|seq| self.task(seq)).for_each(add);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_found_at_its_place_and_gaps_hold_none() {
        let mut sequence = Sequence::default();
        let ring = 1u64 << 32;
        let tasks = [(0, 0), (1, 1), (2, ring), (3, ring + 1), (4, 2), (7, 5), (8, 6)];
        tasks.iter().for_each(|&(seq, id)| sequence.push(seq, TaskId(id)));
        for (seq, id) in tasks {
            assert_eq!(sequence.task(seq), Some(TaskId(id)));
        }
        assert_eq!(sequence.task(9), None);
        let mut found = vec![];
        sequence.range(2, 5, |task| found.push(task.0));
        assert_eq!(found, [ring, ring + 1, 2]);
    }
}
