//! What holds of every import.

use ringlane_graph::import::{ImportError, ImportedGraph};
use ringlane_task::Explain;

/// An error has a name, numbers and a hint; the edges of a graph lead from a task to a later one.
pub fn check(imported: Result<ImportedGraph, ImportError>) {
    match imported {
        Ok(graph) => {
            let tasks = graph.tasks().len() as u32;
            assert!(tasks > 0 && graph.edges().iter().all(|&(pred, succ)| pred < succ && succ < tasks));
            assert!(graph.tasks().all(|task| (task.kernel as usize) < graph.kernels().len()));
            assert!(graph.longest_path_ticks() <= graph.work_ticks());
        }
        Err(error) => {
            assert!(!error.name().is_empty() && !error.detail().is_empty() && !error.hint().is_empty());
        }
    }
}
