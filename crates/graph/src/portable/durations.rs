//! How long each block of a recorded run took, from the swimlane of any level.

use std::path::Path;

use ringlane_engine::pace::BlockDurations;
use ringlane_trace::Manifest;
use ringlane_trace::swimlane::{self, BlockRow, SwimlaneRow, read_swimlane};

use crate::error::ReplayError;
use crate::recorded::{Program, ProgramTask, TaskIds, block_index, check_blocks};

/// A block of which no row was read. No block takes that long.
const NOT_SEEN: u64 = u64::MAX;

/// Reads how long each block took.
pub(super) fn read(
    dir: &Path,
    manifest: &Manifest,
    program: &Program,
    ids: &TaskIds,
) -> Result<BlockDurations, ReplayError> {
    if !manifest.files.iter().any(|file| file.path == swimlane::FILE_NAME) {
        let what = "there is no l2_perf_records.json".to_string();
        return Err(ReplayError::NotRecorded { dir: dir.into(), what });
    }
    check_blocks(dir, manifest, program)?;
    let mut durations = BlockDurations::default();
    let blocks = |task: &ProgramTask| task.kernels() * task.blocks as usize;
    program.tasks.iter().for_each(|task| durations.push_task(vec![NOT_SEEN; blocks(task)]));
    let mut wrong = None;
    let counter_hz = manifest.clock_freq_hz.max(1);
    let head = read_swimlane(dir, |row| {
        if let SwimlaneRow::Block(block) = row
            && wrong.is_none()
        {
            wrong = place(&mut durations, program, ids, &block, counter_hz).err();
        }
    })?;
    if head.counts.blocks.dropped > 0 {
        let (file, lost) = (swimlane::FILE_NAME, head.counts.blocks.dropped);
        return Err(ReplayError::RowsLost { dir: dir.into(), file, lost });
    }
    let missing = durations.blocks().iter().filter(|&&block| block == NOT_SEEN).count();
    if wrong.is_none() && missing > 0 {
        wrong = Some(format!("l2_perf_records.json lacks {missing} blocks that deps.json has"));
    }
    match wrong {
        Some(what) => Err(ReplayError::FilesDisagree { dir: dir.into(), what }),
        None => Ok(durations),
    }
}

fn place(
    durations: &mut BlockDurations,
    program: &Program,
    ids: &TaskIds,
    row: &BlockRow,
    counter_hz: u64,
) -> Result<(), String> {
    let not_there = || format!("deps.json has no block {} of task {}", row.block.0, row.task_id);
    let place = ids.place(row.task_id).ok_or_else(not_there)? as usize;
    let index = block_index(&program.tasks[place], row.lane, row.block.0).ok_or_else(not_there)?;
    let block = &mut durations.of_task_mut(place)[index];
    if *block != NOT_SEEN {
        return Err(format!("block {} of task {} ran twice", row.block.0, row.task_id));
    }
    *block = picoseconds(row, counter_hz);
    Ok(())
}

/// What the model computed, or else what was measured.
fn picoseconds(row: &BlockRow, counter_hz: u64) -> u64 {
    if row.cost_ps > 0 {
        return row.cost_ps.min(NOT_SEEN - 1);
    }
    let measured = u128::from(row.duration().0) * 1_000_000_000_000 / u128::from(counter_hz);
    u64::try_from(measured).unwrap_or(u64::MAX).min(NOT_SEEN - 1)
}
