//! Only who waits for whom, and names: for what needs neither arguments nor reasons.

use std::path::Path;

use ringlane_task::{Seq, TaskId};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::quick;
use super::read::Reader;
use crate::error::TraceError;
use crate::rows::document::{RowReader, read_document};
use crate::rows::quick::Quick;
use crate::rows::scan::ReadError;

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
/// rows. Tells how many tasks were lost.
///
/// Rows that [`super::read_deps`] refuses for fields that are not read here may pass.
///
/// ```
/// use ringlane_task::{Seq, TaskId};
/// use ringlane_trace::deps::{SkeletonRow, read_skeleton};
/// # let path = std::env::temp_dir().join(format!("ringlane-skeleton-{}", std::process::id()));
/// let text = r#"{"version": 1, "tasks": [{"task_id": 5, "seq": 0}], "tensors": [], "edges": [{"pred": 5, "succ": 6}]}"#;
/// std::fs::write(&path, text).unwrap();
/// let mut rows = Vec::new();
/// assert_eq!(read_skeleton(&path, |row| rows.push(row))?, 0);
/// # std::fs::remove_file(&path).unwrap();
/// let [five, six] = [5, 6].map(TaskId);
/// let task = SkeletonRow::Task { task_id: five, seq: Seq(0), label: None };
/// assert_eq!(rows, [task, SkeletonRow::Edge { pred: five, succ: six }]);
/// # Ok::<(), ringlane_trace::TraceError>(())
/// ```
pub fn read_skeleton(path: impl AsRef<Path>, each: impl FnMut(SkeletonRow)) -> Result<u64, TraceError> {
    let reader = Reader { each, dropped: 0, tasks: Tasks, tensors: Tensors, edges: Edges };
    Ok(read_document(path.as_ref(), reader)?.dropped)
}

pub(super) struct Tasks;

impl RowReader for Tasks {
    type Row = SkeletonRow;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<SkeletonRow> {
        let (task_id, seq, label) = quick::task_skeleton(text)?;
        Some(SkeletonRow::Task { task_id, seq, label: label.map(str::to_string) })
    }

    fn whole(&self, text: &[u8]) -> Result<SkeletonRow, ReadError> {
        #[derive(Deserialize)]
        struct Raw {
            task_id: u64,
            seq: u64,
            label: Option<String>,
        }
        let Raw { task_id, seq, label } = serde_json::from_slice(text)?;
        Ok(SkeletonRow::Task { task_id: TaskId(task_id), seq: Seq(seq), label })
    }
}

pub(super) struct Edges;

impl RowReader for Edges {
    type Row = SkeletonRow;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<SkeletonRow> {
        quick::edge(text).map(|edge| SkeletonRow::Edge { pred: edge.pred, succ: edge.succ })
    }

    fn whole(&self, text: &[u8]) -> Result<SkeletonRow, ReadError> {
        #[derive(Deserialize)]
        struct Raw {
            pred: u64,
            succ: u64,
        }
        let Raw { pred, succ } = serde_json::from_slice(text)?;
        Ok(SkeletonRow::Edge { pred: TaskId(pred), succ: TaskId(succ) })
    }
}

/// Tensors are gone past.
pub(super) struct Tensors;

impl RowReader for Tensors {
    type Row = Option<SkeletonRow>;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<Self::Row> {
        quick::tensor(text).map(|_| None)
    }

    fn whole(&self, text: &[u8]) -> Result<Self::Row, ReadError> {
        serde_json::from_slice::<IgnoredAny>(text)?;
        Ok(None)
    }
}
