//! A model of the machine whose own cores ran a program: threads that submit, run and steal as the chip `cpu` does.
//!
//! It is a small discrete-event model of its own, not the engine: what a task takes was measured with everything around it.
//!
//! ```text
//! swimlane, level 3 ──▶ Measured: what submits, blocks and hand-overs took ──▶ Threads: who runs what, when ──▶ makespan
//! deps.json         ──▶ Program:  which task waits for which, reads     ──┘
//! ```
//! What it leaves out: caches, and rings that are full. A block takes as long as it took; on another thread, longer or shorter
//! by as much as that thread was slower or faster ([`Slowness`]).

mod delays;
mod measured;
mod slowness;
mod submitter;
#[cfg(test)]
mod tests;
mod threads;

use std::path::{Path, PathBuf};

use ringlane_trace::Manifest;

pub use delays::Delays;
pub use measured::{BlockTime, Measured, PlacedBlock};
pub use slowness::Slowness;

use crate::error::ReplayError;
use crate::recorded::{Program, open_ok, read_program};

/// A recorded run on the machine's own cores.
#[derive(Clone, Debug)]
pub struct RecordedMachine {
    /// Its directory.
    pub dir: PathBuf,
    /// How it was run, and how it ended.
    pub manifest: Manifest,
    /// What was submitted.
    pub program: Program,
    /// What everything took.
    pub measured: Measured,
    /// Threads, the submitting one included.
    pub threads: u32,
}

impl RecordedMachine {
    /// Reads a run directory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let (dir, manifest) = open_ok(path)?;
        let (program, ids) = read_program(&dir, &manifest)?;
        let measured = Measured::read(&dir, &manifest, &program, &ids)?;
        let threads = manifest.threads.max(1);
        Ok(RecordedMachine { dir, manifest, program, measured, threads })
    }

    /// How long the program takes on this number of threads, with these measured times.
    pub fn replay(&self, measured: &Measured, threads: u32) -> u64 {
        submitter::makespan(&self.program, measured, threads.max(1) as usize)
    }
}
