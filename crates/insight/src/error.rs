//! The errors of analysing a run.

use std::path::PathBuf;

use ringlane_task::{Explain, Reader};
use ringlane_trace::TraceError;

use crate::instrument::Instrument;

/// Why there is no answer about a run or a graph.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InsightError {
    Trace(#[from] TraceError),
    /// The run did not record what this needs.
    NotRecorded {
        path: PathBuf,
        instrument: Instrument,
        below: Option<PathBuf>,
    },
    /// The graph was imported: nothing ran that could have been recorded.
    NothingRan {
        dir: PathBuf,
        instrument: Instrument,
    },
    /// The swimlane's level is too low.
    LevelTooLow {
        needs: u8,
        has: u8,
    },
    /// Two runs are of different programs.
    NotComparable {
        what: String,
    },
    /// Two files are from different runs.
    FilesDisagree {
        dir: PathBuf,
        what: String,
    },
    /// An edge does not lead from a task to a later one.
    EdgeOutOfOrder {
        before: u32,
        after: u32,
        tasks: usize,
    },
    /// There is no core for some of the work.
    NoCores {
        kind: &'static str,
    },
}

ringlane_task::display_explained!(InsightError);

impl Explain for InsightError {
    fn name(&self) -> &'static str {
        match self {
            InsightError::Trace(error) => error.name(),
            InsightError::NotRecorded { .. } => "NotRecorded",
            InsightError::NothingRan { .. } => "NothingRan",
            InsightError::LevelTooLow { .. } => "LevelTooLow",
            InsightError::NotComparable { .. } => "NotComparable",
            InsightError::FilesDisagree { .. } => "FilesDisagree",
            InsightError::EdgeOutOfOrder { .. } => "EdgeOutOfOrder",
            InsightError::NoCores { .. } => "NoCores",
        }
    }

    fn summary(&self) -> String {
        match self {
            InsightError::Trace(error) => return error.summary(),
            InsightError::NotRecorded { .. } => "the run did not record what this needs",
            InsightError::NothingRan { .. } => "the graph was imported, and has not been run",
            InsightError::LevelTooLow { .. } => "the level of the swimlane is too low",
            InsightError::NotComparable { .. } => "the two runs are of different programs",
            InsightError::FilesDisagree { .. } => "two files are from different runs",
            InsightError::EdgeOutOfOrder { .. } => "an edge does not lead from a task to a later one",
            InsightError::NoCores { .. } => "there is no core for some of the blocks",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            InsightError::Trace(error) => error.detail(),
            InsightError::NotRecorded { path, .. } => format!("run.json does not list {}", path.display()),
            InsightError::NothingRan { dir, instrument } => {
                format!("{} has no {}", dir.display(), instrument.file_name())
            }
            InsightError::LevelTooLow { needs, has } => {
                format!("this needs level {needs}, the run recorded level {has}")
            }
            InsightError::NotComparable { what } => what.clone(),
            InsightError::FilesDisagree { dir, what } => format!("{}: {what}", dir.display()),
            InsightError::EdgeOutOfOrder { before, after, tasks } => {
                format!("edge from task {before} to task {after}, of {tasks} tasks")
            }
            InsightError::NoCores { kind } => format!("blocks need {kind} cores, but there are none"),
        }
    }

    fn hint(&self) -> String {
        match self {
            InsightError::Trace(error) => error.hint(),
            InsightError::NotRecorded { below: Some(run), .. } => {
                format!("workers recorded it; name the run of one of them, for example {}", run.display())
            }
            InsightError::NotRecorded { instrument, .. } => {
                let recorded = Reader::choose(instrument.flags(), instrument.option());
                format!("repeat the run with {recorded}")
            }
            InsightError::NothingRan { instrument: Instrument::Dump | Instrument::Pmu, .. } => {
                "record the run of a program: an imported graph computes nothing, also when it is replayed"
                    .to_string()
            }
            InsightError::NothingRan { dir, .. } => {
                format!("run it, and analyse that run: ringlane replay {} -p a2a3sim", dir.display())
            }
            InsightError::LevelTooLow { needs, .. } => {
                let level = match Reader::current() {
                    Reader::Program => format!("`DfxFlags::with_swimlane_level({needs})`"),
                    Reader::Command => format!("--chip-swimlane={needs}"),
                };
                format!("repeat the run with {level}")
            }
            InsightError::NotComparable { .. } => "name two runs of the same scene and case".to_string(),
            InsightError::FilesDisagree { .. } => "repeat the run, into its own directory".to_string(),
            InsightError::EdgeOutOfOrder { .. } => {
                "list tasks in submission order, and edges by positions in that list".to_string()
            }
            InsightError::NoCores { .. } => "pass the cores that the tasks ran on".to_string(),
        }
    }
}
