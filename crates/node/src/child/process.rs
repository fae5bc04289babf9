//! A child process without a mailbox: it does what its arguments say, and ends.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;

use super::launch::THIS_PROGRAM;
use super::spawn::spawn;
use super::supervisor::{Owner, Supervisor};
use crate::error::NodeError;
use crate::exit::Exit;

/// What is notified of a [`Process`], on the thread of its supervisor.
pub trait ProcessObserver: fmt::Debug + Send + Sync {
    /// It has printed this, on standard output or standard error.
    fn printed(&self, printed: &[u8]);
    /// It has ended: [`Process::exit_within`] does not wait any more. No other call follows.
    fn ended(&self);
}

/// A process of this very executable that does what its arguments say, and ends.
///
/// It has a process group of its own, so that a Ctrl-C does not reach it, and it does not outlive this process. Dropping
/// it kills it.
#[derive(Debug)]
pub struct Process {
    supervisor: Supervisor,
}

impl Process {
    /// Starts it. It inherits `descriptor` under the same number, which its arguments may name: it takes it with
    /// [`inherited`](crate::inherited). Errors show the name.
    pub fn start(
        name: &str,
        arguments: impl IntoIterator<Item = OsString>,
        descriptor: Arc<OwnedFd>,
        listener: Arc<dyn ProcessObserver>,
    ) -> Result<Self, NodeError> {
        let arguments = arguments.into_iter().collect();
        Ok(Process {
            supervisor: Supervisor::start(name, Arc::new(Errand { arguments, descriptor, listener }))?,
        })
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.supervisor.pid
    }

    /// Sends it a signal, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        self.supervisor.signal(signal);
    }

    /// Waits until it has ended, but no longer than this.
    pub fn exit_within(&self, timeout: Duration) -> Option<Exit> {
        self.supervisor.exit_within(timeout)
    }
}

#[derive(Debug)]
struct Errand {
    arguments: Vec<OsString>,
    descriptor: Arc<OwnedFd>,
    listener: Arc<dyn ProcessObserver>,
}

impl Owner for Errand {
    fn spawn(&self, output: PipeWriter) -> io::Result<Child> {
        let mut command = Command::new(THIS_PROGRAM);
        // It goes by the name that this process was started with.
        if let Some(name) = std::env::args_os().next() {
            command.arg0(name);
        }
        command.args(&self.arguments);
        spawn(command, &[self.descriptor.as_fd()], output)
    }

    fn printed(&self, printed: &[u8]) {
        self.listener.printed(printed);
    }

    fn ended(&self) {
        self.listener.ended();
    }
}
