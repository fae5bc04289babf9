//! Ring sizes of a run, and raising them as a hint says.
#![forbid(unsafe_code)]

use ringlane_engine::prelude::{Error, Fault};
use ringlane_engine::stall::Counted;
use ringlane_task::{CallConfig, RINGS, Resource};

use super::outcome::Outcome;
use super::program::Capacity;

/// More than any program of the swarm needs.
pub(crate) const ROOMY: Capacity = Capacity {
    window: [4096; RINGS],
    heap: [1 << 28; RINGS],
    // A thousand readers of one tensor, each of which every later writer of a part of it follows.
    dep_pool: [1 << 18; RINGS],
    args: [1 << 20; RINGS],
    tensormap: 1 << 14,
};

/// The same on a device, where memory is reserved and not only its addresses.
pub(crate) const DEVICE_ROOMY: Capacity = Capacity { heap: [1 << 24; RINGS], ..ROOMY };

/// A run that was refused for want of capacity.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) resource: Resource,
    pub(crate) ring: usize,
    pub(crate) capacity: u64,
    pub(crate) need: u64,
    /// The option's value that suffices, as the hint has it.
    option: String,
    pub(crate) deadlock: bool,
    /// Whether the count ended early, at a value read back.
    pub(crate) to_read: bool,
    /// Submits until the program ended, counted ones included.
    pub(crate) attempts: u32,
    /// Submits that did not fit and were left out, so that they were not counted.
    pub(crate) left_out: usize,
}

impl Attempt {
    /// The refusal that an error reports, if it does.
    pub(crate) fn of(error: &Error, got: &Outcome) -> Option<Self> {
        let (attempts, left_out) = (got.attempts, got.refused.len());
        Some(match error.fault() {
            Fault::FlowControlDeadlock(d) => Attempt {
                resource: d.resource,
                ring: d.ring as usize,
                capacity: d.capacity,
                need: d.need,
                option: d.option.clone(),
                deadlock: true,
                to_read: d.counted == Counted::ToRead,
                attempts,
                left_out,
            },
            Fault::TaskTooLarge { resource, ring, needs, capacity, option, .. } => Attempt {
                resource: *resource,
                ring: *ring as usize,
                capacity: *capacity,
                need: *needs,
                option: option.clone(),
                deadlock: false,
                to_read: false,
                attempts,
                left_out,
            },
            _ => return None,
        })
    }
}

/// The capacities that a hint asks for: one value for all rings, or one for each.
pub(crate) fn raised(now: &Capacity, attempt: &Attempt) -> Result<Capacity, String> {
    let bad = |_| format!("an option that is no number: {attempt:?}");
    let values = attempt.option.split(',').map(str::parse).collect::<Result<Vec<u64>, _>>().map_err(bad)?;
    let each: [u64; RINGS] = match values[..] {
        [all] => [all; RINGS],
        _ => values.clone().try_into().map_err(|_| format!("not one value for each ring: {attempt:?}"))?,
    };
    let narrow = each.map(|value| value as u32);
    let mut next = *now;
    match attempt.resource {
        Resource::TaskWindow => next.window = narrow,
        Resource::Heap => next.heap = each,
        Resource::DepPool => next.dep_pool = narrow,
        Resource::Args => next.args = narrow,
        Resource::TensorMap => next.tensormap = narrow[0],
    }
    if next == *now { Err(format!("the hint changes nothing: {attempt:?}, {now:?}")) } else { Ok(next) }
}

/// As the runtime takes them.
pub(crate) fn config(capacity: &Capacity, threads: i32) -> CallConfig {
    CallConfig::default()
        .with_threads(threads)
        .with_ring_task_window(capacity.window)
        .with_ring_heap(capacity.heap)
        .with_ring_dep_pool(capacity.dep_pool)
        .with_ring_args(capacity.args)
        .with_tensormap(capacity.tensormap)
}
