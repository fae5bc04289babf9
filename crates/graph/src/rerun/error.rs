//! Why a task cannot be run again.

use std::path::PathBuf;

use ringlane_engine::alone::WrongBytes;
use ringlane_insight::InsightError;
use ringlane_task::{Explain, Reader, TaskId};
use ringlane_trace::TraceError;

/// Why a task cannot be run again.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RerunError {
    /// A file of the run cannot be read, or was not recorded.
    Insight(#[from] InsightError),
    /// The captured bytes cannot be read.
    Trace(#[from] TraceError),
    /// The engine refuses the arguments: the kernel is not the one that ran.
    Refused { name: &'static str, detail: String },
    /// Dependencies were not recorded.
    NoDeps { dir: PathBuf },
    /// The run has no such task.
    UnknownTask { task: TaskId, tasks: usize },
    /// The task runs no kernel.
    NoKernel { task: TaskId, what: &'static str },
    /// Nothing was captured of the task.
    NotCaptured { task: TaskId, selection: Option<String>, lost: u64 },
    /// An argument was not captured.
    ArgNotCaptured { task: TaskId, arg: u32, selection: Option<String> },
    /// An argument is one that is never captured.
    NoDepArg { task: TaskId, arg: u32 },
    /// Only the beginning of an argument was captured.
    Truncated { task: TaskId, arg: u32, bytes: u64 },
    /// The captured bytes are not those of the argument.
    BadPayload { task: String, arg: usize, wrong: WrongBytes },
    /// The files of the run are not of one run.
    FilesDisagree { dir: PathBuf, what: String },
    /// This program does not have the kernel.
    UnknownKernel { kernel: String, known: Vec<&'static str> },
    /// The kernel fails or panics.
    KernelFailed { task: String, cause: String },
}

ringlane_task::display_explained!(RerunError);

impl From<ringlane_engine::Error> for RerunError {
    fn from(error: ringlane_engine::Error) -> Self {
        RerunError::Refused { name: error.name(), detail: error.detail() }
    }
}

/// How to record a run for this.
fn recording() -> &'static str {
    let flags = "`DfxFlags::DUMP.with(DfxFlags::DEPS)`";
    Reader::choose(flags, "--dump-tensor --dep-gen (or --dfx)")
}

fn selected(selection: Option<&String>) -> String {
    selection.map_or(String::new(), |selection| format!("; the run captured --dump-tensor={selection}"))
}

impl Explain for RerunError {
    fn name(&self) -> &'static str {
        match self {
            RerunError::Insight(error) => error.name(),
            RerunError::Trace(error) => error.name(),
            RerunError::Refused { name, .. } => name,
            RerunError::NoDeps { .. } => "NotRecorded",
            RerunError::UnknownTask { .. } => "NoSuchTask",
            RerunError::NoKernel { .. } => "NoKernel",
            RerunError::NotCaptured { .. } => "TaskNotCaptured",
            RerunError::ArgNotCaptured { .. } => "ArgumentNotCaptured",
            RerunError::NoDepArg { .. } => "NoDepArgument",
            RerunError::Truncated { .. } => "TruncatedArgument",
            RerunError::BadPayload { .. } => "BadPayload",
            RerunError::FilesDisagree { .. } => "FilesDisagree",
            RerunError::UnknownKernel { .. } => "KernelNotHere",
            RerunError::KernelFailed { .. } => "KernelFailed",
        }
    }

    fn summary(&self) -> String {
        match self {
            RerunError::Insight(error) => return error.summary(),
            RerunError::Trace(error) => return error.summary(),
            RerunError::Refused { .. } => "the kernel does not take the captured arguments",
            RerunError::NoDeps { .. } => "the run did not record what this needs",
            RerunError::UnknownTask { .. } => "the run has no such task",
            RerunError::NoKernel { .. } => "the task runs no kernel",
            RerunError::NotCaptured { .. } => "the arguments of the task were not captured",
            RerunError::ArgNotCaptured { .. } => "an argument of the task was not captured",
            RerunError::NoDepArg { .. } => "an argument of the task is never captured",
            RerunError::Truncated { .. } => "an argument of the task was captured in part",
            RerunError::BadPayload { .. } => "captured bytes are not values of their argument",
            RerunError::FilesDisagree { .. } => "the files of the run do not agree",
            RerunError::UnknownKernel { .. } => "this program does not have the kernel",
            RerunError::KernelFailed { .. } => "the kernel failed",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            RerunError::Insight(error) => error.detail(),
            RerunError::Trace(error) => error.detail(),
            RerunError::Refused { detail, .. } => detail.clone(),
            RerunError::NoDeps { dir } => {
                format!("{}: without deps.json, the blocks and views of tasks are not known", dir.display())
            }
            RerunError::UnknownTask { task, tasks } => format!("task {task}; the run has {tasks} tasks"),
            RerunError::NoKernel { task, what } => format!("task {task} is {what}"),
            RerunError::NotCaptured { task, selection, lost } => {
                let lost = if *lost > 0 { format!("; {lost} records were lost") } else { String::new() };
                format!("task {task}{}{lost}", selected(selection.as_ref()))
            }
            RerunError::ArgNotCaptured { task, arg, selection } => {
                format!("argument {arg} of task {task}{}", selected(selection.as_ref()))
            }
            RerunError::NoDepArg { task, arg } => {
                format!("argument {arg} of task {task} is no_dep: other tasks may change it at any time")
            }
            RerunError::Truncated { task, arg, bytes } => {
                format!("argument {arg} of task {task}: only its first {bytes} bytes")
            }
            RerunError::BadPayload { task, arg, wrong } => match wrong {
                WrongBytes::Length { given, wanted } => {
                    format!("argument {arg} of task {task}: {given} bytes, it has {wanted}")
                }
                WrongBytes::NotABool(byte) => format!("argument {arg} of task {task}: {byte} is not a bool"),
            },
            RerunError::FilesDisagree { dir, what } => format!("{}: {what}", dir.display()),
            RerunError::UnknownKernel { kernel, known } => format!("{kernel:?}; known: {}", known.join(", ")),
            RerunError::KernelFailed { task, cause } => format!("task {task}: {cause}"),
        }
    }

    fn hint(&self) -> String {
        match self {
            RerunError::Insight(error) => error.hint(),
            RerunError::Trace(error) => error.hint(),
            RerunError::Refused { .. } => {
                "record the run again with this program: the kernel has changed since".to_string()
            }
            RerunError::NoDeps { .. } => format!("record the run again with {}", recording()),
            RerunError::UnknownTask { .. } | RerunError::NoKernel { .. } => {
                "`ringlane dump` lists the tasks whose arguments were captured".to_string()
            }
            RerunError::NotCaptured { .. } | RerunError::ArgNotCaptured { .. } => {
                format!("capture all arguments: record the run again with {}", recording())
            }
            RerunError::NoDepArg { .. } => "run the whole program again, or another task".to_string(),
            RerunError::Truncated { .. } => {
                let block = Reader::choose("`Overflow::Block`", "--overflow block");
                format!("record the run again with {block}, on a disk with room")
            }
            RerunError::BadPayload { .. } | RerunError::FilesDisagree { .. } => {
                format!("record the run again with {}; `ringlane check` says more", recording())
            }
            RerunError::UnknownKernel { .. } => {
                "use the program that recorded the run: run.json names it as `program`".to_string()
            }
            RerunError::KernelFailed { .. } => {
                "see where with a debugger: gdb --args ringlane rerun …".to_string()
            }
        }
    }
}
