//! When everything ran: one table of tasks in the order of submission, with their blocks, their submits and what they
//! waited for.
//!
//! The swimlane's rows are in the order in which they were recorded, and know tasks by their ids. Here a task is a
//! position, its blocks are adjacent, and edges lead from position to position, so that everything that explains a run
//! is a walk over arrays.

mod build;
mod edges;
mod ids;
#[cfg(test)]
pub(crate) mod sample;

use std::collections::HashMap;
use std::ops::Range;

use ringlane_task::{KernelId, Seq, TaskId, Ticks};
use ringlane_trace::swimlane::{
    BlockRow, CopyRow, KernelRow, PhaseRow, SubmitRow, SwimlaneCounts, SwimlaneLevel,
};

use crate::bound::Placement;
use crate::units::microseconds;
use crate::{CoreKind, Cores, InsightError};
pub use build::Skeleton;
pub use edges::Edges;
use ids::TaskIds;

/// A task's place in the order of submission, among those that were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(pub u32);

impl TaskIndex {
    /// The place as an index of a table.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// Where the timeline's edges come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeOrigin {
    /// The recorded dependencies: all there are.
    Dependencies,
    /// What the engine wired: without those to tasks that were done and forgotten already.
    Engine,
    /// Nowhere: the run did not record any.
    Nowhere,
}

/// The life of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskLife {
    /// Its name in every artifact.
    pub task_id: TaskId,
    /// Its place in the order of submission, among all tasks.
    pub seq: Seq,
    /// When its last producer was done; not recorded at level 1.
    pub ready: Option<Ticks>,
    /// When its slot could be used again; `None` if that was not seen.
    pub reclaim: Option<Ticks>,
    /// What submitting it took, from level 3 on.
    pub submit: Option<SubmitRow>,
    /// Whether the engine made it wait for others, as far as that is known. If not, all that it depends on was done when it
    /// was submitted, and it was ready as soon as it was.
    pub is_wired: bool,
    /// Its blocks, in the timeline's.
    blocks: Range<u32>,
}

/// Everything that is known about when a run did what.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The platform, as the swimlane names it.
    pub platform: String,
    /// How much was recorded.
    pub level: SwimlaneLevel,
    /// How long the run took.
    pub makespan: Ticks,
    /// Ticks in a second.
    pub clock_freq_hz: u64,
    /// The kind of each core.
    pub cores: Vec<CoreKind>,
    /// The scheduler thread that serves each core.
    pub core_to_thread: Vec<u32>,
    /// How many scheduler threads there are; on `cpu` each worker is one.
    pub scheduler_threads: u32,
    /// Kernels, in the order of their numbers.
    pub kernels: Vec<KernelRow>,
    /// Tasks, in the order of submission.
    pub tasks: Vec<TaskLife>,
    /// Blocks, those of one task together, in the order of the tasks.
    pub blocks: Vec<BlockRow>,
    /// What scheduler threads did, from level 3 on, by thread and time.
    pub phases: Vec<PhaseRow>,
    /// Copies between host and chip.
    pub copies: Vec<CopyRow>,
    /// Which task waits for which, each pair once.
    pub edges: Edges,
    /// Where the edges come from.
    pub edge_origin: EdgeOrigin,
    /// How many rows there are, and how many were lost.
    pub counts: SwimlaneCounts,
    /// Tasks that the swimlane or the dependencies lost, whichever lost more.
    pub lost_tasks: u64,
    /// The names that submits gave to tasks.
    labels: HashMap<TaskIndex, String>,
    ids: TaskIds,
    /// Where blocks of each of the kernels can run.
    placements: Vec<Placement>,
}

impl Timeline {
    /// The task with this name.
    pub fn find(&self, task: TaskId) -> Option<TaskIndex> {
        self.ids.find(task)
    }

    /// The positions of all tasks.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = TaskIndex> + ExactSizeIterator + use<> {
        (0..self.tasks.len() as u32).map(TaskIndex)
    }

    /// A task by its position.
    pub fn task(&self, task: TaskIndex) -> &TaskLife {
        &self.tasks[task.at()]
    }

    /// The name that a task's submit gave it; known where dependencies were recorded.
    pub fn label(&self, task: TaskIndex) -> Option<&str> {
        self.labels.get(&task).map(String::as_str)
    }

    /// All tasks that have such a name, in the order of submission.
    pub fn labels(&self) -> Vec<(TaskIndex, &str)> {
        let mut labels: Vec<_> = self.labels.iter().map(|(&task, label)| (task, label.as_str())).collect();
        labels.sort_unstable();
        labels
    }

    /// The blocks of a task; none for a barrier, an allocation or a task that was skipped.
    pub fn blocks_of(&self, task: TaskIndex) -> &[BlockRow] {
        let Range { start, end } = self.task(task).blocks;
        &self.blocks[start as usize..end as usize]
    }

    /// The block of a task that ended last.
    pub fn last_block(&self, task: TaskIndex) -> Option<&BlockRow> {
        self.blocks_of(task).iter().max_by_key(|block| block.end)
    }

    /// A kernel's name.
    pub fn kernel_name(&self, kernel: KernelId) -> &str {
        self.kernel(kernel).map_or("?", |kernel| &kernel.name)
    }

    /// What is known of a kernel.
    pub fn kernel(&self, kernel: KernelId) -> Option<&KernelRow> {
        self.kernel_place(kernel).map(|at| &self.kernels[at])
    }

    /// The kind of core that a block ran on.
    pub fn kind_of(&self, block: &BlockRow) -> CoreKind {
        self.cores[block.core.0 as usize]
    }

    /// Where blocks of a kernel can run. A kernel for a kind of core that the chip does not have (every kernel that asks
    /// for one, on `cpu`) runs wherever the chip lets it.
    pub fn placement(&self, kernel: KernelId) -> Placement {
        self.kernel_place(kernel).map_or(Placement::Anywhere, |at| self.placements[at])
    }

    fn kernel_place(&self, kernel: KernelId) -> Option<usize> {
        self.kernels.binary_search_by_key(&kernel, |row| row.func_id).ok()
    }

    /// How many cores there are of each kind.
    pub fn core_counts(&self) -> Cores {
        self.cores.iter().fold(Cores::none(), |cores, &kind| cores.with(kind, cores.of(kind) + 1))
    }

    /// An answer that needs a level is refused below it.
    pub fn needs(&self, level: SwimlaneLevel) -> Result<(), InsightError> {
        let (needs, has) = (level.number(), self.level.number());
        if has >= needs { Ok(()) } else { Err(InsightError::LevelTooLow { needs, has }) }
    }

    /// Ticks as microseconds.
    pub fn us(&self, ticks: Ticks) -> f64 {
        self.mean_us(ticks.0 as f64)
    }

    /// A mean of ticks, which need not be whole, as microseconds.
    pub fn mean_us(&self, ticks: f64) -> f64 {
        microseconds(ticks, self.clock_freq_hz)
    }
}
