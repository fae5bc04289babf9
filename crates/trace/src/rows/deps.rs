//! `deps.json`: every task with its arguments, every tensor, and every edge with its reason.
//!
//! The file is a function of the submitted program alone: two runs of one program have equal files.

mod memo;
mod quick;
mod read;
mod skeleton;
mod spool;
mod write;

use ringlane_task::{Access, KernelId, ScopeId, Seq, SiteId, TaskId};

use super::ViewRow;
pub use super::{KernelRow, RowCounts};
pub use read::{Deps, DepsRow, read_deps};
pub use skeleton::{SkeletonRow, read_skeleton};
pub use write::{DepsNames, DepsWriter};

/// The file's name in the run directory.
pub const FILE_NAME: &str = "deps.json";

/// The version of the file.
pub const VERSION: u64 = 1;

/// A tensor, numbered in the order of first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorIndex(pub u32);

/// One of a task's kernels, and the lane it runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneKernel {
    /// The kernel.
    pub func_id: KernelId,
    /// 0 for a plain task; in a mixed one 0 aic, 1 aiv0, 2 aiv1.
    pub lane: u8,
}

/// A task as it was submitted; names are looked up in [`DepsNames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepsTaskRow<'a> {
    /// The task.
    pub task_id: TaskId,
    /// Its place in the order of submission.
    pub seq: Seq,
    /// How many blocks each of its kernels runs.
    pub block_num: u32,
    /// The scope it was submitted in.
    pub scope: ScopeId,
    /// Where in the source.
    pub site: SiteId,
    /// Whether its dependencies are inferred.
    pub inference: Inference,
    /// Its kernels; none for a barrier or an allocation.
    pub kernels: &'a [LaneKernel],
    /// Its tensor arguments.
    pub args: &'a [DepsArg],
    /// The name that its submit gave it.
    pub label: Option<&'a str>,
}

/// Whether a task's dependencies follow from its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inference {
    /// They do.
    #[default]
    FromArguments,
    /// The task stands in a manual scope: only explicit edges.
    Manual,
}

/// A task that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepsTask {
    /// The task.
    pub task_id: TaskId,
    /// Its place in the order of submission.
    pub seq: Seq,
    /// How many blocks each of its kernels runs.
    pub block_num: u32,
    /// The scope it was submitted in.
    pub scope: ScopeId,
    /// Where in the source, `file:line`.
    pub site: String,
    /// Whether its dependencies are inferred.
    pub inference: Inference,
    /// Its kernels and their lanes.
    pub kernels: Vec<(KernelRow, u8)>,
    /// Its tensor arguments.
    pub args: Vec<DepsArg>,
    /// The name that its submit gave it.
    pub label: Option<String>,
}

/// A tensor argument of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepsArg {
    /// Which of the task's arguments.
    pub index: u32,
    /// What the task does to it.
    pub access: Access,
    /// The tensor.
    pub tensor: TensorIndex,
    /// The part of it.
    pub view: ViewRow,
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

/// A buffer that tasks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepsTensor {
    /// Its number.
    pub tensor: TensorIndex,
    /// Its size.
    pub bytes: u64,
    /// Whose memory it is.
    pub origin: Origin,
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

/// One task that waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepsEdge {
    /// The task that has to be done first.
    pub pred: TaskId,
    /// The task that waits.
    pub succ: TaskId,
    /// Where the edge comes from.
    pub source: EdgeSource,
    /// The bytes it is about; an explicit edge has none.
    pub cause: Option<EdgeCause>,
}

/// The bytes that an edge is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeCause {
    /// What would go wrong without the edge.
    pub hazard: Hazard,
    /// Which argument of the waiting task.
    pub arg: u32,
    /// The tensor.
    pub tensor: TensorIndex,
    /// How much of the argument the earlier access covers.
    pub overlap: Overlap,
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
