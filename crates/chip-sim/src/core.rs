//! A core: its current block, its next block, and its busy time.

use std::collections::VecDeque;

use ringlane_engine::slot::{SlotIndex, TaskRecord};

use crate::cost::BlockCost;
use crate::time::Ps;

/// The kind of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoreKind {
    /// A matrix core.
    Aic,
    /// A vector core.
    Aiv,
}

impl CoreKind {
    /// Both.
    pub const ALL: [CoreKind; 2] = [CoreKind::Aic, CoreKind::Aiv];

    /// The name used in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            CoreKind::Aic => "aic",
            CoreKind::Aiv => "aiv",
        }
    }
}

/// A time that is never reached: the end of a block on a silent core.
pub(crate) const NEVER: Ps = Ps::MAX;

/// A block that was dispatched to a core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) task: SlotIndex,
    pub(crate) record: TaskRecord,
    /// The index of the block in its task.
    pub(crate) index: u32,
    pub(crate) dispatch: Ps,
    pub(crate) start: Ps,
    pub(crate) end: Ps,
    /// When the status register shows its end.
    pub(crate) seen: Ps,
    pub(crate) cost: BlockCost,
    /// When it ends, according to the cost model.
    pub(crate) predicted: Ps,
}

/// A core.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) kind: CoreKind,
    pub(crate) cluster: u32,
    /// Its blocks in order: the current one, and at most one dispatched ahead.
    pub(crate) flights: VecDeque<Flight>,
    /// The time for which it has run blocks.
    pub(crate) busy: Ps,
}

impl Core {
    pub(crate) fn new(kind: CoreKind, cluster: u32) -> Self {
        Core { kind, cluster, flights: VecDeque::with_capacity(2), busy: 0 }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.flights.is_empty()
    }

    /// When it is free, according to the cost model.
    pub(crate) fn free_at(&self) -> Ps {
        self.flights.back().map_or(0, |last| last.predicted)
    }

    /// When the end of its current block is visible.
    #[inline]
    pub(crate) fn shows(&self) -> Option<Ps> {
        self.flights.front().map(|flight| flight.seen)
    }
}
