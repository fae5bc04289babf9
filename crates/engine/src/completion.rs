//! Running a task and telling its successors. Called by any core; thread-safe.

use ringlane_task::{Access, BlockIndex, CoreId};

use crate::api::args::{Args, TensorRecord, tensor_records};
use crate::api::kernel::Kernel;
use crate::block::BlockRun;
use crate::observed::ObservedTask;
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
        self.probe.take(self.core, task);
        if record.total_blocks() == 1 {
            // SAFETY: the caller holds the task; it has one block.
            unsafe { self.run_block(task, &record, 0) };
        // SAFETY: the caller holds the task.
        } else if !unsafe { self.run_one_of_many(task, &record, sink) } {
            return self.probe.finish(self.core);
        }
        // SAFETY: this was the last block.
        unsafe { self.complete(task, &record, |successor| sink.ready(successor)) };
    }

    /// Runs the next of several blocks (or of none); true if it was the last to finish.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn run_one_of_many(
        &self,
        task: SlotIndex,
        record: &TaskRecord,
        sink: &mut impl ReadySink,
    ) -> bool {
        let total = record.total_blocks();
        if total == 0 {
            return true;
        }
        let slot = &self.table.slots[task.0 as usize];
        let index = slot.next_block();
        if P::WATCHES_CORES && index == 0 && !self.skips(task, record) {
            self.probe.dispatch(self.core, &self.observed(task, record));
        }
        if index + 1 < total {
            sink.more_blocks(task);
        }
        // SAFETY: the caller holds the task; the index was handed out once.
        unsafe { self.run_block(task, record, index) };
        self.probe.hand_in(self.core);
        slot.finish_block()
    }

    /// # Safety
    /// As for `run`; block `index` was handed out to the caller.
    #[inline]
    unsafe fn run_block(&self, task: SlotIndex, record: &TaskRecord, index: u32) {
        let (slot, line) = (&self.table.slots[task.0 as usize], self.table.board.core(self.core.0));
        if self.skips(task, record) {
            slot.mark(SKIPPED);
            return;
        }
        line.set_running(task_id(record), record.kernels[0]);
        if self.company == Company::Shared {
            slot.warm_successor(&self.table.slots, &self.table.edges);
        }
        let (lane, block) = self.lane_of(record, index);
        if P::WATCHES_CORES && record.total_blocks() == 1 {
            self.probe.dispatch(self.core, &self.observed(task, record));
        }
        self.probe.start(self.core, record, record.kernels[lane], record.shape.lane(lane), block);
        // SAFETY: the caller holds the task.
        let run = unsafe { self.block(record, lane, block) };
        // SAFETY: the records were written from checked arguments; every task that touches these bytes in a way that
        // conflicts is ordered before (its close was acquired) or after (it waits for ours).
        let result = unsafe { run.run() };
        self.probe.end(self.core);
        line.add_block();
        if let Err(error) = result {
            self.note_failure(task, record, index, record.kernels[lane], error.0);
        }
    }

    /// One block, ready to run.
    ///
    /// # Safety
    /// The caller holds the task.
    #[inline(always)]
    unsafe fn block<'a>(&'a self, record: &TaskRecord, lane: usize, block: u32) -> BlockRun<'a> {
        BlockRun {
            kernel: self.table.kernels.get(record.kernels[lane] as u32).expect("interned before the submit"),
            // SAFETY: the caller holds the task.
            words: unsafe { self.table.words(record) },
            // SAFETY: as above.
            spaces: unsafe { self.table.spaces() },
            mixed: record.lanes() > 1,
            skip: if lane == 0 { 0 } else { self.args_before(record, lane) },
            block: BlockIndex(block),
            blocks: record.blocks,
            has_outputs: record.has_outputs,
        }
    }

    /// Whether the blocks of a task must not run.
    #[inline]
    fn skips(&self, task: SlotIndex, record: &TaskRecord) -> bool {
        let skipped = self.table.slots[task.0 as usize].fate() & SKIPPED != 0;
        skipped || self.table.stopped() || self.reads_poison(record)
    }

    /// The task as a probe sees it. Called only for a task that the core holds.
    #[inline]
    fn observed<'a>(&'a self, slot: SlotIndex, record: &'a TaskRecord) -> ObservedTask<'a> {
        ObservedTask { slot, record, table: self.table }
    }

    /// Which kernel, and which of its blocks, a block of a task is.
    #[inline]
    fn lane_of(&self, record: &TaskRecord, index: u32) -> (usize, u32) {
        if record.lanes() == 1 {
            (0, index)
        } else {
            ((index / record.blocks) as usize, index % record.blocks)
        }
    }

    /// Arguments of the kernels before the one on this lane.
    fn args_before(&self, record: &TaskRecord, lane: usize) -> usize {
        let arity = |l: usize| self.table.kernels.get(record.kernels[l] as u32).map_or(0, |k| k.arity());
        (0..lane).map(arity).sum()
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

    /// Keeps the first failure of the run: by submission, then by block, whichever happens to run first.
    #[cold]
    fn note_failure(&self, task: SlotIndex, record: &TaskRecord, block: u32, kernel: u16, cause: String) {
        self.table.slots[task.0 as usize].mark(FAILED);
        let mut first = self.table.failure.lock().expect("no panic while a failure is noted");
        let earlier = first.as_ref().is_none_or(|f| (record.seq, block) < (f.record.seq, f.block));
        if earlier {
            *first = Some(FirstFailure { record: *record, block, kernel, cause });
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
        if P::WATCHES_CORES && fate & SKIPPED == 0 {
            self.probe.complete(self.core, &self.observed(task, record));
        }
        let publish = |successor| {
            if self.probe.sees_tasks() {
                self.probe.ready(self.core, successor);
            }
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
        self.probe.finish(self.core);
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
            if fate & SKIPPED != 0 && r.access() == Access::Output {
                // SAFETY: the caller holds the task that makes this tensor; those that use it follow.
                unsafe { self.zero(&r) };
            }
            match (fate, r.access()) {
                (0, Access::InOut) => {}
                (0, _) => self.table.poison.heal(space, &r.view()),
                _ => self.table.poison.spread(space, &r.view()),
            }
        }
    }

    /// Zeroes a tensor that a skipped task would have made: whoever writes a part of it finds the same bytes in every
    /// run.
    ///
    /// # Safety
    /// As for `complete`; the record is one of the task's outputs.
    #[cold]
    unsafe fn zero(&self, record: &TensorRecord<'_>) {
        // SAFETY: the caller holds a task.
        let space = unsafe { self.table.spaces() }.0[record.space as usize];
        record.view().for_each_run(|start, bytes| {
            // SAFETY: the tensor lies inside its space, and only the caller's task touches it before it is complete.
            unsafe { space.base.add(start as usize).write_bytes(0, bytes as usize) };
        });
    }
}
