//! A capacity for every resource of every ring, as it can be set: a power of two within its limits.

use ringlane_task::{RINGS, Resource, RingIndex};
use ringlane_trace::scopes::ScopeRow;

use super::PER_RING;

/// Gaps between contiguous pieces that a ring of bytes may leave unused, each smaller than the largest piece.
const GAPS: u64 = 8;

/// With how much of a resource a need is met whatever the timing, as the engine's own hints count.
pub(super) fn enough(resource: Resource, need: u64, piece: u64) -> u64 {
    match resource {
        Resource::TaskWindow | Resource::TensorMap => need,
        // Half of the pool is kept for edges inside open scopes.
        Resource::DepPool => need.saturating_mul(2),
        // Who needs nothing has no gaps either.
        Resource::Heap | Resource::Args if need == 0 => 0,
        Resource::Heap | Resource::Args => need.saturating_add(piece.saturating_mul(GAPS)),
    }
}

/// Capacities of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacities {
    rings: [[u64; RINGS]; PER_RING.len()],
    tensormap: u64,
}

impl Capacities {
    /// The smallest that can be set and hold at least `least` of each resource.
    pub(super) fn from_fn(least: impl Fn(Resource, Option<RingIndex>) -> u64) -> Self {
        let round = |resource: Resource, ring: Option<RingIndex>| {
            let (range, least) = (resource.range(), least(resource, ring));
            least.max(range.min).checked_next_power_of_two().unwrap_or(range.max).min(range.max)
        };
        let rings = PER_RING
            .map(|resource| core::array::from_fn(|ring| round(resource, Some(RingIndex(ring as u8)))));
        Capacities { rings, tensormap: round(Resource::TensorMap, None) }
    }

    /// What the rows say that the run had; nothing without rows.
    pub(super) fn of_rows(rows: &[ScopeRow<'_>]) -> Self {
        let Some(row) = rows.first() else { return Capacities::default() };
        let rings = [&row.task_window, &row.heap, &row.dep_pool, &row.args];
        Capacities {
            rings: rings.map(|peaks| peaks.map(|peak| peak.capacity)),
            tensormap: row.tensormap.capacity,
        }
    }

    /// Every resource of every ring.
    pub(super) fn stores(&self) -> impl Iterator<Item = (Resource, Option<RingIndex>)> + use<> {
        let rings = || (0..RINGS as u8).map(|ring| Some(RingIndex(ring)));
        let shared = [(Resource::TensorMap, None)];
        PER_RING.into_iter().flat_map(move |resource| rings().map(move |ring| (resource, ring))).chain(shared)
    }

    /// How much there is of a resource on a ring; the ring does not matter for what all of them share.
    pub fn get(&self, resource: Resource, ring: Option<RingIndex>) -> u64 {
        let ring = ring.map_or(0, |ring| usize::from(ring.0).min(RINGS - 1));
        self.rings.get(resource as usize).map_or(self.tensormap, |rings| rings[ring])
    }

    /// Whether a resource has its default on every ring.
    pub fn is_default(&self, resource: Resource) -> bool {
        (0..RINGS as u8).all(|ring| self.get(resource, Some(RingIndex(ring))) == resource.range().default)
    }

    /// The option that sets a resource so: one number where all rings have the same, else four.
    pub fn option(&self, resource: Resource) -> String {
        let values: [u64; RINGS] =
            core::array::from_fn(|ring| self.get(resource, Some(RingIndex(ring as u8))));
        let text = match values.iter().all(|&value| value == values[0]) {
            true => values[0].to_string(),
            false => values.map(|value| value.to_string()).join(","),
        };
        format!("{} {text}", resource.option())
    }

    /// The options that set all resources so, ready to paste.
    pub fn options(&self) -> String {
        Resource::ALL.map(|resource| self.option(resource)).join(" ")
    }
}
