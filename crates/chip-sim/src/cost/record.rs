//! Builds a cost table from recorded runs.
//!
//! Blocks are added in any order, mostly core by core, and are sorted by task when the table is built.

use std::collections::BTreeMap;

use ringlane_task::TaskId;

use super::limits::{RECORDED_BLOCKS_MAX, SPREAD_GROUPS};
use super::table::{CostTable, KernelCost, RecordedTask, VERSION};
use crate::time::SECOND;

/// A block: its position and its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    task: TaskId,
    lane: u8,
    block: u32,
    /// In ticks, later in picoseconds.
    time: u64,
}

/// Durations of the blocks of a kernel, in ticks of one counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTimes {
    count: u64,
    total: u128,
    min: u64,
    max: u64,
    /// At most [`RECORDED_BLOCKS_MAX`] of them.
    blocks: Vec<Block>,
}

impl Default for BlockTimes {
    fn default() -> Self {
        BlockTimes { count: 0, total: 0, min: u64::MAX, max: 0, blocks: Vec::new() }
    }
}

impl BlockTimes {
    /// Adds a block of a task with a duration of `ticks`.
    #[inline]
    pub fn add_block(&mut self, task: TaskId, lane: u8, block: u32, ticks: u64) {
        self.count += 1;
        self.total += u128::from(ticks);
        (self.min, self.max) = (self.min.min(ticks), self.max.max(ticks));
        if self.blocks.len() < RECORDED_BLOCKS_MAX {
            self.blocks.push(Block { task, lane, block, time: ticks });
        }
    }

    /// Adds the blocks of `other`.
    fn merge(&mut self, other: BlockTimes) {
        self.count += other.count;
        self.total += other.total;
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        let room = RECORDED_BLOCKS_MAX - self.blocks.len();
        self.blocks.extend(other.blocks.into_iter().take(room));
    }

    /// Converts ticks to picoseconds.
    fn into_picoseconds(mut self, clock_freq_hz: u64) -> Self {
        let convert =
            |ticks: u128| ticks.saturating_mul(u128::from(SECOND)) / u128::from(clock_freq_hz.max(1));
        let narrow = |ticks: u64| u64::try_from(convert(ticks.into())).unwrap_or(u64::MAX);
        self.blocks.iter_mut().for_each(|block| block.time = narrow(block.time));
        BlockTimes { total: convert(self.total), min: narrow(self.min), max: narrow(self.max), ..self }
    }

    /// Whether all counted blocks are stored.
    fn is_complete(&self) -> bool {
        self.count == self.blocks.len() as u64
    }
}

/// Whether the recorded runs are of the same program, so that a task id means the same task in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// They are: the durations of each task are kept, averaged over the runs.
    One,
    /// They are not: only the distribution of each kernel is kept.
    Several,
}

/// Builds a table from one or several recorded runs.
#[derive(Clone, Debug)]
pub struct TableRecorder {
    chip: String,
    programs: Programs,
    clock_freq_hz: u64,
    /// In picoseconds.
    kernels: BTreeMap<String, BlockTimes>,
}

impl TableRecorder {
    /// An empty recorder for runs of one program on a chip of this name.
    pub fn new(chip: &str) -> Self {
        let (chip, programs) = (chip.to_string(), Programs::One);
        TableRecorder { chip, programs, clock_freq_hz: 0, kernels: BTreeMap::new() }
    }

    /// Sets whether the runs are of one program.
    #[must_use]
    pub fn of(self, programs: Programs) -> Self {
        TableRecorder { programs, ..self }
    }

    /// Adds blocks of a kernel, measured with a counter of this frequency.
    pub fn add(&mut self, kernel: &str, times: BlockTimes, clock_freq_hz: u64) {
        if times.count == 0 {
            return;
        }
        self.clock_freq_hz = clock_freq_hz;
        self.kernels.entry(kernel.to_string()).or_default().merge(times.into_picoseconds(clock_freq_hz));
    }

    /// Whether no block was recorded.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// The table. Durations of tasks are left out if there are more than [`RECORDED_BLOCKS_MAX`] blocks in total.
    pub fn finish(self) -> CostTable {
        let recorded: usize = self.kernels.values().map(|times| times.blocks.len()).sum();
        let fits = recorded <= RECORDED_BLOCKS_MAX && self.kernels.values().all(BlockTimes::is_complete);
        let keeps_tasks = fits && self.programs == Programs::One;
        let kernels = self.kernels.into_iter().map(|(name, times)| {
            let mean = u64::try_from(times.total / u128::from(times.count)).unwrap_or(u64::MAX);
            // Minimum, maximum and mean are rounded down independently; the mean stays between the others.
            let (blocks, min_ps, max_ps) = (times.count, times.min, times.max);
            let spread_ps = spread(&times.blocks);
            let tasks = if keeps_tasks { tasks(times.blocks) } else { Vec::new() };
            let mean_ps = mean.clamp(min_ps, max_ps);
            KernelCost { name, blocks, mean_ps, min_ps, max_ps, spread_ps, tasks }
        });
        let (chip, clock_freq_hz) = (self.chip, self.clock_freq_hz);
        CostTable { version: VERSION, chip, clock_freq_hz, kernels: kernels.collect() }
    }
}

/// The means of groups of equal size, from the shortest blocks to the longest.
fn spread(blocks: &[Block]) -> Vec<u64> {
    let mut times: Vec<u64> = blocks.iter().map(|block| block.time).collect();
    times.sort_unstable();
    let groups = times.len().min(SPREAD_GROUPS);
    let bound = |group: usize| group * times.len() / groups;
    (0..groups).map(|group| mean(&times[bound(group)..bound(group + 1)])).collect()
}

/// The blocks of each task, each averaged over the runs.
fn tasks(mut blocks: Vec<Block>) -> Vec<RecordedTask> {
    blocks.sort_unstable();
    let mut tasks: Vec<RecordedTask> = Vec::new();
    for runs in blocks.chunk_by(|a, b| (a.task, a.lane, a.block) == (b.task, b.lane, b.block)) {
        let times: Vec<u64> = runs.iter().map(|block| block.time).collect();
        let (task, time) = (runs[0].task, mean(&times));
        match tasks.last_mut().filter(|last| last.task == task) {
            Some(last) => last.blocks_ps.push(time),
            None => tasks.push(RecordedTask { task, blocks_ps: vec![time] }),
        }
    }
    tasks
}

fn mean(times: &[u64]) -> u64 {
    let total: u128 = times.iter().map(|&time| u128::from(time)).sum();
    (total / times.len().max(1) as u128) as u64
}
