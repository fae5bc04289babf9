//! A program as it was recorded: tasks in submission order, with everything that its times depend on.

use std::ops::Range;

use ringlane_engine::api::kernel::CoreType;
use ringlane_task::{Access, TensorView};

/// A kernel of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramKernel {
    /// Its name.
    pub name: String,
    /// The cores that it runs on.
    pub core: CoreType,
}

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// It runs kernels.
    Kernels,
    /// It follows everything before it in its scope.
    Barrier,
    /// It makes a tensor of zeros.
    Alloc,
    /// It makes a tensor of values of the orchestration.
    Upload,
}

/// A task. Its lists are ranges of those of the [`Program`].
#[derive(Clone, Debug)]
pub struct ProgramTask {
    /// What it is.
    pub kind: TaskKind,
    /// The kernel of each lane: the only one of a plain task is in the first.
    pub lanes: [Option<u16>; 3],
    /// The number of blocks of each kernel.
    pub blocks: u32,
    /// Its arguments.
    pub args: Range<usize>,
    /// The tasks that it follows by explicit edges, by their places in submission order.
    pub after: Range<usize>,
    /// What the orchestration did since the submit before.
    pub before: Range<usize>,
    /// Its label.
    pub label: Option<Box<str>>,
    /// Picoseconds of each block, if its submit said so.
    pub duration_ps: Option<u64>,
}

impl ProgramTask {
    /// The number of its kernels.
    pub fn kernels(&self) -> usize {
        self.lanes.iter().flatten().count()
    }
}

/// An argument of a task. Every view is inside its tensor: it was checked when the program was read.
#[derive(Clone, Copy, Debug)]
pub enum ProgramArg {
    /// A tensor that exists, or one that the task makes (`output`).
    Tensor {
        /// Which one.
        tensor: u32,
        /// Which part of it.
        view: TensorView,
        /// What the task does with it.
        access: Access,
        /// The axis along which blocks share it out.
        split: Option<u8>,
    },
    /// A value.
    Scalar,
}

/// A step of the orchestration that is not a submit.
#[derive(Clone, Debug)]
pub enum Step {
    /// It begins a scope.
    Enter {
        /// Whether its tasks get no dependencies from their arguments.
        is_manual: bool,
        /// Its label.
        label: Option<Box<str>>,
    },
    /// It ends the innermost scope.
    Exit,
    /// It waits for the writers of a tensor and reads it.
    Read {
        /// The tensor.
        tensor: u32,
        /// The part that is read.
        view: TensorView,
        /// Whether the values are read without a copy.
        is_in_place: bool,
    },
    /// It reads an external buffer that no task uses.
    ReadBuffer {
        /// The buffer.
        buffer: u32,
        /// The part that is read.
        view: TensorView,
        /// Whether the values are read without a copy.
        is_in_place: bool,
    },
    /// Its own work takes this number of ticks.
    Advance(u64),
}

/// An external buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramBuffer {
    /// Its size.
    pub bytes: u64,
    /// Whether tasks may write it.
    pub is_writable: bool,
    /// The tensor that it is, if a task uses it.
    pub tensor: Option<u32>,
}

/// Why a task waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramEdge {
    /// The task that has to be done first, by its place in submission order.
    pub before: u32,
    /// The task that waits.
    pub after: u32,
    /// Why: `explicit`, or the hazard.
    pub cause: &'static str,
}

/// A recorded program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its kernels.
    pub kernels: Vec<ProgramKernel>,
    /// Its tasks, in submission order.
    pub tasks: Vec<ProgramTask>,
    /// The arguments of all tasks.
    pub args: Vec<ProgramArg>,
    /// The explicit predecessors of all tasks.
    pub after: Vec<u32>,
    /// The steps between all submits; those after the last submit come last. The root scope is not among them.
    pub steps: Vec<Step>,
    /// The steps after the last submit.
    pub last_steps: Range<usize>,
    /// Number of tensors.
    pub tensors: usize,
    /// The external buffers.
    pub buffers: Vec<ProgramBuffer>,
    /// Why tasks wait for each other: all of it, whether or not the engine had to wait.
    pub edges: Vec<ProgramEdge>,
    /// Bytes of the largest upload.
    pub upload_bytes_max: u64,
}

impl Program {
    /// Whether the orchestration reads values while it submits tasks.
    pub fn reads_values(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Read { .. } | Step::ReadBuffer { .. }))
    }
}
