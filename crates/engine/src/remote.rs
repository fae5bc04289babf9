//! A running chip from another thread: interrupts the run, and reports what it is doing.

#![forbid(unsafe_code)]

use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// What the run is doing now.
    fn status(&self) -> Status {
        self.table().status()
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
        self.0.status()
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

/// The table of the graph that is being replayed, if one is.
#[derive(Debug, Default)]
pub struct ReplayedTable(Mutex<Option<Arc<Table>>>);

impl ReplayedTable {
    /// A replay on this table begins, or ends.
    pub fn set(&self, table: Option<Arc<Table>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = table;
    }

    /// The table. Does not wait, so that a signal handler may call it.
    pub fn get(&self) -> Option<Arc<Table>> {
        self.0.try_lock().ok().and_then(|table| table.clone())
    }
}

/// A chip whose blocks are all computed by the thread that submits.
#[derive(Debug)]
pub struct OneThread {
    /// The table of streamed runs.
    pub table: Arc<Table>,
    /// The table of a replay.
    pub replayed: Arc<ReplayedTable>,
}

impl Controlled for OneThread {
    fn table(&self) -> &Table {
        &self.table
    }

    fn interrupt(&self) {
        self.replayed.get().as_ref().unwrap_or(&self.table).stop(Stop::Interrupted);
    }

    fn status(&self) -> Status {
        self.replayed.get().as_ref().unwrap_or(&self.table).status()
    }

    fn running_on(&self, thread: Thread) -> Option<RunningTask> {
        let replayed = self.replayed.get();
        replayed.as_ref().unwrap_or(&self.table).first_running().filter(|_| thread.is_submitter)
    }
}
