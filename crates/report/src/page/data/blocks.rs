//! Blocks, core by core in the order of time: the order in which they are drawn.
//!
//! A block's start is stored as its distance from the end of the one before on its core, which is small.

use ringlane_insight::timeline::Timeline;
use ringlane_trace::swimlane::{BlockRow, SwimlaneLevel};

use super::tick;
use crate::page::columns::Coding::{Delta, Plain, Signed};
use crate::page::columns::{Column, ColumnWriter};

/// Columns of a block's row that are encoded in a way of their own. The others are on the page as they are, if any of
/// their numbers is not 0.
const ENCODED: [&str; 7] = ["core", "task_id", "func_id", "start", "end", "dispatch", "finish"];

/// The columns of all blocks, and how many each core has.
pub fn columns(timeline: &Timeline) -> Vec<Column> {
    let order = by_core_and_time(timeline);
    let mut counts = vec![0; timeline.cores.len()];
    let mut gaps = ColumnWriter::new("blocks.gap", Signed);
    let mut before = None;
    for &at in &order {
        let block = &timeline.blocks[at as usize];
        counts[block.core.0 as usize] += 1;
        let since = before.filter(|&(core, _)| core == block.core).map_or(0, |(_, end)| end);
        gaps.push(tick(block.start) - since);
        before = Some((block.core, tick(block.end)));
    }
    let rows = || order.iter().map(|&at| &timeline.blocks[at as usize]);
    let unknown = timeline.kernels.len() as i64;
    let kernel = |block: &BlockRow| {
        let found = timeline.kernels.binary_search_by_key(&block.func_id, |kernel| kernel.func_id);
        found.map_or(unknown, |at| at as i64)
    };
    let mut columns = vec![
        Column::of("cores.blocks", Plain, counts),
        gaps.finish(),
        Column::of("blocks.took", Plain, rows().map(|block| tick(block.duration()))),
        Column::of("blocks.kernel", Plain, rows().map(kernel)),
        Column::of("blocks.task", Delta, task_of(timeline, &order)),
    ];
    let others = Column::of_rows("blocks.row", Plain, rows().map(Some), |name| !ENCODED.contains(&name));
    columns.extend(others.into_iter().filter(|column| !column.is_zero()));
    if timeline.level >= SwimlaneLevel::Tasks {
        let waited = rows().map(|block| tick(block.start) - tick(block.dispatch));
        columns.push(Column::of("blocks.waited", Signed, waited));
        let seen = rows().map(|block| tick(block.finish) - tick(block.end));
        columns.push(Column::of("blocks.seen", Signed, seen));
    }
    columns
}

/// Blocks in the order in which they are drawn.
pub fn by_core_and_time(timeline: &Timeline) -> Vec<u32> {
    let mut order: Vec<u32> = (0..timeline.blocks.len() as u32).collect();
    let key = |at: u32| {
        let block = &timeline.blocks[at as usize];
        (block.core, block.start, block.end)
    };
    order.sort_by_key(|&at| key(at));
    order
}

fn task_of<'a>(timeline: &'a Timeline, order: &'a [u32]) -> impl Iterator<Item = i64> + 'a {
    order.iter().map(|&at| {
        let task = timeline.find(timeline.blocks[at as usize].task_id);
        task.map_or(0, |task| i64::from(task.0))
    })
}
