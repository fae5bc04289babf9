//! `pmu.csv`: what the hardware counted during each block.

mod read;
mod write;

use ringlane_task::{CoreId, KernelId, TaskId};

pub use read::{Pmu, read_pmu};
pub use write::PmuWriter;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "pmu.csv";

/// The columns before the counters.
pub const HEAD_COLUMNS: [&str; 6] =
    ["thread_id", "core_id", "task_id", "func_id", "core_type", "pmu_total_cycles"];

/// The column after the counters.
pub const LAST_COLUMN: &str = "event_type";

/// What was counted during one block.
///
/// Borrowed from wherever the caller keeps it; [`OwnedPmuRow`] is the same, read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmuRow<'a> {
    /// The thread that scheduled the block.
    pub thread_id: u32,
    /// The core it ran on.
    pub core_id: CoreId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The kernel it ran.
    pub func_id: KernelId,
    /// The kind of the core.
    pub core_type: &'a str,
    /// Cycles, or ticks of the time-stamp counter where cycles cannot be counted.
    pub pmu_total_cycles: u64,
    /// One value for each counter column of the file.
    pub counters: &'a [u64],
    /// The group of counters; 0 when the fallback was used.
    pub event_type: u32,
}

/// A row that was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedPmuRow {
    /// The thread that scheduled the block.
    pub thread_id: u32,
    /// The core it ran on.
    pub core_id: CoreId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The kernel it ran.
    pub func_id: KernelId,
    /// The kind of the core.
    pub core_type: String,
    /// Cycles, or ticks of the time-stamp counter.
    pub pmu_total_cycles: u64,
    /// One value for each counter column of the file.
    pub counters: Vec<u64>,
    /// The group of counters; 0 when the fallback was used.
    pub event_type: u32,
}
