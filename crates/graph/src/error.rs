//! Why a recorded run cannot be replayed, or an experiment cannot be made.

use std::path::PathBuf;

use ringlane_engine::Fault;
use ringlane_engine::limits::KERNELS_MAX;
use ringlane_engine::stall::Deadlock;
use ringlane_insight::InsightError;
use ringlane_task::{Explain, Reader, Resource};
use ringlane_trace::TraceError;

use crate::what_if::too_many;

/// Why a recorded run cannot be replayed, or an experiment cannot be made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReplayError {
    /// A file of the run cannot be read.
    Trace(#[from] TraceError),
    /// Its bound cannot be computed.
    Insight(#[from] InsightError),
    /// The run did not record what a replay needs.
    NotRecorded { dir: PathBuf, what: String },
    /// The run lost rows of its recording.
    RowsLost { dir: PathBuf, file: &'static str, lost: u64 },
    /// The run did not end well.
    NotOk { dir: PathBuf, status: &'static str },
    /// The files of the run are not of one run, or say what cannot be.
    FilesDisagree { dir: PathBuf, what: String },
    /// The run is of a runtime that this version does not know.
    UnknownRuntime { dir: PathBuf, runtime: String },
    /// Tasks of the run were not sent in batches to a device that runs lists of blocks.
    NotInBatches { dir: PathBuf, tasks: u64 },
    /// The chip of the run cannot be modelled.
    NoModel { platform: String },
    /// The run is over several chips, each of which has a run of its own.
    OfANode { dir: PathBuf, child: PathBuf },
    /// The graph was imported: nothing ran whose times could be changed.
    NothingRan { dir: PathBuf },
    /// An imported graph has more kernels than a run can.
    TooManyKernels { dir: PathBuf },
    /// An imported graph needs more of a resource than a run can have.
    TooLarge { dir: PathBuf, resource: Resource, need: u64, most: u64 },
    /// The replay would take longer than its limits.
    TooLong { dir: PathBuf, what: String, scale: String },
    /// The run has more tasks and blocks than a command tries experiments on unasked.
    TooManyToTry { dir: PathBuf, rows: u64 },
    /// An experiment names something that does not exist.
    Unknown { what: &'static str, name: String, known: String },
    /// An experiment asks for something impossible.
    Impossible { what: String, hint: String },
    /// The engine refused the replay.
    Refused { name: &'static str, detail: String, hint: String },
}

ringlane_task::display_explained!(ReplayError);

/// How to record a run for a replay.
fn recording() -> &'static str {
    let flags = "`DfxFlags::SWIMLANE_PHASES.with(DfxFlags::DEPS)`";
    Reader::choose(flags, "--chip-swimlane=3 --dep-gen (or --dfx)")
}

impl Explain for ReplayError {
    fn name(&self) -> &'static str {
        match self {
            ReplayError::Trace(error) => error.name(),
            ReplayError::Insight(error) => error.name(),
            ReplayError::NotRecorded { .. } => "NotRecorded",
            ReplayError::RowsLost { .. } => "RowsLost",
            ReplayError::NotOk { .. } => "RunNotOk",
            ReplayError::FilesDisagree { .. } => "FilesDisagree",
            ReplayError::UnknownRuntime { .. } => "UnknownRuntime",
            ReplayError::NotInBatches { .. } => "NotInBatches",
            ReplayError::NoModel { .. } => "NoModel",
            ReplayError::OfANode { .. } => "NodeRun",
            ReplayError::NothingRan { .. } => "NothingRan",
            ReplayError::TooManyKernels { .. } => "ReplayKernels",
            ReplayError::TooLarge { .. } => "ReplayTooLarge",
            ReplayError::TooLong { .. } => "ReplayTooLong",
            ReplayError::TooManyToTry { .. } => "TooManyToTry",
            ReplayError::Unknown { .. } => "UnknownInExperiment",
            ReplayError::Impossible { .. } => "ImpossibleExperiment",
            ReplayError::Refused { name, .. } => name,
        }
    }

    fn summary(&self) -> String {
        match self {
            ReplayError::Trace(error) => return error.summary(),
            ReplayError::Insight(error) => return error.summary(),
            ReplayError::NotRecorded { .. } => "the run did not record what a replay needs",
            ReplayError::RowsLost { .. } => "the recording is incomplete",
            ReplayError::NotOk { .. } => "only a run that ended well can be replayed",
            ReplayError::FilesDisagree { .. } => "the files of the run do not agree",
            ReplayError::UnknownRuntime { .. } => "there is no model of the runtime of this run",
            ReplayError::OfANode { .. } => "the run is over several chips",
            ReplayError::NothingRan { .. } => "the graph was imported, and has not been run",
            ReplayError::TooManyKernels { .. } => "the graph has more kernels than a run can have",
            ReplayError::TooLarge { .. } => "the graph is larger than a run can be",
            ReplayError::TooLong { .. } => "the replay would take too long",
            ReplayError::NotInBatches { .. } => "tasks of the run were not sent to the device in batches",
            ReplayError::NoModel { .. } => "there is no model of the chip of this run",
            ReplayError::TooManyToTry { .. } => "the run is large, and experiments on it take a while",
            ReplayError::Unknown { what, .. } => return format!("the run has no such {what}"),
            ReplayError::Impossible { .. } => "the experiment is impossible",
            ReplayError::Refused { .. } => "the replay stopped",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            ReplayError::Trace(error) => error.detail(),
            ReplayError::Insight(error) => error.detail(),
            ReplayError::NotRecorded { dir, what } => format!("{}: {what}", dir.display()),
            ReplayError::RowsLost { dir, file, lost } => {
                format!("{}: {lost} rows of {file} are lost", dir.display())
            }
            ReplayError::NotOk { dir, status } => format!("{}: status {status}", dir.display()),
            ReplayError::FilesDisagree { dir, what } => format!("{}: {what}", dir.display()),
            ReplayError::UnknownRuntime { dir, runtime } => format!("{}: runtime {runtime}", dir.display()),
            ReplayError::NotInBatches { dir, tasks } => {
                format!("{}: {tasks} tasks ran one at a time, or as launches of their own", dir.display())
            }
            ReplayError::NoModel { platform } => format!("the run is of {platform}"),
            ReplayError::OfANode { dir, .. } => {
                format!("{}: its children have runs of their own", dir.display())
            }
            ReplayError::NothingRan { dir } => {
                format!("{}: durations are known, submits and a chip are not", dir.display())
            }
            ReplayError::TooManyKernels { dir } => {
                format!("{}: more than {} kernels", dir.display(), KERNELS_MAX - 1)
            }
            ReplayError::TooLarge { dir, resource, need, most } => {
                format!("{}: {need} {} of {resource}, at most {most}", dir.display(), resource.unit())
            }
            ReplayError::TooLong { dir, what, .. } => format!("{}: {what}", dir.display()),
            ReplayError::TooManyToTry { dir, rows } => format!("{}: {}", dir.display(), too_many(*rows).0),
            ReplayError::Unknown { name, .. } => format!("{name:?}"),
            ReplayError::Impossible { what, .. } => what.clone(),
            ReplayError::Refused { detail, .. } => detail.clone(),
        }
    }

    fn hint(&self) -> String {
        match self {
            ReplayError::Trace(error) => error.hint(),
            ReplayError::Insight(error) => error.hint(),
            ReplayError::NotRecorded { .. } => format!("record the run again with {}", recording()),
            ReplayError::RowsLost { .. } => {
                let block = Reader::choose("`Overflow::Block`", "--overflow block");
                format!("record the run again with {block}, on a disk with room")
            }
            ReplayError::NotOk { .. } => "let the program run to its end, and record that".to_string(),
            ReplayError::FilesDisagree { .. } => {
                format!("record the run again with {}; `ringlane check` says more", recording())
            }
            ReplayError::UnknownRuntime { .. } => {
                "record the run with --runtime tensormap_and_ringbuffer or host_build_graph".to_string()
            }
            ReplayError::OfANode { child, .. } => format!("name one of them, such as {}", child.display()),
            ReplayError::NothingRan { dir } => {
                format!(
                    "run it first, on a chip of your choice: ringlane replay {} -p a2a3sim",
                    dir.display()
                )
            }
            ReplayError::TooManyKernels { .. } => {
                "import the file again with --kernel-by kind, or with fewer kinds".to_string()
            }
            ReplayError::TooLarge { .. } => "import a part of the graph".to_string(),
            ReplayError::TooLong { scale, .. } => {
                format!("make all durations shorter: --scale {scale}")
            }
            ReplayError::NotInBatches { .. } => {
                let flags = "`DfxFlags::SWIMLANE_PHASES.with(DfxFlags::DEPS)`";
                let flags = Reader::choose(flags, "--chip-swimlane=3 --dep-gen");
                format!("record the run again with {flags}, without a dump and without a policy")
            }
            ReplayError::NoModel { .. } => "record the run on cpu, cuda, a2a3sim or a5sim".to_string(),
            ReplayError::TooManyToTry { rows, .. } => too_many(*rows).1,
            ReplayError::Unknown { what, known, .. } => format!("{what}: {known}"),
            ReplayError::Impossible { hint, .. } | ReplayError::Refused { hint, .. } => hint.clone(),
        }
    }
}

impl From<ringlane_engine::Error> for ReplayError {
    fn from(error: ringlane_engine::Error) -> Self {
        // The source lines of a replay are not those of the program.
        let (detail, hint) = match error.fault() {
            Fault::FlowControlDeadlock(deadlock) => {
                let Deadlock { ring, resource, capacity, need, option, .. } = deadlock;
                let detail = format!(
                    "scopes that are open together need {need} of {resource} on ring {ring}, which has {capacity}"
                );
                (detail, format!("try {}, or smaller scopes in the program", resource.setting(option)))
            }
            _ => (error.detail(), error.hint()),
        };
        ReplayError::Refused { name: error.name(), detail, hint }
    }
}
