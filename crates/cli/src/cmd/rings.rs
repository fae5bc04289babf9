//! The options that set the capacities of the rings.

use ringlane_graph::what_if::{Change, RingChange};
use ringlane_task::{CallConfig, RINGS, Resource};

use crate::options::{self, PerRing};

/// Capacities; each is a power of two, for all four rings or one for each.
#[derive(clap::Args)]
#[command(next_help_heading = "Capacities (N for all rings, or N,N,N,N; suffixes K, M and G for bytes)")]
pub struct RingArgs {
    /// Number of tasks that a ring can hold [default: 16384]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::TaskWindow))]
    ring_task_window: Option<PerRing>,
    /// Bytes of outputs that a ring can hold [default: 256M]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::Heap))]
    ring_heap: Option<PerRing>,
    /// Number of dependency entries that a ring can hold [default: 65536]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::DepPool))]
    ring_dep_pool: Option<PerRing>,
    /// Bytes of packed arguments that a ring can hold [default: 8M]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::Args))]
    ring_args: Option<PerRing>,
    /// Number of entries of the tensor map, which all rings share [default: 65536]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::tensormap)]
    tensormap: Option<u32>,
}

impl RingArgs {
    /// A configuration with what they say.
    pub fn apply(&self, config: CallConfig) -> CallConfig {
        let narrow = |given: Option<PerRing>| given.map(PerRing::narrow).unwrap_or_default();
        config
            .with_ring_task_window(narrow(self.ring_task_window))
            .with_ring_heap(self.ring_heap.map(|heap| heap.0).unwrap_or_default())
            .with_ring_dep_pool(narrow(self.ring_dep_pool))
            .with_ring_args(narrow(self.ring_args))
            .with_tensormap(self.tensormap.unwrap_or_default())
    }

    /// What they change of a run.
    pub fn changes(&self) -> Vec<Change> {
        let map = self.tensormap.map(|entries| PerRing([entries.into(); RINGS]));
        let given = [
            (Resource::TaskWindow, self.ring_task_window),
            (Resource::Heap, self.ring_heap),
            (Resource::DepPool, self.ring_dep_pool),
            (Resource::Args, self.ring_args),
            (Resource::TensorMap, map),
        ];
        let changed = given.into_iter().filter_map(|(resource, given)| Some((resource, given?)));
        changed
            .map(|(resource, PerRing(capacities))| Change::Ring(RingChange { resource, capacities }))
            .collect()
    }
}
