//! What an idle thread does: where it polls, how often, and how much has to be there before it takes it.
//!
//! A steal moves the lines of the victim's queue and of every task that it takes, about half a microsecond in all, and
//! each poll of a queue takes a line away from its owner, which waits for it at its next push or pop. Above all the
//! submitter's: everything comes from there. So a thief
//! - wants a *batch* that is worth the steal, a larger one of the submitter. Fewer tasks are taken only from a queue that
//!   has not moved between two polls: where tasks come and go, a thief that takes each as it comes slows down the thread
//!   that makes them, and all thieves with it;
//! - reads at first what the submitter *shows* of its queue, which it does once for several submits, and the queue itself only
//!   if it found nothing for a while;
//! - polls the submitter's queue and a few others at first, then all, and less often the more threads search, unless tasks
//!   are so long that each is a batch.
//!
//! While tasks are *fine* ([`Grain`]) they stay where they are, unless a queue gets very long. One thread polls
//! them, between naps: a queue from which nothing is taken during a nap has an owner that is busy elsewhere.

use core::time::Duration;

use ringlane_engine::limits::SUBMITS_PER_POLL;

use crate::grain::Grain;
use crate::ready::QueueState;

/// Tasks of this many nanoseconds together are worth a steal: of the submitter, and of another thread, which would run them.
const SUBMITTED_BATCH_NS: u32 = 16_000;
const BATCH_NS: u32 = 4_000;
/// A batch has at most this many tasks.
const BATCH_MAX: u32 = 64;
/// Fine tasks that are worth a steal: more than the submitter leaves waiting between two of its polls.
const FINE_BATCH: u32 = 4 * SUBMITS_PER_POLL;
/// Queues polled at once by a thread that has just run out of tasks: the submitter's, and others at random.
const FEW: usize = 3;
/// Polls of that kind, in which nothing but a batch is taken.
const BATCH_POLLS: u32 = 2;
/// Polls in which a thread reads what the submitter shows of its queue: 30 to 100 µs. Only where the program does something
/// else between two submits does a task have to wait for the poll after them.
const SHOWN_POLLS: u32 = 16;
/// The submitter shows its tasks once in this many submits, and at every submit where tasks take this long.
const SHOWN_SUBMITS: u32 = 8;
const SHOWN_EACH_NS: u32 = 2_000;
/// The wait after a thread's first poll. It doubles with each, up to the longest: where tasks are short, as much for each
/// thread that searches, within limits.
const FIRST_WAIT_NS: u32 = 500;
const WAIT_NS_PER_SEARCHER: u32 = 500;
const LONGEST_WAIT_NS: [u32; 2] = [2_000, 8_000];
/// The longest wait of the submitter, which waits for something else as well, and how many times as often it polls before it
/// sleeps: the next completion wakes it, at the expense of the thread that completes.
const SUBMITTER_WAIT_NS: u32 = 1_000;
const SUBMITTER_POLLS: u32 = 4;
/// Polls before a thread sleeps, 100 to 200 µs, where every thread has a core of its own.
pub(crate) const POLLS: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 50 };
/// How often, and how long, the last searcher naps between polls while tasks are fine, before it sleeps: about 60 ms in all.
const NAPS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 150 };
const FIRST_NAP: Duration = Duration::from_micros(100);
const LONGEST_NAP: Duration = Duration::from_micros(400);

/// One thread's search. It begins anew with every task that the thread finds.
#[derive(Debug)]
pub(crate) struct Search {
    polls: u32,
    naps: u32,
    /// Where each queue's head was at the last poll.
    heads: Box<[u64]>,
    random: u32,
}

/// What a thread asks for.
///
/// A batch is what is worth a steal, by the length of tasks and by the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Any task.
    Any,
    /// A batch.
    Batch,
    /// A batch, or any task of a queue from which none was taken since the last poll.
    BatchOrUnmoved,
}

impl Search {
    /// A search of `core` over `queues` queues.
    pub(crate) fn new(core: usize, queues: usize) -> Self {
        let random = (core as u32 + 1).wrapping_mul(0x9e37_79b9) | 1;
        Search { polls: 0, naps: 0, heads: vec![u64::MAX; queues].into(), random }
    }

    /// There was a task.
    #[inline]
    pub(crate) fn reset(&mut self) {
        (self.polls, self.naps) = (0, 0);
    }

    /// The thread was woken: there is something, somewhere.
    pub(crate) fn woken(&mut self) {
        (self.polls, self.naps) = (BATCH_POLLS, 0);
    }

    /// Counts a poll that found nothing.
    pub(crate) fn missed(&mut self) {
        self.polls = self.polls.saturating_add(1);
    }

