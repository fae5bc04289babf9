//! `pmu.csv`: what the hardware counted during each block.

mod cells;
mod read;
mod write;

use std::borrow::Cow;

use ringlane_task::{CoreId, KernelId, TaskId};

use super::row::Row;
pub(crate) use cells::{CellField, Cells};
pub use read::{Pmu, read_pmu};
pub use write::PmuWriter;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "pmu.csv";

row! { csv
    /// What was counted during one block.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PmuRow<'a> {
        /// The thread that scheduled the block.
        thread_id: u32,
        /// The core it ran on.
        core_id: CoreId,
        /// The task it belongs to.
        task_id: TaskId,
        /// The kernel it ran.
        func_id: KernelId,
        /// The kind of the core.
        core_type: Cow<'a, str>,
        /// Cycles, or ticks of the time-stamp counter where cycles cannot be counted.
        pmu_total_cycles: u64,
        /// One value for each counter column of the file; these have names of their own.
        counters: Cow<'a, [u64]>,
        /// The group of counters; 0 when the fallback was used.
        event_type: u32,
    }
}

/// The field that is a column for each counter.
const COUNTERS: &str = "counters";

/// The columns of a file with these counters.
///
/// ```
/// use ringlane_trace::pmu::{columns, is_counter};
/// let columns = columns(&["instructions"]);
/// assert_eq!(columns[5..], ["pmu_total_cycles", "instructions", "event_type"]);
/// assert!(is_counter("instructions") && !is_counter("event_type"));
/// ```
pub fn columns(counters: &[&str]) -> Vec<String> {
    let of = |column: &&'static str| -> Vec<String> {
        let names = if *column == COUNTERS { counters } else { std::slice::from_ref(column) };
        names.iter().map(|name| name.to_string()).collect()
    };
    PmuRow::COLUMNS.iter().flat_map(of).collect()
}

/// Whether a column is that of a counter.
pub fn is_counter(column: &str) -> bool {
    column == COUNTERS || !PmuRow::COLUMNS.contains(&column)
}
