//! `--verify`: checks that every task runs after its predecessors.
//!
//! [`Edges`] derives the predecessors from the accesses, and shares no code with the engine. The marks are relaxed on
//! purpose: the runtime guarantees that a successor sees its predecessor's mark.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::graph::{Edges, Graph};
use super::spin;

/// Kernels are plain functions, so the checker of the current run is global.
static CURRENT: RwLock<Option<Arc<Checker>>> = RwLock::new(None);

/// Marks of one graph's tasks, reused in each repetition.
#[derive(Debug)]
pub struct Checker {
    edges: Edges,
    /// The repetition in which each task ran last. A kernel's mark pairs with the loads of its successors'.
    done_in: Vec<AtomicU32>,
    repetition: AtomicU32,
    violations: AtomicU64,
}

impl Checker {
    fn new(graph: &Graph) -> Self {
        Checker {
            edges: Edges::of(graph),
            done_in: graph.tasks.iter().map(|_| AtomicU32::new(0)).collect(),
            repetition: AtomicU32::new(0),
            violations: AtomicU64::new(0),
        }
    }

    /// A checker for the tasks of a graph; kernels report to it until [`Checker::remove`].
    pub fn install(graph: &Graph) -> Arc<Self> {
        let checker = Arc::new(Checker::new(graph));
        *CURRENT.write().unwrap_or_else(PoisonError::into_inner) = Some(checker.clone());
        checker
    }

    /// Removes the checker.
    pub fn remove() {
        *CURRENT.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Begins a repetition: no task has run in it.
    pub fn begin(&self) {
        self.repetition.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a repetition: every task must have run.
    pub fn end(&self) {
        let repetition = self.repetition.load(Ordering::Relaxed);
        let missing = self.done_in.iter().filter(|done| done.load(Ordering::Relaxed) != repetition).count();
        self.violations.fetch_add(missing as u64, Ordering::Relaxed);
    }

    /// Tasks that ran too early, twice or not at all.
    pub fn violations(&self) -> u64 {
        self.violations.load(Ordering::Relaxed)
    }

    /// Edges that are checked.
    pub fn edges(&self) -> usize {
        self.edges.count()
    }

    fn task_runs(&self, task: u32) {
        let repetition = self.repetition.load(Ordering::Relaxed);
        let is_done = |before: &u32| self.done_in[*before as usize].load(Ordering::Relaxed) == repetition;
        let in_order = self.edges.before(task).iter().all(is_done);
        // Uneven durations, so that a missing edge is noticed.
        spin::work(u64::from(task.wrapping_mul(0x9e37_79b1) >> 24) * 8);
        let again = self.done_in[task as usize].swap(repetition, Ordering::Relaxed) == repetition;
        if !in_order || again {
            self.violations.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Called when a checked task runs.
pub fn task_runs(task: u32) {
    if let Some(checker) = &*CURRENT.read().unwrap_or_else(PoisonError::into_inner) {
        checker.task_runs(task);
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::Workload;
    use super::*;

    /// The violations after these tasks of a chain of three ran in this order.
    fn violations(order: &[u32]) -> u64 {
        let checker = Checker::new(&Workload::Chain.graph(3));
        checker.begin();
        order.iter().for_each(|&task| checker.task_runs(task));
        checker.end();
        checker.violations()
    }

    #[test]
    fn the_order_of_submission_is_right() {
        assert_eq!(violations(&[0, 1, 2]), 0);
    }

    #[test]
    fn a_task_that_is_early_twice_or_missing_is_found() {
        assert_eq!(violations(&[1, 0, 2]), 1);
        assert_eq!(violations(&[0, 1, 1, 2]), 1);
        assert_eq!(violations(&[0, 1]), 1);
    }
}