    /// Whether the thread has polled often enough, of `polls` times.
    pub(crate) fn is_over(&self, core: usize, polls: u32) -> bool {
        self.polls > if core == 0 { polls * SUBMITTER_POLLS } else { polls }
    }

    /// What the thread asks for now.
    pub(crate) fn demand(&self, grain: &Grain) -> Demand {
        let patient = if grain.is_fine() { self.naps == 0 } else { self.polls < BATCH_POLLS };
        if patient { Demand::Batch } else { Demand::BatchOrUnmoved }
    }

    /// Whether the thread reads what a queue shows; otherwise it reads the queue itself.
    #[inline]
    pub(crate) fn reads_shown(&self, demand: Demand, victim: usize) -> bool {
        victim == 0 && demand != Demand::Any && self.polls < SHOWN_POLLS && self.naps == 0
    }

    /// The queues to poll for that; never the one of `core`.
    pub(crate) fn victims(&mut self, core: usize, demand: Demand) -> impl Iterator<Item = usize> + use<> {
        let queues = self.heads.len();
        let others = if demand == Demand::Batch { queues.min(FEW) } else { queues };
        let start = if queues > 2 { self.next_random() as usize % queues } else { 0 };
        let others = (start..start + others).map(move |victim| victim % queues);
        core::iter::once(0).chain(others.filter(|&victim| victim != 0)).filter(move |&victim| victim != core)
    }

    /// Whether a queue in this state satisfies the demand.
    pub(crate) fn accepts(
        &mut self,
        demand: Demand,
        victim: usize,
        state: QueueState,
        grain: &Grain,
    ) -> bool {
        let unmoved = core::mem::replace(&mut self.heads[victim], state.head) == state.head;
        let any = demand == Demand::Any || unmoved && demand != Demand::Batch;
        state.waiting >= if any { 1 } else { batch(victim, grain) }
    }

    /// How long to wait before the next poll, with this many threads that search.
    pub(crate) fn wait_ns(&self, core: usize, grain: &Grain, searchers: u32) -> u32 {
        let [least, most] = LONGEST_WAIT_NS;
        let longest = match (core, batch(core, grain)) {
            (0, _) => SUBMITTER_WAIT_NS,
            (_, 1) => least,
            _ => (searchers * WAIT_NS_PER_SEARCHER).clamp(least, most),
        };
        (FIRST_WAIT_NS << self.polls.min(8)).min(longest)
    }

    /// The next nap, if there is one left.
    pub(crate) fn nap(&mut self) -> Option<Duration> {
        self.naps += 1;
        (self.naps <= NAPS).then(|| (FIRST_NAP * (1 << (self.naps - 1).min(8))).min(LONGEST_NAP))
    }

    fn next_random(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }
}

/// After how many submits the submitter shows what became ready.
#[inline]
pub(crate) fn shown_submits(grain: &Grain) -> u32 {
    if grain.task_ns() < SHOWN_EACH_NS { SHOWN_SUBMITS } else { 1 }
}

/// Tasks of a queue that are worth a steal.
fn batch(victim: usize, grain: &Grain) -> u32 {
    if grain.is_fine() {
        return FINE_BATCH;
    }
    let ns = if victim == 0 { SUBMITTED_BATCH_NS } else { BATCH_NS };
    grain.tasks_in(ns).min(BATCH_MAX)
}

