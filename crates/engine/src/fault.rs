//! The errors of the engine, each with a name, the numbers that led to it, and what to do.

#![forbid(unsafe_code)]

mod arguments;
mod graphs;

use ringlane_task::{DType, Explain, Reader, TaskId, ViewError};

use crate::api::annotations::kernel_and_label;
use crate::api::dynamic::DynamicError;
pub use crate::error::{Error, Result};
use crate::live_runs::RunNumber;
use crate::memory::MemoryOp;
use crate::stall::Deadlock;

/// The `what` of [`Fault::TooManyArgs`] if a submit has too many explicit predecessors.
pub(crate) const AFTER: &str = "explicit predecessors";

/// A failed task, and why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFailure {
    /// The first failed task, in submission order.
    pub task: TaskId,
    /// Its kernel.
    pub kernel: String,
    /// The name that its submit gave it.
    pub label: Option<String>,
    /// Where it was submitted.
    pub site: String,
    /// Where the scope around it was opened.
    pub scope_site: String,
    /// The kernel's error message, or its panic message.
    pub cause: String,
    /// How many tasks failed so far.
    pub failed: u64,
    /// How many were skipped because they depend on a failed one.
    pub skipped: u64,
}

impl TaskFailure {
    /// The task with its names, and how many others there are.
    fn detail(&self) -> String {
        let TaskFailure { task, kernel, label, site, scope_site, cause, failed, skipped } = self;
        let kernel = kernel_and_label(kernel, label.as_deref());
        format!(
            "task {task} ({kernel}, submitted at {site}, scope at {scope_site}): {cause}; {failed} failed, {skipped} skipped"
        )
    }
}

