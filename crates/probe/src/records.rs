//! The records as they are in a lane: plain data, no padding that is not named, times in ticks of the run's clock.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Which block of which task ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct BlockName {
    /// The task's number within its ring.
    pub(crate) local: u32,
    pub(crate) block: u32,
    pub(crate) func: u16,
    pub(crate) lane: u8,
    pub(crate) ring: u8,
    /// Where it ran.
    pub(crate) core: u32,
}

impl BlockName {
    pub(crate) fn task_id(&self) -> u64 {
        (self.ring as u64) << 32 | self.local as u64
    }
}

/// A block at level 1.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct BlockTime {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: BlockName,
}

/// A block at level 2.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct BlockLife {
    pub(crate) time: BlockTime,
    pub(crate) dispatch: u64,
    pub(crate) finish: u64,
}

/// A block of a modelled chip, from level 2 on, with what its cost model says. The model knows that, not the chip: it takes no
/// room among the chip's own records.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct ModelledBlock {
    pub(crate) life: BlockLife,
    pub(crate) cost_ps: u64,
    pub(crate) flops: u64,
    pub(crate) bytes: u64,
}

/// A block at level 3.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct BlockPhases {
    pub(crate) life: BlockLife,
    /// When its task was complete and its successors began to be notified; equal to `finish` where it was not the last block.
    pub(crate) resolve: u64,
}

/// A task at level 2, as the core knows it that completed it.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct TaskLife {
    pub(crate) task_id: u64,
    pub(crate) seq: u64,
    pub(crate) ready: u64,
}

/// Tasks of a ring that were reclaimed together: `count` tasks from `first` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Reclaim {
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) at: u64,
}

/// An edge that the engine wired.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Edge {
    pub(crate) pred: u64,
    pub(crate) succ: u64,
}

/// A phase of a thread that does not follow from its blocks.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct PhaseTime {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The code of a [`Phase`](ringlane_trace::swimlane::Phase).
    pub(crate) phase: u16,
    pub(crate) thread: u16,
    pub(crate) tasks: u32,
}

/// A phase of a control thread that counts its own rounds.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct ThreadTime {
    pub(crate) time: PhaseTime,
    pub(crate) round: u64,
}

/// What a submit spent its time on.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct SubmitTime {
    pub(crate) task_id: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) stall: u64,
    pub(crate) alloc: u64,
    /// 0 where an argument is looked up and inserted in one step.
    pub(crate) looked_up: u64,
    pub(crate) placed: u64,
    pub(crate) wire: u64,
    pub(crate) heap_bytes: u64,
    /// Waits of the orchestration for values since the submit before.
    pub(crate) read: u64,
    /// When the last of them ended; 0 if there was none.
    pub(crate) read_end: u64,
}

/// A block's counters.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct BlockCounters {
    pub(crate) name: BlockName,
    /// The thread that gave the block to its core.
    pub(crate) thread: u32,
    /// `COUNTED`, or `TICKS` where the clock replaced the counters.
    pub(crate) source: u32,
    /// All cycles first.
    pub(crate) values: [u64; crate::pmu::COUNTERS_MAX],
}

/// See [`BlockCounters::source`].
pub(crate) const COUNTED: u32 = 0;
pub(crate) const TICKS: u32 = 1;

const _: () = assert!(size_of::<BlockTime>() <= 32 && size_of::<BlockLife>() <= 48, "what was promised");