/// How many of the tasks that wait in a queue a thief takes. From another thread's half, because its owner is about to
/// run them. From the submitter's, whose owner is about to push more, a batch, or so much that it is divided evenly.
pub(crate) fn share(victim: usize, waiting: u32, threads: usize, grain: &Grain) -> u32 {
    match victim {
        0 => (waiting / (2 * threads as u32)).max(batch(victim, grain)),
        _ => waiting.div_ceil(2),
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn coarse() -> Grain {
        Grain::of_ns(1_000)
    }

    fn long() -> Grain {
        Grain::of_ns(20_000)
    }

    fn fine() -> Grain {
        Grain::of_ns(50)
    }

    fn at(head: u64, waiting: u32) -> QueueState {
        QueueState { head, waiting }
    }

    #[test]
    fn a_batch_of_the_submitter_is_larger_and_long_tasks_are_a_batch_each() {
        let mut search = Search::new(1, 16);
        let demand = search.demand(&coarse());
        assert_eq!(demand, Demand::Batch);
        assert_eq!(
            [15, 16].map(|waiting| search.accepts(demand, 0, at(7, waiting), &coarse())),
            [false, true]
        );
        assert_eq!([3, 4].map(|waiting| search.accepts(demand, 2, at(7, waiting), &coarse())), [false, true]);
        assert_eq!([0, 1].map(|waiting| search.accepts(demand, 0, at(7, waiting), &long())), [false, true]);
    }

    #[test]
    fn fewer_tasks_are_taken_only_where_they_do_not_move() {
        let mut search = Search::new(1, 16);
        (0..BATCH_POLLS).for_each(|_| search.missed());
        let demand = search.demand(&coarse());
        assert_eq!(demand, Demand::BatchOrUnmoved);
        let mut accepts = |head, waiting| search.accepts(demand, 0, at(head, waiting), &coarse());
        assert!(!accepts(8, 3), "never seen before");
        assert!(accepts(8, 1), "none was taken");
        assert!(!accepts(8, 0), "there is nothing");
        assert!(!accepts(9, 3), "one was taken");
        search.reset();
        assert_eq!(search.demand(&coarse()), Demand::Batch);
    }

    #[test]
    fn waits_get_longer_with_every_poll_and_among_short_tasks_with_every_searcher() {
        let mut search = Search::new(1, 16);
        let mut waits = Vec::new();
        for _ in 0..100 {
            waits.push([1, 6, 100].map(|searchers| search.wait_ns(1, &coarse(), searchers)));
            search.missed();
        }
        assert_eq!(waits[..3], [[500; 3], [1_000; 3], [2_000; 3]]);
        assert_eq!(waits[3..5], [[2_000, 3_000, 4_000], [2_000, 3_000, 8_000]]);
        assert_eq!(waits[99], waits[4]);
        assert_eq!(search.wait_ns(1, &long(), 100), 2_000);
        assert_eq!(search.wait_ns(0, &coarse(), 100), SUBMITTER_WAIT_NS);
        assert!(search.is_over(1, POLLS) && !search.is_over(0, POLLS));
    }

    #[test]
    fn a_few_queues_and_the_submitters_are_polled_at_first_and_then_all() {
        let mut search = Search::new(3, 16);
        let mut polled = [false; 16];
        for _ in 0..200 {
            let few: Vec<usize> = search.victims(3, Demand::Batch).collect();
            assert!(few.len() <= FEW + 1 && few[0] == 0 && !few.contains(&3), "{few:?}");
            few.into_iter().for_each(|victim| polled[victim] = true);
            let mut all: Vec<usize> = search.victims(3, Demand::BatchOrUnmoved).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq((0..16).filter(|&queue| queue != 3)));
        }
        assert_eq!(polled.iter().filter(|&&polled| !polled).count(), 1, "all but its own: {polled:?}");
        assert!(Search::new(1, 2).victims(1, Demand::Batch).eq([0]));
    }

    #[test]
    fn fine_tasks_are_taken_where_there_are_many_or_where_they_do_not_move_during_a_nap() {
        let mut search = Search::new(1, 2);
        (0..10).for_each(|_| search.missed());
        let demand = search.demand(&fine());
        assert_eq!(demand, Demand::Batch);
        assert!(!search.accepts(demand, 0, at(7, 60), &fine()));
        assert!(search.nap().is_some());
        let demand = search.demand(&fine());
        assert_eq!(demand, Demand::BatchOrUnmoved);
        assert!(search.accepts(demand, 0, at(7, 60), &fine()), "nothing was taken during the nap");
        assert!(!search.accepts(demand, 0, at(8, 60), &fine()), "its owner is there");
        assert!(search.accepts(demand, 0, at(9, FINE_BATCH), &fine()));
    }

    #[test]
    fn what_the_submitter_shows_is_read_for_a_while() {
        let mut search = Search::new(1, 16);
        assert!(search.reads_shown(Demand::Batch, 0) && !search.reads_shown(Demand::Batch, 2));
        assert!(
            !search.reads_shown(Demand::Any, 0),
            "the last thread that falls asleep must not miss a task"
        );
        (0..SHOWN_POLLS).for_each(|_| search.missed());
        assert!(!search.reads_shown(Demand::BatchOrUnmoved, 0));
        assert_eq!([coarse(), long()].map(|grain| shown_submits(&grain)), [SHOWN_SUBMITS, 1]);
    }

    #[test]
    fn naps_get_longer_and_end() {
        let mut search = Search::new(1, 2);
        let naps: Vec<Duration> = core::iter::from_fn(|| search.nap()).collect();
        assert_eq!(naps.len(), NAPS as usize);
        assert!(naps.is_sorted() && naps[0] == FIRST_NAP && naps[naps.len() - 1] == LONGEST_NAP, "{naps:?}");
    }

    #[test]
    fn of_the_submitters_tasks_a_thief_takes_a_batch_or_an_even_part_and_of_others_half() {
        assert_eq!([1, 2, 6].map(|waiting| share(0, waiting, 16, &coarse())), [16, 16, 16]);
        assert_eq!(share(0, 640, 16, &coarse()), 20);
        assert_eq!(share(0, 3, 16, &long()), 1);
        assert_eq!([1, 2, 5].map(|waiting| share(2, waiting, 16, &coarse())), [1, 1, 3]);
    }
}
