//! The cores of the workers' chips: blocks of all runs of a worker on one lane for each core, placed on the node's clock.

use std::collections::{BTreeMap, HashMap};

use ringlane_insight::node::{Node, PlacedRun};
use ringlane_insight::{CoreKind, InsightError};
use ringlane_task::{Explain, KernelId};
use ringlane_trace::dist::WorkerKind;

use super::node::{KernelData, LaneData};
use super::tick;
use crate::page::columns::Coding::{Plain, Signed};
use crate::page::columns::{Column, ColumnWriter};
use crate::page::limits::{CHIP_BLOCKS_MAX, EXACT_MAX};

/// Blocks of all chips.
#[derive(Default)]
pub(super) struct Chips {
    /// By worker and core.
    lanes: BTreeMap<(usize, u32), ChipLane>,
    kernels: Vec<KernelData>,
    /// Places of kernels by their names.
    names: HashMap<String, usize>,
    blocks: usize,
}

struct ChipLane {
    kind: CoreKind,
    stretches: Vec<Stretch>,
}

/// A block, or several that are close together.
#[derive(Clone, Copy)]
struct Stretch {
    start: i64,
    end: i64,
    kernel: usize,
}

impl Chips {
    /// Adds the blocks of a run; the error is why there are none.
    pub(super) fn add(&mut self, placed: &PlacedRun, node: &Node) -> Result<(), String> {
        // The cores of a node are its workers, which have lanes of their own.
        if node.workers[placed.worker].facts.kind == WorkerKind::Node {
            return Ok(());
        }
        let chip = placed.blocks().map_err(|error| match error {
            InsightError::NotRecorded { .. } => "no swimlane was recorded".to_string(),
            error => format!("{}: {}", error.name(), error.detail()),
        })?;
        for (core, &kind) in (0..).zip(&chip.cores) {
            let lane = || ChipLane { kind, stretches: Vec::new() };
            self.lanes.entry((placed.worker, core)).or_insert_with(lane);
        }
        let kernels: HashMap<KernelId, usize> =
            chip.kernels.iter().map(|(&id, name)| (id, self.kernel(name))).collect();
        for block in &chip.blocks {
            let (start, end) = (tick(block.start), tick(block.end));
            let kernel = kernels.get(&block.func_id).copied().unwrap_or_else(|| self.kernel("?"));
            let total = &mut self.kernels[kernel].total;
            *total = (*total + (end - start) as u64).min(EXACT_MAX);
            if let Some(lane) = self.lanes.get_mut(&(placed.worker, block.core.0)) {
                lane.stretches.push(Stretch { start, end, kernel });
            }
        }
        self.blocks += chip.blocks.len();
        Ok(())
    }

    fn kernel(&mut self, name: &str) -> usize {
        let (names, kernels) = (&mut self.names, &mut self.kernels);
        *names.entry(name.to_string()).or_insert_with(|| {
            kernels.push(KernelData { name: name.to_string(), total: 0 });
            kernels.len() - 1
        })
    }

    /// Puts blocks into the order of time and, of too many, merges neighbours; says how many there were and are.
    pub(super) fn thin(&mut self) -> Option<(usize, usize)> {
        for lane in self.lanes.values_mut() {
            lane.stretches.sort_unstable_by_key(|stretch| (stretch.start, stretch.end));
        }
        if self.blocks <= CHIP_BLOCKS_MAX {
            return None;
        }
        let busy = |lane: &ChipLane| lane.stretches.iter().map(|one| one.end - one.start).sum::<i64>();
        let busy = self.lanes.values().map(busy).fold(0, i64::saturating_add);
        // As short as keeps the limit: blocks that are far apart take more than their own length.
        let mut shortest = busy / CHIP_BLOCKS_MAX as i64 + 1;
        while self.stretches() > CHIP_BLOCKS_MAX && shortest < i64::MAX {
            for lane in self.lanes.values_mut() {
                lane.stretches = merged(&lane.stretches, shortest);
            }
            shortest = shortest.saturating_mul(2);
        }
        Some((self.blocks, self.stretches()))
    }

    fn stretches(&self) -> usize {
        self.lanes.values().map(|lane| lane.stretches.len()).sum()
    }

    /// The lanes, the kernels, how many blocks there were, and the columns of what is on the lanes.
    pub(super) fn finish(self) -> (Vec<LaneData>, Vec<KernelData>, u64, Vec<Column>) {
        let mut gaps = ColumnWriter::new("chips.gap", Signed);
        for lane in self.lanes.values() {
            let mut before = 0;
            for stretch in &lane.stretches {
                gaps.push(stretch.start - before);
                before = stretch.end;
            }
        }
        let all = || self.lanes.values().flat_map(|lane| &lane.stretches);
        let columns = vec![
            Column::of("chips.count", Plain, self.lanes.values().map(|lane| lane.stretches.len() as i64)),
            gaps.finish(),
            Column::of("chips.took", Plain, all().map(|stretch| stretch.end - stretch.start)),
            Column::of("chips.kernel", Plain, all().map(|stretch| stretch.kernel as i64)),
        ];
        let lane = |(&(worker, core), lane): (&(usize, u32), &ChipLane)| LaneData {
            worker,
            kind: lane.kind.as_str(),
            core,
        };
        let lanes = self.lanes.iter().map(lane).collect();
        (lanes, self.kernels, self.blocks as u64, columns)
    }
}

/// Neighbours put together until they are at least so long, a gap as long as that stays; each keeps the kernel that took
/// most of it.
fn merged(stretches: &[Stretch], shortest: i64) -> Vec<Stretch> {
    let mut merged: Vec<Stretch> = Vec::new();
    let mut took: HashMap<usize, i64> = HashMap::new();
    for next in stretches {
        let length = next.end - next.start;
        let fits = |last: &&mut Stretch| last.end - last.start < shortest && next.start - last.end < shortest;
        let Some(last) = merged.last_mut().filter(fits) else {
            took.clear();
            took.insert(next.kernel, length);
            merged.push(*next);
            continue;
        };
        last.end = last.end.max(next.end);
        *took.entry(next.kernel).or_default() += length;
        let most = took.iter().max_by_key(|&(kernel, took)| (*took, std::cmp::Reverse(*kernel)));
        last.kernel = most.map_or(next.kernel, |(&kernel, _)| kernel);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_blocks_keep_the_kernel_that_took_most_of_them_and_long_gaps_stay() {
        let stretch = |start, end, kernel| Stretch { start, end, kernel };
        let blocks =
            [stretch(0, 2, 1), stretch(2, 3, 0), stretch(4, 9, 0), stretch(50, 52, 2), stretch(52, 90, 1)];
        let facts: Vec<_> = merged(&blocks, 10).iter().map(|s| (s.start, s.end, s.kernel)).collect();
        assert_eq!(facts, [(0, 9, 0), (50, 90, 1)]);
    }
}
