//! Why a recorded run cannot be replayed, or an experiment cannot be made.

use std::path::PathBuf;

use ringlane_insight::InsightError;
use ringlane_task::{Explain, Reader};
use ringlane_trace::TraceError;

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
    /// The run replayed a captured graph.
    NotStreamed { dir: PathBuf, runtime: String },
    /// The chip of the run cannot be modelled.
    NoModel { platform: String },
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
            ReplayError::NotStreamed { .. } => "NotStreamed",
            ReplayError::NoModel { .. } => "NoModel",
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
            ReplayError::NotStreamed { .. } => "only a streamed run can be replayed in virtual time",
            ReplayError::NoModel { .. } => "there is no model of the chip of this run",
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
            ReplayError::NotStreamed { dir, runtime } => format!("{}: runtime {runtime}", dir.display()),
            ReplayError::NoModel { platform } => format!("the run is of {platform}"),
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
            ReplayError::NotStreamed { .. } => {
                "record the run with --runtime tensormap_and_ringbuffer".to_string()
            }
            ReplayError::NoModel { .. } => "record the run on cpu, a2a3sim or a5sim".to_string(),
            ReplayError::Unknown { what, known, .. } => format!("{what}: {known}"),
            ReplayError::Impossible { hint, .. } | ReplayError::Refused { hint, .. } => hint.clone(),
        }
    }
}

impl From<ringlane_engine::Error> for ReplayError {
    fn from(error: ringlane_engine::Error) -> Self {
        ReplayError::Refused { name: error.name(), detail: error.detail(), hint: error.hint() }
    }
}
