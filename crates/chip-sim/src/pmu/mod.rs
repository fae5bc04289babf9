//! The counters of a core's performance unit, from the cost model.
//!
//! A chip counts one group at a time. The groups and their numbers are those of the hardware. A column has the name
//! of the metric in the vendor's public documentation of its profiler, with the counted unit in place of a ratio or a
//! bandwidth. Where a group of the documentation has fewer metrics than a chip has counters, the remaining columns
//! (the last two of a chip with ten counters in most groups) are assumptions about such a chip.
//!
//! All values follow from the costs of a block, so they are the same in every run:
//!
//! | what | from |
//! |---|---|
//! | cycles | ticks of the chip's counter, as `pmu_total_cycles` |
//! | matrix and vector units busy | operations divided by the rate of the core's kind |
//! | loads busy (`mte2`) | bytes read from memory divided by the core's share of the bandwidth |
//! | stores busy | bytes written divided by the same share: `mte3` of a vector core, the fix pipe of a matrix core |
//! | operations | operations of the kernel's roofline |
//! | bytes of memory and of the second-level cache | bytes of the roofline: all traffic passes through the cache |
//! | bytes of the first buffer | reads enter the `l1` of a matrix core or the `ub` of a vector core; writes leave its `l0c` or `ub` |
//! | everything else (scalar unit, instruction cache, conflicts, hits and misses, traffic between units and buffers) | 0: not modelled |
//!
//! A unit is never busy for more cycles than the block took, even if a cost table gives the duration. The counters of
//! a kernel without a roofline are 0.

mod group;

use ringlane_task::ChipSpec;

use crate::core::CoreKind;
use crate::cost::{BlockCost, CoreRates};
use group::Source;
pub use group::{COUNTERS_MAX, Group};

/// Computes the counters of a chip's cores for one group.
///
/// ```
/// use ringlane_chip_sim::core::CoreKind;
/// use ringlane_chip_sim::cost::BlockCost;
/// use ringlane_chip_sim::pmu::{Group, PmuModel};
/// # fn example(spec: &ringlane_task::ChipSpec) {
/// let pmu = PmuModel::new(spec, Group::default());
/// let cost = BlockCost { picoseconds: 2_000_000, flops: 200_000.0, ..BlockCost::default() };
/// let counters = pmu.counters(&cost, CoreKind::Aiv, 100);
/// assert_eq!(pmu.columns()[0], "vec_busy_cycles");
/// assert!(counters[0] <= 100);
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PmuModel {
    group: Group,
    counters: u32,
    rates: CoreRates,
}

impl PmuModel {
    /// The counters of a group on a chip.
    pub fn new(spec: &ChipSpec, group: Group) -> Self {
        PmuModel { group, counters: spec.pmu_counters, rates: CoreRates::of(spec) }
    }

    /// The group.
    pub const fn group(&self) -> Group {
        self.group
    }

    /// The names of the columns, in the order of the counters.
    pub fn columns(&self) -> &'static [&'static str] {
        self.group.columns(self.counters)
    }

    /// The counters of a block that took `total_cycles`: one per column, then zeros.
    pub fn counters(&self, cost: &BlockCost, core: CoreKind, total_cycles: u64) -> [u64; COUNTERS_MAX] {
        let seen = CountedBlock { rates: &self.rates, cost, core, total_cycles };
        let mut counters = [0; COUNTERS_MAX];
        let sources = &self.group.sources()[..self.columns().len()];
        for (counter, source) in counters.iter_mut().zip(sources) {
            *counter = seen.count(*source);
        }
        counters
    }
}

/// A block, as input of its counters.
struct CountedBlock<'a> {
    rates: &'a CoreRates,
    cost: &'a BlockCost,
    core: CoreKind,
    total_cycles: u64,
}

impl CountedBlock<'_> {
    fn count(&self, source: Source) -> u64 {
        let BlockCost { flops, bytes, written, .. } = *self.cost;
        let read = (bytes - written).max(0.0);
        match source {
            Source::Unknown => 0,
            Source::Busy(kind) => self.on(kind, self.busy(self.rates.computing(kind, flops))),
            Source::Loading => self.busy(self.rates.moving(read)),
            Source::Storing(kind) => self.on(kind, self.busy(self.rates.moving(written))),
            Source::Flops(kind) => self.on(kind, whole(flops)),
            Source::Read => whole(read),
            Source::Written => whole(written),
            Source::ReadBy(kind) => self.on(kind, whole(read)),
            Source::WrittenBy(kind) => self.on(kind, whole(written)),
        }
    }

    /// A count that is 0 on cores of the other kind.
    fn on(&self, kind: CoreKind, count: u64) -> u64 {
        if kind == self.core { count } else { 0 }
    }

    /// The share of the block's cycles that `picoseconds` are; at most all of them.
    fn busy(&self, picoseconds: f64) -> u64 {
        let share = picoseconds / self.cost.picoseconds.max(1) as f64;
        // A time is NaN if a rate is 0; it counts as 0.
        whole(share.clamp(0.0, 1.0) * self.total_cycles as f64).min(self.total_cycles)
    }
}

/// Converts to an integer: NaN becomes 0, and a value that is too large becomes the maximum.
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests;
