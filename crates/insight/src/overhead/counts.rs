//! What ran, what waited and what was not submitted, over time.

use crate::CoreKind;
use crate::bound::Placement;
use crate::sweep::{Stretch, Sweep};
use crate::timeline::Timeline;
use crate::waits::Wait;

/// Counts of the sweep: running blocks by kind, then blocks that wait and those that are not submitted, each of plain tasks
/// and of mixed ones.
const RUNNING: usize = 0;
const WAITING: usize = CoreKind::COUNT;
const WAITING_MIXED: usize = WAITING + PLACES;
const UNSUBMITTED: usize = WAITING_MIXED + PLACES;
const UNSUBMITTED_MIXED: usize = UNSUBMITTED + PLACES;
const COUNTS: usize = UNSUBMITTED_MIXED + PLACES;

/// Where a block can go: to a kind of core, or, after those, anywhere.
const PLACES: usize = CoreKind::COUNT + 1;
const ANYWHERE: usize = CoreKind::COUNT;

/// A stretch of time in which the same blocks run and wait.
pub(super) struct Moment<'a> {
    stretch: &'a Stretch<COUNTS>,
    cores: &'a [i64; CoreKind::COUNT],
}

impl Moment<'_> {
    pub(super) fn start(&self) -> ringlane_task::Ticks {
        self.stretch.start
    }

    pub(super) fn ticks(&self) -> u64 {
        self.stretch.ticks()
    }

    /// Cores of a kind that run nothing.
    pub(super) fn idle(&self, kind: CoreKind) -> u64 {
        (self.cores[kind as usize] - self.stretch.counts[RUNNING + kind as usize]).max(0) as u64
    }

    /// Blocks that could run on an idle core of a kind, and that nobody gave one.
    pub(super) fn waiting(&self, kind: CoreKind) -> u64 {
        self.usable(kind, WAITING, WAITING_MIXED)
    }

    /// Blocks that could run on an idle core of a kind, if their task were submitted.
    pub(super) fn unsubmitted(&self, kind: CoreKind) -> u64 {
        self.usable(kind, UNSUBMITTED, UNSUBMITTED_MIXED)
    }

    fn usable(&self, kind: CoreKind, plain: usize, mixed: usize) -> u64 {
        let of =
            |first: usize| self.stretch.counts[first + kind as usize] + self.stretch.counts[first + ANYWHERE];
        let partners =
            CoreKind::ALL.iter().all(|&kind| self.cores[kind as usize] == 0 || self.idle(kind) > 0);
        (of(plain) + if partners { of(mixed) } else { 0 }).max(0) as u64
    }
}

/// Goes through a run's time.
pub(super) fn moments(timeline: &Timeline, waits: &[Wait], mut each: impl FnMut(&Moment<'_>)) {
    let counts = timeline.core_counts();
    let cores = CoreKind::ALL.map(|kind| i64::from(counts.of(kind)));
    sweep(timeline, waits).stretches(timeline.makespan, |stretch| each(&Moment { stretch, cores: &cores }));
}

fn sweep(timeline: &Timeline, waits: &[Wait]) -> Sweep<COUNTS> {
    let mut sweep = Sweep::with_capacity(6 * timeline.blocks.len());
    for task in timeline.indices() {
        let blocks = timeline.blocks_of(task);
        let is_mixed = blocks.iter().any(|block| block.lane > 0);
        let wait = &waits[task.at()];
        for block in blocks {
            let place = match timeline.placement(block.func_id) {
                Placement::On(kind) => kind as usize,
                Placement::Anywhere => ANYWHERE,
            };
            let (waiting, unsubmitted) = match is_mixed {
                true => (WAITING_MIXED, UNSUBMITTED_MIXED),
                false => (WAITING, UNSUBMITTED),
            };
            sweep.during(RUNNING + timeline.kind_of(block) as usize, 1, block.start, block.end);
            sweep.during(waiting + place, 1, wait.runnable(), block.start);
            sweep.during(unsubmitted + place, 1, wait.data, wait.runnable());
        }
    }
    sweep
}
