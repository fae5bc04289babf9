//! What each kernel took, with a histogram of its durations.

use ringlane_insight::kernels::{KernelStats, kernels};
use ringlane_insight::timeline::Timeline;
use ringlane_insight::{Spread, rank};
use ringlane_task::{KernelId, Ticks};
use ringlane_trace::swimlane::{BlockRow, KernelRow};
use serde::Serialize;

use crate::page::limits::{EXACT_MAX, HISTOGRAM_BARS};

/// A kernel and its blocks' durations.
#[derive(Serialize)]
pub struct KernelData {
    #[serde(flatten)]
    stats: KernelStats,
    /// Blocks by duration: bars of equal width from `from` on.
    histogram: Histogram,
}

#[derive(Default, Serialize)]
struct Histogram {
    from: u64,
    width: f64,
    bars: Vec<u64>,
}

/// All kernels, in the order in which columns number them; the last is for blocks whose kernel is not known, if there are
/// such.
pub fn of(timeline: &Timeline) -> Vec<KernelData> {
    let mut durations: Vec<Vec<Ticks>> = vec![Vec::new(); timeline.kernels.len() + 1];
    for block in &timeline.blocks {
        durations[place(timeline, block)].push(block.duration().min(Ticks(EXACT_MAX)));
    }
    durations.iter_mut().for_each(|durations| durations.sort_unstable());
    let unknown = durations.pop().unwrap_or_default();
    let mut stats = kernels(timeline);
    let mut of_kernel = |kernel: &KernelRow| match stats.iter().position(|one| one.func_id == kernel.func_id)
    {
        Some(at) => stats.swap_remove(at),
        None => unmeasured(kernel.func_id, &kernel.name, &kernel.core_type),
    };
    let known = timeline.kernels.iter().zip(durations);
    let mut all: Vec<_> = known
        .map(|(kernel, durations)| KernelData { stats: of_kernel(kernel), histogram: histogram(&durations) })
        .collect();
    if !unknown.is_empty() {
        // Whatever is left is of kernels without names.
        let sum = |share: fn(&KernelStats) -> f64| stats.iter().map(share).sum();
        let (duration, core_share) = (Spread::of_sorted(&unknown), sum(|one| one.core_share));
        let busy_share = sum(|one| one.busy_share);
        let nameless = unmeasured(KernelId(u32::MAX), "?", "");
        let stats = KernelStats { duration, core_share, busy_share, ..nameless };
        all.push(KernelData { stats, histogram: histogram(&unknown) });
    }
    all
}

/// A kernel of which no block is known.
fn unmeasured(func_id: KernelId, name: &str, core_type: &str) -> KernelStats {
    KernelStats {
        func_id,
        name: name.to_string(),
        core_type: core_type.to_string(),
        duration: Spread::default(),
        head: None,
        tail: None,
        core_share: 0.0,
        busy_share: 0.0,
    }
}

fn place(timeline: &Timeline, block: &BlockRow) -> usize {
    let found = timeline.kernels.binary_search_by_key(&block.func_id, |kernel| kernel.func_id);
    found.unwrap_or(timeline.kernels.len())
}

/// Bars between the shortest duration and the 99th percentile; what is longer is counted in the last bar, so that one outlier
/// does not flatten all others.
fn histogram(sorted: &[Ticks]) -> Histogram {
    let (Some(from), end) = (sorted.first().map(|from| from.0), rank(sorted, 99).0) else {
        return Histogram::default();
    };
    let bars = ((end - from).saturating_add(1)).min(HISTOGRAM_BARS as u64) as usize;
    let width = (end - from + 1) as f64 / bars as f64;
    let mut histogram = Histogram { from, width, bars: vec![0; bars] };
    for &took in sorted {
        let bar = ((took.0 - from) as f64 / width) as usize;
        histogram.bars[bar.min(bars - 1)] += 1;
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_counted_in_one_bar() {
        let mut durations = vec![Ticks(5); 100];
        durations.extend([6, 7, 1_000_000].map(Ticks));
        let histogram = histogram(&durations);
        assert_eq!(histogram.bars.iter().sum::<u64>(), 103);
        assert_eq!(histogram.bars.last(), Some(&2), "the outlier is counted in the last bar");
        assert!(super::histogram(&[]).bars.is_empty());
    }
}
