//! A chip that runs nothing until the submitter waits, to measure the cost of submits alone.
//!
//! The submitter of the `cpu` chip may run tasks between two submits, even when it is the only thread. This one
//! queues ready tasks; they run, on the same thread, when the scopes have ended and the run drains.
#![allow(unsafe_code)]

use std::time::Instant;

use std::panic::Location;

use ringlane_engine::completion::{Executor, ReadySink};
use ringlane_engine::memory::DirectMemory;
use ringlane_engine::orchestrator::State;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::seams::{Chip, Threading};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::table::Table;
use ringlane_engine::{Result, session};
use ringlane_task::{Capacities, CoreId, Ticks};

/// Runs orchestrations on the calling thread, all tasks after all submits.
pub struct DeferredRuntime {
    table: Table,
    state: State,
    waiting: Vec<SlotIndex>,
}

impl DeferredRuntime {
    /// A runtime with the default capacities.
    pub fn new() -> Result<Self> {
        let table = Table::new(&Capacities::default(), 1)?;
        let state = State::new(&table);
        let waiting = Vec::with_capacity(table.slot_count());
        Ok(DeferredRuntime { table, state, waiting })
    }

    /// Runs an orchestration.
    pub fn run<'e, R>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<R> {
        let chip = DeferredChip { table: &self.table, waiting: &mut self.waiting, start: Instant::now() };
        // SAFETY: `&mut self`: nothing else submits to the table, and the last run left no task on it; `relax`
        // removes each published task from the list before it runs it, so each runs once.
        unsafe { session::run(&self.table, &mut self.state, chip, &(), Location::caller(), buffers, f) }
            .result
    }
}

struct DeferredChip<'t> {
    table: &'t Table,
    waiting: &'t mut Vec<SlotIndex>,
    start: Instant,
}

impl Chip for DeferredChip<'_> {
    #[inline]
    fn publish(&mut self, task: SlotIndex) {
        self.waiting.push(task);
    }

    fn relax(&mut self) {
        let executor = Executor {
            table: self.table,
            probe: &(),
            core: CoreId(0),
            threading: Threading::Single,
            memory: DirectMemory,
        };
        while let Some(task) = self.waiting.pop() {
            // SAFETY: the task was passed on by `publish` or `ready`, and left the list just now.
            unsafe { executor.run(task, self) };
        }
    }

    fn now(&self) -> Ticks {
        Ticks(self.start.elapsed().as_nanos() as u64)
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}

impl ReadySink for DeferredChip<'_> {
    fn ready(&mut self, task: SlotIndex) {
        self.waiting.push(task);
    }

    fn more_blocks(&mut self, task: SlotIndex) {
        self.waiting.push(task);
    }
}
