//! What can keep a run's tables from being understood.

use std::path::PathBuf;

use ringlane_task::Explain;
use ringlane_trace::TraceError;

/// Why there is no answer about a run or a graph.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InsightError {
    #[error("{0}")]
    Trace(#[from] TraceError),
    #[error("the run did not record what this needs")]
    NotRecorded { path: PathBuf, option: &'static str, below: Option<PathBuf> },
    #[error("the swimlane does not tell enough")]
    LevelTooLow { needs: u8, has: u8 },
    #[error("two runs are not of one program")]
    NotComparable { what: String },
    #[error("two files are not of the same run")]
    FilesDisagree { dir: PathBuf, what: String },
    #[error("an edge does not lead from a task to a later one")]
    EdgeOutOfOrder { before: u32, after: u32, tasks: usize },
    #[error("there is no core for some of the work")]
    NoCores { kind: &'static str },
}

impl Explain for InsightError {
    fn name(&self) -> &'static str {
        match self {
            InsightError::Trace(error) => error.name(),
            InsightError::NotRecorded { .. } => "NotRecorded",
            InsightError::LevelTooLow { .. } => "LevelTooLow",
            InsightError::NotComparable { .. } => "NotComparable",
            InsightError::FilesDisagree { .. } => "FilesDisagree",
            InsightError::EdgeOutOfOrder { .. } => "EdgeOutOfOrder",
            InsightError::NoCores { .. } => "NoCores",
        }
    }

    fn detail(&self) -> String {
        match self {
            InsightError::Trace(error) => error.detail(),
            InsightError::NotRecorded { path, .. } => format!("run.json does not list {}", path.display()),
            InsightError::LevelTooLow { needs, has } => {
                format!("this needs level {needs}, the run recorded level {has}")
            }
            InsightError::NotComparable { what } => what.clone(),
            InsightError::FilesDisagree { dir, what } => format!("{}: {what}", dir.display()),
            InsightError::EdgeOutOfOrder { before, after, tasks } => {
                format!("edge from task {before} to task {after}, of {tasks} tasks")
            }
            InsightError::NoCores { kind } => format!("blocks need {kind} cores, and there are none"),
        }
    }

    fn hint(&self) -> String {
        match self {
            InsightError::Trace(error) => error.hint(),
            InsightError::NotRecorded { below: Some(run), .. } => {
                format!("workers recorded it; name the run of one of them, as {}", run.display())
            }
            InsightError::NotRecorded { option, .. } => format!("make the run again with {option}"),
            InsightError::LevelTooLow { needs, .. } => {
                format!("make the run again with --chip-swimlane={needs}")
            }
            InsightError::NotComparable { .. } => "name two runs of the same scene and case".to_string(),
            InsightError::FilesDisagree { .. } => {
                "make the run again, into a directory of its own".to_string()
            }
            InsightError::EdgeOutOfOrder { .. } => {
                "give tasks in submission order, edges by their positions in it".to_string()
            }
            InsightError::NoCores { .. } => "give the cores that the tasks ran on".to_string(),
        }
    }
}
