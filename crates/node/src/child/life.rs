//! What a child is: a process that its parent has started, or a rank that mpirun has.

use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;

use super::supervisor::Supervisor;
use crate::error::NodeError;
use crate::exit::Exit;
use crate::remote::Berth;

/// What a child is.
#[derive(Debug)]
pub(crate) enum Life {
    Process(Supervisor),
    Rank(Berth),
}

impl Life {
    /// Whether nothing can come of it any more.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Life::Process(supervisor) => supervisor.is_gone(),
            Life::Rank(berth) => berth.is_gone(),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        match self {
            Life::Process(supervisor) => supervisor.pid,
            Life::Rank(berth) => berth.process(),
        }
    }

    /// Says that a call is in the mailbox, to a side that does not poll it.
    pub(crate) fn ring(&self) {
        if let Life::Rank(berth) = self {
            berth.ring();
        }
    }

    /// Asks it to end what it does. A rank cannot be asked from here; mpirun can.
    pub(crate) fn interrupt(&self) {
        if let Life::Process(supervisor) = self {
            supervisor.signal(Signal::INT);
        }
    }

    /// What it printed last. What a rank prints goes to mpirun.
    pub(crate) fn captured_output(&self) -> String {
        match self {
            Life::Process(supervisor) => supervisor.captured_output(),
            Life::Rank(_) => String::new(),
        }
    }

    /// Ends it at once, without asking. A rank is given up: rank 0 ends it with itself.
    pub(crate) fn kill(&self) {
        match self {
            Life::Process(supervisor) => supervisor.kill(),
            Life::Rank(berth) => berth.give_up(),
        }
    }

    /// Ends it, and gives what it said last.
    pub(crate) fn killed(&self) -> String {
        match self {
            Life::Process(supervisor) => supervisor.killed().captured_output,
            Life::Rank(berth) => {
                berth.give_up();
                String::new()
            }
        }
    }

    /// How it died during that.
    pub(crate) fn death(&self, worker: &str, during: &'static str) -> NodeError {
        match self {
            Life::Process(supervisor) => {
                NodeError::ChildDied { worker: worker.to_string(), during, exit: supervisor.killed() }
            }
            Life::Rank(berth) => berth.lost(during),
        }
    }

    /// Waits until it has ended; what does not in time is killed. A rank serves the next: it has not ended.
    pub(crate) fn end_within(&self, timeout: Duration) -> Exit {
        match self {
            Life::Process(supervisor) => {
                supervisor.exit_within(timeout).unwrap_or_else(|| supervisor.killed())
            }
            Life::Rank(berth) => {
                let (pid, captured_output) = (berth.process(), String::new());
                Exit { pid, status: ExitStatus::default(), captured_output }
            }
        }
    }
}
