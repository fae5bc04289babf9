//! A running chip from another thread: interrupts the run, and reports what it is doing.

#![forbid(unsafe_code)]

use core::fmt;
use std::sync::Arc;

use crate::report::{RunningTask, Status};
use crate::table::{Stop, Table};

/// A thread of this process.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// The system's number of it.
    pub number: u32,
    /// Whether it is the one that submits.
    pub is_submitter: bool,
}

/// The part of a chip runtime that other threads may use while it runs.
pub trait Controlled: Send + Sync {
    /// Its table.
    fn table(&self) -> &Table;
    /// Ends the run at the next task; where none goes on, the next one as soon as it begins.
    fn interrupt(&self) {
        self.table().stop(Stop::Interrupted);
    }
    /// The block that a thread computes now. May be called in a signal handler.
    fn running_on(&self, thread: Thread) -> Option<RunningTask> {
        self.table().running_on(thread.number)
    }
}

/// A running chip, from another thread.
#[derive(Clone)]
pub struct Remote(Arc<dyn Controlled>);

impl Remote {
    /// Of what runs.
    pub fn new(running: Arc<dyn Controlled>) -> Self {
        Remote(running)
    }

    /// Ends the run at the next task; where none goes on, the next one as soon as it begins.
    pub fn interrupt(&self) {
        self.0.interrupt();
    }

    /// What the run is doing now.
    pub fn status(&self) -> Status {
        self.0.table().status()
    }

    /// The block that a thread computes now. May be called in a signal handler.
    pub fn running_on(&self, thread: Thread) -> Option<RunningTask> {
        self.0.running_on(thread)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remote(..)")
    }
}

/// A chip whose blocks are all computed by the thread that submits.
#[derive(Debug)]
pub struct OneThread(pub Arc<Table>);

impl Controlled for OneThread {
    fn table(&self) -> &Table {
        &self.0
    }

    fn running_on(&self, thread: Thread) -> Option<RunningTask> {
        self.0.first_running().filter(|_| thread.is_submitter)
    }
}
