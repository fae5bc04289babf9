//! A scheduler thread: its cores, its position in its round, and the part of its time that is recorded.
//!
//! ```text
//! round:  poll its cores with a block in flight ─▶ resolve ─▶ dispatch ─▶ reclaim ─▶ next round
//! ```
//! Each part takes effect at its end. A thread that finds nothing repeats its rounds; these are not simulated one by
//! one: the next round that can find something follows from the ends of blocks, and a task that becomes ready is seen
//! at the end of the current round.

use core::ops::Range;

use ringlane_engine::observe::{ThreadPhase, ThreadWork};
use ringlane_engine::slot::{SlotIndex, TaskRecord};

use crate::time::{Ps, SimClock};

/// The next event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It begins a round.
    Round,
    /// It has polled its cores.
    Polled,
    /// It has a buffer for its records.
    Recorded,
    /// It has resolved complete tasks.
    Resolved,
    /// It has a buffer for the captured arguments of complete tasks.
    Captured,
    /// It has dispatched blocks.
    Dispatched,
    /// It reaches the end of a round in which a task became ready.
    QuietRoundEnd,
}

/// Rounds that find nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quiet {
    pub(crate) since: Ps,
    /// The duration of each.
    pub(crate) round: Ps,
    /// When one finds something, if no task becomes ready.
    pub(crate) until: Option<Ps>,
}

/// A complete task that has not been resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Complete {
    pub(crate) task: SlotIndex,
    pub(crate) record: TaskRecord,
    /// The cluster on which its last block ran.
    pub(crate) cluster: Option<u32>,
}

/// A scheduler thread.
#[derive(Debug)]
pub(crate) struct Scheduler {
    /// Its cores.
    pub(crate) cores: Range<usize>,
    /// Its next event: time, order among events of the same time, and what it is.
    pub(crate) next: Option<(Ps, u64, Next)>,
    pub(crate) quiet: Option<Quiet>,
    /// When the round began.
    pub(crate) begun: Ps,
    pub(crate) round: u64,
    /// Complete tasks that have not been resolved.
    pub(crate) complete: Vec<Complete>,
    /// Tasks that became ready, with the cluster of their last producer; empty except until they are passed to the
    /// policy.
    pub(crate) ready: Vec<(SlotIndex, Option<u32>)>,
    /// Tasks that were completed in this round.
    pub(crate) completed: u32,
    /// A cluster that is reserved for a mixed task.
    pub(crate) reserved: Option<u32>,
    /// The core of each kind that was last served.
    pub(crate) served: [usize; 2],
    /// The time up to which its work is recorded.
    recorded_until: Ps,
    /// The start of an idle interval that may continue.
    idle_from: Option<Ps>,
}

impl Scheduler {
    pub(crate) fn new(cores: Range<usize>) -> Self {
        Scheduler {
            cores,
            next: None,
            quiet: None,
            begun: 0,
            round: 0,
            complete: Vec::new(),
            ready: Vec::new(),
            completed: 0,
            reserved: None,
            served: [usize::MAX; 2],
            recorded_until: 0,
            idle_from: None,
        }
    }

    /// The time since which it has done nothing.
    pub(crate) fn idle_since(&self) -> Ps {
        self.quiet.map_or(self.recorded_until, |quiet| quiet.since)
    }

    /// Records the work of the thread since the last call, until `end`. Consecutive idle times become one.
    pub(crate) fn record_work(
        &mut self,
        thread: usize,
        clock: &SimClock,
        work: ThreadWork,
        end: Ps,
        tasks: u32,
        sink: impl Fn(&ThreadPhase),
    ) {
        let start = core::mem::replace(&mut self.recorded_until, end);
        if work == ThreadWork::Idle {
            self.idle_from.get_or_insert(start);
            return;
        }
        self.flush_idle(thread, clock, start, &sink);
        // Work that took no time is recorded too.
        if start < end || tasks > 0 {
            sink(&ThreadPhase {
                thread: thread as u32,
                work,
                start: clock.ticks(start),
                end: clock.ticks(end),
                round: self.round,
                tasks,
            });
        }
    }

    fn flush_idle(&mut self, thread: usize, clock: &SimClock, end: Ps, sink: &impl Fn(&ThreadPhase)) {
        if let Some(from) = self.idle_from.take() {
            let (start, end) = (clock.ticks(from), clock.ticks(end));
            let (thread, work, round) = (thread as u32, ThreadWork::Idle, self.round);
            sink(&ThreadPhase { thread, work, start, end, round, tasks: 0 });
        }
    }

    /// The run has ended: records the rest of the thread's time.
    pub(crate) fn close(&mut self, thread: usize, clock: &SimClock, end: Ps, sink: impl Fn(&ThreadPhase)) {
        self.record_work(thread, clock, ThreadWork::Idle, end.max(self.recorded_until), 0, &sink);
        self.flush_idle(thread, clock, end, &sink);
    }
}
