//! The rows of the artifacts: what each holds, how it is written and how it is read.
//!
//! ```text
//! swimlane   l2_perf_records.json      when each block ran, and what the scheduler did meanwhile
//! dump       tensor_dump/              what went into and came out of each task
//! pmu        pmu.csv                   what the hardware counted, block by block
//! deps       deps.json                 which task waits for which, and why
//! scopes     scope_stats.json          how full the rings were, scope by scope
//! dist       dist_swimlane.json        which worker of a node was called for what, and when
//! ```
//!
//! A writer takes one row after the other and holds a buffer of fixed size, so that its memory does not grow with
//! the rows. It knows how many rows it wrote; its caller knows how many were lost.
//!
//! ```
//! use ringlane_trace::scopes::ScopesWriter;
//! let mut text = Vec::new();
//! let counts = ScopesWriter::new(&mut text, None).finish(3)?;
//! assert_eq!((counts.total(), counts.collected, counts.dropped), (3, 0, 3));
//! # Ok::<(), std::io::Error>(())
//! ```

#[macro_use]
mod field;
#[macro_use]
mod names;
#[macro_use]
mod declare;
pub(crate) mod document;
mod quick;
mod row;
mod scan;
mod sections;
mod view;

pub mod deps;
pub mod dist;
pub mod dump;
pub mod pmu;
pub mod scopes;
pub mod swimlane;

pub use view::{Sizes, ViewRow};

use ringlane_task::{DfxFlags, KernelId};

use crate::text::Text;

/// The file of each diagnostic, after the flag that asks for it; a swimlane has its lowest level at least.
pub(crate) const FILES_OF_FLAGS: [(DfxFlags, &str); 6] = [
    (DfxFlags::SWIMLANE_CORES, swimlane::FILE_NAME),
    (DfxFlags::DUMP, dump::FILE_NAME),
    (DfxFlags::PMU, pmu::FILE_NAME),
    (DfxFlags::DEPS, deps::FILE_NAME),
    (DfxFlags::SCOPES, scopes::FILE_NAME),
    (DfxFlags::NODE_SWIMLANE, dist::FILE_NAME),
];

/// A row whose columns can be gone through, for those that show all of them.
///
/// ```
/// use ringlane_task::TaskId;
/// use ringlane_trace::rows::Numbers;
/// use ringlane_trace::swimlane::EdgeRow;
/// let edge = EdgeRow { pred: TaskId(3), succ: TaskId(7) };
/// let shown: Vec<_> = EdgeRow::NAMES.iter().zip(0..).map(|(name, at)| (*name, edge.number(at))).collect();
/// assert_eq!(shown, [("pred", Some(3)), ("succ", Some(7))]);
/// ```
pub trait Numbers {
    /// The columns, in the order of the file.
    const NAMES: &'static [&'static str];

    /// The number in a column, or the code of the name in it; `None` if there is neither.
    fn number(&self, column: usize) -> Option<u64>;
}

/// How many rows of one kind are in a file, and how many are not.
///
/// ```
/// use ringlane_trace::rows::RowCounts;
/// assert_eq!(RowCounts { collected: 3, dropped: 1 }.total(), 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows in the file.
    pub collected: u64,
    /// Rows that were lost.
    pub dropped: u64,
}

impl RowCounts {
    /// Rows there were.
    pub const fn total(self) -> u64 {
        self.collected.saturating_add(self.dropped)
    }

    /// The three fields, without braces.
    fn write(self, text: &mut Text) {
        text.raw("\"total\":").number(self.total()).raw(",\"collected\":").number(self.collected);
        text.raw(",\"dropped\":").number(self.dropped);
    }
}

row! { object
    /// A kernel of the run.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct KernelRow {
        /// Its number in this run.
        func_id: KernelId,
        /// Its name.
        name: String,
        /// The kind of core it needs: `aic`, `aiv` or `any`.
        core_type: String,
    }
}
