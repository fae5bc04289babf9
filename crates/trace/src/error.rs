//! What can go wrong with the files of a run.

use std::io;
use std::path::PathBuf;

use ringlane_task::Explain;

use crate::manifest::VERSION;

/// Why a run directory or a file in it cannot be made or read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TraceError {
    #[error("the output directory already holds a run")]
    RunExists { path: PathBuf },
    #[error("a file stands where the output directory should be")]
    NotADirectory { path: PathBuf },
    #[error("the output directory cannot be created")]
    CannotCreate { path: PathBuf, source: io::Error },
    #[error("the output directory cannot be written")]
    NotWritable { path: PathBuf, source: io::Error },
    #[error("a name cannot be part of a file's name")]
    UnsafeName { what: &'static str, name: String },
    #[error("a file of the run cannot be written")]
    CannotWrite { path: PathBuf, source: io::Error },
    #[error("there is no finished run here")]
    NoManifest { path: PathBuf },
    #[error("a file of the run cannot be read")]
    CannotRead { path: PathBuf, source: io::Error },
    #[error("a file of the run is damaged")]
    Damaged { path: PathBuf, what: String },
    #[error("a file of the run has a version that is not known here")]
    UnknownVersion { path: PathBuf, version: u64 },
}

impl Explain for TraceError {
    fn name(&self) -> &'static str {
        match self {
            TraceError::RunExists { .. } => "RunExists",
            TraceError::NotADirectory { .. } => "NotADirectory",
            TraceError::CannotCreate { .. } => "CannotCreate",
            TraceError::NotWritable { .. } => "NotWritable",
            TraceError::UnsafeName { .. } => "UnsafeName",
            TraceError::CannotWrite { .. } => "CannotWrite",
            TraceError::NoManifest { .. } => "NoManifest",
            TraceError::CannotRead { .. } => "CannotRead",
            TraceError::Damaged { .. } => "Damaged",
            TraceError::UnknownVersion { .. } => "UnknownVersion",
        }
    }

    fn detail(&self) -> String {
        match self {
            TraceError::RunExists { path } => format!("{} exists", path.display()),
            TraceError::NotADirectory { path } => format!("{} is not a directory", path.display()),
            TraceError::NoManifest { path } => format!("{} does not exist", path.display()),
            TraceError::CannotCreate { path, source }
            | TraceError::NotWritable { path, source }
            | TraceError::CannotWrite { path, source }
            | TraceError::CannotRead { path, source } => format!("{}: {source}", path.display()),
            TraceError::UnsafeName { what, name } => format!("{what} {name:?}"),
            TraceError::Damaged { path, what } => format!("{}: {what}", path.display()),
            TraceError::UnknownVersion { path, version } => {
                format!("{} has version {version}, known is {VERSION}", path.display())
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            TraceError::RunExists { .. } => "name another directory with -o DIR, or remove this one",
            TraceError::NotADirectory { .. } => "name another directory with -o DIR",
            TraceError::CannotCreate { .. } | TraceError::NotWritable { .. } => {
                "name a directory that you may write to with -o DIR"
            }
            TraceError::UnsafeName { .. } => {
                "use letters, digits, '_', '-' and '.', not first, and at most 100 of them"
            }
            TraceError::CannotWrite { .. } => "is there space left, and is the directory still there?",
            TraceError::NoManifest { .. } => {
                "run.json is written last: the run died, or this is no run directory"
            }
            TraceError::CannotRead { .. } => "is it a file that you may read?",
            TraceError::Damaged { .. } => "make the run again",
            TraceError::UnknownVersion { .. } => {
                "read it with the ringlane that wrote it, or make the run again"
            }
        }
        .to_string()
    }
}
