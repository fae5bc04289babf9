//! What each kernel took, with a histogram of its durations.

use ringlane_insight::timeline::Timeline;
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
    count: usize,
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
    let mut durations: Vec<Vec<u64>> = vec![Vec::new(); timeline.kernels.len() + 1];
    for block in &timeline.blocks {
        durations[place(timeline, block)].push(block.duration().0.min(EXACT_MAX));
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

fn facts(name: &str, core: &str, mut durations: Vec<u64>) -> KernelData {
    durations.sort_unstable();
    let (min, max) = (durations.first().copied().unwrap_or(0), durations.last().copied().unwrap_or(0));
    KernelData {
        func_id: None,
        name: name.to_string(),
        core: core.to_string(),
        count: durations.len(),
        total: durations.iter().fold(0u64, |sum, &took| sum.saturating_add(took)).min(EXACT_MAX),
        p50: quantile(&durations, 50),
        p95: quantile(&durations, 95),
        max,
        min,
        histogram: histogram(&durations),
    }
}

/// The smallest duration that so many of a hundred do not exceed.
fn quantile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

/// Bars between the shortest duration and the 99th percentile; what is longer stands in the last bar, so that one outlier
/// does not flatten all others.
fn histogram(sorted: &[u64]) -> Histogram {
    let (Some(&from), end) = (sorted.first(), quantile(sorted, 99)) else { return Histogram::default() };
    let bars = ((end - from).saturating_add(1)).min(HISTOGRAM_BARS as u64) as usize;
    let width = (end - from + 1) as f64 / bars as f64;
    let mut histogram = Histogram { from, width, bars: vec![0; bars] };
    for &took in sorted {
        let bar = ((took - from) as f64 / width) as usize;
        histogram.bars[bar.min(bars - 1)] += 1;
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_durations_that_occurred() {
        let durations: Vec<u64> = (1..=20).collect();
        assert_eq!(
            (quantile(&durations, 50), quantile(&durations, 95), quantile(&durations, 99)),
            (10, 19, 20)
        );
        assert_eq!((quantile(&[7], 50), quantile(&[], 50)), (7, 0));
    }

    #[test]
    fn every_block_stands_in_one_bar() {
        let mut durations = vec![5; 100];
        durations.extend([6, 7, 1_000_000]);
        let histogram = histogram(&durations);
        assert_eq!(histogram.bars.iter().sum::<u64>(), 103);
        assert_eq!(histogram.bars.last(), Some(&2), "the outlier stands in the last bar");
        assert!(facts("K", "aiv", Vec::new()).histogram.bars.is_empty());
    }
}
