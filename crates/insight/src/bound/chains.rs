//! How much time must pass before each task and after it: the longest chains of a graph.

use super::TaskTimes;
use crate::InsightError;

/// The longest chain before each task and the longest one after it.
#[derive(Debug)]
pub(super) struct Chains {
    heads: Vec<u64>,
    tails: Vec<u64>,
}

impl Chains {
    /// Tasks are in an order that the edges follow, so that edges sorted by the task that waits serve both ways: all
    /// edges into a task come before those out of it, and backwards the other way round. Sums past what 64 bits hold
    /// stay there, which keeps a bound made of them a lower one.
    pub(super) fn of(tasks: &[TaskTimes], edges: &[(u32, u32)]) -> Result<Self, InsightError> {
        let mut sorted = Vec::with_capacity(edges.len());
        for &(before, after) in edges {
            if before >= after || after as usize >= tasks.len() {
                return Err(InsightError::EdgeOutOfOrder { before, after, tasks: tasks.len() });
            }
            sorted.push((after as usize, before as usize));
        }
        sorted.sort_unstable();
        let mut chains = Chains { heads: vec![0; tasks.len()], tails: vec![0; tasks.len()] };
        for &(after, before) in &sorted {
            let through = chains.heads[before].saturating_add(tasks[before].duration);
            chains.heads[after] = chains.heads[after].max(through);
        }
        for &(after, before) in sorted.iter().rev() {
            let through = chains.tails[after].saturating_add(tasks[after].duration);
            chains.tails[before] = chains.tails[before].max(through);
        }
        Ok(chains)
    }

    /// Head and tail of each task.
    pub(super) fn around(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.heads.iter().copied().zip(self.tails.iter().copied())
    }

    /// The longest chain of all.
    pub(super) fn longest(&self, tasks: &[TaskTimes]) -> u64 {
        // A task without successors ends every chain it is on.
        let ends = self.heads.iter().zip(tasks).map(|(head, task)| head.saturating_add(task.duration));
        ends.max().unwrap_or(0)
    }
}
