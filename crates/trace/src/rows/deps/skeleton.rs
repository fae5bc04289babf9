//! Only which task waits for which, and names: for readers that need neither arguments nor reasons.

use std::borrow::Cow;
use std::path::Path;

use ringlane_task::{Seq, TaskId};

use super::read::{DepsRow, Reader};
use super::{DepsEdge, DepsTask};
use crate::error::TraceError;
use crate::rows::document::read_document;
use crate::rows::row::{Row, wanted};

/// The columns of a task that are read.
pub(super) const WANTED: u64 = wanted(DepsTask::COLUMNS, &["task_id", "seq", "label"]);

/// A task or an edge, without all else that `deps.json` knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkeletonRow {
    /// A task.
    Task {
        /// The task.
        task_id: TaskId,
        /// Its place in the order of submission.
        seq: Seq,
        /// The name that its submit gave it.
        label: Option<String>,
    },
    /// One task that waits for another.
    Edge {
        /// The task that has to be done first.
        pred: TaskId,
        /// The task that waits.
        succ: TaskId,
    },
}

/// Reads tasks and edges of a run row by row, given its directory or the file itself, with memory that does not grow with the
/// rows. Returns how many tasks were lost.
pub fn read_skeleton(path: impl AsRef<Path>, mut each: impl FnMut(SkeletonRow)) -> Result<u64, TraceError> {
    let reader = Reader::<_, WANTED>::new(|row| match row {
        DepsRow::Task(DepsTask { task_id, seq, label, .. }) => {
            each(SkeletonRow::Task { task_id, seq, label: label.map(Cow::into_owned) });
        }
        DepsRow::Edge(DepsEdge { pred, succ, .. }) => each(SkeletonRow::Edge { pred, succ }),
        DepsRow::Tensor(_) | DepsRow::Buffer(_) | DepsRow::LastStep(_) => {}
    });
    Ok(read_document(path.as_ref(), reader)?.dropped)
}
