//! A recorded or imported run as a program for any chip: what is submitted, and how long each block takes.
//!
//! ```text
//! recorded: deps.json (submits, scopes, views) + l2_perf_records.json (blocks) ─┐
//! imported: deps.json (tasks, edges, durations) ── joins ───────────────────────┴─▶ PortableRun ──▶ a run on any chip
//! ```
//! A recorded program is submitted as it was: same scopes, same views, same order. Of an imported one only edges are known:
//! its tasks are submitted in their order, each after its predecessors.

mod check;
mod durations;
mod imported;
pub mod limits;
mod rings;

use std::path::{Path, PathBuf};

use ringlane_engine::pace::BlockDurations;
use ringlane_trace::{Manifest, RunStatus};

pub use check::Target;

use crate::error::ReplayError;
use crate::import::Scale;
use crate::recorded::{Program, Step, read_program};

/// A run that can be run again on any chip.
#[derive(Clone, Debug)]
pub struct PortableRun {
    /// Its directory.
    pub dir: PathBuf,
    /// How it was run, or imported.
    pub manifest: Manifest,
    /// What is submitted.
    pub program: Program,
    /// How long each block takes.
    pub durations: BlockDurations,
    /// Tasks that were added, because others have more predecessors than a submit may name.
    pub joins: u64,
}

impl PortableRun {
    /// Reads a run directory, or the one that a file is in.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let run = ringlane_insight::Run::open(path)?;
        let (dir, manifest) = (run.dir, run.manifest);
        if let Some(child) = manifest.children.first() {
            let run = dir.join(&child.dir);
            return Err(ReplayError::OfANode { dir, child: run });
        }
        match manifest.status {
            RunStatus::Imported => imported::read(dir, manifest),
            RunStatus::Ok => {
                let (program, ids) = read_program(&dir, &manifest)?;
                let durations = durations::read(&dir, &manifest, &program, &ids)?;
                Ok(PortableRun { dir, manifest, program, durations, joins: 0 })
            }
            status => Err(ReplayError::NotOk { dir, status: status.as_str() }),
        }
    }

    /// Whether nothing ran: its durations are those of a file.
    pub fn is_imported(&self) -> bool {
        self.manifest.status == RunStatus::Imported
    }

    /// Makes all durations longer or shorter.
    pub fn scale(&mut self, scale: &Scale) {
        let blocks = self.durations.blocks_mut().iter_mut();
        blocks.for_each(|block| *block = scale.of(*block as f64).round() as u64);
    }

    /// Sets the rate of the counter that the orchestration's own time is in: a tick is as long as it was.
    pub fn count_time_in(&mut self, counter_hz: u64) {
        let recorded = u128::from(self.manifest.clock_freq_hz.max(1));
        for step in &mut self.program.steps {
            if let Step::Advance(ticks) = step {
                let converted = u128::from(*ticks) * u128::from(counter_hz) / recorded;
                *ticks = u64::try_from(converted).unwrap_or(u64::MAX);
            }
        }
    }

    /// Picoseconds of all blocks together.
    pub fn work_ps(&self) -> u128 {
        self.durations.blocks().iter().map(|&block| u128::from(block)).sum()
    }

    /// Picoseconds of the longest path: the blocks of a task run side by side.
    pub fn longest_path_ps(&self) -> u128 {
        let mut edges: Vec<(u32, u32)> =
            self.program.edges.iter().map(|edge| (edge.after, edge.before)).collect();
        edges.sort_unstable();
        let mut edges = edges.into_iter().peekable();
        let mut ends: Vec<u128> = Vec::with_capacity(self.program.tasks.len());
        for task in 0..self.program.tasks.len() {
            let mut start = 0;
            while let Some((_, before)) = edges.next_if(|(after, _)| *after as usize == task) {
                start = start.max(ends[before as usize]);
            }
            let longest = self.durations.of_task(task).iter().copied().max().unwrap_or(0);
            ends.push(start + u128::from(longest));
        }
        ends.into_iter().max().unwrap_or(0)
    }
}
