//! Tasks on a chip that places their blocks itself: it decides where and when each block runs, and asks here for the rest.
//!
//! ```text
//! record ──▶ open ──▶ with_args, compute: once for each block ──▶ finish_block, true for the last ──▶ complete
//!             └─ not to run: complete at once
//! ```
//! A chip whose cores take their blocks themselves calls [`run`](Executor::run) instead, which does all of it.

use crate::api::args::Args;
use crate::api::kernel::Kernel;
use crate::completion::Executor;
use crate::seams::Probe;
use crate::slot::{SKIPPED, SlotIndex, TaskRecord};
use crate::table::task_id;

impl<P: Probe> Executor<'_, P> {
    /// For a chip that places blocks itself: what it needs to know of a task.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter.
    #[inline]
    pub unsafe fn record(&self, task: SlotIndex) -> TaskRecord {
        // SAFETY: the caller's promise.
        unsafe { self.table.slots[task.0 as usize].record() }
    }

    /// For a chip on one thread: how many tasks wait for this one.
    pub fn fan_out(&self, task: SlotIndex) -> u32 {
        self.table.slots[task.0 as usize].fan_out(&self.table.edges)
    }

    /// For a chip that places blocks itself: counts a finished block; true for the last one.
    #[inline]
    pub fn finish_block(&self, task: SlotIndex) -> bool {
        self.table.slots[task.0 as usize].finish_block()
    }

    /// For a chip that places blocks itself: a block's kernel, the lane of a cluster that it takes, and its number.
    #[inline]
    pub fn place_of(&self, record: &TaskRecord, index: u32) -> (u16, u8, u32) {
        let (lane, block) = self.lane_of(record, index);
        (record.kernels[lane], record.shape.lane(lane), block)
    }

    /// For a chip that places blocks itself: the task is not finished as it should be.
    #[cold]
    pub fn skip(&self, task: SlotIndex) {
        self.table.slots[task.0 as usize].mark(SKIPPED);
    }

    /// For a chip that places blocks itself, before the first block of a task: whether it is to run. What is captured
    /// before a task runs is captured here; one that is not to run is marked, and complete at once.
    ///
    /// # Safety
    /// The caller holds the task, and calls this once.
    pub unsafe fn open(&self, task: SlotIndex, record: &TaskRecord) -> bool {
        if self.skips(task, record) {
            self.table.slots[task.0 as usize].mark(SKIPPED);
            return false;
        }
        if P::WATCHES_CORES {
            self.probe.dispatch(self.core, &self.observed(task, record));
        }
        true
    }

    /// For a chip that places blocks itself: a block's kernel and what it is given, to say what it costs.
    ///
    /// # Safety
    /// The caller holds the task.
    pub unsafe fn with_args<R>(
        &self,
        record: &TaskRecord,
        index: u32,
        f: impl FnOnce(&'static Kernel, &Args<'_>) -> R,
    ) -> R {
        let (lane, block) = self.lane_of(record, index);
        // SAFETY: the caller's promise.
        let run = unsafe { self.block(record, lane, block) };
        // SAFETY: as above; a cost model looks at shapes and scalars only.
        f(run.kernel, &unsafe { run.args() })
    }

    /// For a chip that places blocks itself: computes a block's values.
    ///
    /// # Safety
    /// The caller holds the task, [`open`](Self::open) said yes, and each block is computed once.
    pub unsafe fn compute(&self, task: SlotIndex, record: &TaskRecord, index: u32) {
        let (lane, block) = self.lane_of(record, index);
        let line = self.table.board.core(self.core.0);
        line.set_running(task_id(record), record.kernels[lane]);
        // SAFETY: the caller's promise; conflicting tasks are ordered as in `run_block`.
        let result = unsafe { self.block(record, lane, block).run() };
        line.set_idle();
        line.add_block();
        if let Err(error) = result {
            self.note_failure(task, record, index, record.kernels[lane], error.0);
        }
    }
}
