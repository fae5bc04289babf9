//! One thing that an experiment changes.

use std::fmt;

use ringlane_chip_sim::policy::PolicyName;
use ringlane_task::{Capacities, ChipSpec, RINGS, Resource};

use crate::recorded::GraphBuild;

/// How long the blocks of a kernel take instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelTime {
    /// A multiple of what they took.
    Factor(f64),
    /// All the same.
    Picoseconds(u64),
}

/// Another number of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// These numbers of each kind; a kind that is not named keeps its share of a cluster.
    Of {
        /// Matrix cores.
        aic: Option<u32>,
        /// Vector cores.
        aiv: Option<u32>,
    },
    /// Threads of the machine's own cores.
    Threads(u32),
    /// Processors (SMs) of a GPU.
    Processors(u32),
    /// One cluster more.
    OneMoreCluster,
    /// Twice the cores.
    Twice,
    /// More than there is work for, and memory that grows with them: blocks take as long as before.
    Unlimited,
}

/// Another capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingChange {
    /// Of what.
    pub resource: Resource,
    /// By ring; the tensor map has the first.
    pub capacities: [u64; RINGS],
}

/// One thing that an experiment changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The blocks of a kernel take another time.
    Kernel(String, KernelTime),
    /// Everything that a submit costs takes this multiple.
    Submit(f64),
    /// Copies between host and device take this multiple.
    Copies(f64),
    /// Everything that a scheduler does takes this multiple.
    Scheduler(f64),
    /// The number of scheduler threads.
    Schedulers(u32),
    /// The number of cores.
    Cores(Cores),
    /// The memory's bandwidth is this multiple of the chip's.
    Memory(f64),
    /// The policy.
    Policy(PolicyName),
    /// Another chip.
    Chip(Box<ChipSpec>),
    /// A capacity.
    Ring(RingChange),
    /// Rings that never fill.
    UnlimitedRings,
    /// The other way to build the graph.
    Build(GraphBuild),
    /// Edges with this cause (`raw`, `waw`, `war`, `explicit`) are left out.
    DropCause(String),
    /// Edges from tasks of one kernel to tasks of another are left out.
    DropBetween(String, String),
}

impl RingChange {
    /// Sets the capacity.
    pub(super) fn apply(&self, rings: &mut Capacities) {
        // Their ranges were checked when the change was made.
        let narrow = |values: [u64; RINGS]| values.map(|value| u32::try_from(value).unwrap_or(u32::MAX));
        match self.resource {
            Resource::TaskWindow => rings.task_window = narrow(self.capacities),
            Resource::Heap => rings.heap = self.capacities,
            Resource::DepPool => rings.dep_pool = narrow(self.capacities),
            Resource::Args => rings.args = narrow(self.capacities),
            Resource::TensorMap => rings.tensormap = narrow(self.capacities)[0],
        }
    }
}

impl fmt::Display for KernelTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelTime::Factor(factor) => write!(f, "{factor}x"),
            KernelTime::Picoseconds(ps) => write!(f, "{}us", *ps as f64 / 1e6),
        }
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cores::Of { aic: Some(aic), aiv: Some(aiv) } => write!(f, "cores aic={aic},aiv={aiv}"),
            Cores::Of { aic: Some(aic), aiv: None } => write!(f, "cores aic={aic}"),
            Cores::Of { aic: None, aiv } => write!(f, "cores aiv={}", aiv.unwrap_or(0)),
            Cores::Threads(count) => write!(f, "threads {count}"),
            Cores::Processors(count) => write!(f, "SMs {count}"),
            Cores::OneMoreCluster => f.write_str("one more cluster"),
            Cores::Twice => f.write_str("twice the cores"),
            Cores::Unlimited => f.write_str("unlimited cores"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Kernel(name, time) => write!(f, "kernel {name} {time}"),
            Change::Submit(factor) => write!(f, "submit {factor}x"),
            Change::Copies(factor) => write!(f, "copies {factor}x"),
            Change::Scheduler(factor) => write!(f, "scheduler {factor}x"),
            Change::Schedulers(count) => write!(f, "schedulers {count}"),
            Change::Cores(cores) => write!(f, "{cores}"),
            Change::Memory(factor) => write!(f, "memory {factor}x"),
            Change::Policy(policy) => write!(f, "policy {policy}"),
            Change::Chip(chip) => write!(f, "chip {}", chip.name),
            Change::Ring(RingChange { resource, capacities: [first, rest @ ..] }) => {
                let option = resource.option().trim_start_matches('-');
                let is_one = *resource == Resource::TensorMap || rest.iter().all(|value| value == first);
                write!(f, "{option} {first}")?;
                if is_one { Ok(()) } else { rest.iter().try_for_each(|value| write!(f, ",{value}")) }
            }
            Change::UnlimitedRings => f.write_str("unlimited rings"),
            Change::Build(GraphBuild::Captured { .. }) => {
                f.write_str("host_build_graph instead of streaming")
            }
            Change::Build(GraphBuild::Streamed) => f.write_str("streaming instead of host_build_graph"),
            Change::DropCause(cause) => write!(f, "drop-edges {cause}"),
            Change::DropBetween(before, after) => write!(f, "drop-edges {before}->{after}"),
        }
    }
}