/// Everything that can go wrong.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Fault {
    /// A tensor view cannot be created.
    View(ViewError),
    /// A submit has the wrong number of arguments.
    ArgCount { kernel: String, given: usize, wanted: usize, or_more: bool },
    /// A submit has too many arguments or predecessors.
    TooManyArgs { what: &'static str, given: usize, limit: usize },
    /// An argument has the wrong data type.
    ArgDType { kernel: String, arg: usize, given: DType, wanted: DType },
    /// An argument has the wrong rank.
    ArgRank { kernel: String, arg: usize, given: usize, wanted: u8 },
    /// An argument is of the wrong kind.
    ArgKind { kernel: String, arg: usize, given: &'static str, wanted: &'static str },
    /// A view with gaps was passed to a kernel that takes slices.
    NotContiguous { kernel: String, arg: usize, shape: Vec<u32>, strides: Vec<u32> },
    /// A task would write bytes that another of its arguments accesses.
    ArgsOverlap { kernel: String, written: usize, other: usize, is_certain: bool },
    /// A written view has the same element more than once.
    WriteRepeats { kernel: String, arg: usize },
    /// A task would write a buffer that was lent for reading.
    ReadOnly { kernel: String, arg: usize },
    /// Blocks of one task would write the same argument.
    UnsplitWrite { kernel: String, arg: usize, blocks: u32 },
    /// An argument cannot be split along this axis.
    BadSplit { kernel: String, arg: usize, axis: u8, rank: usize },
    /// A launch is not valid.
    BadLaunch { detail: String },
    /// `o.dump` marks an argument that the submit does not have.
    BadMark { mark: u16, args: usize },
    /// A handle is used after its scope has ended.
    StaleHandle { what: &'static str, generation: u32, current: u32 },
    /// A handle is used in another run.
    ForeignHandle { what: &'static str, of: RunNumber, run: RunNumber },
    /// Too many runs are in progress.
    TooManyRuns { limit: usize },
    /// A buffer does not belong to this run.
    UnknownBuffer { buffers: usize },
    /// A buffer is not in memory that is shared with the node's workers.
    NotShared { buffer: usize },
    /// A buffer's values do not fill its shape.
    BufferLength { elements: u64, given: u64 },
    /// A tensor is read as another data type.
    ReadDType { tensor: DType, asked: DType },
    /// A task is larger than the ring it must fit into.
    TaskTooLarge {
        resource: ringlane_task::Resource,
        ring: u8,
        needs: u64,
        capacity: u64,
        option: String,
        site: String,
    },
    /// Scopes are nested too deeply.
    TooDeep { limit: usize, site: String },
    /// Memory cannot be allocated.
    OutOfMemory { what: &'static str, bytes: u64 },
    /// The system cannot create a thread.
    NoThread { core: usize, threads: usize, reason: String },
    /// A ring is full and its oldest entry belongs to a scope that is still open.
    FlowControlDeadlock(Deadlock),
    /// A task failed.
    TaskFailed(TaskFailure),
    /// The run was interrupted.
    Interrupted { tasks: u64 },
    /// The chip's memory is not mapped into the host.
    NotMapped { space: u32, offset: u64, bytes: u64 },
    /// An operation on the chip's memory failed.
    DeviceMemory { operation: MemoryOp, space: u32, bytes: u64, reason: String },
    /// A view with gaps cannot be accessed as a slice.
    NotInOnePiece { bytes: u64 },
    /// A modelled chip exceeded the limit of virtual time.
    VirtualTimeOver { seconds: u64 },
    /// A chip's description is not valid.
    BadChip { detail: String },
    /// A core does not complete its block.
    CoreSilent {
        core: u32,
        task: TaskId,
        kernel: String,
        label: Option<String>,
        since_ticks: u64,
        waited_ticks: u64,
    },
    /// A program that is known only at run time did what does not compile in Rust.
    Dynamic(DynamicError),
    /// The orchestration returned an error.
    User(String),
    /// A configuration is not valid.
    Config(ringlane_task::ConfigError),
    /// A value is read while a graph is captured, when nothing has been computed.
    ReadInCapture,
    /// A captured graph does not fit its table.
    GraphTooLarge {
        resource: ringlane_task::Resource,
        ring: u8,
        capacity: u64,
        tasks: u64,
        option: String,
        site: String,
    },
    /// A task of a captured graph has too many predecessors.
    GraphFanIn { wanted: u64, limit: usize, site: String },
    /// The tensors of a captured graph do not fit the memory limit.
    GraphMemory { needs: u64, limit: u64, lower_bound: u64 },
    /// The buffers of a replay differ from those of the capture.
    BufferMismatch { buffer: usize, captured: String, given: String },
    /// A graph was captured for another chip.
    ForeignGraph { captured: usize, cores: usize },
    /// A captured graph has no scalar of this name and type.
    UnknownParam { name: String, known: Vec<String> },
    /// The chip cannot replay captured graphs.
    NoReplay { platform: &'static str },
    /// The recording cannot start.
    CannotRecord { name: &'static str, detail: String, hint: String },
    /// A modelled chip cannot be created.
    CannotModel { name: &'static str, detail: String, hint: String },
    /// A device or its programs cannot be used.
    Device { name: &'static str, summary: &'static str, detail: String, hint: String },
}

ringlane_task::explained_error!(Fault);

impl Explain for Fault {
    fn name(&self) -> &'static str {
        match self {
            Fault::View(error) => error.name(),
            Fault::Dynamic(error) => error.name(),
            Fault::ArgCount { .. } => "ArgCount",
            Fault::TooManyArgs { .. } => "TooManyArgs",
            Fault::ArgDType { .. } => "ArgDType",
            Fault::ArgRank { .. } => "ArgRank",
            Fault::ArgKind { .. } => "ArgKind",
            Fault::NotContiguous { .. } => "NotContiguous",
            Fault::ArgsOverlap { .. } => "ArgsOverlap",
            Fault::WriteRepeats { .. } => "WriteRepeats",
            Fault::ReadOnly { .. } => "ReadOnly",
            Fault::UnsplitWrite { .. } => "UnsplitWrite",
            Fault::BadSplit { .. } => "BadSplit",
            Fault::BadLaunch { .. } => "BadLaunch",
            Fault::BadMark { .. } => "BadMark",
            Fault::StaleHandle { .. } => "StaleHandle",
            Fault::ForeignHandle { .. } => "ForeignHandle",
            Fault::TooManyRuns { .. } => "TooManyRuns",
            Fault::UnknownBuffer { .. } => "UnknownBuffer",
            Fault::NotShared { .. } => "NotShared",
            Fault::BufferLength { .. } => "BufferLength",
            Fault::ReadDType { .. } => "ReadDType",
            Fault::TaskTooLarge { .. } => "TaskTooLarge",
            Fault::TooDeep { .. } => "TooDeep",
            Fault::OutOfMemory { .. } => "OutOfMemory",
            Fault::NoThread { .. } => "NoThread",
            Fault::FlowControlDeadlock(_) => "FlowControlDeadlock",
            Fault::TaskFailed(_) => "TaskFailed",
            Fault::Interrupted { .. } => "Interrupted",
            Fault::NotMapped { .. } => "NotMapped",
            Fault::DeviceMemory { .. } => "DeviceMemory",
            Fault::NotInOnePiece { .. } => "NotInOnePiece",
            Fault::VirtualTimeOver { .. } => "VirtualTimeOver",
            Fault::BadChip { .. } => "BadChip",
            Fault::CoreSilent { .. } => "CoreSilent",
            Fault::User(_) => "UserError",
            Fault::Config(error) => error.name(),
            Fault::ReadInCapture => "ReadInCapture",
            Fault::GraphTooLarge { .. } => "GraphTooLarge",
            Fault::GraphFanIn { .. } => "GraphFanIn",
            Fault::GraphMemory { .. } => "GraphMemory",
            Fault::BufferMismatch { .. } => "BufferMismatch",
            Fault::ForeignGraph { .. } => "ForeignGraph",
            Fault::UnknownParam { .. } => "UnknownParam",
            Fault::NoReplay { .. } => "NoReplay",
            Fault::CannotRecord { name, .. }
            | Fault::CannotModel { name, .. }
            | Fault::Device { name, .. } => name,
        }
    }

    fn summary(&self) -> String {
        match self {
            Fault::View(_) => "a tensor view cannot be created",
            Fault::Dynamic(error) => return error.summary(),
            Fault::ArgCount { .. } => "a submit has the wrong number of arguments",
            Fault::TooManyArgs { .. } => "a submit has too many arguments or predecessors",
            Fault::ArgDType { .. } => "an argument has the wrong data type",
            Fault::ArgRank { .. } => "an argument has the wrong rank",
            Fault::ArgKind { .. } => "an argument is of the wrong kind",
            Fault::NotContiguous { .. } => "a view with gaps was passed to a kernel that takes slices",
            Fault::ArgsOverlap { .. } => "a task would write bytes that another of its arguments accesses",
            Fault::WriteRepeats { .. } => "a written view has the same element more than once",
            Fault::ReadOnly { .. } => "a task would write a buffer that was lent for reading",
            Fault::UnsplitWrite { .. } => "blocks of one task would write the same argument",
            Fault::BadSplit { .. } => "an argument cannot be split along this axis",
            Fault::BadLaunch { .. } => "a launch is not valid",
            Fault::BadMark { .. } => "`o.dump` marks an argument that the submit does not have",
            Fault::StaleHandle { .. } => "a handle is used after its scope has ended",
            Fault::ForeignHandle { .. } => "a handle is used in another run",
            Fault::TooManyRuns { .. } => "too many runs are in progress",
            Fault::UnknownBuffer { .. } => "a buffer does not belong to this run",
            Fault::NotShared { .. } => "a buffer is not in memory that is shared with the node's workers",
            Fault::BufferLength { .. } => "a buffer's values do not fill its shape",
            Fault::ReadDType { .. } => "a tensor is read as another data type",
            Fault::TaskTooLarge { .. } => "a task is larger than the ring it must fit into",
            Fault::TooDeep { .. } => "scopes are nested too deeply",
            Fault::OutOfMemory { .. } => "memory cannot be allocated",
            Fault::NoThread { .. } => "the system cannot create a thread",
            Fault::FlowControlDeadlock(_) => {
                "a ring is full and its oldest entry belongs to a scope that is still open"
            }
            Fault::TaskFailed(_) => "a task failed",
            Fault::Interrupted { .. } => "the run was interrupted",
            Fault::NotMapped { .. } => "the chip's memory is not mapped into the host",
            Fault::DeviceMemory { .. } => "an operation on the chip's memory failed",
            Fault::NotInOnePiece { .. } => "a view with gaps cannot be accessed as a slice",
            Fault::VirtualTimeOver { .. } => "a modelled chip exceeded the limit of virtual time",
            Fault::BadChip { .. } => "a chip's description is not valid",
            Fault::CoreSilent { .. } => "a core does not complete its block",
            Fault::User(_) => "the orchestration returned an error",
            Fault::Config(_) => "a configuration is not valid",
            Fault::ReadInCapture => "a value is read while a graph is captured",
            Fault::GraphTooLarge { .. } => "a captured graph does not fit its table",
            Fault::GraphFanIn { .. } => "a task of a captured graph has too many predecessors",
            Fault::GraphMemory { .. } => "the tensors of a captured graph do not fit the memory limit",
            Fault::BufferMismatch { .. } => "the buffers of a replay differ from those of the capture",
            Fault::ForeignGraph { .. } => "a graph was captured for another chip",
            Fault::UnknownParam { .. } => "a captured graph has no such scalar",
            Fault::NoReplay { .. } => "the chip cannot replay captured graphs",
            Fault::CannotRecord { .. } => "the recording cannot start",
            Fault::CannotModel { .. } => "a modelled chip cannot be created",
            Fault::Device { summary, .. } => summary,
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            Fault::View(error) => error.detail(),
            Fault::Dynamic(error) => error.detail(),
            Fault::ArgCount { .. }
            | Fault::TooManyArgs { .. }
            | Fault::ArgDType { .. }
            | Fault::ArgRank { .. }
            | Fault::ArgKind { .. }
            | Fault::NotContiguous { .. }
            | Fault::ArgsOverlap { .. }
            | Fault::WriteRepeats { .. }
            | Fault::ReadOnly { .. }
            | Fault::UnsplitWrite { .. }
            | Fault::BadSplit { .. } => self.detail_of_arguments(),
            Fault::BadLaunch { detail } | Fault::BadChip { detail } | Fault::User(detail) => detail.clone(),
            Fault::BadMark { mark, args } => {
                format!("argument {mark} is marked for the dump, but the submit has {args} arguments")
            }
            Fault::StaleHandle { what, generation, current } => {
                format!("{what} of generation {generation}; the current generation is {current}")
            }
            Fault::ForeignHandle { what, of, run } => {
                format!("{what} of run {} of this process is used in run {}", of.0, run.0)
            }
            Fault::TooManyRuns { limit } => format!("at most {limit} in one process, nested ones included"),
            Fault::UnknownBuffer { buffers } => {
                format!("the run has {buffers} buffers, and this is not one of them")
            }
            Fault::NotShared { buffer } => format!("buffer {buffer} of the run"),
            Fault::BufferLength { elements, given } => {
                format!("the shape has {elements} elements, but there are {given} values")
            }
            Fault::ReadDType { tensor, asked } => format!("the tensor is {tensor}, but was read as {asked}"),
            Fault::TaskTooLarge { resource, ring, needs, capacity, site, .. } => {
                format!(
                    "{site}: the task needs {needs} of {resource} on ring {ring}, whose capacity is {capacity}"
                )
            }
            Fault::TooDeep { limit, site } => format!("{site}: the limit is a depth of {limit}"),
            Fault::NoThread { core, threads, reason } => {
                format!("thread {core} of {threads} cannot be started: {reason}")
            }
            Fault::OutOfMemory { what, bytes } => format!("{bytes} bytes for {what}"),
            Fault::FlowControlDeadlock(deadlock) => deadlock.detail(),
            Fault::TaskFailed(failure) => failure.detail(),
            Fault::Interrupted { tasks } => format!("after {tasks} submitted tasks"),
            Fault::NotMapped { .. }
            | Fault::DeviceMemory { .. }
            | Fault::NotInOnePiece { .. }
            | Fault::VirtualTimeOver { .. }
            | Fault::CoreSilent { .. } => self.detail_of_a_chip(),
            Fault::ReadInCapture
            | Fault::GraphTooLarge { .. }
            | Fault::GraphFanIn { .. }
            | Fault::GraphMemory { .. }
            | Fault::BufferMismatch { .. }
            | Fault::ForeignGraph { .. }
            | Fault::UnknownParam { .. }
            | Fault::NoReplay { .. } => self.detail_of_a_graph(),
            Fault::Config(error) => error.detail(),
            Fault::CannotRecord { detail, .. }
            | Fault::CannotModel { detail, .. }
            | Fault::Device { detail, .. } => detail.clone(),
        }
    }

    fn hint(&self) -> String {
        let text = match self {
            Fault::View(error) => return error.hint(),
            Fault::Dynamic(error) => return error.hint(),
            Fault::Config(error) => return error.hint(),
            Fault::CannotRecord { hint, .. }
            | Fault::CannotModel { hint, .. }
            | Fault::Device { hint, .. } => return hint.clone(),
            Fault::FlowControlDeadlock(deadlock) => return deadlock.hint(),
            Fault::TaskTooLarge { resource, option, .. } => {
                return format!("rerun with {} or split the task", resource.setting(option));
            }
            Fault::ArgCount { .. } => "pass one argument for each parameter of the kernel, in order",
            Fault::TooManyArgs { what: AFTER, .. } => "use `o.barrier()`, which follows any number of tasks",
            Fault::TooManyArgs { .. } => "put several values into one tensor, or split the task",
            Fault::ArgDType { .. } => "create the tensor with the kernel's data type, or use another kernel",
            Fault::ArgRank { .. } => "reshape the tensor, or take a view of another rank in the kernel",
            Fault::ArgKind { .. } => {
                "`.read()` goes to `&[T]` and View, `.write()`, `.inout()` and `out(…)` to `&mut [T]` and ViewMut, `scalar(…)` to a value"
            }
            Fault::NotContiguous { .. } => {
                "take `View<T, R>` or `ViewMut<T, R>` in the kernel, or tile along the first axis"
            }
            Fault::ArgsOverlap { is_certain: true, .. } => "pass the tensor once, with `.inout()`",
            Fault::ArgsOverlap { is_certain: false, .. } => {
                "pass both as tiles of the same shape, or pass the tensor once, with `.inout()`"
            }
            Fault::WriteRepeats { .. } => "broadcast views can only be read",
            Fault::ReadOnly { .. } => "lend the buffer with `lend_mut`",
            Fault::UnsplitWrite { .. } => {
                "call `.split(axis)` on the argument, or take `SharedMut<T>` in the kernel"
            }
            Fault::BadSplit { .. } => {
                "split a tensor along one of its axes; `SharedMut` and scalars cannot be split"
            }
            Fault::BadLaunch { .. } => {
                "a task runs one to three kernels, at most one on an AIC and two on AIV cores, in 1 to 16777216 blocks"
            }
            Fault::BadMark { .. } => "`o.dump(&[…])` counts the arguments of the next submit from 0",
            Fault::StaleHandle { .. } => "use handles only inside the scope that created them",
            Fault::ForeignHandle { what: "a task", .. } => {
                "a task can only follow tasks of its own run: wait in the outer run before you start the nested one"
            }
            Fault::ForeignHandle { .. } => {
                "pass data to a nested run through its own Buffers: read the tensor, then add or lend the values"
            }
            Fault::TooManyRuns { .. } => "wait for other runs to end, or nest runs less deeply",
            Fault::UnknownBuffer { .. } => "use a BufferId that this run's Buffers returned",
            Fault::NotShared { .. } => "create the buffers with the node's `buffers()`",
            Fault::BufferLength { .. } => "the product of the shape must equal the number of values",
            Fault::ReadDType { .. } => "read the tensor as its own type",
            Fault::TooDeep { .. } => "use sibling scopes in a loop instead of nested ones",
            Fault::NoThread { .. } => Reader::choose(
                "use fewer threads (`CallConfig::with_threads`), or raise the limit (`ulimit -u`)",
                "use fewer threads (--threads N), or raise the limit (`ulimit -u`)",
            ),
            Fault::OutOfMemory { .. } => "choose a smaller capacity or tensor",
            Fault::TaskFailed(_) => "check the first failed task; the skipped tasks depend on failed ones",
            Fault::Interrupted { .. } => "what was recorded so far is kept",
            Fault::NotMapped { .. }
            | Fault::DeviceMemory { .. }
            | Fault::NotInOnePiece { .. }
            | Fault::VirtualTimeOver { .. }
            | Fault::BadChip { .. }
            | Fault::CoreSilent { .. } => self.hint_of_a_chip(),
            Fault::User(_) => "the program defines this error",
            _ => return self.hint_of_a_graph(),
        };
        text.to_string()
    }
}

impl Fault {
    /// What to do about a chip's memory, time or cores.
    fn hint_of_a_chip(&self) -> &'static str {
        match self {
            Fault::NotMapped { .. } => "use `o.read(tensor)`, which copies and works on every chip",
            Fault::DeviceMemory { .. } => {
                "the chip reports the reason; what was recorded so far is kept, but external buffers may not have their results"
            }
            Fault::NotInOnePiece { .. } => "use `o.read(tensor)`, which gathers the elements",
            Fault::VirtualTimeOver { .. } => {
                "check the costs in the chip's file and the durations given to `o.advance_time`"
            }
            Fault::BadChip { .. } => Reader::choose(
                "start from `spec::builtin_text`; docs/chips.md lists the allowed values of each field",
                "start from `ringlane chips show`; docs/chips.md lists the allowed values of each field",
            ),
            Fault::CoreSilent { .. } => {
                "either the kernel does not return or the core hangs: check the kernel, and what the core ran before"
            }
            _ => "",
        }
    }

    /// The numbers of an error of a chip's memory, time or cores.
    fn detail_of_a_chip(&self) -> String {
        match self {
            Fault::NotMapped { space, offset, bytes } => format!(
                "{bytes} bytes at {}+{offset:#x} cannot be accessed without a copy to the host",
                crate::observe::space_name(*space)
            ),
            Fault::DeviceMemory { operation, space, bytes, reason } => {
                format!("{}: {reason}", operation.of_bytes(*bytes, *space))
            }
            Fault::NotInOnePiece { bytes } => format!("{bytes} bytes of a view with gaps"),
            Fault::VirtualTimeOver { seconds } => {
                format!("the limit is {seconds} seconds of virtual time")
            }
            Fault::CoreSilent { core, task, kernel, label, since_ticks, waited_ticks } => format!(
                "core {core} began task {task} ({}) at tick {since_ticks} and has not ended it {waited_ticks} ticks later",
                kernel_and_label(kernel, label.as_deref())
            ),
            _ => String::new(),
        }
    }

    /// Whether it concerns the call that returned it and names no source line itself, so that the line of the call helps.
    pub(crate) fn is_of_its_call(&self) -> bool {
        !matches!(
            self,
            Fault::TaskTooLarge { .. }
                | Fault::TooDeep { .. }
                | Fault::FlowControlDeadlock(_)
                | Fault::TaskFailed(_)
                | Fault::Interrupted { .. }
                | Fault::NoThread { .. }
                | Fault::VirtualTimeOver { .. }
                | Fault::DeviceMemory { .. }
                | Fault::BadChip { .. }
                | Fault::CoreSilent { .. }
                | Fault::GraphTooLarge { .. }
                | Fault::GraphFanIn { .. }
                | Fault::GraphMemory { .. }
                | Fault::BufferMismatch { .. }
                | Fault::ForeignGraph { .. }
                | Fault::UnknownParam { .. }
                | Fault::NoReplay { .. }
                | Fault::User(_)
                | Fault::Config(_)
                | Fault::CannotRecord { .. }
                | Fault::CannotModel { .. }
                | Fault::Device { .. }
        )
    }
}
