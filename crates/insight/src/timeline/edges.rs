//! Which task waits for which, both ways.

use super::TaskIndex;

/// The edges between tasks, each pair once.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    producers: Lists,
    consumers: Lists,
}

impl Edges {
    /// The edges `(before, after)` between `tasks` tasks. A pair that appears twice counts once.
    ///
    /// # Panics
    /// If a pair names a task that is not one of them.
    pub fn new(tasks: usize, mut pairs: Vec<(TaskIndex, TaskIndex)>) -> Self {
        pairs.sort_unstable_by_key(|&(before, after)| (after, before));
        pairs.dedup();
        let producers = Lists::of(tasks, pairs.iter().map(|&(before, after)| (after, before)));
        pairs.sort_unstable();
        let consumers = Lists::of(tasks, pairs.iter().copied());
        Edges { producers, consumers }
    }

    /// The tasks that this one waits for, in the order of submission.
    pub fn producers(&self, task: TaskIndex) -> &[TaskIndex] {
        self.producers.list(task)
    }

    /// The tasks that wait for this one, in the order of submission.
    pub fn consumers(&self, task: TaskIndex) -> &[TaskIndex] {
        self.consumers.list(task)
    }

    /// All edges, `(before, after)`, by the task that waits.
    pub fn pairs(&self) -> impl Iterator<Item = (TaskIndex, TaskIndex)> + '_ {
        let tasks = (0..self.producers.starts.len().saturating_sub(1) as u32).map(TaskIndex);
        tasks.flat_map(|after| self.producers(after).iter().map(move |&before| (before, after)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.producers.tasks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A list of tasks for each task, in one piece of memory.
#[derive(Clone, Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    tasks: Vec<TaskIndex>,
}

impl Lists {
    /// The lists of pairs that are sorted by the task whose list it is.
    fn of(tasks: usize, sorted: impl Iterator<Item = (TaskIndex, TaskIndex)>) -> Self {
        let mut lists = Lists { starts: vec![0; tasks + 1], tasks: Vec::new() };
        for (of, other) in sorted {
            lists.tasks.push(other);
            lists.starts[of.at() + 1] += 1;
        }
        for task in 0..tasks {
            lists.starts[task + 1] += lists.starts[task];
        }
        lists
    }

    fn list(&self, task: TaskIndex) -> &[TaskIndex] {
        &self.tasks[self.starts[task.at()] as usize..self.starts[task.at() + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_seen_from_both_ends_and_counts_once() {
        let pair = |a, b| (TaskIndex(a), TaskIndex(b));
        let pairs = vec![pair(1, 3), pair(0, 3), pair(0, 1), pair(0, 3)];
        let edges = Edges::new(4, pairs);
        assert_eq!(edges.producers(TaskIndex(3)), [TaskIndex(0), TaskIndex(1)]);
        assert_eq!(edges.consumers(TaskIndex(0)), [TaskIndex(1), TaskIndex(3)]);
        assert_eq!(edges.producers(TaskIndex(2)), []);
        assert_eq!(edges.pairs().collect::<Vec<_>>(), [pair(0, 1), pair(0, 3), pair(1, 3)]);
        assert_eq!((edges.len(), Edges::new(0, Vec::new()).len()), (3, 0));
    }
}
