//! What ran, what waited and what was not submitted, over time.

use crate::CoreKind;
use crate::bound::Placement;
use crate::sweep::{Stretch, Sweep};
use crate::timeline::Timeline;
use crate::waits::Wait;

/// Counts of the sweep: running blocks and waiting ones by kind, then those that can go anywhere, and mixed tasks.
const RUNNING: usize = 0;
const WAITING: usize = CoreKind::COUNT;
const UNSUBMITTED: usize = 2 * CoreKind::COUNT;
const WAITING_ANYWHERE: usize = 3 * CoreKind::COUNT;
const UNSUBMITTED_ANYWHERE: usize = WAITING_ANYWHERE + 1;
const WAITING_MIXED: usize = WAITING_ANYWHERE + 2;
const UNSUBMITTED_MIXED: usize = WAITING_ANYWHERE + 3;
const COUNTS: usize = WAITING_ANYWHERE + 4;

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
        self.usable(WAITING + kind as usize, WAITING_ANYWHERE, WAITING_MIXED)
    }

    /// Blocks that could run on an idle core of a kind, if their task were submitted.
    pub(super) fn unsubmitted(&self, kind: CoreKind) -> u64 {
        self.usable(UNSUBMITTED + kind as usize, UNSUBMITTED_ANYWHERE, UNSUBMITTED_MIXED)
    }

    fn usable(&self, of_kind: usize, anywhere: usize, mixed: usize) -> u64 {
        let counts = &self.stretch.counts;
        let partners =
            CoreKind::ALL.iter().all(|&kind| self.cores[kind as usize] == 0 || self.idle(kind) > 0);
        let mixed = if partners { counts[mixed] } else { 0 };
        (counts[of_kind] + counts[anywhere] + mixed).max(0) as u64
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
            let (waiting, unsubmitted) = match timeline.placement(block.func_id) {
                _ if is_mixed => (WAITING_MIXED, UNSUBMITTED_MIXED),
                Placement::On(kind) => (WAITING + kind as usize, UNSUBMITTED + kind as usize),
                Placement::Anywhere => (WAITING_ANYWHERE, UNSUBMITTED_ANYWHERE),
            };
            sweep.during(RUNNING + timeline.kind_of(block) as usize, 1, block.start, block.end);
            sweep.during(waiting, 1, wait.runnable(), block.start);
            sweep.during(unsubmitted, 1, wait.data, wait.runnable());
        }
    }
    sweep
}
