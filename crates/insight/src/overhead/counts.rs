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

/// What is left to be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The tasks that the recording knows.
    Tasks,
    /// Nothing: the orchestration comes to its end.
    End,
}

/// Idle cores, and what each of them could have been used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Idle {
    /// How many are idle.
    pub(super) cores: u64,
    /// Those for which a block waited.
    pub(super) scheduler: u64,
    /// Those for which a task could have been submitted.
    pub(super) orchestrator: u64,
}

/// The idle cores of every kind at a moment.
pub(super) struct IdleCores {
    kinds: [Idle; CoreKind::COUNT],
    /// Whether a block that a kind could have run waited, and whether one was not submitted.
    could_use: [(bool, bool); CoreKind::COUNT],
}

impl IdleCores {
    pub(super) fn of(&self, pool: Placement) -> Idle {
        let kinds = CoreKind::ALL.into_iter().filter(|&kind| pool.admits(kind));
        kinds.map(|kind| self.kinds[kind as usize]).fold(Idle::default(), |sum, kind| Idle {
            cores: sum.cores + kind.cores,
            scheduler: sum.scheduler + kind.scheduler,
            orchestrator: sum.orchestrator + kind.orchestrator,
        })
    }

    /// Whether one of these cores was idle while a block that it could have run waited, or was not submitted.
    pub(super) fn could_use(&self, pool: Placement) -> (bool, bool) {
        let idle = |kind: &CoreKind| pool.admits(*kind) && self.kinds[*kind as usize].cores > 0;
        let could = CoreKind::ALL.into_iter().filter(idle).map(|kind| self.could_use[kind as usize]);
        could.fold((false, false), |(waits, left), (waits_too, left_too)| {
            (waits || waits_too, left || left_too)
        })
    }
}

impl Moment<'_> {
    pub(super) fn start(&self) -> ringlane_task::Ticks {
        self.stretch.start
    }

    pub(super) fn ticks(&self) -> u64 {
        self.stretch.ticks()
    }

    /// Cores of a kind that run nothing.
    fn idle(&self, kind: CoreKind) -> u64 {
        (self.cores[kind as usize] - self.stretch.counts[RUNNING + kind as usize]).max(0) as u64
    }

    /// The idle cores of every kind: first they are for blocks that wait, then for those that are not submitted.
    pub(super) fn idle_cores(&self, left: Left) -> IdleCores {
        let idle = CoreKind::ALL.map(|kind| self.idle(kind));
        let (waiting, unsubmitted) =
            (self.usable(WAITING, WAITING_MIXED), self.usable(UNSUBMITTED, UNSUBMITTED_MIXED));
        let scheduler = waiting.share_out(idle);
        let rest = CoreKind::ALL.map(|kind| idle[kind as usize] - scheduler[kind as usize]);
        let orchestrator = if left == Left::End { rest } else { unsubmitted.share_out(rest) };
        let of = |kind: CoreKind| Idle {
            cores: idle[kind as usize],
            scheduler: scheduler[kind as usize],
            orchestrator: orchestrator[kind as usize],
        };
        let could_use =
            CoreKind::ALL.map(|kind| (waiting.has_for(kind), left == Left::End || unsubmitted.has_for(kind)));
        IdleCores { kinds: CoreKind::ALL.map(of), could_use }
    }

    /// Blocks that could run on idle cores. A mixed task could only while every kind has one.
    fn usable(&self, plain: usize, mixed: usize) -> Usable {
        let is_idle = |&kind: &CoreKind| self.cores[kind as usize] == 0 || self.idle(kind) > 0;
        let with_partners = CoreKind::ALL.iter().all(is_idle);
        let of = |place: usize| {
            let mixed = if with_partners { self.stretch.counts[mixed + place] } else { 0 };
            (self.stretch.counts[plain + place] + mixed).max(0) as u64
        };
        Usable { own: CoreKind::ALL.map(|kind| of(kind as usize)), anywhere: of(ANYWHERE) }
    }
}

/// Blocks that could use a core.
struct Usable {
    /// Of each kind.
    own: [u64; CoreKind::COUNT],
    /// Of any.
    anywhere: u64,
}

impl Usable {
    fn has_for(&self, kind: CoreKind) -> bool {
        self.own[kind as usize] + self.anywhere > 0
    }

    /// How many of the idle cores of each kind these blocks could use: a block that can run anywhere uses one core, of
    /// those that are left, each kind in proportion to what it has left.
    fn share_out(&self, idle: [u64; CoreKind::COUNT]) -> [u64; CoreKind::COUNT] {
        let mut used = CoreKind::ALL.map(|kind| idle[kind as usize].min(self.own[kind as usize]));
        let spare = CoreKind::ALL.map(|kind| idle[kind as usize] - used[kind as usize]);
        let all: u64 = spare.iter().sum();
        let mut blocks = self.anywhere.min(all);
        let due = spare.map(|cores| (u128::from(blocks) * u128::from(cores) / u128::from(all.max(1))) as u64);
        for (used, due) in used.iter_mut().zip(due) {
            (*used, blocks) = (*used + due, blocks - due);
        }
        // What is left of rounding goes to the first kinds with a core to spare.
        for (used, idle) in used.iter_mut().zip(idle) {
            let more = blocks.min(idle - *used);
            (*used, blocks) = (*used + more, blocks - more);
        }
        used
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
