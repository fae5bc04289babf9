//! A temporary directory for measured recordings.
//!
//! It is in memory if the system has such a directory: with a disk, the system still writes (and, when they are
//! removed, frees) the files of one variant while the next is measured, which costs that one 2 % here.

use std::fs;
use std::path::{Path, PathBuf};

use ringlane_trace::RunDir;

use super::error::BenchError;

/// The directory. Each recording replaces the previous one.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new directory, in memory or below the system's temporary directory.
    pub fn new() -> Result<Self, BenchError> {
        let name = format!("ringlane-bench-{}", std::process::id());
        let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()].map(|place| place.join(&name));
        let in_memory = places[0].parent().is_some_and(Path::is_dir);
        let made =
            if in_memory { RunDir::create_exact(&places[0]) } else { RunDir::create_exact(&places[1]) };
        let made = made.or_else(|_| RunDir::create_exact(&places[1])).map_err(BenchError::Scratch)?;
        Ok(Scratch(made.path().to_path_buf()))
    }

    /// An empty directory for one run.
    pub fn fresh(&self) -> Result<RunDir, BenchError> {
        RunDir::create_exact(self.vacant()).map_err(BenchError::Scratch)
    }

    /// The directory of the last run.
    pub fn path(&self) -> PathBuf {
        self.0.join("run")
    }

    /// A path for one run that does not exist yet.
    pub fn vacant(&self) -> PathBuf {
        let path = self.path();
        // It does not exist, or contains the files of the last run.
        let _ = fs::remove_dir_all(&path);
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
