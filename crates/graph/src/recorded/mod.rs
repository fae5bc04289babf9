//! A recorded run, read back as a program that can be run again.
//!
//! ```text
//! run.json              chip, policy, rings, what records cost ──▶ Setup
//! deps.json             tasks, views, edges, steps             ──▶ Program ──┐
//! l2_perf_records.json  what each block does                   ──▶ BlockCosts ├─▶ replay
//! tensor_dump.json      what was captured of each task         ──▶ Setup ────┘
//! ```

mod costs;
mod program;
mod read;
mod setup;
mod writers;

use std::path::{Path, PathBuf};

use ringlane_chip_sim::cost::BlockCosts;
use ringlane_trace::{Manifest, RunStatus, swimlane};

pub use program::{
    Program, ProgramArg, ProgramBuffer, ProgramEdge, ProgramKernel, ProgramTask, Step, TaskKind,
};
pub(crate) use read::{TaskIds, program as read_program, view_of};
pub use setup::{GraphBuild, Setup};
pub(crate) use writers::Writers;

use crate::error::ReplayError;

/// A recorded run on a modelled chip.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its directory.
    pub dir: PathBuf,
    /// How it was run, and how it ended.
    pub manifest: Manifest,
    /// What was submitted.
    pub program: Program,
    /// What each block does.
    pub costs: BlockCosts,
    /// The chip, and how it was run.
    pub setup: Setup,
}

/// Where a block of the swimlane is among those of its task: by lane, then by block. `None` if the task has no such block.
pub(crate) fn block_index(task: &ProgramTask, lane: u8, block: u32) -> Option<usize> {
    let lane = usize::from(lane);
    let is_there = task.lanes.get(lane).is_some_and(Option::is_some) && block < task.blocks;
    // Kernels come in the order of their lanes.
    let kernel = || task.lanes[..lane].iter().flatten().count();
    is_there.then(|| kernel() * task.blocks as usize + block as usize)
}

/// Refuses a program with more blocks than `run.json` counts: memory is taken for each.
pub(crate) fn check_blocks(dir: &Path, manifest: &Manifest, program: &Program) -> Result<(), ReplayError> {
    let blocks = |task: &ProgramTask| task.kernels() as u64 * u64::from(task.blocks);
    let wanted: u64 = program.tasks.iter().map(blocks).sum();
    // Each is a row of the swimlane, and no row is that short.
    let most = std::fs::metadata(dir.join(swimlane::FILE_NAME)).map_or(u64::MAX, |file| file.len());
    if wanted == manifest.blocks && wanted <= most {
        return Ok(());
    }
    let what = format!("deps.json has {wanted} blocks, run.json {}", manifest.blocks);
    Err(ReplayError::FilesDisagree { dir: dir.into(), what })
}

impl Recorded {
    /// Reads a run directory, or the one that a file is in.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let run = ringlane_insight::Run::open(path)?;
        let (dir, manifest) = (run.dir, run.manifest);
        if manifest.status != RunStatus::Ok {
            return Err(ReplayError::NotOk { dir, status: manifest.status.as_str() });
        }
        let (program, ids) = read::program(&dir, &manifest)?;
        let costs = costs::read(&dir, &manifest, &program, &ids)?;
        let setup = Setup::read(&dir, &manifest, &ids)?;
        Ok(Recorded { dir, manifest, program, costs, setup })
    }
}
