//! A control thread that schedules: its cores, where it is in its round, what it has told of its time.
//!
//! ```text
//! round:  poll its cores with a block in flight ─▶ resolve ─▶ dispatch ─▶ reclaim ─▶ next round
//! ```
//! Each part takes effect at its end. A thread that finds nothing goes round and round; those rounds are not gone through one
//! by one: the next one that can find something follows from when blocks end, and a task that becomes ready is seen at the end
//! of the round that goes on then.

use core::ops::Range;

use ringlane_engine::observe::{ThreadPhase, ThreadWork};
use ringlane_engine::slot::{SlotIndex, TaskRecord};

use crate::time::{Ps, SimClock};

/// What a thread does when its time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It begins a round.
    Round,
    /// It has polled its cores.
    Polled,
    /// It has found room for what it recorded.
    Recorded,
    /// It has told the successors of what is complete.
    Resolved,
    /// It has found room for what was captured of complete tasks.
    Captured,
    /// It has given blocks to cores.
    Dispatched,
    /// It comes to the end of a round in which a task became ready.
    Look,
}

/// Rounds that find nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quiet {
    pub(crate) since: Ps,
    /// How long each takes.
    pub(crate) round: Ps,
    /// When one finds something, if no task becomes ready.
    pub(crate) until: Option<Ps>,
}

/// A complete task whose successors are to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Complete {
    pub(crate) task: SlotIndex,
    pub(crate) record: TaskRecord,
    /// Where its last block ran.
    pub(crate) cluster: Option<u32>,
}

/// A control thread that schedules.
#[derive(Debug)]
pub(crate) struct Scheduler {
    /// Its cores.
    pub(crate) cores: Range<usize>,
    /// What it does next, when, and in which order among those of the same time.
    pub(crate) next: Option<(Ps, u64, Next)>,
    pub(crate) quiet: Option<Quiet>,
    /// When the round began.
    pub(crate) begun: Ps,
    pub(crate) round: u64,
    /// Complete tasks whose successors are to be told.
    pub(crate) complete: Vec<Complete>,
    /// Tasks that became ready, with the cluster of their last producer; empty but for the time until they are shown.
    pub(crate) ready: Vec<(SlotIndex, Option<u32>)>,
    /// Tasks that were completed in this round.
    pub(crate) completed: u32,
    /// A cluster that is kept free for a mixed task.
    pub(crate) reserved: Option<u32>,
    /// The core of each kind that was last given a block.
    pub(crate) served: [usize; 2],
    /// Up to when it has told what it did.
    told: Ps,
    /// Idle time that may go on.
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
            told: 0,
            idle_from: None,
        }
    }

    /// Up to when it has done something.
    pub(crate) fn rests_since(&self) -> Ps {
        self.quiet.map_or(self.told, |quiet| quiet.since)
    }

    /// Tells what the thread did since it last told, until `end`. Times without work that follow each other are one.
    pub(crate) fn tell(
        &mut self,
        thread: usize,
        clock: &SimClock,
        work: ThreadWork,
        end: Ps,
        tasks: u32,
        sink: impl Fn(&ThreadPhase),
    ) {
        let start = core::mem::replace(&mut self.told, end);
        if work == ThreadWork::Idle {
            self.idle_from.get_or_insert(start);
            return;
        }
        self.flush_idle(thread, clock, start, &sink);
        // What took no time was done all the same.
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

    /// The run is over: all of the thread's time is told.
    pub(crate) fn close(&mut self, thread: usize, clock: &SimClock, end: Ps, sink: impl Fn(&ThreadPhase)) {
        self.tell(thread, clock, ThreadWork::Idle, end.max(self.told), 0, &sink);
        self.flush_idle(thread, clock, end, &sink);
    }
}
