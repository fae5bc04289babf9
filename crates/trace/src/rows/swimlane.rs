//! `l2_perf_records.json`: when each block ran and where, and from level 2 and 3 on what the scheduler and the
//! orchestrator did meanwhile.
//!
//! A level's file holds nothing of the levels above it, and its version says the level: 0, 1, 2 for level 1, 2, 3.

mod read;
mod sections;
#[cfg(test)]
mod tests;
mod write;

use ringlane_task::{BlockIndex, CoreId, KernelId, Seq, TaskId, Ticks};
use serde::Deserialize;

pub use super::KernelRow;
use super::RowCounts;
pub use read::{Swimlane, SwimlaneHead, read_swimlane};
pub use sections::SwimlaneRow;
pub use write::{HeadRows, SwimlaneWriter};

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

row! { object
    /// What does not change during a run.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SwimlaneMeta {
        /// The chip: `cpu`, `a2a3sim`, …
        platform: String,
        /// Ticks in a second.
        clock_freq_hz: u64,
        derived num_cores: usize = |meta| meta.core_types.len(),
        /// The kind of each core, by its number.
        core_types: Vec<String>,
        /// Threads that schedule.
        num_scheduler_threads: u32,
        /// The thread that serves each core.
        core_to_thread: Vec<u32>,
        /// The kernels of the run.
        kernels: Vec<KernelRow>,
    }
}

row! { array
    /// One block that ran.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct BlockRow {
        /// Where.
        core: CoreId,
        /// The task it belongs to.
        task_id: TaskId,
        /// The kernel it ran.
        func_id: KernelId,
        /// 0 for a plain task; in a mixed one 0 aic, 1 aiv0, 2 aiv1.
        lane: u8,
        /// Its index within the task.
        block: BlockIndex,
        /// When the kernel began, stamped by the core.
        start: Ticks,
        /// When the kernel was done, stamped by the core.
        end: Ticks,
        /// When the scheduler handed it out; not kept at level 1, and 0 when read from there.
        dispatch: Ticks [default],
        /// When the scheduler saw that it was done; as `dispatch`.
        finish: Ticks [default],
        /// How long it takes according to a modelled chip, in picoseconds; 0 elsewhere, as the next two.
        cost_ps: u64 [default],
        /// Floating-point operations, if `cost_ps` follows from them and from `bytes`; otherwise 0.
        flops: u64 [default],
        /// Bytes moved between memory and core; as `flops`.
        bytes: u64 [default],
    }
}

impl BlockRow {
    /// How long the kernel took.
    pub const fn duration(&self) -> Ticks {
        Ticks(self.end.0.saturating_sub(self.start.0))
    }
}

row! { array
    /// The life of one task (level 2).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TaskRow {
        /// The task.
        task_id: TaskId,
        /// Its place in the order of submission.
        seq: Seq,
        /// When its last producer was done.
        ready: Ticks,
        /// When its slot could be used again; `None` if the run ended before.
        reclaim: Option<Ticks>,
    }
}

row! { array
    /// An edge that the engine wired (level 2): a producer that was not yet reclaimed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct EdgeRow {
        /// The task that has to be done first.
        pred: TaskId,
        /// The task that waits.
        succ: TaskId,
    }
}

names! {
    /// What a scheduler thread was doing.
    Phase {
        /// It took note of blocks that were done.
        Complete = "complete",
        /// It counted down the tasks that waited for them.
        Resolve = "resolve",
        /// It dispatched blocks.
        Dispatch = "dispatch",
        /// It took back slots and memory.
        Reclaim = "reclaim",
        /// It had nothing to do.
        Idle = "idle",
    }
}

row! { array
    /// An interval of a scheduler thread's time (level 3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PhaseRow {
        /// The thread; on `cpu` the worker.
        thread: u32,
        /// What it was doing.
        phase: Phase,
        /// From when.
        start: Ticks,
        /// Until when.
        end: Ticks,
        /// The number of the thread's round through its duties.
        loop_: u64 [as "loop"],
        /// The number of tasks that it did this for.
        tasks: u64,
    }
}

row! { array
    /// What one submit took (level 3).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SubmitRow {
        /// The task submitted.
        task_id: TaskId,
        /// When the submit began.
        start: Ticks,
        /// When it returned.
        end: Ticks,
        /// How long it waited for a ring.
        stall: Ticks,
        /// How long it took to get a slot and memory.
        alloc: Ticks,
        /// How long it took to find the producers.
        lookup: Ticks,
        /// How long it took to enter its own accesses.
        insert: Ticks,
        /// How long it took to wire the edges.
        wire: Ticks,
        /// Bytes of outputs it allocated.
        heap_bytes: u64,
        /// How long the orchestration waited for values since the submit before.
        read: Ticks [default],
        /// When the last of these waits ended; 0 if there was none.
        read_end: Ticks [default],
    }
}

names! {
    /// Which way a copy went.
    CopyDirection {
        /// From the host to the device.
        HostToDevice = "h2d",
        /// From the device to the host.
        DeviceToHost = "d2h",
    }
}

row! { array
    /// One copy over the link between host and device, of chips whose memories are apart (every level). A chip reports a
    /// bounded number of them, so they precede the other rows and are read whole.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CopyRow {
        /// Which way.
        direction: CopyDirection,
        /// What was copied: `buffer 0`, …
        what: String,
        /// How much of it.
        bytes: u64,
        /// From when.
        start: Ticks,
        /// Until when.
        end: Ticks,
    }
}

row! { array
    /// One launch of a batch of tasks, on chips that take tasks in batches (every level). As copies, launches precede the other
    /// rows. Batches have all tasks, in submission order.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LaunchRow {
        /// The number of its tasks.
        tasks: u64,
        /// When the submitter's thread began to lay the batch out.
        start: Ticks,
        /// When the batch was launched.
        end: Ticks,
        /// From when on the thread waited for its end, or when it saw it.
        wait: Ticks,
        /// When all its tasks were complete.
        settled: Ticks,
    }
}

/// A value for each kind of row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PerKind<T> {
    /// Blocks.
    pub blocks: T,
    /// Tasks.
    pub tasks: T,
    /// Edges.
    pub edges: T,
    /// Scheduler phases.
    pub phases: T,
    /// Submits.
    pub submits: T,
    /// Copies between host and device; there are none where the chip does not copy.
    pub copies: T,
    /// Launches of batches; there are none where the chip takes tasks one by one.
    pub launches: T,
}

/// How many rows of each kind there are, and how many were lost.
pub type SwimlaneCounts = PerKind<RowCounts>;

/// How many rows of each kind were lost.
pub type SwimlaneDropped = PerKind<u64>;
