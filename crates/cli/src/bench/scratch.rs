//! A directory for the files of measured recordings, gone when the measurement is over.

use std::fs;
use std::path::PathBuf;

use ringlane_trace::RunDir;

use super::error::BenchError;

/// The directory. Each recording replaces the one before it.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A directory of its own below the system's temporary one.
    pub fn new() -> Result<Self, BenchError> {
        let path = std::env::temp_dir().join(format!("ringlane-bench-{}", std::process::id()));
        RunDir::create_exact(&path).map_err(BenchError::Scratch)?;
        Ok(Scratch(path))
    }

    /// An empty directory for one run.
    pub fn fresh(&self) -> Result<RunDir, BenchError> {
        let path = self.0.join("run");
        // Nothing there yet, or the files of the last run.
        let _ = fs::remove_dir_all(&path);
        RunDir::create_exact(&path).map_err(BenchError::Scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
