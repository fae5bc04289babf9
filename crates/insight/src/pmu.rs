//! What the hardware counted, kernel by kernel, and what follows from it.
//!
//! ```text
//! rows of pmu.csv ──▶ Tally ──▶ Counters: blocks, cycles, sums by kernel and kind of core
//!                                   └──▶ ratios: per cycle, shares of cycles, misses of accesses
//! ```
//!
//! A row of the fallback has time in place of cycles and zeros in place of counts. It is kept apart from rows that count, so
//! that no ratio mixes the two.

mod answer;
mod ratio;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ringlane_task::{KernelId, Ticks};
use ringlane_trace::pmu::{PmuRow, is_counter};

use crate::Spread;
pub use answer::{CountersAnswer, CycleSpread, KernelAnswer};
pub use ratio::{Ratio, Unit};

/// What a row's first number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measured {
    /// Cycles, with counters beside them.
    Cycles,
    /// Time, because nothing could be counted.
    Time,
}

impl Measured {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Measured::Cycles => "cycles",
            Measured::Time => "time",
        }
    }
}

/// What was counted while a kernel ran on one kind of core.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelCounters {
    /// The kernel.
    pub kernel: KernelId,
    /// The kind of the cores.
    pub core_type: String,
    /// What the cycles are.
    pub measured: Measured,
    /// How many blocks ran.
    pub blocks: u64,
    /// Their cycles.
    pub cycles: Spread,
    /// What each counter says of all blocks together.
    pub sums: Vec<u128>,
}

impl KernelCounters {
    /// A sum over all blocks, per block.
    pub fn per_block(&self, sum: u128) -> f64 {
        sum as f64 / self.blocks.max(1) as f64
    }
}

/// The counters of a run by kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// The names of the counters.
    pub columns: Vec<String>,
    /// Kernels, those with the most cycles first; after them those of which only the time is known.
    pub kernels: Vec<KernelCounters>,
}

impl Counters {
    /// What follows from the counters that there are.
    pub fn ratios(&self) -> Vec<Ratio> {
        ratio::of(&self.columns)
    }

    /// How much of the cycles of all kernels this one took; of the time, if that is all that is known of it.
    pub fn share(&self, of: &KernelCounters) -> f64 {
        let alike = self.kernels.iter().filter(|kernel| kernel.measured == of.measured);
        let all: u128 = alike.map(|kernel| kernel.cycles.total).sum();
        of.cycles.total as f64 / all.max(1) as f64
    }

    /// Whether any block was counted.
    pub fn any_counted(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.measured == Measured::Cycles)
    }

    /// Whether a counter ever counted something.
    pub fn counted(&self, column: usize) -> bool {
        self.kernels.iter().any(|kernel| kernel.sums.get(column).is_some_and(|&sum| sum > 0))
    }
}

/// Adds up rows as they come.
///
/// ```
/// use ringlane_insight::pmu::Tally;
/// use ringlane_task::Ticks;
/// use ringlane_trace::pmu::{PmuRow, columns};
/// let mut tally = Tally::default();
/// for cycles in [100, 300] {
///     let row = PmuRow { pmu_total_cycles: cycles, counters: vec![200].into(), event_type: 1, ..PmuRow::default() };
///     tally.add(&row);
/// }
/// let counters = tally.finish(&columns(&["instructions"]));
/// let kernel = &counters.kernels[0];
/// assert_eq!((kernel.blocks, kernel.cycles.total, kernel.cycles.p50), (2, 400, Ticks(100)));
/// assert_eq!(counters.ratios()[0].of(kernel), Some(1.0)); // instructions per cycle
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tally {
    kernels: BTreeMap<(KernelId, String, Measured), Blocks>,
}

/// The cycles of each block, and the sums of its counters.
type Blocks = (Vec<Ticks>, Vec<u128>);

impl Tally {
    /// Adds a row.
    pub fn add(&mut self, row: &PmuRow<'_>) {
        let measured = if row.event_type == 0 { Measured::Time } else { Measured::Cycles };
        let key = (row.func_id, row.core_type.to_string(), measured);
        let (cycles, sums) = self.kernels.entry(key).or_default();
        cycles.push(Ticks(row.pmu_total_cycles));
        sums.resize(sums.len().max(row.counters.len()), 0);
        sums.iter_mut().zip(row.counters.iter()).for_each(|(sum, &count)| *sum += u128::from(count));
    }

    /// All of it, given the columns of the file.
    pub fn finish(self, columns: &[String]) -> Counters {
        let kernels = self.kernels.into_iter().map(|((kernel, core_type, measured), (cycles, sums))| {
            let (blocks, cycles) = (cycles.len() as u64, Spread::of(cycles));
            KernelCounters { kernel, core_type, measured, blocks, cycles, sums }
        });
        let mut kernels: Vec<_> = kernels.collect();
        kernels.sort_by_key(|kernel| (kernel.measured, Reverse(kernel.cycles.total)));
        Counters { columns: columns.iter().filter(|name| is_counter(name)).cloned().collect(), kernels }
    }
}

#[cfg(test)]
mod tests {
    use ringlane_trace::pmu::columns;

    use super::*;

    fn row(kernel: u32, cycles: u64, counters: &[u64], event_type: u32) -> PmuRow<'static> {
        PmuRow {
            func_id: KernelId(kernel),
            core_type: "cpu".into(),
            pmu_total_cycles: cycles,
            counters: counters.to_vec().into(),
            event_type,
            ..PmuRow::default()
        }
    }

    #[test]
    fn rows_of_the_fallback_are_kept_apart_and_sums_do_not_overflow() {
        let mut tally = Tally::default();
        [row(0, u64::MAX, &[u64::MAX], 2), row(0, u64::MAX, &[1], 2), row(0, 5, &[0], 0), row(1, 9, &[3], 2)]
            .iter()
            .for_each(|row| tally.add(row));
        let counters = tally.finish(&columns(&["instructions"]));
        let found: Vec<_> = counters.kernels.iter().map(|k| (k.kernel.0, k.measured, k.blocks)).collect();
        assert_eq!(found, [(0, Measured::Cycles, 2), (1, Measured::Cycles, 1), (0, Measured::Time, 1)]);
        assert_eq!(counters.kernels[0].sums, [1 << 64]);
        let ratio = &counters.ratios()[0];
        assert_eq!((ratio.of(&counters.kernels[1]), ratio.of(&counters.kernels[2])), (Some(3.0 / 9.0), None));
    }

    #[test]
    fn ratios_follow_from_the_counters_that_are_there() {
        let counters = Tally::default().finish(&columns(&["instructions", "branches", "branch_misses"]));
        let names: Vec<_> = counters.ratios().iter().map(|ratio| ratio.name.clone()).collect();
        assert_eq!(
            names,
            ["instructions/cycle", "branch_misses/branches", "branch_misses/1000 instructions"]
        );
        let mut tally = Tally::default();
        tally.add(&row(0, 100, &[0, 20, 64], 2));
        let counters = tally.finish(&columns(&["branches", "mte2_busy_cycles", "l2_read_bytes"]));
        let ratios: Vec<_> = counters
            .ratios()
            .iter()
            .map(|ratio| (ratio.name.clone(), ratio.unit, ratio.of(&counters.kernels[0])))
            .collect();
        assert_eq!(
            ratios,
            [
                ("mte2_busy of cycles".to_string(), Unit::Share, Some(0.2)),
                ("l2_read_bytes/cycle".to_string(), Unit::Plain, Some(0.64)),
            ]
        );
    }
}
