//! The transitive reduction: the fewest edges from which all waits follow.
//!
//! A task's edge to a producer is superfluous if the producer also comes before another of its producers. Producers are
//! visited from the last to the first: what can be reached backwards from those that were kept needs no edge of its own. The walk goes
//! along edges that were kept only, does not go further back than the first producer, and ends as soon as all are reached.

use crate::timeline::{Edges, TaskIndex};

/// Steps of the search after which it is given up: about ten seconds. Graphs whose edges are short, as those of tasks that
/// hand data on, take a few steps for each edge; the worst take as many as tasks times edges.
pub const REDUCTION_STEPS_MAX: u64 = 1_000_000_000;

/// The reduction would take longer than anybody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySteps {
    /// The task at which it was given up.
    pub at: TaskIndex,
}

/// The edges of the reduction, `(before, after)`, by the task that waits. It is exact, and of a graph without cycles there is
/// only one.
///
/// ```
/// use ringlane_insight::deps::reduce;
/// use ringlane_insight::timeline::{Edges, TaskIndex};
/// let pair = |before, after| (TaskIndex(before), TaskIndex(after));
/// let edges = Edges::new(3, vec![pair(0, 1), pair(1, 2), pair(0, 2)]);
/// assert_eq!(reduce(3, &edges).unwrap(), [pair(0, 1), pair(1, 2)]);
/// ```
pub fn reduce(tasks: usize, edges: &Edges) -> Result<Vec<(TaskIndex, TaskIndex)>, TooManySteps> {
    let mut search = Search {
        starts: vec![0],
        kept: Vec::with_capacity(edges.len()),
        seen: vec![u32::MAX; tasks],
        stack: Vec::new(),
        steps: 0,
    };
    for after in (0..tasks as u32).map(TaskIndex) {
        search.task(after, edges.producers(after))?;
        search.starts.push(search.kept.len());
    }
    let pairs = search.starts.windows(2).zip((0..).map(TaskIndex));
    Ok(pairs
        .flat_map(|(ends, after)| search.kept[ends[0]..ends[1]].iter().map(move |&kept| (kept, after)))
        .collect())
}

struct Search {
    /// Where the kept producers of each task start.
    starts: Vec<usize>,
    kept: Vec<TaskIndex>,
    /// The task for which each was reached last.
    seen: Vec<u32>,
    stack: Vec<TaskIndex>,
    steps: u64,
}

impl Search {
    fn task(&mut self, after: TaskIndex, producers: &[TaskIndex]) -> Result<(), TooManySteps> {
        let from = self.kept.len();
        for (place, &producer) in producers.iter().enumerate().rev() {
            if self.seen[producer.at()] == after.0 {
                continue;
            }
            self.kept.push(producer);
            self.walk_back(producer, after, &producers[..place])?;
        }
        self.kept[from..].reverse();
        Ok(())
    }

    /// Marks what comes before a task, until all of `wanted` is reached.
    fn walk_back(
        &mut self,
        task: TaskIndex,
        after: TaskIndex,
        wanted: &[TaskIndex],
    ) -> Result<(), TooManySteps> {
        let Some(&first) = wanted.first() else { return Ok(()) };
        let mut missing = wanted.iter().filter(|task| self.seen[task.at()] != after.0).count();
        self.stack.clear();
        self.stack.push(task);
        while let Some(task) = self.stack.pop()
            && missing > 0
        {
            for place in self.starts[task.at()]..self.starts[task.at() + 1] {
                self.steps += 1;
                let before = self.kept[place];
                if before < first || self.seen[before.at()] == after.0 {
                    continue;
                }
                self.seen[before.at()] = after.0;
                missing -= usize::from(wanted.binary_search(&before).is_ok());
                self.stack.push(before);
            }
        }
        if self.steps > REDUCTION_STEPS_MAX { Err(TooManySteps { at: after }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Which task comes before which, along any path.
    fn closure(tasks: usize, pairs: &[(TaskIndex, TaskIndex)]) -> Vec<Vec<bool>> {
        let mut before = vec![vec![false; tasks]; tasks];
        for after in 0..tasks {
            for (from, _) in pairs.iter().filter(|(_, to)| to.at() == after) {
                before[after][from.at()] = true;
                let earlier = before[from.at()].clone();
                before[after].iter_mut().zip(earlier).for_each(|(known, more)| *known |= more);
            }
        }
        before
    }

    proptest! {
        #[test]
        fn the_reduction_means_the_same_and_no_edge_of_it_follows_from_others(
            drawn in prop::collection::vec((0u32..24, 0u32..24), 0..120)
        ) {
            let ordered = drawn.into_iter().filter(|(a, b)| a != b);
            let pairs: Vec<_> = ordered.map(|(a, b)| (TaskIndex(a.min(b)), TaskIndex(a.max(b)))).collect();
            let all = closure(24, &pairs);
            let kept = reduce(24, &Edges::new(24, pairs)).unwrap();
            prop_assert_eq!(&closure(24, &kept), &all);
            for left_out in 0..kept.len() {
                let mut fewer = kept.clone();
                fewer.remove(left_out);
                prop_assert_ne!(&closure(24, &fewer), &all);
            }
        }
    }
}
