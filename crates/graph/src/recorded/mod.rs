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
use ringlane_trace::swimlane::{self, Swimlane, SwimlaneLevel};
use ringlane_trace::{Manifest, RunStatus};

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

/// Opens a run directory, or the one that a file is in, of a run that ended well.
pub(crate) fn open_ok(path: impl AsRef<Path>) -> Result<(PathBuf, Manifest), ReplayError> {
    let run = ringlane_insight::Run::open(path)?;
    let (dir, manifest) = (run.dir, run.manifest);
    match manifest.status {
        RunStatus::Ok => Ok((dir, manifest)),
        status => Err(ReplayError::NotOk { dir, status: status.as_str() }),
    }
}

/// Reads the swimlane of a run, which must be there and of level 3.
pub(crate) fn read_phases(
    dir: &Path,
    manifest: &Manifest,
    program: &Program,
) -> Result<Swimlane, ReplayError> {
    let not_recorded = |what: String| ReplayError::NotRecorded { dir: dir.into(), what };
    if !manifest.files.iter().any(|file| file.path == swimlane::FILE_NAME) {
        return Err(not_recorded("there is no l2_perf_records.json".to_string()));
    }
    check_blocks(dir, manifest, program)?;
    let recorded = Swimlane::read(dir)?;
    if recorded.head.level < SwimlaneLevel::Phases {
        let level = recorded.head.level.number();
        return Err(not_recorded(format!("l2_perf_records.json is of level {level}")));
    }
    check_times(&recorded, manifest.makespan_ticks)
        .map_err(|what| ReplayError::FilesDisagree { dir: dir.into(), what })?;
    Ok(recorded)
}

/// All times of a recording together, at most: 52 days at a gigahertz. A replay adds them up.
const TICKS_MAX: u64 = 1 << 52;

/// Refuses times that no run takes.
fn check_times(recorded: &Swimlane, makespan: u64) -> Result<(), String> {
    let (copies, launches) = (recorded.head.copies.iter().flatten(), recorded.head.launches.iter().flatten());
    let blocks = recorded.blocks.iter().map(|row| (row.start, row.end));
    let submits = recorded.submits.iter().map(|row| (row.start, row.end));
    let phases = recorded.phases.iter().map(|row| (row.start, row.end));
    let copies = copies.map(|row| (row.start, row.end));
    let launches = launches.flat_map(|row| [(row.start, row.end), (row.wait, row.settled)]);
    let (mut latest, mut total) = (makespan, 0u64);
    for (start, end) in blocks.chain(submits).chain(phases).chain(copies).chain(launches) {
        latest = latest.max(start.0).max(end.0);
        total = total.saturating_add(end.0.saturating_sub(start.0));
    }
    if latest.saturating_add(total) <= TICKS_MAX {
        return Ok(());
    }
    Err(format!(
        "its times end at tick {latest} and are {total} ticks long together, at most {TICKS_MAX} is possible"
    ))
}

impl Recorded {
    /// Reads a run directory, or the one that a file is in.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let (dir, manifest) = open_ok(path)?;
        let (program, ids) = read::program(&dir, &manifest)?;
        let costs = costs::read(&dir, &manifest, &program, &ids)?;
        let setup = Setup::read(&dir, &manifest, &ids)?;
        Ok(Recorded { dir, manifest, program, costs, setup })
    }
}

#[cfg(test)]
mod tests {
    use ringlane_task::Ticks;
    use ringlane_trace::swimlane::{BlockRow, SwimlaneHead, SwimlaneMeta};

    use super::*;

    #[test]
    fn times_that_no_run_takes_are_refused() {
        let block = |start, end| BlockRow { start: Ticks(start), end: Ticks(end), ..BlockRow::default() };
        let check = |makespan, blocks| {
            let (level, meta) = (SwimlaneLevel::Phases, SwimlaneMeta::default());
            let head = SwimlaneHead { level, meta, counts: Default::default(), copies: None, launches: None };
            let rows = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            let recorded =
                Swimlane { head, blocks, tasks: rows.0, edges: rows.1, phases: rows.2, submits: rows.3 };
            check_times(&recorded, makespan).is_ok()
        };
        assert!(check(10_000, vec![block(0, 10), block(5, 9_000)]));
        assert!(!check(10_000, vec![block(0, 10), block(5, u64::MAX)]));
        assert!(!check(10_000, vec![block(u64::MAX - 1, u64::MAX - 1)]));
        assert!(!check(u64::MAX, vec![]));
        assert!(!check(10_000, vec![block(0, TICKS_MAX / 2); 2]), "each of them is possible");
    }
}
