//! What can go wrong, each with a name, the numbers that led to it, and what to do.

use ringlane_task::{DType, Explain, Reader, TaskId, ViewError};

use crate::api::annotations::kernel_and_label;
pub use crate::error::{Error, Result};
use crate::live_runs::RunNumber;
use crate::memory::MemoryOp;
use crate::stall::Deadlock;

/// What a submit has too many of if it follows too many tasks.
pub(crate) const AFTER: &str = "tasks to follow";

/// A task that did not do its work, and why.
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
    /// What the kernel said, or its panic.
    pub cause: String,
    /// How many tasks failed so far.
    pub failed: u64,
    /// How many were skipped because they needed what a failed one would have written.
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
    /// A tensor view cannot be made.
    View(ViewError),
    /// A submit gives the wrong number of arguments.
    ArgCount { kernel: String, given: usize, wanted: usize, or_more: bool },
    /// A submit has more arguments than a task can hold.
    TooManyArgs { what: &'static str, given: usize, limit: usize },
    /// An argument has the wrong data type.
    ArgDType { kernel: String, arg: usize, given: DType, wanted: DType },
    /// An argument has the wrong rank.
    ArgRank { kernel: String, arg: usize, given: usize, wanted: u8 },
    /// An argument is of the wrong kind.
    ArgKind { kernel: String, arg: usize, given: &'static str, wanted: &'static str },
    /// A kernel that takes slices is given a view with gaps.
    NotContiguous { kernel: String, arg: usize, shape: Vec<u32>, strides: Vec<u32> },
    /// A task would write bytes that another of its arguments touches.
    ArgsOverlap { kernel: String, written: usize, other: usize, is_certain: bool },
    /// A written view shows an element more than once.
    WriteRepeats { kernel: String, arg: usize },
    /// A task would write a buffer that was lent for reading.
    ReadOnly { kernel: String, arg: usize },
    /// Blocks of one task would write the same argument.
    UnsplitWrite { kernel: String, arg: usize, blocks: u32 },
    /// An argument cannot be split as asked.
    BadSplit { kernel: String, arg: usize, axis: u8, rank: usize },
    /// A launch is not possible.
    BadLaunch { detail: String },
    /// An argument is marked that the submit does not have.
    BadMark { mark: u16, args: usize },
    /// A handle is used after its scope.
    StaleHandle { what: &'static str, generation: u32, current: u32 },
    /// A handle of another run is used.
    ForeignHandle { what: &'static str, of: RunNumber, run: RunNumber },
    /// Too many runs go on at the same time.
    TooManyRuns { limit: usize },
    /// A buffer is not one of this run's.
    UnknownBuffer { buffers: usize },
    /// A buffer is not in memory that the node's workers see.
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
    /// Memory cannot be had.
    OutOfMemory { what: &'static str, bytes: u64 },
    /// The system gives no thread.
    NoThread { core: usize, workers: usize, reason: String },
    /// A ring is full and its oldest entry belongs to a scope that is still open.
    FlowControlDeadlock(Deadlock),
    /// A task failed.
    TaskFailed(TaskFailure),
    /// The run was interrupted.
    Interrupted { tasks: u64 },
    /// The host does not see the chip's memory.
    NotMapped { space: u32, offset: u64, bytes: u64 },
    /// An operation on the chip's memory failed.
    DeviceMemory { operation: MemoryOp, space: u32, bytes: u64, reason: String },
    /// Values that do not lie in one piece cannot be looked at in place.
    NotInOnePiece { bytes: u64 },
    /// A modelled chip has run out of time.
    VirtualTimeOver { seconds: u64 },
    /// A chip cannot be modelled as it is described.
    BadChip { detail: String },
    /// A core does not answer.
    CoreSilent {
        core: u32,
        task: TaskId,
        kernel: String,
        label: Option<String>,
        since_ticks: u64,
        waited_ticks: u64,
    },
    /// The orchestration stopped.
    User(String),
    /// A configuration cannot be used.
    Config(ringlane_task::ConfigError),
    /// What was asked to be recorded cannot be.
    CannotRecord { name: &'static str, detail: String, hint: String },
    /// A modelled chip cannot be had.
    CannotModel { name: &'static str, detail: String, hint: String },
}

ringlane_task::explained_error!(Fault);

impl Explain for Fault {
    fn name(&self) -> &'static str {
        match self {
            Fault::View(error) => error.name(),
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
            Fault::CannotRecord { name, .. } | Fault::CannotModel { name, .. } => name,
        }
    }

    fn summary(&self) -> String {
        match self {
            Fault::View(_) => "a tensor view cannot be made",
            Fault::ArgCount { .. } => "a submit gives the wrong number of arguments",
            Fault::TooManyArgs { .. } => "a submit has more arguments than a task can hold",
            Fault::ArgDType { .. } => "an argument has the wrong data type",
            Fault::ArgRank { .. } => "an argument has the wrong rank",
            Fault::ArgKind { .. } => "an argument is of the wrong kind",
            Fault::NotContiguous { .. } => "a kernel that takes slices is given a view with gaps",
            Fault::ArgsOverlap { .. } => "a task would write bytes that another of its arguments touches",
            Fault::WriteRepeats { .. } => "a written view shows an element more than once",
            Fault::ReadOnly { .. } => "a task would write a buffer that was lent for reading",
            Fault::UnsplitWrite { .. } => "blocks of one task would write the same argument",
            Fault::BadSplit { .. } => "an argument cannot be split as asked",
            Fault::BadLaunch { .. } => "a launch is not possible",
            Fault::BadMark { .. } => "an argument is marked that the submit does not have",
            Fault::StaleHandle { .. } => "a handle is used after its scope",
            Fault::ForeignHandle { .. } => "a handle of another run is used",
            Fault::TooManyRuns { .. } => "too many runs go on at the same time",
            Fault::UnknownBuffer { .. } => "a buffer is not one of this run's",
            Fault::NotShared { .. } => "a buffer is not in memory that the node's workers see",
            Fault::BufferLength { .. } => "a buffer's values do not fill its shape",
            Fault::ReadDType { .. } => "a tensor is read as another data type",
            Fault::TaskTooLarge { .. } => "a task is larger than the ring it must fit into",
            Fault::TooDeep { .. } => "scopes are nested too deeply",
            Fault::OutOfMemory { .. } => "memory cannot be had",
            Fault::NoThread { .. } => "the system gives no thread",
            Fault::FlowControlDeadlock(_) => {
                "a ring is full and its oldest entry belongs to a scope that is still open"
            }
            Fault::TaskFailed(_) => "a task failed",
            Fault::Interrupted { .. } => "the run was interrupted",
            Fault::NotMapped { .. } => "the host does not see the chip's memory",
            Fault::DeviceMemory { .. } => "an operation on the chip's memory failed",
            Fault::NotInOnePiece { .. } => "values that do not lie in one piece cannot be looked at in place",
            Fault::VirtualTimeOver { .. } => "a modelled chip has run out of time",
            Fault::BadChip { .. } => "a chip cannot be modelled as it is described",
            Fault::CoreSilent { .. } => "a core does not answer",
            Fault::User(_) => "the orchestration stopped",
            Fault::Config(_) => "a configuration cannot be used",
            Fault::CannotRecord { .. } => "what was asked to be recorded cannot be",
            Fault::CannotModel { .. } => "a modelled chip cannot be had",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            Fault::View(error) => error.detail(),
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
                format!("argument {mark} is marked for the dump, the submit after it has {args}")
            }
            Fault::StaleHandle { what, generation, current } => {
                format!("{what} of generation {generation}, now {current}")
            }
            Fault::ForeignHandle { what, of, run } => {
                format!("{what} of run {} of this process, used in run {}", of.0, run.0)
            }
            Fault::TooManyRuns { limit } => format!("at most {limit} in one process, nested ones included"),
            Fault::UnknownBuffer { buffers } => format!("the run has {buffers} buffers of its own"),
            Fault::NotShared { buffer } => format!("buffer {buffer} of the run"),
            Fault::BufferLength { elements, given } => {
                format!("the shape has {elements} elements, {given} given")
            }
            Fault::ReadDType { tensor, asked } => format!("the tensor is {tensor}, asked for {asked}"),
            Fault::TaskTooLarge { resource, ring, needs, capacity, site, .. } => {
                format!(
                    "{site}: the task needs {needs} of {resource} on ring {ring}, which has {capacity} in all"
                )
            }
            Fault::TooDeep { limit, site } => format!("{site}: depth {limit} reached"),
            Fault::NoThread { core, workers, reason } => {
                format!("thread {core} of {workers} cannot be started: {reason}")
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
            Fault::Config(error) => error.detail(),
            Fault::CannotRecord { detail, .. } | Fault::CannotModel { detail, .. } => detail.clone(),
        }
    }

    fn hint(&self) -> String {
        let text = match self {
            Fault::View(error) => return error.hint(),
            Fault::Config(error) => return error.hint(),
            Fault::CannotRecord { hint, .. } | Fault::CannotModel { hint, .. } => return hint.clone(),
            Fault::FlowControlDeadlock(deadlock) => return deadlock.hint(),
            Fault::TaskTooLarge { resource, option, .. } => {
                return format!("rerun with {} or split the task", resource.setting(option));
            }
            Fault::ArgCount { .. } => "give one argument for each parameter of the kernel, in order",
            Fault::TooManyArgs { what: AFTER, .. } => "follow one task that follows them all: `o.barrier()`",
            Fault::TooManyArgs { .. } => "put several values into one tensor, or split the task",
            Fault::ArgDType { .. } => "make the tensor with the kernel's data type, or use another kernel",
            Fault::ArgRank { .. } => "reshape the tensor, or take a view of another rank in the kernel",
            Fault::ArgKind { .. } => {
                "`.read()` goes to `&[T]` and View, `.write()`, `.inout()` and `out(…)` to `&mut [T]` and ViewMut, `scalar(…)` to a value"
            }
            Fault::NotContiguous { .. } => {
                "take `View<T, R>` or `ViewMut<T, R>` in the kernel, or tile along the first axis"
            }
            Fault::ArgsOverlap { is_certain: true, .. } => "give the tensor once, with `.inout()`",
            Fault::ArgsOverlap { is_certain: false, .. } => {
                "give both as tiles of one shape, or the tensor once, with `.inout()`"
            }
            Fault::WriteRepeats { .. } => "broadcast views can only be read",
            Fault::ReadOnly { .. } => "lend the buffer with `lend_mut`",
            Fault::UnsplitWrite { .. } => {
                "say `.split(axis)` on the argument, or take `SharedMut<T>` in the kernel"
            }
            Fault::BadSplit { .. } => {
                "split a tensor along one of its own axes; `SharedMut` and scalars are not split"
            }
            Fault::BadLaunch { .. } => {
                "a task runs one to three kernels, at most one on an AIC and two on AIV cores, in 1 to 16777216 blocks"
            }
            Fault::BadMark { .. } => "`o.dump(&[…])` counts the arguments of the next submit from 0",
            Fault::StaleHandle { .. } => "keep handles inside the scope that made them",
            Fault::ForeignHandle { what: "a task", .. } => {
                "a task follows tasks of its own run only: let the outer run wait, then start the nested one"
            }
            Fault::ForeignHandle { .. } => {
                "pass data to a nested run through its own Buffers: read the tensor, then add or lend the values"
            }
            Fault::TooManyRuns { .. } => "start a run when another has ended, or nest runs less deeply",
            Fault::UnknownBuffer { .. } => "use the BufferId that this run's Buffers gave",
            Fault::NotShared { .. } => "make the buffers with the node's own `buffers()`",
            Fault::BufferLength { .. } => "the product of the shape must equal the number of values",
            Fault::ReadDType { .. } => "ask for the type the tensor was made with",
            Fault::TooDeep { .. } => "use a loop of sibling scopes instead of nesting",
            Fault::NoThread { .. } => Reader::choose(
                "use fewer, `CallConfig::with_threads`, or raise the limit, `ulimit -u`",
                "use fewer, --threads N, or raise the limit, `ulimit -u`",
            ),
            Fault::OutOfMemory { .. } => "choose a smaller capacity or tensor",
            Fault::TaskFailed(_) => {
                "the first failed task is the one to look at; those skipped follow from it"
            }
            Fault::Interrupted { .. } => "what was recorded so far is kept",
            Fault::NotMapped { .. }
            | Fault::DeviceMemory { .. }
            | Fault::NotInOnePiece { .. }
            | Fault::VirtualTimeOver { .. }
            | Fault::BadChip { .. }
            | Fault::CoreSilent { .. } => self.hint_of_a_chip(),
            Fault::User(_) => "the error is the program's own",
        };
        text.to_string()
    }
}

impl Fault {
    /// The numbers of what is wrong with the arguments of a submit.
    fn detail_of_arguments(&self) -> String {
        match self {
            Fault::ArgCount { kernel, given, wanted, or_more } => {
                let or_more = if *or_more { " or more" } else { "" };
                format!("{kernel} takes {wanted}{or_more} arguments, {given} given")
            }
            Fault::TooManyArgs { what, given, limit } => format!("{given} {what}, at most {limit}"),
            Fault::ArgDType { kernel, arg, given, wanted } => {
                format!("argument {arg} of {kernel} is {given}, the kernel takes {wanted}")
            }
            Fault::ArgRank { kernel, arg, given, wanted } => {
                format!("argument {arg} of {kernel} has rank {given}, the kernel takes {wanted}")
            }
            Fault::ArgKind { kernel, arg, given, wanted } => {
                format!("argument {arg} of {kernel} is {given}, the kernel takes {wanted}")
            }
            Fault::NotContiguous { kernel, arg, shape, strides } => {
                format!("argument {arg} of {kernel} has shape {shape:?} and strides {strides:?}")
            }
            Fault::ArgsOverlap { kernel, written, other, is_certain: true } => {
                format!("{kernel} writes argument {written}, which overlaps argument {other}")
            }
            Fault::ArgsOverlap { kernel, written, other, is_certain: false } => format!(
                "{kernel} writes argument {written}, which may overlap argument {other}: their strides are too irregular to decide"
            ),
            Fault::WriteRepeats { kernel, arg } | Fault::ReadOnly { kernel, arg } => {
                format!("{kernel} writes argument {arg}")
            }
            Fault::UnsplitWrite { kernel, arg, blocks } => {
                format!("argument {arg} of {kernel} is written by {blocks} blocks and not split")
            }
            Fault::BadSplit { kernel, arg, axis, rank: 0 } => {
                format!("argument {arg} of {kernel}: axis {axis} of a scalar")
            }
            Fault::BadSplit { kernel, arg, axis, rank } => {
                format!("argument {arg} of {kernel}: axis {axis} of a view with rank {rank}")
            }
            _ => String::new(),
        }
    }

    /// What to do about a chip's memory, time or cores.
    fn hint_of_a_chip(&self) -> &'static str {
        match self {
            Fault::NotMapped { .. } => "copy them: `o.read(tensor)` does, on every chip",
            Fault::DeviceMemory { .. } => {
                "the reason is the chip's own; what was recorded so far is kept, and external buffers may not hold results"
            }
            Fault::NotInOnePiece { .. } => "`o.read(tensor)` gathers them",
            Fault::VirtualTimeOver { .. } => {
                "are the costs in the chip's file, or in `o.spend`, what they should be?"
            }
            Fault::BadChip { .. } => Reader::choose(
                "`spec::builtin_text` gives one that is right; docs/chips.md says what each field may be",
                "`ringlane chips show` prints one that is right; docs/chips.md says what each field may be",
            ),
            Fault::CoreSilent { .. } => {
                "a kernel that does not return, or a core that is broken: look at what the core ran before"
            }
            _ => "",
        }
    }

    /// The numbers of what a chip's memory, time or cores are to blame for.
    fn detail_of_a_chip(&self) -> String {
        match self {
            Fault::NotMapped { space, offset, bytes } => format!(
                "{bytes} bytes at {}+{offset:#x} were looked at without a copy to the host",
                crate::observe::space_name(*space)
            ),
            Fault::DeviceMemory { operation, space, bytes, reason } => {
                format!("{}: {reason}", operation.of_bytes(*bytes, *space))
            }
            Fault::NotInOnePiece { bytes } => format!("{bytes} bytes of a view with gaps"),
            Fault::VirtualTimeOver { seconds } => {
                format!("a run ends after {seconds} seconds of the chip's time")
            }
            Fault::CoreSilent { core, task, kernel, label, since_ticks, waited_ticks } => format!(
                "core {core} began task {task} ({}) at tick {since_ticks} and has not ended it {waited_ticks} ticks later",
                kernel_and_label(kernel, label.as_deref())
            ),
            _ => String::new(),
        }
    }

    /// Whether it is about the call that met it and does not name a place itself, so that the place of the call helps.
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
                | Fault::User(_)
                | Fault::Config(_)
                | Fault::CannotRecord { .. }
                | Fault::CannotModel { .. }
        )
    }
}
