//! `deps.json`: every task with its arguments, every tensor, and every edge with its reason.
//!
//! The file is a function of the submitted program alone: two runs of one program have equal files.

mod read;
mod skeleton;
mod spool;
mod steps;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Cow;

use ringlane_task::{Access, ScopeId, Seq, TaskId, Ticks};
use serde::{Deserialize, Deserializer, Serialize};

use super::ViewRow;
use super::field::Field;
use super::quick::Quick;
pub use super::{KernelRow, RowCounts};
pub use read::{Deps, DepsRow, read_deps};
pub use skeleton::{SkeletonRow, read_skeleton};
pub(crate) use spool::Packed;
pub use steps::{BufferRow, DepsStep, StepKind};
pub use write::{DepsNames, DepsWriter};

use crate::text::Text;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "deps.json";

/// The version of the file.
pub const VERSION: u64 = 1;

/// A tensor, numbered in the order of first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TensorIndex(pub u32);
id_fields!(TensorIndex);

row! { object
    /// One of a task's kernels, and the lane it runs in.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TaskKernel<'a> {
        /// The kernel.
        kernel: Cow<'a, KernelRow> [flat],
        /// 0 for a plain task; in a mixed one 0 aic, 1 aiv0, 2 aiv1.
        lane: u8 [default],
    }
}

row! { object
    /// A task as it was submitted.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DepsTask<'a> {
        /// The task.
        task_id: TaskId,
        /// Its place in the order of submission.
        seq: Seq,
        /// The number of blocks that each of its kernels runs.
        block_num: u32,
        /// The scope it was submitted in.
        scope: ScopeId,
        /// Where in the source, `file:line`.
        site: Cow<'a, str>,
        /// Whether its dependencies are inferred.
        inference: Inference [as "manual"],
        /// Its kernels; none for a barrier or an allocation.
        kernels: Cow<'a, [TaskKernel<'a>]>,
        /// Its tensor arguments.
        args: Cow<'a, [DepsArg]>,
        /// The name that its submit gave it.
        label: Option<Cow<'a, str>> [absent],
        /// How long it takes, in ticks of the run's clock. Only imported graphs have it: what a run measured is in its swimlane.
        duration: Option<Ticks> [absent],
        /// How long each of its blocks takes on a modelled chip, in picoseconds, if its submit says so.
        duration_ps: Option<u64> [absent],
        /// How many of its arguments are scalars, if any are.
        scalars: Option<u32> [absent],
        /// Whether it is an allocation that begins with values of the orchestration.
        upload: Option<bool> [absent],
        /// What the orchestration did since the submit before.
        before: Option<Cow<'a, [DepsStep<'a>]>> [absent],
    }
}

/// Whether a task's dependencies follow from its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inference {
    /// They do.
    #[default]
    FromArguments,
    /// The task is in a manual scope: only explicit edges.
    Manual,
}

impl Inference {
    const fn of(manual: bool) -> Self {
        if manual { Inference::Manual } else { Inference::FromArguments }
    }
}

impl Field for Inference {
    fn write(&self, text: &mut Text) {
        (*self == Inference::Manual).write(text);
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        text.truth().map(Inference::of)
    }
}

impl<'de> Deserialize<'de> for Inference {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        bool::deserialize(from).map(Inference::of)
    }
}

row! { object
    /// A tensor argument of a task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DepsArg {
        /// Which of the task's arguments.
        index: u32,
        /// What the task does to it.
        access: Access,
        /// The tensor.
        tensor: TensorIndex,
        /// The part of it.
        view: ViewRow [flat],
        /// The axis along which blocks share it out.
        split: Option<u8> [absent],
    }
}

names! {
    /// Whose memory a tensor is.
    Origin {
        /// The caller's.
        External = "external",
        /// The heap rings'.
        Heap = "heap",
    }
}

row! { packed
    /// A buffer that tasks share.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DepsTensor {
        /// Its number.
        tensor: TensorIndex,
        /// Its size.
        bytes: u64,
        /// Whose memory it is.
        origin: Origin,
    }
}

names! {
    /// Where an edge comes from.
    EdgeSource {
        /// The program named the task to wait for.
        Explicit = "explicit",
        /// The task that made the tensor.
        Creator = "creator",
        /// An access that overlaps an earlier one.
        TensorMap = "tensormap",
    }
}

names! {
    /// What two accesses of the same bytes would do to each other.
    Hazard {
        /// A read after a write.
        Raw = "raw",
        /// A write after a write.
        Waw = "waw",
        /// A write after a read.
        War = "war",
    }
}

names! {
    /// How much of what one task touches another touches too.
    Overlap {
        /// All of it.
        Covered = "covered",
        /// Some of it.
        Partial = "partial",
        /// Perhaps some of it: the strides are too irregular to decide.
        Possible = "possible",
    }
}

row! { packed
    /// One task that waits for another.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DepsEdge {
        /// The task that has to be done first.
        pred: TaskId,
        /// The task that waits.
        succ: TaskId,
        /// Where the edge comes from.
        source: EdgeSource,
        /// The bytes it is about; an explicit edge has none.
        cause: Option<EdgeCause> [some EdgeCause],
    }
    checked by cause_of
}

row! { packed
    /// The bytes that an edge is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct EdgeCause {
        /// What would go wrong without the edge.
        hazard: Hazard,
        /// Which argument of the waiting task.
        arg: u32,
        /// The tensor.
        tensor: TensorIndex,
        /// How much of the argument the earlier access covers.
        overlap: Overlap,
    }
}

/// All edges but explicit ones are about some bytes.
fn cause_of(edge: &DepsEdge) -> Result<(), String> {
    match (edge.source, edge.cause) {
        (EdgeSource::Explicit, None) => Ok(()),
        (EdgeSource::Creator | EdgeSource::TensorMap, Some(_)) => Ok(()),
        (EdgeSource::Explicit, Some(_)) => Err("an explicit edge with a hazard".to_string()),
        (_, None) => Err("an edge without a hazard".to_string()),
    }
}

/// How many rows of each kind are in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepsCounts {
    /// Tasks in the file, and those that were lost.
    pub tasks: RowCounts,
    /// Tensors.
    pub tensors: u64,
    /// Edges.
    pub edges: u64,
}
