//! Reading the dependencies, row by row or whole.

use std::path::Path;

use super::{BufferRow, DepsEdge, DepsStep, DepsTask, DepsTensor, FILE_NAME};
use crate::error::TraceError;
use crate::rows::document::{Document, Value, read_document};
use crate::rows::row::{ALL, ObjectRows};
use crate::rows::scan::ReadError;

/// One row of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DepsRow {
    /// A task.
    Task(DepsTask<'static>),
    /// A tensor.
    Tensor(DepsTensor),
    /// An edge.
    Edge(DepsEdge),
    /// An external buffer of the run.
    Buffer(BufferRow),
    /// What the orchestration did after its last submit.
    LastStep(DepsStep<'static>),
}

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deps {
    /// Tasks, in the order of the file.
    pub tasks: Vec<DepsTask<'static>>,
    /// Tensors.
    pub tensors: Vec<DepsTensor>,
    /// Edges.
    pub edges: Vec<DepsEdge>,
    /// External buffers of the run; none if the file is from before they were recorded.
    pub buffers: Vec<BufferRow>,
    /// What the orchestration did after its last submit. It ends the root scope: a file from before steps were recorded has
    /// none.
    pub last_steps: Vec<DepsStep<'static>>,
    /// Tasks that were lost.
    pub dropped: u64,
}

impl Deps {
    /// Reads the dependencies of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut deps = Deps::default();
        deps.dropped = read_deps(path, |row| match row {
            DepsRow::Task(row) => deps.tasks.push(row),
            DepsRow::Tensor(row) => deps.tensors.push(row),
            DepsRow::Edge(row) => deps.edges.push(row),
            DepsRow::Buffer(row) => deps.buffers.push(row),
            DepsRow::LastStep(row) => deps.last_steps.push(row),
        })?;
        Ok(deps)
    }
}

/// Reads the dependencies of a run row by row, with memory that does not grow with the rows. Returns how many tasks
/// were lost.
pub fn read_deps(path: impl AsRef<Path>, each: impl FnMut(DepsRow)) -> Result<u64, TraceError> {
    Ok(read_document(path.as_ref(), Reader::<_, ALL>::new(each))?.dropped)
}

/// Reads the file; of tasks only the `WANTED` columns.
pub(super) struct Reader<F, const WANTED: u64> {
    each: F,
    pub(super) dropped: u64,
}

impl<F: FnMut(DepsRow), const WANTED: u64> Reader<F, WANTED> {
    pub(super) const fn new(each: F) -> Self {
        Reader { each, dropped: 0 }
    }
}

impl<F: FnMut(DepsRow), const WANTED: u64> Document for Reader<F, WANTED> {
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        let mut each = |row| {
            (self.each)(row);
            Ok(())
        };
        match key {
            "tasks" => {
                let rows = ObjectRows::<_, WANTED>::new();
                value.read_rows_with(&rows, "tasks", |task| each(DepsRow::Task(task)))?
            }
            "tensors" => {
                value.read_rows_with(&ObjectRows::<_>::new(), "tensors", |row| each(DepsRow::Tensor(row)))?
            }
            "edges" => {
                value.read_rows_with(&ObjectRows::<_>::new(), "edges", |edge| each(DepsRow::Edge(edge)))?
            }
            "buffers" => {
                value.read_rows_with(&ObjectRows::<_>::new(), "buffers", |row| each(DepsRow::Buffer(row)))?
            }
            "last_steps" => {
                let rows = ObjectRows::<_>::new();
                value.read_rows_with(&rows, "last_steps", |step| each(DepsRow::LastStep(step)))?
            }
            "dropped" => self.dropped = value.read()?,
            _ => value.skip()?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &["tasks", "tensors", "edges"]
    }
}
