//! Reading the dependencies, row by row or whole.

use std::path::Path;

use ringlane_task::{Access, ScopeId, Seq, TaskId};
use serde::Deserialize;

use super::{
    DepsArg, DepsEdge, DepsTask, DepsTensor, EdgeCause, EdgeSource, FILE_NAME, Hazard, Inference, KernelRow,
    Origin, Overlap, TensorIndex, quick,
};
use crate::error::TraceError;
use crate::rows::document::{Document, RawKernel, RowReader, Value, named, read_document, view_of};
use crate::rows::quick::Quick;
use crate::rows::scan::ReadError;

/// One row of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DepsRow {
    /// A task.
    Task(DepsTask),
    /// A tensor.
    Tensor(DepsTensor),
    /// An edge.
    Edge(DepsEdge),
}

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deps {
    /// Tasks, in the order of the file.
    pub tasks: Vec<DepsTask>,
    /// Tensors.
    pub tensors: Vec<DepsTensor>,
    /// Edges.
    pub edges: Vec<DepsEdge>,
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
        })?;
        Ok(deps)
    }
}

/// Reads the dependencies of a run row by row, with memory that does not grow with the rows. Tells how many tasks
/// were lost.
pub fn read_deps(path: impl AsRef<Path>, each: impl FnMut(DepsRow)) -> Result<u64, TraceError> {
    Ok(read_document(path.as_ref(), Reader::new(each))?.dropped)
}

/// Reads the file: each kind of row by a reader of its own, so that those who need less of a row read less of it.
pub(super) struct Reader<F, T, N, E> {
    pub(super) each: F,
    pub(super) dropped: u64,
    pub(super) tasks: T,
    pub(super) tensors: N,
    pub(super) edges: E,
}

impl<F: FnMut(DepsRow)> Reader<F, Tasks, Tensors, Edges> {
    /// Reads rows whole.
    pub(super) fn new(each: F) -> Self {
        Reader { each, dropped: 0, tasks: Tasks, tensors: Tensors, edges: Edges }
    }
}

impl<F, T, N, E> Document for Reader<F, T, N, E>
where
    F: FnMut(T::Row),
    T: RowReader,
    N: RowReader<Row: Into<Option<T::Row>>>,
    E: RowReader<Row = T::Row>,
{
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        let mut each = |row| {
            (self.each)(row);
            Ok(())
        };
        match key {
            "tasks" => value.read_rows_with(&self.tasks, "tasks", each)?,
            "tensors" => {
                value.read_rows_with(&self.tensors, "tensors", |row| row.into().map_or(Ok(()), &mut each))?
            }
            "edges" => value.read_rows_with(&self.edges, "edges", each)?,
            "dropped" => self.dropped = value.read()?,
            _ => value.skip()?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &["tasks", "tensors", "edges"]
    }
}

pub(super) struct Tasks;

impl RowReader for Tasks {
    type Row = DepsRow;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<DepsRow> {
        quick::task(text).map(DepsRow::Task)
    }

    fn whole(&self, text: &[u8]) -> Result<DepsRow, ReadError> {
        Ok(task_of(serde_json::from_slice(text)?)?)
    }
}

#[derive(Deserialize)]
struct RawTask {
    task_id: u64,
    seq: u64,
    block_num: u32,
    scope: u32,
    site: String,
    #[serde(default)]
    manual: bool,
    kernels: Vec<RawKernel>,
    args: Vec<RawArg>,
    label: Option<String>,
}

#[derive(Deserialize)]
struct RawArg {
    index: u32,
    #[serde(deserialize_with = "access")]
    access: Access,
    tensor: u32,
    dtype: String,
    shape: Vec<u32>,
    strides: Vec<u32>,
    offset: u64,
}

fn access<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Access, D::Error> {
    named(from, "access", &Access::ALL, Access::as_str)
}

fn task_of(raw: RawTask) -> Result<DepsRow, String> {
    let arg = |raw: &RawArg| -> Result<DepsArg, String> {
        let view = view_of(&raw.dtype, &raw.shape, &raw.strides, raw.offset)
            .map_err(|what| format!("argument {}: {what}", raw.index))?;
        Ok(DepsArg { index: raw.index, access: raw.access, tensor: TensorIndex(raw.tensor), view })
    };
    let lane = |raw: RawKernel| {
        let lane = raw.lane;
        (KernelRow::from(raw), lane)
    };
    Ok(DepsRow::Task(DepsTask {
        task_id: TaskId(raw.task_id),
        seq: Seq(raw.seq),
        block_num: raw.block_num,
        scope: ScopeId(raw.scope),
        site: raw.site,
        inference: if raw.manual { Inference::Manual } else { Inference::FromArguments },
        kernels: raw.kernels.into_iter().map(lane).collect(),
        args: raw.args.iter().map(arg).collect::<Result<_, _>>()?,
        label: raw.label,
    }))
}

pub(super) struct Tensors;

impl RowReader for Tensors {
    type Row = DepsRow;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<DepsRow> {
        quick::tensor(text).map(DepsRow::Tensor)
    }

    fn whole(&self, text: &[u8]) -> Result<DepsRow, ReadError> {
        Ok(tensor_of(serde_json::from_slice(text)?)?)
    }
}

#[derive(Deserialize)]
struct RawTensor {
    tensor: u32,
    bytes: u64,
    origin: Origin,
}

fn tensor_of(raw: RawTensor) -> Result<DepsRow, String> {
    Ok(DepsRow::Tensor(DepsTensor { tensor: TensorIndex(raw.tensor), bytes: raw.bytes, origin: raw.origin }))
}

pub(super) struct Edges;

impl RowReader for Edges {
    type Row = DepsRow;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<DepsRow> {
        quick::edge(text).map(DepsRow::Edge)
    }

    fn whole(&self, text: &[u8]) -> Result<DepsRow, ReadError> {
        Ok(edge_of(serde_json::from_slice(text)?)?)
    }
}

#[derive(Deserialize)]
struct RawEdge {
    pred: u64,
    succ: u64,
    source: EdgeSource,
    hazard: Option<Hazard>,
    arg: Option<u32>,
    tensor: Option<u32>,
    overlap: Option<Overlap>,
}

fn edge_of(raw: RawEdge) -> Result<DepsRow, String> {
    let cause = match raw.source {
        EdgeSource::Explicit => None,
        EdgeSource::Creator | EdgeSource::TensorMap => Some(EdgeCause {
            hazard: raw.hazard.ok_or("an edge without a hazard")?,
            arg: raw.arg.ok_or("an edge without an argument")?,
            tensor: TensorIndex(raw.tensor.ok_or("an edge without a tensor")?),
            overlap: raw.overlap.ok_or("an edge without an overlap")?,
        }),
    };
    Ok(DepsRow::Edge(DepsEdge { pred: TaskId(raw.pred), succ: TaskId(raw.succ), source: raw.source, cause }))
}
