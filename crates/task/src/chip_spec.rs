//! A chip as data: its cores, its control threads, and the cost of each operation.
//!
//! Times are in picoseconds, so that no published cost has to be rounded; time stamps are rounded down to the chip's
//! counter.

use alloc::string::String;

/// How the host accesses the chip's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum HostMemory {
    /// In place.
    Mapped,
    /// Not at all: everything is copied.
    Copied,
}

/// The costs of the control threads' operations, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ControlCosts {
    /// A scheduler writes a dispatch register.
    pub dispatch_store: u64,
    /// A scheduler polls one core's status register.
    pub poll: u64,
    /// From the dispatch store until an idle core sees it.
    pub dispatch_seen: u64,
    /// A core's turn-around from the end of a block to the start of one that was already dispatched to it.
    pub turn_around: u64,
    /// From a core's signal until its status register shows it.
    pub done_seen: u64,
    /// A submit allocates a slot and heap memory.
    pub admit: u64,
    /// A submit looks a tensor up.
    pub look_up: u64,
    /// A submit inserts an access.
    pub insert: u64,
    /// A submit wires an edge.
    pub wire: u64,
    /// A scheduler resolves a successor.
    pub resolve: u64,
    /// A scheduler reclaims a task.
    pub reclaim: u64,
    /// One round of a scheduler's loop.
    pub round: u64,
}

/// The link between host and chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkSpec {
    /// Picoseconds of every copy.
    pub latency: u64,
    /// Bytes per second after that.
    pub bytes_per_second: u64,
}

/// Rates of cores and memory, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rates {
    /// Floating-point operations of a matrix core.
    pub aic_flops: f64,
    /// Floating-point operations of a vector core.
    pub aiv_flops: f64,
    /// Bytes of the memory that all cores share.
    pub memory_bytes: f64,
}

/// Memory on the chip for records: each control thread has its own buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RecordMemory {
    /// The number of buffers of a thread.
    pub buffers: u32,
    /// Bytes of each.
    pub buffer_bytes: u64,
}

/// A chip.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChipSpec {
    /// Its name in artifacts.
    pub name: String,
    /// Its description.
    pub about: String,
    /// Clusters of one matrix core and some vector cores.
    pub clusters: u32,
    /// Vector cores of a cluster.
    pub aiv_per_cluster: u32,
    /// Scheduler threads; the orchestrator is one more.
    pub schedulers: u32,
    /// The most scheduler threads that can be used.
    pub schedulers_max: u32,
    /// Frequency of the system counter.
    pub counter_hz: u64,
    /// Counters of a core's performance unit.
    pub pmu_counters: u32,
    /// How the host accesses its memory.
    pub host_memory: HostMemory,
    /// Blocks that a busy core can get ahead: 0 or 1.
    pub dispatch_ahead: u32,
    /// The costs of control.
    pub costs: ControlCosts,
    /// The link to the host.
    pub link: LinkSpec,
    /// The rates of cores and memory.
    pub rates: Rates,
    /// Picoseconds of a block whose kernel has no cost model.
    pub default_block: u64,
    /// Picoseconds after which a core that does not respond is given up.
    pub silent_after: u64,
    /// Memory for diagnostics.
    pub records: RecordMemory,
    /// Picoseconds that a run takes to reach a worker through its mailbox, and that each of its tasks takes.
    pub mailbox: [u64; 2],
}

impl ChipSpec {
    /// Matrix cores.
    pub fn aic_cores(&self) -> u32 {
        self.clusters
    }

    /// Vector cores.
    pub fn aiv_cores(&self) -> u32 {
        self.clusters * self.aiv_per_cluster
    }

    /// All cores. Those of a cluster are consecutive, the matrix core first.
    pub fn cores(&self) -> u32 {
        self.clusters * (1 + self.aiv_per_cluster)
    }
}
