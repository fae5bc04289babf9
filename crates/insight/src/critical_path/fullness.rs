//! When every core that a block could have run on was busy.

use ringlane_task::Ticks;

use crate::CoreKind;
use crate::bound::Placement;
use crate::sweep::Sweep;
use crate::timeline::Timeline;

/// Stretches of time in which all cores of a kind, or all cores, were busy.
pub(super) struct Fullness {
    /// By kind, then for all cores together.
    full: [Vec<(Ticks, Ticks)>; CoreKind::COUNT + 1],
}

impl Fullness {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let cores = timeline.core_counts();
        let mut full: [Vec<(Ticks, Ticks)>; CoreKind::COUNT + 1] = Default::default();
        use_of_cores(timeline).stretches(timeline.makespan, |stretch| {
            let of = |kind: CoreKind| Pool {
                cores: i64::from(cores.of(kind)),
                running: stretch.counts[RUNNING + kind as usize],
                taken: stretch.counts[TAKEN + kind as usize],
            };
            let kinds = CoreKind::ALL.map(of);
            let all = kinds.iter().fold(Pool::default(), |all, kind| all.and(kind));
            for (stretches, pool) in full.iter_mut().zip(kinds.iter().chain([&all])) {
                match stretches.last_mut() {
                    _ if !pool.is_full() => {}
                    Some(last) if last.1 == stretch.start => last.1 = stretch.end,
                    _ => stretches.push((stretch.start, stretch.end)),
                }
            }
        });
        Fullness { full }
    }

    fn of_placement(&self, placement: Placement) -> &[(Ticks, Ticks)] {
        match placement {
            Placement::On(kind) => &self.full[kind as usize],
            Placement::Anywhere => &self.full[CoreKind::COUNT],
        }
    }

    /// Since when every core of the placement had been busy at a moment; `None` if one was free just after it.
    pub(super) fn since(&self, placement: Placement, moment: Ticks) -> Option<Ticks> {
        let full = self.of_placement(placement);
        let (from, to) = *full[..full.partition_point(|&(from, _)| from <= moment)].last()?;
        (moment < to).then_some(from)
    }

    /// The parts of a stretch of time, latest first, each with whether every core of the placement was busy.
    pub(super) fn backwards(
        &self,
        placement: Placement,
        start: Ticks,
        mut end: Ticks,
        mut each: impl FnMut(Ticks, Ticks, IsFull),
    ) {
        let full = self.of_placement(placement);
        let later = full.partition_point(|&(from, _)| from < end);
        for &(from, to) in full[..later].iter().rev().take_while(|&&(_, to)| to > start) {
            let (from, to) = (from.max(start), to.min(end));
            each(to, end, IsFull::No);
            each(from, to, IsFull::Yes);
            end = from;
        }
        each(start, end, IsFull::No);
    }
}

/// Whether every core that would do was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsFull {
    Yes,
    No,
}

/// Counts of the sweep, each by kind: cores that run a block, and cores that run one or have been given one.
const RUNNING: usize = 0;
const TAKEN: usize = CoreKind::COUNT;

/// Cores that would all do.
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    cores: i64,
    running: i64,
    taken: i64,
}

impl Pool {
    fn and(&self, other: &Pool) -> Pool {
        Pool {
            cores: self.cores + other.cores,
            running: self.running + other.running,
            taken: self.taken + other.taken,
        }
    }

    /// None is free for one block more, and most of them run: a core between two blocks is not free, but if most are
    /// between blocks, it is not cores that are short.
    fn is_full(&self) -> bool {
        self.taken >= self.cores && 2 * self.running >= self.cores
    }
}

/// How many cores of each kind run and are taken, over time.
fn use_of_cores(timeline: &Timeline) -> Sweep<{ 2 * CoreKind::COUNT }> {
    let mut blocks: Vec<_> = timeline.blocks.iter().collect();
    blocks.sort_unstable_by_key(|block| (block.core, block.start));
    let mut sweep = Sweep::with_capacity(4 * blocks.len());
    for of_core in blocks.chunk_by(|a, b| a.core == b.core) {
        let mut before = Ticks(0);
        for block in of_core {
            let kind = timeline.kind_of(block) as usize;
            sweep.during(RUNNING + kind, 1, block.start, block.end);
            // Given ahead, it takes a core that the block before it has taken already.
            sweep.during(TAKEN + kind, 1, block.dispatch.max(before).min(block.start), block.end);
            before = block.end;
        }
    }
    sweep
}
