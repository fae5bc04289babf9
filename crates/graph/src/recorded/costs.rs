//! Reads what each block does from the swimlane.

use std::path::Path;

use ringlane_chip_sim::cost::{BlockCosts, ReplayedBlock, TaskDuration};
use ringlane_engine::observe::BlockWork;
use ringlane_trace::Manifest;
use ringlane_trace::swimlane::{self, BlockRow, SwimlaneLevel, SwimlaneRow, read_swimlane};

use super::program::Program;
use super::read::TaskIds;
use super::{block_index, check_blocks};
use crate::error::ReplayError;

/// Reads the blocks of a run on a modelled chip.
pub(super) fn read(
    dir: &Path,
    manifest: &Manifest,
    program: &Program,
    ids: &TaskIds,
) -> Result<BlockCosts, ReplayError> {
    let not_recorded = |what: String| ReplayError::NotRecorded { dir: dir.into(), what };
    if !manifest.files.iter().any(|file| file.path == swimlane::FILE_NAME) {
        return Err(not_recorded("there is no l2_perf_records.json".to_string()));
    }
    check_blocks(dir, manifest, program)?;
    let mut costs = empty(program, manifest);
    let mut wrong = None;
    let mut found = 0u64;
    let head = read_swimlane(dir, |row| {
        if let SwimlaneRow::Block(block) = row {
            found += 1;
            if wrong.is_none() {
                wrong = place(&mut costs, program, ids, &block).err();
            }
        }
    })?;
    if head.level < SwimlaneLevel::Tasks {
        return Err(not_recorded(format!("l2_perf_records.json is of level {}", head.level.number())));
    }
    if head.counts.blocks.dropped > 0 {
        let (file, lost) = (swimlane::FILE_NAME, head.counts.blocks.dropped);
        return Err(ReplayError::RowsLost { dir: dir.into(), file, lost });
    }
    let wanted: u64 = (0..costs.tasks()).map(|task| costs.of_task(task).len() as u64).sum();
    match wrong {
        Some(Wrong::NoCost) => Err(not_recorded(
            "l2_perf_records.json is from a version that did not record what blocks do".to_string(),
        )),
        Some(Wrong::NotThere(what)) => Err(ReplayError::FilesDisagree { dir: dir.into(), what }),
        None if found != wanted => {
            let what = format!("deps.json has {wanted} blocks, l2_perf_records.json {found}");
            Err(ReplayError::FilesDisagree { dir: dir.into(), what })
        }
        None => Ok(costs),
    }
}

/// A place for each block.
fn empty(program: &Program, manifest: &Manifest) -> BlockCosts {
    let has_table = manifest.model.as_ref().is_some_and(|model| model.costs.is_some());
    let task_duration = if has_table { TaskDuration::LongestBlock } else { TaskDuration::FirstBlock };
    let mut costs = BlockCosts::default();
    costs.task_duration = task_duration;
    for task in &program.tasks {
        let blocks = task.kernels() as u64 * u64::from(task.blocks);
        costs.push_task((0..blocks).map(|_| ReplayedBlock::from(BlockWork::default())));
    }
    costs
}

enum Wrong {
    /// The chip is not a model, or the file is from before.
    NoCost,
    NotThere(String),
}

fn place(costs: &mut BlockCosts, program: &Program, ids: &TaskIds, row: &BlockRow) -> Result<(), Wrong> {
    if row.cost_ps == 0 {
        return Err(Wrong::NoCost);
    }
    let not_there =
        || Wrong::NotThere(format!("deps.json has no block {} of task {}", row.block.0, row.task_id));
    let place = ids.place(row.task_id).ok_or_else(not_there)? as usize;
    let index = block_index(&program.tasks[place], row.lane, row.block.0).ok_or_else(not_there)?;
    let block = costs.of_task_mut(place).get_mut(index).ok_or_else(not_there)?;
    if block.work.picoseconds != 0 {
        return Err(Wrong::NotThere(format!("block {} of task {} ran twice", row.block.0, row.task_id)));
    }
    block.work = BlockWork { picoseconds: row.cost_ps, flops: row.flops, bytes: row.bytes };
    Ok(())
}
