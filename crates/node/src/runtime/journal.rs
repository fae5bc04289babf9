//! What a run's calls were, for the timeline over processes.

use ringlane_task::TaskId;

use super::worker_handle::{ClockOffset, Ended};
use crate::callable::WorkerKind;
use crate::error::NodeError;
use crate::limits::CALLS_RECORDED;
use crate::mailbox::{ChipTimes, HasRunDir};

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStatus {
    /// Well.
    Ok,
    /// The callable failed.
    Failed,
    /// Its worker died, or had to be killed because its mailbox was spoilt.
    Died,
    /// It took longer than it may, and its worker was killed.
    Late,
}

impl CallStatus {
    /// The name used in artifacts.
    pub const fn as_str(self) -> &'static str {
        match self {
            CallStatus::Ok => "ok",
            CallStatus::Failed => "failed",
            CallStatus::Died => "died",
            CallStatus::Late => "late",
        }
    }
}

/// A call of a run. Times are nanoseconds: those of the worker by its own clock, 0 where it did not come so far.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// The worker, by number.
    pub worker: u32,
    /// Which call of this worker in the run, from 1.
    pub seq: u64,
    /// The task.
    pub task: TaskId,
    /// Which member of the task's group, from 0.
    pub member: u32,
    /// The callable's name.
    pub callable: &'static str,
    /// When it was submitted.
    pub submit_ns: u64,
    /// When it was written into the mailbox.
    pub sent_ns: u64,
    /// When the worker had read it.
    pub accepted_ns: u64,
    /// When the callable began.
    pub run_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// When the node saw that.
    pub done_ns: u64,
    /// How it ended.
    pub status: CallStatus,
    /// The run that it made on a chip or on workers below.
    pub chip: Option<ChipTimes>,
    /// The directory of that run, below the node's.
    pub dir: Option<String>,
}

/// A worker as the timeline shows it.
#[derive(Clone, Debug)]
pub struct WorkerRecord {
    /// Its name.
    pub name: String,
    /// What it runs.
    pub kind: WorkerKind,
    /// Its process, the last one if it was started again.
    pub pid: u32,
    /// How far its clock is from the node's.
    pub clock: ClockOffset,
    /// How often it was started again since the node began.
    pub restarts: u32,
}

/// The calls of a run.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// The first of them, in the order in which they ended.
    pub calls: Vec<CallRecord>,
    /// How many more there were.
    pub dropped: u64,
}

impl Journal {
    /// Notes a call that ended.
    pub(crate) fn note(&mut self, worker: u32, name: &str, ended: &Ended) {
        if self.calls.len() >= CALLS_RECORDED {
            self.dropped += 1;
            return;
        }
        let Ended { job, times, done_ns, result, .. } = ended;
        let left_files = times.chip.is_some_and(|chip| chip.recorded == HasRunDir::Yes);
        self.calls.push(CallRecord {
            worker,
            seq: job.seq,
            task: ringlane_engine::table::task_id(&job.record),
            member: job.index,
            callable: job.callable.name(),
            submit_ns: job.submit_ns,
            sent_ns: job.sent_ns,
            accepted_ns: times.accepted_ns,
            run_ns: times.run_ns,
            end_ns: times.end_ns,
            done_ns: *done_ns,
            status: status_of(result),
            chip: times.chip,
            dir: left_files.then(|| directory(name, job.seq)),
        });
    }
}

/// The directory of a worker's call, below that of the node's run.
pub(crate) fn directory(worker: &str, seq: u64) -> String {
    format!("{worker}/{seq}")
}

fn status_of(result: &Result<(), NodeError>) -> CallStatus {
    match result {
        Ok(()) => CallStatus::Ok,
        Err(NodeError::CallTimedOut { .. }) => CallStatus::Late,
        Err(NodeError::ChildDied { .. } | NodeError::RankLost { .. } | NodeError::CorruptMailbox { .. }) => {
            CallStatus::Died
        }
        Err(_) => CallStatus::Failed,
    }
}
