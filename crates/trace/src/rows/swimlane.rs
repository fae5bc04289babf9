//! `l2_perf_records.json`: when each block ran and where, and from level 2 and 3 on what the scheduler and the
//! orchestrator did meanwhile.
//!
//! A level's file holds nothing of the levels above it, and its version tells the level: 0, 1, 2 for level 1, 2, 3.

mod columns;
mod copies;
mod kinds;
mod quick;
mod read;
mod write;

use ringlane_task::{BlockIndex, CoreId, KernelId, Seq, TaskId, Ticks};

pub use super::KernelRow;
use super::RowCounts;
pub use copies::{CopyDirection, CopyRow};
pub use read::{Swimlane, SwimlaneHead, SwimlaneRow, read_swimlane};
pub use write::SwimlaneWriter;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "l2_perf_records.json";

/// How much the swimlane records; each level includes those below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SwimlaneLevel {
    /// Level 1: start and end of every block.
    Blocks = 1,
    /// Level 2: also dispatch and finish, the life of every task, and the edges that the engine wired.
    Tasks = 2,
    /// Level 3: also what schedulers and the orchestrator spent their time on.
    Phases = 3,
}

impl SwimlaneLevel {
    /// The level with this number, if there is one.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(SwimlaneLevel::Blocks),
            2 => Some(SwimlaneLevel::Tasks),
            3 => Some(SwimlaneLevel::Phases),
            _ => None,
        }
    }

    /// The level's number, as users give it.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The version of the file at this level.
    pub const fn version(self) -> u64 {
        self as u64 - 1
    }
}

/// What does not change during a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwimlaneMeta {
    /// The chip: `cpu`, `a2a3sim`, …
    pub platform: String,
    /// Ticks in a second.
    pub clock_freq_hz: u64,
    /// The kind of each core, by its number; there are as many cores.
    pub core_types: Vec<String>,
    /// Threads that schedule.
    pub num_scheduler_threads: u32,
    /// The thread that serves each core.
    pub core_to_thread: Vec<u32>,
    /// The kernels of the run.
    pub kernels: Vec<KernelRow>,
}

/// One block that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRow {
    /// Where.
    pub core: CoreId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The kernel it ran.
    pub func_id: KernelId,
    /// 0 for a plain task; in a mixed one 0 aic, 1 aiv0, 2 aiv1.
    pub lane: u8,
    /// Its index within the task.
    pub block: BlockIndex,
    /// When the kernel began, stamped by the core.
    pub start: Ticks,
    /// When the kernel was done, stamped by the core.
    pub end: Ticks,
    /// When the scheduler handed it out; not kept at level 1, and 0 when read from there.
    pub dispatch: Ticks,
    /// When the scheduler saw that it was done; as `dispatch`.
    pub finish: Ticks,
}

impl BlockRow {
    /// How long the kernel took.
    pub const fn duration(&self) -> Ticks {
        Ticks(self.end.0.saturating_sub(self.start.0))
    }
}

/// The life of one task (level 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskRow {
    /// The task.
    pub task_id: TaskId,
    /// Its place in the order of submission.
    pub seq: Seq,
    /// When its last producer was done.
    pub ready: Ticks,
    /// When its slot could be used again; `None` if the run ended before.
    pub reclaim: Option<Ticks>,
}

/// An edge that the engine wired (level 2): a producer that was not yet reclaimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeRow {
    /// The task that has to be done first.
    pub pred: TaskId,
    /// The task that waits.
    pub succ: TaskId,
}

names! {
    /// What a scheduler thread was doing.
    Phase {
        /// It took note of blocks that were done.
        Complete = "complete",
        /// It counted down the tasks that waited for them.
        Resolve = "resolve",
        /// It handed out blocks.
        Dispatch = "dispatch",
        /// It took back slots and memory.
        Reclaim = "reclaim",
        /// It had nothing to do.
        Idle = "idle",
    }
}

/// A stretch of a scheduler thread's time (level 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseRow {
    /// The thread; on `cpu` the worker.
    pub thread: u32,
    /// What it was doing.
    pub phase: Phase,
    /// From when.
    pub start: Ticks,
    /// Until when.
    pub end: Ticks,
    /// The number of the thread's round through its duties.
    pub loop_: u64,
    /// How many tasks it did this for.
    pub tasks: u64,
}

/// What one submit took (level 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmitRow {
    /// The task submitted.
    pub task_id: TaskId,
    /// When the submit began.
    pub start: Ticks,
    /// When it returned.
    pub end: Ticks,
    /// How long it waited for a ring.
    pub stall: Ticks,
    /// How long it took to get a slot and memory.
    pub alloc: Ticks,
    /// How long it took to find the producers.
    pub lookup: Ticks,
    /// How long it took to enter its own accesses.
    pub insert: Ticks,
    /// How long it took to wire the edges.
    pub wire: Ticks,
    /// Bytes of outputs it allocated.
    pub heap_bytes: u64,
    /// How long the orchestration waited for values since the submit before.
    pub read: Ticks,
    /// When the last of these waits ended; 0 if there was none.
    pub read_end: Ticks,
}

/// How many rows of each kind there are, and how many were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwimlaneCounts {
    /// Blocks.
    pub blocks: RowCounts,
    /// Tasks.
    pub tasks: RowCounts,
    /// Edges.
    pub edges: RowCounts,
    /// Scheduler phases.
    pub phases: RowCounts,
    /// Submits.
    pub submits: RowCounts,
    /// Copies between host and device; none are told where the chip does not copy.
    pub copies: RowCounts,
}

/// How many rows of each kind were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwimlaneDropped {
    /// Blocks.
    pub blocks: u64,
    /// Tasks.
    pub tasks: u64,
    /// Edges.
    pub edges: u64,
    /// Scheduler phases.
    pub phases: u64,
    /// Submits.
    pub submits: u64,
    /// Copies between host and device.
    pub copies: u64,
}
