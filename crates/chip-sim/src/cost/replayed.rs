//! What the blocks of a recorded run do: a replay uses it instead of cost models, and computes no values.
//!
//! ```text
//! task 0 │ lane 0: block 0, block 1, … │ lane 1: … ║ task 1 │ …      tasks in submission order
//! ```

use ringlane_engine::observe::BlockWork;
use ringlane_engine::pace::BlockDurations;

use super::BlockCost;
use super::limits::BLOCK_MAX;
use crate::core::CoreKind;
use crate::time::Ps;

/// From here on, an integer is the bits of a number with a fraction: those of every amount of at least 2⁻⁹⁶⁸ are larger.
const WHOLE_MAX: u64 = 1 << 53;

/// An amount of work as an integer: itself if it is one, else its bits. Nothing is lost.
pub(super) fn recorded_amount(amount: f64) -> u64 {
    let is_whole = amount >= 0.0 && amount < WHOLE_MAX as f64 && amount.fract() == 0.0;
    if is_whole { amount as u64 } else { amount.to_bits() }
}

/// The amount that was recorded.
fn amount_of(recorded: u64) -> f64 {
    if recorded < WHOLE_MAX { recorded as f64 } else { f64::from_bits(recorded) }
}

/// A duration that is some multiple of another, at least a picosecond.
///
/// ```
/// use ringlane_chip_sim::cost::scaled;
/// assert_eq!((scaled(1_000, 0.5), scaled(1_000, 0.0), scaled(3, 1.5)), (500, 1, 5));
/// ```
pub fn scaled(picoseconds: Ps, factor: f64) -> Ps {
    ((picoseconds as f64 * factor).round() as Ps).clamp(1, BLOCK_MAX)
}

/// A block of a recorded run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayedBlock {
    /// What the cost model said of it.
    pub work: BlockWork,
    /// The multiple of that time that it takes.
    pub factor: f64,
}

impl From<BlockWork> for ReplayedBlock {
    fn from(work: BlockWork) -> Self {
        ReplayedBlock { work, factor: 1.0 }
    }
}

/// Which block says how long a task takes before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskDuration {
    /// The first of each kernel, as a kernel's cost model says.
    #[default]
    FirstBlock,
    /// The longest, as a table of recorded durations says.
    LongestBlock,
}

/// The blocks of a recorded run, by the task's place in submission order.
#[derive(Clone, Debug, Default)]
pub struct BlockCosts {
    /// The first block of each task, and the end of the last.
    first: Vec<usize>,
    blocks: Vec<ReplayedBlock>,
    /// How long tasks take, as far as policies know.
    pub task_duration: TaskDuration,
}

impl BlockCosts {
    /// Adds the next task: its blocks lane by lane. A task without kernels has none.
    pub fn push_task(&mut self, blocks: impl IntoIterator<Item = ReplayedBlock>) {
        self.first.push(self.blocks.len());
        self.blocks.extend(blocks);
    }

    /// The blocks of a task.
    pub fn of_task(&self, seq: usize) -> &[ReplayedBlock] {
        let end = self.first.get(seq + 1).copied().unwrap_or(self.blocks.len());
        self.first.get(seq).map_or(&[], |&first| &self.blocks[first..end])
    }

    /// The same, to be changed.
    pub fn of_task_mut(&mut self, seq: usize) -> &mut [ReplayedBlock] {
        let end = self.first.get(seq + 1).copied().unwrap_or(self.blocks.len());
        match self.first.get(seq) {
            Some(&first) => &mut self.blocks[first..end],
            None => &mut [],
        }
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.first.len()
    }
}

impl From<&BlockDurations> for BlockCosts {
    /// Blocks that take these times on any chip. Policies know the longest of each task.
    fn from(durations: &BlockDurations) -> Self {
        let mut costs = BlockCosts { task_duration: TaskDuration::LongestBlock, ..BlockCosts::default() };
        for task in 0..durations.tasks() {
            let blocks = durations.of_task(task).iter();
            costs.push_task(
                blocks.map(|&picoseconds| BlockWork { picoseconds, ..BlockWork::default() }.into()),
            );
        }
        costs
    }
}

impl super::CostModel {
    /// The cost of a block of a replayed task on a core of this kind; `None` if nothing is replayed.
    #[inline]
    pub(crate) fn replayed(&self, seq: u64, index: u32, core: CoreKind) -> Option<BlockCost> {
        let costs = self.replayed.as_ref()?;
        let block = costs.of_task(seq as usize).get(index as usize).copied();
        Some(self.cost_of_replayed(block.unwrap_or_else(|| BlockWork::default().into()), core))
    }

    /// How long a replayed task with these lanes takes before it runs; `None` if nothing is replayed.
    pub(crate) fn replayed_task(&self, seq: u64, blocks: u32, kinds: &[CoreKind]) -> Option<Ps> {
        let costs = self.replayed.as_ref()?;
        let all = costs.of_task(seq as usize).chunks(blocks.max(1) as usize).zip(kinds);
        let of = |lane: &[ReplayedBlock], kind| {
            let known = match costs.task_duration {
                TaskDuration::FirstBlock => &lane[..1],
                TaskDuration::LongestBlock => lane,
            };
            known.iter().map(|&block| self.cost_of_replayed(block, kind).picoseconds).max()
        };
        Some(all.filter_map(|(lane, &kind)| of(lane, kind)).max().unwrap_or(0))
    }

    fn cost_of_replayed(&self, block: ReplayedBlock, core: CoreKind) -> BlockCost {
        let BlockWork { picoseconds, flops, bytes } = block.work;
        let time = match (flops, bytes) {
            (0, 0) => picoseconds.clamp(1, BLOCK_MAX),
            _ => self.roofline(core, amount_of(flops), amount_of(bytes)).unwrap_or(self.default_block),
        };
        let picoseconds = if block.factor == 1.0 { time } else { scaled(time, block.factor) };
        let (flops, bytes) = (amount_of(flops), amount_of(bytes));
        BlockCost { picoseconds, flops, bytes, is_roofline: block.factor == 1.0, ..BlockCost::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_work_is_recorded_without_loss() {
        for amount in [0.0, 1.0, 10_922.666_666_666_666, 0.1, 1e-300, 9e15, 1e16, 1e300] {
            assert_eq!(amount_of(recorded_amount(amount)), amount);
        }
        assert_eq!(recorded_amount(4_096.0), 4_096);
    }
}
