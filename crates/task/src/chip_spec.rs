//! A chip as data: how many cores of which kind, who controls them, what each operation costs.
//!
//! Times are picoseconds, so that no published cost has to be rounded; stamps are rounded down to the chip's counter.

use alloc::string::String;

/// How the host gets at the chip's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMemory {
    /// It reads it in place.
    Mapped,
    /// It does not see it: everything is copied.
    Copied,
}

/// What the control threads' operations cost, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// A submit takes a slot and heap.
    pub admit: u64,
    /// A submit looks a tensor up.
    pub look_up: u64,
    /// A submit files an access.
    pub insert: u64,
    /// A submit wires an edge.
    pub wire: u64,
    /// A scheduler tells a consumer.
    pub resolve: u64,
    /// A scheduler gives back what a task held.
    pub reclaim: u64,
    /// A scheduler's loop itself.
    pub round: u64,
}

/// The link between host and chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSpec {
    /// Picoseconds of every copy.
    pub latency: u64,
    /// Bytes a second after that.
    pub bytes_per_second: u64,
}

/// What cores and memory can do in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Floating-point operations of a matrix core.
    pub aic_flops: f64,
    /// Floating-point operations of a vector core.
    pub aiv_flops: f64,
    /// Bytes of the memory that all cores share.
    pub memory_bytes: f64,
}

/// Memory on the chip for what diagnostics record: each control thread has so many buffers of so many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordMemory {
    /// Buffers of a thread.
    pub buffers: u32,
    /// Bytes of each.
    pub buffer_bytes: u64,
}

/// A chip.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipSpec {
    /// Its name, as artifacts tell it.
    pub name: String,
    /// What it stands for.
    pub about: String,
    /// Clusters of one matrix core and some vector cores.
    pub clusters: u32,
    /// Vector cores of a cluster.
    pub aiv_per_cluster: u32,
    /// Control threads that schedule; one more orchestrates.
    pub schedulers: u32,
    /// The most of them that can be used.
    pub schedulers_max: u32,
    /// Frequency of the system counter.
    pub counter_hz: u64,
    /// Counters of a core's performance unit.
    pub pmu_counters: u32,
    /// How the host sees its memory.
    pub host_memory: HostMemory,
    /// Blocks that a busy core can be given ahead: 0 or 1.
    pub dispatch_ahead: u32,
    /// What control costs.
    pub costs: ControlCosts,
    /// The link to the host.
    pub link: LinkSpec,
    /// What cores and memory can do.
    pub rates: Rates,
    /// Picoseconds of a block whose kernel has no cost model.
    pub default_block: u64,
    /// Picoseconds after which a core that does not answer is given up.
    pub silent_after: u64,
    /// Memory for diagnostics.
    pub records: RecordMemory,
    /// Picoseconds that a run takes to get to a worker through its mailbox, and each of its tasks.
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

    /// All cores. Those of a cluster follow each other, the matrix core first.
    pub fn cores(&self) -> u32 {
        self.clusters * (1 + self.aiv_per_cluster)
    }
}
