//! What each kernel cost: how often it ran, how long, and what the scheduler added before and after.
//!
//! ```text
//!        dispatch ──head──▶ start ────duration────▶ end ──tail──▶ finish
//! ```
//!
//! Every number is exact: percentiles are durations that occurred (nearest rank), sums do not overflow.

use ringlane_task::{KernelId, Ticks};
use ringlane_trace::swimlane::{BlockRow, SwimlaneLevel};

use crate::timeline::Timeline;

/// How a stretch of time varies over the blocks of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The average, in ticks.
    pub mean: f64,
    /// Half of them are no longer than this.
    pub p50: Ticks,
    /// 95 of 100 are no longer than this.
    pub p95: Ticks,
    /// The longest.
    pub max: Ticks,
}

/// One kernel in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelStats {
    /// Its number in this run.
    pub func_id: KernelId,
    /// Its name; `?` if the swimlane does not tell it.
    pub name: String,
    /// The kind of core it asks for: `aic`, `aiv` or `any`.
    pub core_type: String,
    /// Blocks that ran.
    pub count: u64,
    /// Time in all of them.
    pub total: u128,
    /// How long a block took.
    pub duration: Spread,
    /// From dispatch to start, from level 2 on.
    pub head: Option<Spread>,
    /// From end to finish, from level 2 on.
    pub tail: Option<Spread>,
    /// Part of the time of all cores, 0 to 1.
    pub core_share: f64,
    /// Part of the time in which cores ran blocks, 0 to 1.
    pub busy_share: f64,
}

/// Every kernel that ran, the one with the most time first.
///
/// ```no_run
/// let run = ringlane_insight::Run::open("outputs/cholesky")?;
/// for kernel in ringlane_insight::kernels::kernels(&run.timeline()?) {
///     println!("{} × {}", kernel.count, kernel.name);
/// }
/// # Ok::<(), ringlane_insight::InsightError>(())
/// ```
pub fn kernels(timeline: &Timeline) -> Vec<KernelStats> {
    let groups = Groups::new(timeline);
    let durations = groups.column(timeline, BlockRow::duration);
    let overheads = (timeline.level > SwimlaneLevel::Blocks).then(|| {
        let between = |from: Ticks, to: Ticks| Ticks(to.0.saturating_sub(from.0));
        let head = groups.column(timeline, |block| between(block.dispatch, block.start));
        (head, groups.column(timeline, |block| between(block.end, block.finish)))
    });
    let total = |values: &[u64]| values.iter().map(|&ticks| u128::from(ticks)).sum::<u128>();
    let busy = total(&durations);
    let of_cores = timeline.cores.len() as u128 * u128::from(timeline.makespan.0);
    let mut stats: Vec<KernelStats> = Vec::new();
    let (mut durations, mut overheads) = (durations, overheads);
    for (func_id, range) in groups.ranges() {
        let total = total(&durations[range.clone()]);
        let spreads = overheads
            .as_mut()
            .map(|(head, tail)| (spread(&mut head[range.clone()]), spread(&mut tail[range.clone()])));
        stats.push(KernelStats {
            func_id,
            name: timeline.kernel_name(func_id).to_string(),
            core_type: timeline.kernel(func_id).map_or_else(|| "?".into(), |kernel| kernel.core_type.clone()),
            count: range.len() as u64,
            total,
            duration: spread(&mut durations[range]),
            head: spreads.map(|(head, _)| head),
            tail: spreads.map(|(_, tail)| tail),
            core_share: share(total, of_cores),
            busy_share: share(total, busy),
        });
    }
    stats.sort_by(|a, b| b.total.cmp(&a.total).then(a.func_id.cmp(&b.func_id)));
    stats
}

fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The blocks of each kernel that ran, as ranges of a column.
struct Groups {
    kernels: Vec<KernelId>,
    /// Where each range starts, and at last where the last ends.
    starts: Vec<usize>,
}

impl Groups {
    fn new(timeline: &Timeline) -> Self {
        let mut counts = std::collections::BTreeMap::<KernelId, usize>::new();
        // Blocks of one kernel often stand together.
        for run in timeline.blocks.chunk_by(|a, b| a.func_id == b.func_id) {
            *counts.entry(run[0].func_id).or_default() += run.len();
        }
        let mut starts = vec![0];
        starts.extend(counts.values().scan(0, |end, count| {
            *end += count;
            Some(*end)
        }));
        Groups { kernels: counts.into_keys().collect(), starts }
    }

    fn ranges(&self) -> impl Iterator<Item = (KernelId, std::ops::Range<usize>)> + '_ {
        self.kernels.iter().zip(self.starts.windows(2)).map(|(&kernel, ends)| (kernel, ends[0]..ends[1]))
    }

    /// A value of every block, those of one kernel together.
    fn column(&self, timeline: &Timeline, value: impl Fn(&BlockRow) -> Ticks) -> Vec<u64> {
        let mut column = vec![0; timeline.blocks.len()];
        let mut next = self.starts.clone();
        for run in timeline.blocks.chunk_by(|a, b| a.func_id == b.func_id) {
            let Ok(kernel) = self.kernels.binary_search(&run[0].func_id) else { continue };
            for block in run {
                column[next[kernel]] = value(block).0;
                next[kernel] += 1;
            }
        }
        column
    }
}

/// The spread of values, which are put in another order.
fn spread(values: &mut [u64]) -> Spread {
    let sum: u128 = values.iter().map(|&ticks| u128::from(ticks)).sum();
    let Some(&max) = values.iter().max() else { return Spread::default() };
    Spread {
        mean: sum as f64 / values.len() as f64,
        p50: Ticks(percentile(values, 50)),
        p95: Ticks(percentile(values, 95)),
        max: Ticks(max),
    }
}

/// The smallest value that is not exceeded by `percent` of 100 values.
fn percentile(values: &mut [u64], percent: usize) -> u64 {
    let rank = (values.len() * percent).div_ceil(100).max(1) - 1;
    *values.select_nth_unstable(rank).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_occurred_by_nearest_rank() {
        let mut values: Vec<u64> = (1..=100).rev().collect();
        assert_eq!((percentile(&mut values, 50), percentile(&mut values, 95)), (50, 95));
        assert_eq!(percentile(&mut [7], 95), 7);
        assert_eq!(percentile(&mut [9, 1], 50), 1);
        assert_eq!(percentile(&mut [9, 1, 5], 50), 5);
        assert_eq!(spread(&mut []), Spread::default());
        let spread = spread(&mut [u64::MAX, u64::MAX]);
        assert_eq!((spread.max.0, spread.mean), (u64::MAX, u64::MAX as f64));
    }
}
