//! A model of a device whose processors run lists of blocks, as the chip `cuda` does: the host submits tasks and sends them in
//! batches; the device runs one batch after another.
//!
//! It is a small model of its own, not the engine: what a task takes was measured with everything around it. Which list a block is
//! on, and how many tasks are worth a launch, are the rules of the chip itself ([`ringlane_engine::lists`]).
//!
//! ```text
//! host     submit submit … launch │ submit submit … launch │ settle …  settle │ copies
//! list 0                     ├────────── batch 0 ───────────┼──── batch 1 ────┤
//! list 1                     └ a block waits for the flags of its predecessors┘
//! ```
//! What it leaves out: memory that blocks share, and rings that get larger. A block takes as long as it took.

mod batch;
mod host;
mod measured;
#[cfg(test)]
mod tests;
mod timeline;

use std::path::{Path, PathBuf};

use ringlane_trace::Manifest;

pub use batch::{BlockTime, Follows, Gap};
pub use measured::{Measured, RecordedBatch};

use batch::Lists;

use crate::error::ReplayError;
use crate::recorded::{Program, open_ok, read_program};

/// A recorded run on a device whose processors run lists of blocks.
#[derive(Clone, Debug)]
pub struct RecordedDevice {
    /// Its directory.
    pub dir: PathBuf,
    /// How it was run, and how it ended.
    pub manifest: Manifest,
    /// What was submitted.
    pub program: Program,
    /// Which tasks each task follows.
    pub follows: Follows,
    /// What everything took.
    pub measured: Measured,
}

impl RecordedDevice {
    /// Reads a run directory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let (dir, manifest) = open_ok(path)?;
        let (program, ids) = read_program(&dir, &manifest)?;
        let follows = Follows::all(&program);
        let measured = Measured::read(&dir, &manifest, (&program, &follows), &ids)?;
        Ok(RecordedDevice { dir, manifest, program, follows, measured })
    }

    /// The lists on which the rule of the chip puts the blocks of the recorded batches: by task, then by block. A streamed
    /// recording has the same; a captured graph has entries of its own besides, which are in no file.
    pub fn planned_lists(&self) -> Vec<Vec<u32>> {
        let mut blocks = self
            .measured
            .batches
            .iter()
            .flat_map(|batch| Lists::planned(&self.measured, &self.follows, batch.tasks()).into_places());
        self.measured.blocks.iter().map(|task| blocks.by_ref().take(task.len()).collect()).collect()
    }

    /// How long the program takes with these measured times, where tasks follow these.
    pub fn replay(&self, measured: &Measured, follows: &Follows) -> u64 {
        host::makespan(&self.program, measured, follows)
    }
}
