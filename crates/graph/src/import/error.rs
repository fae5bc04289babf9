//! The errors of importing: each names the file and, where it is known, the line and the column.

use std::io;
use std::path::PathBuf;

use ringlane_task::Explain;
use ringlane_trace::{TraceError, describe_os_error, os_hint};

use super::format::Format;
use super::limits::{
    DEPTH_MAX, DURATION_TICKS_MAX, EDGES_MAX, FILE_BYTES_MAX, KERNELS_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX,
    NAMES_BYTES_MAX, TASKS_MAX, TEXT_BYTES_MAX, WORK_TICKS_MAX,
};
use super::place::Place;

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ImportError {
    /// The run directory cannot be created or written.
    Trace(#[from] TraceError),
    /// The input cannot be opened or read.
    UnreadableInput { path: PathBuf, source: io::Error },
    /// A file that belongs to the input is missing.
    MissingFile { path: PathBuf, what: &'static str },
    /// The format of the input is none of those known.
    UnknownFormat { path: PathBuf },
    /// The file has another version of its format.
    UnknownFormatVersion { place: Place, version: String, known: &'static str },
    /// A DOT graph has no directions.
    UndirectedGraph { place: Place },
    /// A text file is not UTF-8.
    NotUtf8 { place: Place },
    /// The file ends too early.
    CutOff { place: Place, what: String },
    /// The file does not follow the grammar of its format.
    BadSyntax { place: Place, format: Format, what: String },
    /// A value has another type than the format gives it.
    UnexpectedValue { place: Place, format: Format, what: String },
    /// A field that the format requires is missing.
    MissingField { place: Place, what: String },
    /// An edge, or a duration, is of a task that the file does not have.
    UnknownTask { place: Place, id: String },
    /// Two tasks have one id.
    RepeatedTask { place: Place, id: String, first_line: u64 },
    /// A task has no duration.
    MissingDuration { place: Place, task: String, format: Format },
    /// A duration is negative or not a number.
    BadDuration { place: Place, task: String, value: String },
    /// A begin event without an end event, or the other way round.
    UnmatchedEvent { place: Place, what: String },
    /// Tasks wait for each other in a circle.
    Cycle { place: Place, tasks: Vec<String>, length: usize },
    /// There are no tasks.
    EmptyGraph { file: String },
    /// `--scale` is not two times.
    BadScale { text: String, what: String },
    /// Objects, lists or subgraphs are nested too deeply.
    TooDeep { place: Place },
    /// The file is too large.
    InputTooLarge { file: String },
    /// There are too many tasks.
    TooManyTasks { place: Place },
    /// There are too many edges.
    TooManyEdges { place: Place },
    /// There are too many kernels.
    TooManyKernels { file: String },
    /// An id, a name or a kind is too long.
    NameTooLong { place: Place, bytes: usize },
    /// All names together are too long.
    NamesTooLarge { place: Place },
    /// A string, a number or a cell is too long.
    TextTooLong { place: Place },
    /// A message of a Chakra trace is too large.
    MessageTooLarge { place: Place, bytes: u64 },
    /// A duration is too long.
    DurationTooLong { place: Place, task: String, ticks: f64 },
    /// All durations together are too long.
    WorkTooLong { place: Place },
    /// A person stopped the import.
    ImportInterrupted { file: String },
}

ringlane_task::display_explained!(ImportError);

impl Explain for ImportError {
    fn name(&self) -> &'static str {
        match self {
            ImportError::Trace(error) => error.name(),
            ImportError::UnreadableInput { .. } => "UnreadableInput",
            ImportError::MissingFile { .. } => "MissingFile",
            ImportError::UnknownFormat { .. } => "UnknownFormat",
            ImportError::UnknownFormatVersion { .. } => "UnknownFormatVersion",
            ImportError::UndirectedGraph { .. } => "UndirectedGraph",
            ImportError::NotUtf8 { .. } => "NotUtf8",
            ImportError::CutOff { .. } => "CutOff",
            ImportError::BadSyntax { .. } => "BadSyntax",
            ImportError::UnexpectedValue { .. } => "UnexpectedValue",
            ImportError::MissingField { .. } => "MissingField",
            ImportError::UnknownTask { .. } => "UnknownTask",
            ImportError::RepeatedTask { .. } => "RepeatedTask",
            ImportError::MissingDuration { .. } => "MissingDuration",
            ImportError::BadDuration { .. } => "BadDuration",
            ImportError::UnmatchedEvent { .. } => "UnmatchedEvent",
            ImportError::Cycle { .. } => "Cycle",
            ImportError::EmptyGraph { .. } => "EmptyGraph",
            ImportError::BadScale { .. } => "BadScale",
            ImportError::TooDeep { .. } => "TooDeep",
            ImportError::InputTooLarge { .. } => "InputTooLarge",
            ImportError::TooManyTasks { .. } => "TooManyTasks",
            ImportError::TooManyEdges { .. } => "TooManyEdges",
            ImportError::TooManyKernels { .. } => "TooManyKernels",
            ImportError::NameTooLong { .. } => "NameTooLong",
            ImportError::NamesTooLarge { .. } => "NamesTooLarge",
            ImportError::TextTooLong { .. } => "TextTooLong",
            ImportError::MessageTooLarge { .. } => "MessageTooLarge",
            ImportError::DurationTooLong { .. } => "DurationTooLong",
            ImportError::WorkTooLong { .. } => "WorkTooLong",
            ImportError::ImportInterrupted { .. } => "ImportInterrupted",
        }
    }

    fn summary(&self) -> String {
        match self {
            ImportError::Trace(error) => return error.summary(),
            ImportError::UnreadableInput { .. } => "the input cannot be read",
            ImportError::MissingFile { .. } => "a file that belongs to the input is missing",
            ImportError::UnknownFormat { .. } => "the format of the input is not known",
            ImportError::UnknownFormatVersion { .. } => "the file has another version of its format",
            ImportError::UndirectedGraph { .. } => "the edges of the graph have no direction",
            ImportError::NotUtf8 { .. } => "the file is not UTF-8 text",
            ImportError::CutOff { .. } => "the file ends too early",
            ImportError::BadSyntax { .. } => "the file does not follow the grammar of its format",
            ImportError::UnexpectedValue { .. } => "a value is not what the format says",
            ImportError::MissingField { .. } => "a field is missing",
            ImportError::UnknownTask { .. } => "the file names a task that it does not have",
            ImportError::RepeatedTask { .. } => "two tasks have the same id",
            ImportError::MissingDuration { .. } => "a task has no duration",
            ImportError::BadDuration { .. } => "a duration is not a number, or is negative",
            ImportError::UnmatchedEvent { .. } => "a begin event and an end event do not match",
            ImportError::Cycle { .. } => "tasks depend on each other in a cycle",
            ImportError::EmptyGraph { .. } => "the graph has no tasks",
            ImportError::BadScale { .. } => "the scale is not valid",
            ImportError::TooDeep { .. } => "the file is nested too deeply",
            ImportError::InputTooLarge { .. } => "the file is too large",
            ImportError::TooManyTasks { .. } => "the graph has too many tasks",
            ImportError::TooManyEdges { .. } => "the graph has too many edges",
            ImportError::TooManyKernels { .. } => "the graph has too many kernels",
            ImportError::NameTooLong { .. } => "a name is too long",
            ImportError::NamesTooLarge { .. } => "all names together are too long",
            ImportError::TextTooLong { .. } => "a value is too long",
            ImportError::MessageTooLarge { .. } => "a message is too large",
            ImportError::DurationTooLong { .. } => "a duration is too long",
            ImportError::WorkTooLong { .. } => "all durations together are too long",
            ImportError::ImportInterrupted { .. } => "the import was interrupted",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            ImportError::Trace(error) => error.detail(),
            ImportError::UnreadableInput { path, source } => {
                format!("{}: {}", path.display(), describe_os_error(source))
            }
            ImportError::MissingFile { path, what } => {
                format!("{} does not exist; it has {what}", path.display())
            }
            ImportError::UnknownFormat { path } => {
                format!("{}: neither its name nor its first bytes are of a known format", path.display())
            }
            ImportError::UnknownFormatVersion { place, version, known } => {
                format!("{place}: version {version:?}, known versions: {known}")
            }
            ImportError::UndirectedGraph { place } => format!("{place}: `graph` or `--`"),
            ImportError::NotUtf8 { place } => format!("{place}: bytes that are not UTF-8"),
            ImportError::CutOff { place, what } => format!("{place}: {what}"),
            ImportError::BadSyntax { place, format, what }
            | ImportError::UnexpectedValue { place, format, what } => {
                format!("{place}: {what} (as {format})")
            }
            ImportError::MissingField { place, what } => format!("{place}: {what}"),
            ImportError::UnknownTask { place, id } => format!("{place}: task {id:?}"),
            ImportError::RepeatedTask { place, id, first_line: 0 } => format!("{place}: task {id:?}"),
            ImportError::RepeatedTask { place, id, first_line } => {
                format!("{place}: task {id:?}, first on line {first_line}")
            }
            ImportError::MissingDuration { place, task, .. } => format!("{place}: task {task:?}"),
            ImportError::BadDuration { place, task, value } => format!("{place}: task {task:?}: {value}"),
            ImportError::UnmatchedEvent { place, what } => format!("{place}: {what}"),
            ImportError::Cycle { place, tasks, length } => cycle_text(place, tasks, *length),
            ImportError::EmptyGraph { file } => format!("{file}: 0 tasks"),
            ImportError::BadScale { text, what } => format!("{text:?}: {what}"),
            _ => self.limit_detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            ImportError::Trace(error) => return error.hint(),
            ImportError::UnreadableInput { source, .. } => {
                os_hint(source).unwrap_or("check that it is a file with read permission")
            }
            ImportError::MissingFile { .. } => {
                "put it beside tasks.csv; for tasks without edges it is the line `pred,succ`"
            }
            ImportError::UnknownFormat { .. } => "name it: --format wfformat, chakra, dot, csv or trace",
            ImportError::UnknownFormatVersion { .. } => "convert the file with the tools of its format",
            ImportError::UndirectedGraph { .. } => {
                "write `digraph` and `->`: an edge leads to the task that waits"
            }
            ImportError::NotUtf8 { .. } => "convert it, for example with `iconv -t utf-8`",
            ImportError::CutOff { .. } => "copy or write the file again; the rest of it is missing",
            ImportError::BadSyntax { .. } => "correct the file, or name its format with --format",
            ImportError::UnexpectedValue { .. } | ImportError::MissingField { .. } => {
                "correct the file; docs/commands/import.md lists what is read of each format"
            }
            ImportError::UnknownTask { .. } => "add the task, or remove what names it",
            ImportError::RepeatedTask { .. } => "give each task an id of its own",
            ImportError::MissingDuration { format, .. } => duration_hint(*format),
            ImportError::BadDuration { .. } => "a duration is a number from 0 up",
            ImportError::UnmatchedEvent { .. } => {
                "record the trace to its end, or use complete events (ph X)"
            }
            ImportError::Cycle { .. } => "remove one of these edges",
            ImportError::EmptyGraph { .. } => "name a file with at least one task",
            ImportError::BadScale { .. } => "write for example --scale 1s=1us; units: ns, us, ms, s, min, h",
            ImportError::TooManyKernels { .. } => {
                "give tasks a kind (a category, type or column `kind`), and leave out --kernel-by name"
            }
            ImportError::DurationTooLong { .. } | ImportError::WorkTooLong { .. } => {
                "import it on a smaller scale, for example --scale 1s=1us"
            }
            ImportError::NameTooLong { .. } | ImportError::NamesTooLarge { .. } => "shorten the names",
            ImportError::TooDeep { .. }
            | ImportError::InputTooLarge { .. }
            | ImportError::TooManyTasks { .. }
            | ImportError::TooManyEdges { .. }
            | ImportError::TextTooLong { .. }
            | ImportError::MessageTooLarge { .. } => {
                "import a part of it; docs/commands/import.md lists the limits"
            }
            ImportError::ImportInterrupted { .. } => "nothing was written; start it again",
        }
        .to_string()
    }
}

impl ImportError {
    /// The detail of an error about a limit: the limit, and what exceeds it.
    fn limit_detail(&self) -> String {
        match self {
            ImportError::TooDeep { place } => format!("{place}: more than {DEPTH_MAX} levels"),
            ImportError::InputTooLarge { file } => format!("{file}: more than {FILE_BYTES_MAX} bytes"),
            ImportError::TooManyTasks { place } => format!("{place}: more than {TASKS_MAX} tasks"),
            ImportError::TooManyEdges { place } => format!("{place}: more than {EDGES_MAX} edges"),
            ImportError::TooManyKernels { file } => format!("{file}: more than {KERNELS_MAX} kernels"),
            ImportError::NameTooLong { place, bytes } => {
                format!("{place}: {bytes} bytes, at most {NAME_BYTES_MAX}")
            }
            ImportError::NamesTooLarge { place } => format!("{place}: more than {NAMES_BYTES_MAX} bytes"),
            ImportError::TextTooLong { place } => format!("{place}: more than {TEXT_BYTES_MAX} bytes"),
            ImportError::MessageTooLarge { place, bytes } => {
                format!("{place}: {bytes} bytes, at most {MESSAGE_BYTES_MAX}")
            }
            ImportError::DurationTooLong { place, task, ticks } => {
                format!("{place}: task {task:?}: {ticks:e} ns, at most {DURATION_TICKS_MAX} ns")
            }
            ImportError::WorkTooLong { place } => format!("{place}: more than {WORK_TICKS_MAX} ns in all"),
            ImportError::ImportInterrupted { file } => file.clone(),
            _ => String::new(),
        }
    }
}

fn cycle_text(place: &Place, tasks: &[String], length: usize) -> String {
    let mut text = format!("{place}: ");
    for task in tasks {
        text += &format!("{task:?} -> ");
    }
    match length - tasks.len() {
        0 => {}
        more => text += &format!("({more} more) -> "),
    }
    text + &tasks.first().map(|first| format!("{first:?}")).unwrap_or_default()
}

const fn duration_hint(format: Format) -> &'static str {
    match format {
        Format::WfFormat => "the instance needs workflow.execution with the runtimeInSeconds of every task",
        Format::Chakra => "give the node a duration_micros",
        Format::Dot => "write [weight=3.5] at the node, or `node [weight=1]` before all nodes",
        Format::Csv => "fill in its column `duration_us`",
        Format::Trace => "give the event a `dur`",
    }
}
