//! The workers of a node: each a child process, idle, at work, or lost until the next run.

use std::time::{Duration, Instant};

use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_task::CallConfig;

use crate::callable::{Callable, WorkerKind};
use crate::child::{Child, ChildLaunch};
use crate::clock::now_ns;
use crate::error::NodeError;
use crate::mailbox::CallTimes;

/// A worker that a node is to start.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    /// What it runs.
    pub kind: WorkerKind,
    /// How it is started; its name is the worker's.
    pub launch: ChildLaunch,
}

/// How often a call was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    /// The worker was dead before it began the first.
    Second,
}

/// Whether a worker has heard of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Yes,
    /// It was dead before it polled.
    No,
}

/// A call that a worker has.
#[derive(Debug)]
pub(crate) struct WorkerCall {
    pub(crate) task: SlotIndex,
    pub(crate) record: TaskRecord,
    /// Which block of the task: which member of a group.
    pub(crate) index: u32,
    pub(crate) callable: &'static Callable,
    pub(crate) config: CallConfig,
    pub(crate) attempt: Attempt,
    /// Its number on this worker in this run, from 1.
    pub(crate) seq: u64,
    pub(crate) submit_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) deadline: Instant,
    pub(crate) limit: Duration,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) job: WorkerCall,
    pub(crate) times: CallTimes,
    pub(crate) done_ns: u64,
    pub(crate) result: Result<(), NodeError>,
    pub(crate) heard: Heard,
}

/// How far a worker's clock is from the node's, as far as its calls show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// What is added to the worker's clock; 0 if that is as likely as anything else.
    pub offset_ns: i64,
    /// Half of the shortest way there and back that was seen: the offset is no further off. Nothing was seen, if `None`.
    pub error_ns: Option<u64>,
}

impl ClockOffset {
    /// Learns from a call: what of its time was not spent in the worker was the way there and back.
    pub(crate) fn learn(&mut self, sent_ns: u64, times: &CallTimes, done_ns: u64) {
        let CallTimes { accepted_ns, end_ns, .. } = *times;
        if accepted_ns == 0 || end_ns < accepted_ns || done_ns < sent_ns {
            return;
        }
        let Some(way_ns) = (done_ns - sent_ns).checked_sub(end_ns - accepted_ns) else { return };
        let error_ns = way_ns / 2;
        if self.error_ns.is_some_and(|best| best <= error_ns) {
            return;
        }
        let there = sent_ns.wrapping_sub(accepted_ns) as i64;
        let back = done_ns.wrapping_sub(end_ns) as i64;
        let offset_ns = i64::midpoint(there, back);
        let is_seen = offset_ns.unsigned_abs() > error_ns;
        *self = ClockOffset { offset_ns: if is_seen { offset_ns } else { 0 }, error_ns: Some(error_ns) };
    }

    /// A time of the worker's clock on the node's.
    pub(crate) fn to_node(self, worker_ns: u64) -> u64 {
        worker_ns.saturating_add_signed(self.offset_ns)
    }
}

/// A worker.
#[derive(Debug)]
pub(crate) struct WorkerHandle {
    pub(crate) kind: WorkerKind,
    pub(crate) child: Child,
    pub(crate) job: Option<WorkerCall>,
    /// Calls of this run so far.
    pub(crate) calls: u64,
    pub(crate) restarts: u32,
    pub(crate) clock: ClockOffset,
    /// Whether it was asked to end what it did: it is started anew before it gets more.
    pub(crate) is_spent: bool,
    /// Why it could not be started again. The next run tries once more.
    pub(crate) lost: Option<NodeError>,
}

impl WorkerHandle {
    pub(crate) fn start(spec: &WorkerSpec) -> Result<Self, NodeError> {
        let child = Child::start(&spec.launch)?;
        let (kind, clock) = (spec.kind, ClockOffset::default());
        Ok(WorkerHandle { kind, child, job: None, calls: 0, restarts: 0, clock, is_spent: false, lost: None })
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.job.is_none() && self.lost.is_none()
    }

    /// Whether it has a call that is over, or late.
    pub(crate) fn is_call_over(&self, now: Instant) -> bool {
        self.job.as_ref().is_some_and(|job| self.child.is_done() || job.deadline <= now)
    }

    /// Takes the answer to its call, which is over or late. A process that did not survive it is started again; one that was
    /// asked to end, by the run that needs it next.
    pub(crate) fn take_answer(&mut self) -> Option<Ended> {
        let job = self.job.take()?;
        let result = if self.child.is_done() {
            self.child.wait(Duration::ZERO)
        } else {
            Err(self.child.give_up(job.limit))
        };
        let done_ns = now_ns();
        let died = matches!(result, Err(NodeError::ChildDied { .. }));
        let heard = if died && self.child.has_unheard_call() { Heard::No } else { Heard::Yes };
        let answered = matches!(result, Ok(()) | Err(NodeError::CallFailed { .. }));
        let times = if answered { self.child.times() } else { CallTimes::default() };
        self.clock.learn(job.sent_ns, &times, done_ns);
        if !self.is_spent {
            self.revive();
        }
        Some(Ended { job, times, done_ns, result, heard })
    }

    /// Starts the process again if it is dead, or was asked to end.
    pub(crate) fn revive(&mut self) {
        if (self.child.is_alive() && !self.is_spent) || self.lost.is_some() {
            return;
        }
        match self.child.restart() {
            Ok(()) => (self.restarts, self.is_spent) = (self.restarts + 1, false),
            Err(error) => self.lost = Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(accepted_ns: u64, end_ns: u64) -> CallTimes {
        CallTimes { accepted_ns, run_ns: accepted_ns, end_ns, chip: None }
    }

    #[test]
    fn clocks_that_cannot_be_distinguished_have_no_offset() {
        let mut clock = ClockOffset::default();
        clock.learn(1000, &times(1100, 2000), 2050);
        assert_eq!(clock, ClockOffset { offset_ns: 0, error_ns: Some(75) });
    }

    #[test]
    fn the_shortest_round_trip_gives_the_best_offset() {
        let mut clock = ClockOffset::default();
        clock.learn(1000, &times(1_001_500, 1_002_000), 2900);
        clock.learn(5000, &times(1_005_010, 1_005_110), 5120);
        clock.learn(6000, &times(1_007_000, 1_008_000), 9000);
        assert_eq!(clock, ClockOffset { offset_ns: -1_000_000, error_ns: Some(10) });
        assert_eq!(clock.to_node(1_005_010), 5010);
    }

    #[test]
    fn times_that_cannot_be_teach_nothing() {
        let mut clock = ClockOffset::default();
        clock.learn(1000, &times(0, 5), 2000);
        clock.learn(1000, &times(100, 5), 2000);
        clock.learn(1000, &times(100, u64::MAX), 2000);
        assert_eq!(clock, ClockOffset::default());
    }
}
