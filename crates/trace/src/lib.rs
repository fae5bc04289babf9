//! What is kept of a run: the run directory, the rows of the instruments, and the manifest.
//!
//! ```text
//! RunDir (a directory of its own) ──▶ files, each written whole ──▶ run.json, written last
//!                                      rows::{swimlane, dump, pmu, deps, scopes, dist}
//!                                         writers ──▶ file ──▶ readers ──▶ check_run
//! ```
//!
//! One run is one directory, so every file in it has a fixed name. A file appears under its name only when it
//! is complete, and `run.json` appears after all others: a directory without one holds a run that died.
//!
//! ```
//! use ringlane_trace::{Manifest, RunDir, UtcTime};
//! let parent = std::env::temp_dir().join(format!("ringlane-doc-{}", std::process::id()));
//! let now = UtcTime::now();
//! let dir = RunDir::create_unique(&parent, "vector", "small", now)?;
//! let mut manifest = Manifest::new("vector", "small", "cpu", now);
//! manifest.tasks = 5;
//! manifest.write(&dir)?;
//! assert_eq!(Manifest::read(dir.path())?, manifest);
//! # std::fs::remove_dir_all(&parent).unwrap();
//! # Ok::<(), ringlane_trace::TraceError>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod artifact_file;
mod check;
mod error;
mod manifest;
mod reserve;
pub mod rows;
mod run_dir;
mod temp_file;
mod text;
mod time;

pub use artifact_file::ArtifactFile;
pub use check::{Broken, CheckReport, check_run, check_tree};
pub use error::{TraceError, describe_os_error, errno_name, os_hint, os_reason_hint};
pub use manifest::{
    ChildRun, ClockFacts, DfxCost, FileEntry, Golden, GraphFacts, Manifest, ModelFacts, PmuSource,
    RecordSizes, RunError, RunStatus,
};
pub use rows::{deps, dist, dump, pmu, scopes, swimlane};
pub use run_dir::RunDir;
pub use temp_file::remove_unfinished;
pub use time::{BadTime, UtcTime};

#[cfg(test)]
mod test_dir;
