//! What follows from blocks being whole: a core that gets two of them needs the time of both.
//!
//! ```text
//! blocks of a pool, the longest first      p₁ ≥ p₂ ≥ … ≥ pₙ        on m cores
//! of the first k × m + 1, one core runs at least k + 1; these take at least as long as the k + 1 shortest of them
//! ```
//!
//! So blocks that run between `a` and `end − b` need `end ≥ a + b + p(km − k + 1) + … + p(km + 1)`, for every `k`. 100 equal
//! blocks on 72 cores take two turns, where their work alone would take 1.39.
//!
//! Each pair of an `a` and a `b` is a walk through all blocks, so only some pairs are tried: all where there are few heads and
//! tails, evenly spread ones where there are many. Every pair gives a bound; those left out can only make it smaller.

use super::Placement;
use crate::CoreKind;

/// Heads and tails that are tried at most, of each.
const SIDE_MAX: usize = 16;
/// Batches and turns that are gone through at most, over all pairs of one pool: about 0.1 s. One pair is always tried.
const STEPS_MAX: u64 = 1 << 25;

/// Blocks of one task that can run on the same cores. A task's blocks count as long as the shortest of them, which keeps the
/// bound a lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockGroup {
    pub(super) count: u64,
    pub(super) shortest: u64,
}

impl BlockGroup {
    pub(super) fn add(&mut self, duration: u64) {
        // A block of no length takes no turn, and must not shorten the others.
        if duration > 0 {
            self.shortest = if self.count == 0 { duration } else { self.shortest.min(duration) };
            self.count = self.count.saturating_add(1);
        }
    }
}

/// Where the groups of a task are: one for each kind of core, then one for all cores.
pub(super) const PLACEMENTS: usize = CoreKind::COUNT + 1;

/// The group of blocks with this placement.
pub(super) const fn group_of(placement: Placement) -> usize {
    match placement {
        Placement::On(kind) => kind as usize,
        Placement::Anywhere => CoreKind::COUNT,
    }
}

/// Equal blocks that a pool has to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Time that must pass before they begin.
    pub(super) head: u64,
    /// Time that must pass after their end.
    pub(super) tail: u64,
    pub(super) group: BlockGroup,
}

/// The time below which `cores` cores cannot be done with these blocks; 0 if no core has to run two of them.
pub(super) fn whole_bound(batches: impl Iterator<Item = Batch>, cores: u64) -> u64 {
    let mut batches: Vec<_> = batches.filter(|batch| batch.group.count > 0).collect();
    let blocks = batches.iter().fold(0u64, |sum, batch| sum.saturating_add(batch.group.count));
    if cores == 0 || blocks <= cores {
        return 0;
    }
    batches.sort_unstable_by_key(|batch| {
        (std::cmp::Reverse(batch.group.shortest), batch.head, batch.tail, batch.group.count)
    });
    let steps = batches.len() as u64 + blocks / cores;
    let side = (STEPS_MAX / steps).isqrt().clamp(1, SIDE_MAX as u64) as usize;
    let heads = spread(batches.iter().map(|batch| batch.head), side);
    let tails = spread(batches.iter().map(|batch| batch.tail), side);
    let (mut best, mut inside) = (0, Vec::with_capacity(batches.len()));
    for &a in &heads {
        for &b in &tails {
            inside.clear();
            let later = batches.iter().filter(|batch| batch.head >= a && batch.tail >= b);
            inside.extend(later.map(|batch| batch.group));
            let turns = turns(&inside, cores);
            if turns > 0 {
                best = best.max(a.saturating_add(b).saturating_add(turns));
            }
        }
    }
    best
}

/// Up to `side` of the values, the smallest among them, evenly spread.
fn spread(values: impl Iterator<Item = u64>, side: usize) -> Vec<u64> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values.dedup();
    match values.len() {
        len if len <= side => values,
        len => (0..side).map(|i| values[i * len / side]).collect(),
    }
}

/// The most that one core has to run, for groups in falling order of their lengths; 0 if every core has at most one block.
fn turns(groups: &[BlockGroup], cores: u64) -> u64 {
    let blocks = groups.iter().fold(0u64, |sum, group| sum.saturating_add(group.count));
    let (mut longest, mut all) = (Cursor::new(groups), Cursor::new(groups));
    let mut best = 0;
    for turn in 1..=blocks.saturating_sub(1) / cores {
        best = best.max(all.sum_of_first(turn * cores + 1) - longest.sum_of_first(turn * (cores - 1)));
    }
    u64::try_from(best).unwrap_or(u64::MAX)
}

/// Adds up the first blocks, for more and more of them.
struct Cursor<'g> {
    groups: &'g [BlockGroup],
    /// Blocks of the groups that it has passed, and what they take.
    passed: u64,
    sum: u128,
}

impl<'g> Cursor<'g> {
    fn new(groups: &'g [BlockGroup]) -> Self {
        Cursor { groups, passed: 0, sum: 0 }
    }

    /// What the first `blocks` blocks take together: at least as many as the last time.
    fn sum_of_first(&mut self, blocks: u64) -> u128 {
        while let [first, rest @ ..] = self.groups {
            let length = u128::from(first.shortest);
            if blocks - self.passed < first.count {
                return self.sum + length * u128::from(blocks - self.passed);
            }
            self.passed += first.count;
            self.sum += length * u128::from(first.count);
            self.groups = rest;
        }
        self.sum
    }
}
