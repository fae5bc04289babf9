//! Running a task and telling its successors. Called by any core; thread-safe.

use ringlane_task::{Access, BlockIndex, CoreId};

use crate::api::args::{TensorRecord, tensor_records};
use crate::block::BlockRun;
use crate::planted::{Bug, planted};
use crate::seams::{Company, Probe};
use crate::slot::{FAILED, SKIPPED, SlotIndex, TaskRecord};
use crate::table::{FirstFailure, Table, task_id};

/// A core's way to run tasks: the table, who it is, and who watches.
#[derive(Clone, Copy, Debug)]
pub struct Executor<'t, P> {
    /// The shared table.
    pub table: &'t Table,
    /// Who watches.
    pub probe: &'t P,
    /// Which core this is.
    pub core: CoreId,
    /// Whether other threads complete tasks too.
    pub company: Company,
}

/// Where a core puts tasks that it cannot run at once itself.
pub trait ReadySink {
    /// A task became ready.
    fn ready(&mut self, task: SlotIndex);
    /// More blocks of a task are left: another core may take it.
    fn more_blocks(&mut self, task: SlotIndex);
}

impl<P: Probe> Executor<'_, P> {
    /// Runs the next block of a task and, if it was the last one, completes the task.
    ///
    /// # Safety
    /// The caller took the task from a ready queue (or was handed it by `ready` or `publish`), once.
    #[inline]
    pub unsafe fn run(&self, task: SlotIndex, sink: &mut impl ReadySink) {
        let slot = &self.table.slots[task.0 as usize];
        // SAFETY: the caller holds the task.
        let record = unsafe { slot.record() };
        let total = record.total_blocks();
        let index = if total > 1 {
            let index = slot.next_block();
            if index + 1 < total {
                sink.more_blocks(task);
            }
            index
        } else {
            0
        };
        if total > 0 {
            self.table.board.core(self.core.0).set_running(task_id(&record), record.kernels[0]);
            // SAFETY: the caller holds the task; the index was handed out once.
            unsafe { self.run_block(task, &record, index) };
        }
        if total <= 1 || slot.finish_block() {
            // SAFETY: this was the last block.
            unsafe { self.complete(task, &record, |successor| sink.ready(successor)) };
        }
    }

    /// # Safety
    /// As for `run`; block `index` was handed out to the caller.
    #[inline]
    unsafe fn run_block(&self, task: SlotIndex, record: &TaskRecord, index: u32) {
        let slot = &self.table.slots[task.0 as usize];
        if slot.fate() & SKIPPED != 0 || self.table.stopped() || self.reads_poison(record) {
            slot.mark(SKIPPED);
            return;
        }
        let lane = (index / record.blocks) as usize;
        let kernel = self.table.kernels.get(record.kernels[lane] as u32).expect("interned before the submit");
        let before = |l: usize| self.table.kernels.get(record.kernels[l] as u32).map_or(0, |k| k.arity());
        let block = index % record.blocks;
        let lane_id = record.shape.lane(lane);
        self.probe.start(self.core, record, lane_id, block);
        let run = BlockRun {
            kernel,
            // SAFETY: the caller holds the task.
            words: unsafe { self.table.words(record) },
            // SAFETY: as above.
            spaces: unsafe { self.table.spaces() },
            mixed: record.lanes() > 1,
            skip: (0..lane).map(before).sum(),
            block: BlockIndex(block),
            blocks: record.blocks,
            has_outputs: record.has_outputs,
        };
        // SAFETY: the records were written from checked arguments; every task that touches these bytes in a way that
        // conflicts is ordered before (its close was acquired) or after (it waits for ours).
        let result = unsafe { run.run() };
        self.probe.end(self.core, record, lane_id, block);
        self.table.board.core(self.core.0).add_block();
        if let Err(error) = result {
            self.note_failure(task, record, record.kernels[lane], error.0);
        }
    }

    #[inline]
    fn reads_poison(&self, record: &TaskRecord) -> bool {
        self.table.poison.any() && self.reads_poison_slow(record)
    }

    #[cold]
    fn reads_poison_slow(&self, record: &TaskRecord) -> bool {
        if planted(Bug::PoisonForgotten) {
            return false;
        }
        // SAFETY: called only for a task that the core holds.
        let words = unsafe { self.table.words(record) };
        tensor_records(words).any(|r| r.access().reads() && self.table.poison.touches(r.space, &r.view()))
    }

    #[cold]
    fn note_failure(&self, task: SlotIndex, record: &TaskRecord, kernel: u16, cause: String) {
        self.table.slots[task.0 as usize].mark(FAILED);
        let mut first = self.table.failure.lock().expect("no panic while a failure is noted");
        let earlier = first.as_ref().is_none_or(|f| record.seq < f.record.seq);
        if earlier {
            *first = Some(FirstFailure { record: *record, kernel, cause });
        }
    }

    /// Completes a task: settles the fate of its bytes, then tells its successors.
    ///
    /// # Safety
    /// The caller holds the task, all its blocks are finished, and this is done once.
    #[inline]
    pub unsafe fn complete(&self, task: SlotIndex, record: &TaskRecord, mut ready: impl FnMut(SlotIndex)) {
        let slot = &self.table.slots[task.0 as usize];
        let fate = slot.fate();
        if fate != 0 || self.table.poison.any() {
            // SAFETY: the caller holds the task.
            unsafe { self.settle(record, fate) };
        }
        self.probe.complete(self.core, record);
        let publish = |successor| {
            self.probe.ready(successor);
            ready(successor);
        };
        let (slots, edges) = (&self.table.slots, &self.table.edges);
        match self.company {
            // SAFETY: the caller completes the task, once.
            Company::Shared => unsafe { slot.close(slots, edges, fate, publish) },
            // SAFETY: as above, and nobody else runs tasks.
            Company::Alone => unsafe { slot.close_alone(slots, edges, fate, publish) },
        }
        self.table.board.core(self.core.0).set_idle();
        self.table.done[task.0 as usize].set(record.tag);
    }

    /// Poisons what a failed or skipped task would have written; heals what a successful one overwrote.
    ///
    /// # Safety
    /// As for `complete`.
    #[cold]
    unsafe fn settle(&self, record: &TaskRecord, fate: u32) {
        let line = self.table.board.core(self.core.0);
        if fate & FAILED != 0 {
            line.add_failed();
        } else if fate & SKIPPED != 0 {
            line.add_skipped();
        }
        // SAFETY: the caller holds the task.
        let words = unsafe { self.table.words(record) };
        for r in tensor_records(words).filter(|r| r.access().writes()) {
            let TensorRecord { space, .. } = r;
            match (fate, r.access()) {
                (0, Access::InOut) => {}
                (0, _) => self.table.poison.heal(space, &r.view()),
                _ => self.table.poison.spread(space, &r.view()),
            }
        }
    }
}
