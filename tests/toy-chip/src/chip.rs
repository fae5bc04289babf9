//! What the engine asks of a chip while it runs: where its memory is, and that it runs what is ready.

use std::collections::BTreeMap;

use ringlane_engine::Result;
use ringlane_engine::arena::Arena;
use ringlane_engine::completion::{Executor, ReadySink};
use ringlane_engine::memory::{Memory, Space};
use ringlane_engine::seams::{Chip, Clock, External, Probe, Threading};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::table::Table;
use ringlane_task::{CoreId, Ticks};

use crate::ToyClock;
use crate::memory::{ToyMemory, far};

/// The chip during one run, as the engine's submitter sees it.
pub(crate) struct ToyChip<'t, P> {
    pub(crate) table: &'t Table,
    pub(crate) probe: &'t P,
    pub(crate) memory: &'t ToyMemory,
    /// The ready tasks by when they were submitted. What a task waits for was submitted before it, so the first one that is
    /// not done is always among them: taking the first runs all in order.
    pub(crate) ready: BTreeMap<u64, SlotIndex>,
    pub(crate) externals: Vec<Arena>,
    pub(crate) clock: ToyClock,
}

impl<'t, P: Probe> ToyChip<'t, P> {
    fn executor(&self) -> Executor<'t, P, &'t ToyMemory> {
        let (table, probe, memory) = (self.table, self.probe, self.memory);
        Executor { table, probe, core: CoreId(0), threading: Threading::Single, memory }
    }

    /// Runs the next block of the first task; false if there is none.
    fn step(&mut self) -> bool {
        let Some((_, task)) = self.ready.pop_first() else { return false };
        // SAFETY: it was published or became ready, and left the list just now.
        unsafe { self.executor().run(task, self) };
        true
    }
}

impl<P: Probe> ReadySink for ToyChip<'_, P> {
    fn ready(&mut self, task: SlotIndex) {
        // SAFETY: the chip was just handed the task.
        let record = unsafe { self.executor().record(task) };
        self.ready.insert(record.seq, task);
    }

    fn more_blocks(&mut self, task: SlotIndex) {
        self.ready(task);
    }
}

impl<P: Probe> Chip for ToyChip<'_, P> {
    fn memory(&self) -> impl Memory {
        self.memory
    }

    fn external(&mut self, buffer: &External) -> Result<Space> {
        let arena = Arena::new(buffer.host.bytes, "a buffer of the chip")?;
        let space = far(&arena);
        self.externals.push(arena);
        Ok(space)
    }

    fn publish(&mut self, task: SlotIndex) {
        self.ready(task);
    }

    fn submitted(&mut self, _outstanding: u64) {
        while self.step() {}
    }

    fn relax(&mut self) {
        self.step();
    }

    fn now(&self) -> Ticks {
        self.clock.now()
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}
