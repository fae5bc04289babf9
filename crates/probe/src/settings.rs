//! What is recorded of a run, and of which kind of chip.

use ringlane_task::{DfxFlags, Overflow};

use crate::error::ProbeError;
use crate::lane::Pool;
use crate::pmu::{COUNTERS_MAX, Group};
use crate::selection::DumpSelection;

/// What is recorded, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which instruments.
    pub flags: DfxFlags,
    /// What a writer does that finds no empty buffer. A modelled chip always waits: its time does not advance meanwhile, and what
    /// is recorded of it does not depend on how busy this machine is.
    pub overflow: Overflow,
    /// Which arguments are captured.
    pub dump: DumpSelection,
    /// Cores of the chip.
    pub cores: Cores,
    /// Slots of the engine's table.
    pub slots: usize,
    /// Memory that earlier recordings left.
    pub pool: Pool,
    /// Whether a person wants the export to end. It is called often while files are written, and heeded if it was false when
    /// the export began: what an interrupted run has recorded is written.
    pub stop_asked: Option<fn() -> bool>,
}

/// The cores of a chip: how many, which threads report them, and what they count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cores {
    /// Threads of this machine: each reports itself, through `start`, `end` and the like, and counts with the processor's
    /// own counters.
    Threads {
        /// How many.
        count: u32,
        /// Which counters.
        counters: Group,
    },
    /// Cores of a model that keeps its own time: one thread reports all of them and the control threads, through `block`
    /// and `phase`. Each kind of row then has one writer, so that their order is the order in which they were reported.
    Modelled {
        /// How many.
        count: u32,
        /// What the model counts.
        counters: ModelCounters,
    },
}

/// The counters of a chip that reports whole blocks, as `pmu.csv` names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelCounters {
    /// The group's number: `event_type` in every row.
    pub group: u32,
    /// The columns after `pmu_total_cycles`, at most [`ModelCounters::MAX`]; the counters of a
    /// [`PlacedBlock`](ringlane_engine::observe::PlacedBlock) are all cycles, then one for each of these.
    pub columns: Vec<String>,
    /// Whether they are measured; otherwise a model computes them.
    pub measured: bool,
}

impl ModelCounters {
    /// The most columns after `pmu_total_cycles`.
    pub const MAX: usize = COUNTERS_MAX - 1;
}

impl Cores {
    /// How many cores there are.
    pub fn count(&self) -> u32 {
        match self {
            Cores::Threads { count, .. } | Cores::Modelled { count, .. } => *count,
        }
    }

    /// Whether they are a model's.
    pub fn are_modelled(&self) -> bool {
        matches!(self, Cores::Modelled { .. })
    }

    /// The number of cores that record through a writer of their own.
    pub(crate) fn recording_cores(&self) -> u32 {
        if self.are_modelled() { 1 } else { self.count() }
    }

    /// The processor's counters that are read; a model's cores have none.
    pub(crate) fn processor_group(&self) -> Group {
        match self {
            Cores::Threads { counters, .. } => *counters,
            Cores::Modelled { .. } => Group::default(),
        }
    }

    /// The group's number.
    pub(crate) fn counter_group(&self) -> u32 {
        match self {
            Cores::Threads { counters, .. } => counters.number().into(),
            Cores::Modelled { counters, .. } => counters.group,
        }
    }

    /// The columns after that of all cycles, which every file has.
    pub(crate) fn counter_columns(&self) -> Vec<&str> {
        match self {
            Cores::Threads { counters, .. } => counters.columns()[1..].to_vec(),
            Cores::Modelled { counters, .. } => counters.columns.iter().map(String::as_str).collect(),
        }
    }
}

impl Settings {
    pub(crate) fn validate(&self) -> Result<(), ProbeError> {
        let given = self.cores.counter_columns().len();
        if given > ModelCounters::MAX { Err(ProbeError::TooManyCounters { given }) } else { Ok(()) }
    }

    /// What writers do that find no empty buffer.
    pub(crate) fn lane_overflow(&self) -> Overflow {
        if self.cores.are_modelled() { Overflow::Block } else { self.overflow }
    }
}
