//! What each kernel took, with a histogram of its durations.

use ringlane_insight::timeline::Timeline;
use ringlane_insight::{Spread, rank};
use ringlane_task::Ticks;
use ringlane_trace::swimlane::BlockRow;
use serde::Serialize;

use crate::page::limits::{EXACT_MAX, HISTOGRAM_BARS};

/// A kernel and its blocks' durations, in ticks.
#[derive(Serialize)]
pub struct KernelData {
    /// Its number in the run; none for blocks whose kernel is not known.
    func_id: Option<u32>,
    name: String,
    core: String,
    count: u64,
    total: u64,
    p50: u64,
    p95: u64,
    max: u64,
    min: u64,
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
    let unknown = durations.pop().unwrap_or_default();
    let known = timeline.kernels.iter().zip(durations);
    let mut kernels: Vec<_> = known
        .map(|(kernel, durations)| KernelData {
            func_id: Some(kernel.func_id.0),
            ..facts(&kernel.name, &kernel.core_type, durations)
        })
        .collect();
    if !unknown.is_empty() {
        kernels.push(facts("?", "", unknown));
    }
    kernels
}

fn place(timeline: &Timeline, block: &BlockRow) -> usize {
    let found = timeline.kernels.binary_search_by_key(&block.func_id, |kernel| kernel.func_id);
    found.unwrap_or(timeline.kernels.len())
}

fn facts(name: &str, core: &str, mut durations: Vec<Ticks>) -> KernelData {
    durations.sort_unstable();
    let spread = Spread::of_sorted(&durations);
    KernelData {
        func_id: None,
        name: name.to_string(),
        core: core.to_string(),
        count: spread.count,
        total: spread.total.min(u128::from(EXACT_MAX)) as u64,
        p50: spread.p50.0,
        p95: spread.p95.0,
        max: spread.max.0,
        min: spread.min.0,
        histogram: histogram(&durations),
    }
}

/// Bars between the shortest duration and the 99th percentile; what is longer stands in the last bar, so that one outlier
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
    fn every_block_stands_in_one_bar() {
        let mut durations = vec![Ticks(5); 100];
        durations.extend([6, 7, 1_000_000].map(Ticks));
        let histogram = histogram(&durations);
        assert_eq!(histogram.bars.iter().sum::<u64>(), 103);
        assert_eq!(histogram.bars.last(), Some(&2), "the outlier stands in the last bar");
        assert!(facts("K", "aiv", Vec::new()).histogram.bars.is_empty());
    }
}
