//! Running a task and telling its successors. Called by any core; thread-safe.
//!
//! A chip that places blocks itself runs them through the methods in `placed.rs` and only completes the task here.

use std::time::Instant;

use ringlane_task::{Access, BlockIndex, CoreId, Explain, Ticks};

use crate::api::args::{TensorRecord, tensor_records};
use crate::api::kernel::KernelError;
use crate::block::BlockRun;
use crate::fault::Error;
use crate::fault::{Fault, TaskFailure};
use crate::memory::{DirectMemory, Memory, RunMemory};
use crate::observe::ObservedTask;
use crate::observe::submitter::note_ready;
use crate::planted::{Bug, planted};
use crate::seams::{Probe, Threading};
use crate::slot::{EdgeKind, FAILED, FLOOR_MAX, SKIPPED, SlotIndex, TaskRecord};
use crate::table::{FirstFailure, Table, task_id};

/// A core's way to run tasks: the table, the core's number, and the probe.
#[derive(Clone, Copy, Debug)]
pub struct Executor<'t, P, M = DirectMemory> {
    /// The shared table.
    pub table: &'t Table,
    /// Who watches.
    pub probe: &'t P,
    /// Which core this is.
    pub core: CoreId,
    /// Whether other threads complete tasks too.
    pub threading: Threading,
    /// The chip's memory. The code that runs tasks vouches that the spaces of the run are in it.
    pub memory: M,
}

/// Where a core puts tasks that it cannot run at once itself.
pub trait ReadySink {
    /// A task became ready.
    fn ready(&mut self, task: SlotIndex);
    /// More blocks of a task are left: another core may take it.
    fn more_blocks(&mut self, task: SlotIndex);
}

impl<P: Probe, M: Memory + Copy> Executor<'_, P, M> {
    /// Runs the next block of a task and, if it was the last one, completes the task.
    ///
    /// # Safety
    /// The caller took the task from a ready queue (or was handed it by `ready` or `publish`), once.
    // Always inlined: into the loop of a thread that works off its queue.
    #[inline(always)]
    pub unsafe fn run(&self, task: SlotIndex, sink: &mut impl ReadySink) {
        let slot = &self.table.slots[task.0 as usize];
        // SAFETY: the caller holds the task.
        let record = unsafe { slot.record() };
        if self.probe.sees_times() {
            self.probe.take(self.core, Ticks(slot.floor()));
        }
        if record.flags.has_inits() && record.total_blocks() > 0 && slot.is_unbegun() {
            // SAFETY: the caller holds the task, none of whose blocks began.
            unsafe { self.initialize(task) };
        }
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

    /// Initializes the memory that a task of a captured graph is the first to use. Also for one that is skipped: others may
    /// use other parts of that memory.
    ///
    /// # Safety
    /// The caller holds the task, and does this once, before its first block.
    #[cold]
    pub(crate) unsafe fn initialize(&self, task: SlotIndex) {
        // SAFETY: the caller holds a task.
        let memory = unsafe { self.run_memory() };
        for init in self.table.captured.iter().flat_map(|captured| captured.inits_of(task)) {
            let (space, start) = (init.space, init.view.offset_bytes());
            // SAFETY: the plan gave the bytes to this tensor, and every other user of them precedes the task or follows it.
            let done = unsafe {
                match &init.bytes {
                    None => memory.zero(space, start, init.view.bytes()),
                    Some(bytes) => memory.copy_in(bytes, space, start),
                }
            };
            done.unwrap_or_else(|error| self.table.abort_run(error));
            if self.table.poison.any() {
                self.table.poison.heal(space, &init.view);
            }
        }
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
    #[inline(always)]
    pub(crate) unsafe fn run_block(&self, task: SlotIndex, record: &TaskRecord, index: u32) {
        let (slot, line) = (&self.table.slots[task.0 as usize], self.table.board.core(self.core.0));
        if self.skips(task, record) {
            slot.mark(SKIPPED);
            return;
        }
        if self.threading == Threading::Multi {
            slot.warm_successor(&self.table.slots, &self.table.edges);
        }
        let (lane, block) = self.lane_of(record, index);
        let kernel = record.kernels[lane];
        line.set_running(task_id(record), kernel);
        if P::WATCHES_CORES && record.total_blocks() == 1 {
            self.probe.dispatch(self.core, &self.observed(task, record));
        }
        self.probe.start(self.core, record, kernel, record.shape.lane(lane), block);
        // SAFETY: the caller holds the task.
        let run = unsafe { self.block(record, lane, block) };
        let begun = self.table.pace().map(|pace| (pace, Instant::now()));
        // SAFETY: the records were written from checked arguments; every task that touches these bytes in a way that
        // conflicts is ordered before (its close was acquired) or after (it waits for ours).
        let result = unsafe { run.run(|error| self.abort_block(error)) };
        if let Some((pace, begun)) = begun {
            let name = self.table.kernel_name(kernel);
            pace.spin((record.seq, index), name, begun, || self.table.stopped());
        }
        self.probe.end(self.core);
        line.add_block();
        if let Err(error) = result {
            self.note_failure(task, record, index, kernel, error.0);
        }
    }

    /// One block, ready to run.
    ///
    /// # Safety
    /// The caller holds the task.
    #[inline(always)]
    pub(crate) unsafe fn block<'a>(
        &'a self,
        record: &TaskRecord,
        lane: usize,
        block: u32,
    ) -> BlockRun<'a, M> {
        BlockRun {
            kernel: self.table.kernels.get(record.kernels[lane] as u32).expect("interned before the submit"),
            // SAFETY: the caller holds the task.
            words: unsafe { self.table.words(record) },
            // SAFETY: as above.
            memory: unsafe { self.run_memory() },
            mixed: record.lanes() > 1,
            skip: if lane == 0 { 0 } else { self.args_before(record, lane) },
            block: BlockIndex(block),
            blocks: record.blocks,
            has_outputs: record.flags.has_outputs(),
        }
    }

    /// The chip's memory, by the spaces of the run.
    ///
    /// # Safety
    /// The caller holds a task.
    #[inline(always)]
    unsafe fn run_memory(&self) -> RunMemory<'_, M> {
        // SAFETY: the caller's promise.
        RunMemory { memory: self.memory, spaces: unsafe { self.table.spaces() } }
    }

    /// Ends the run because the chip's memory fails. The block that met it fails with the same words.
    #[cold]
    pub(crate) fn abort_block(&self, why: Error) -> KernelError {
        let error = KernelError::new(why.detail());
        self.table.abort_run(why);
        error
    }

    /// Whether the blocks of a task must not run.
    #[inline]
    pub(crate) fn skips(&self, task: SlotIndex, record: &TaskRecord) -> bool {
        let skipped = self.table.slots[task.0 as usize].fate() & SKIPPED != 0;
        skipped || self.table.stopped() || self.reads_poison(record)
    }

    /// The task as a probe sees it. Called only for a task that the core holds.
    #[inline]
    pub(crate) fn observed<'a>(&'a self, slot: SlotIndex, record: &'a TaskRecord) -> ObservedTask<'a> {
        // SAFETY: the core holds the task.
        ObservedTask { slot, task: unsafe { self.table.held(record) }, memory: Some(&self.memory) }
    }

    /// Which kernel, and which of its blocks, a block of a task is.
    #[inline]
    pub(crate) fn lane_of(&self, record: &TaskRecord, index: u32) -> (usize, u32) {
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

    /// Keeps the first failure of the run: by submission, then by block, whichever happens to run first.
    #[cold]
    pub(crate) fn note_failure(
        &self,
        task: SlotIndex,
        record: &TaskRecord,
        block: u32,
        kernel: u16,
        cause: String,
    ) {
        self.table.slots[task.0 as usize].mark(FAILED);
        let mut first = self.table.failure.lock().expect("no panic while a failure is noted");
        let earlier = first.as_ref().is_none_or(|f| (record.seq, block) < (f.record.seq, f.block));
        if earlier {
            // SAFETY: called only for a task that the core holds.
            let label = unsafe { self.table.annotations(record) }.label().map(str::to_string);
            *first = Some(FirstFailure { record: *record, block, kernel, label, cause });
        }
    }

    /// Completes a task: settles the fate of its bytes, then releases its successors.
    ///
    /// # Safety
    /// The caller holds the task, all its blocks are finished, and this is done once.
    #[inline(always)]
    pub unsafe fn complete(&self, task: SlotIndex, record: &TaskRecord, mut ready: impl FnMut(SlotIndex)) {
        let slot = &self.table.slots[task.0 as usize];
        if record.flags.has_inits() && record.total_blocks() == 0 {
            // SAFETY: the caller holds the task, which has no blocks.
            unsafe { self.initialize(task) };
        }
        let fate = slot.fate();
        if fate != 0 || self.table.poison.any() {
            // SAFETY: the caller holds the task.
            unsafe { self.settle(record, fate) };
        }
        if P::WATCHES_CORES && fate & SKIPPED == 0 {
            self.probe.complete(self.core, &self.observed(task, record));
        }
        let sees = self.probe.sees_times();
        let became_ready = if sees { slot.floor() } else { 0 };
        let ended = sees.then(|| self.probe.ended(self.core, record).0.min(FLOOR_MAX));
        let (slots, edges) = (&self.table.slots, &self.table.edges);
        // A closure for each, so that each is inlined.
        let fanout = match self.threading {
            // SAFETY: the caller completes the task, once.
            Threading::Multi => unsafe {
                slot.close(slots, edges, fate, ended, |task, floor| self.publish(task, floor, &mut ready))
            },
            // SAFETY: as above, and nobody else runs tasks.
            Threading::Single => unsafe {
                slot.close_alone(slots, edges, fate, ended, |task, floor| {
                    self.publish(task, floor, &mut ready);
                })
            },
        };
        self.table.board.core(self.core.0).set_idle();
        if sees {
            self.probe.done(self.core, record, Ticks(became_ready));
        }
        self.probe.finish(self.core);
        if self.table.captured.is_some() {
            slot.rearm(fanout, record.total_blocks());
        }
        self.table.done[task.0 as usize].set(record.tag);
    }

    /// Hands on a task that became ready, not before `floor`.
    #[inline(always)]
    fn publish(&self, task: SlotIndex, floor: u64, ready: &mut impl FnMut(SlotIndex)) {
        note_ready(self.probe, self.core, &self.table.slots[task.0 as usize], floor);
        ready(task);
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

    /// Settles a task that was run in submission order, with nothing counted: a failed or skipped one skips those that follow
    /// it explicitly. Its slot is as before the replay afterwards.
    ///
    /// # Safety
    /// As for `complete`; nobody else runs tasks.
    #[cold]
    pub(crate) unsafe fn settle_in_order(&self, task: SlotIndex, record: &TaskRecord) {
        let slot = &self.table.slots[task.0 as usize];
        let fate = slot.fate();
        // SAFETY: the caller's promise.
        unsafe { self.settle(record, fate) };
        if fate != 0 {
            let successors =
                slot.successors(&self.table.edges).filter(|(_, kind)| *kind == EdgeKind::Explicit);
            successors.for_each(|(successor, _)| self.table.slots[successor.0 as usize].mark(SKIPPED));
            slot.forget_fate(record.total_blocks());
        }
    }

    /// Zeroes a tensor that a skipped task would have made: a task that writes a part of it finds the same bytes in every
    /// run.
    ///
    /// # Safety
    /// As for `complete`; the record is one of the task's outputs.
    #[cold]
    unsafe fn zero(&self, record: &TensorRecord<'_>) {
        // SAFETY: the caller holds a task.
        let memory = unsafe { self.run_memory() };
        record.view().for_each_run(|start, bytes| {
            // SAFETY: the tensor is inside its space, and only the caller's task touches it before it is complete.
            if let Err(error) = unsafe { memory.zero(record.space, start, bytes) } {
                self.table.abort_run(error);
            }
        });
    }
}

/// The error for the first task that failed, if one did.
pub(crate) fn task_failure(table: &Table) -> Option<crate::Error> {
    let first = table.failure.lock().expect("no panic while a failure is noted").clone()?;
    let totals = table.board.totals();
    Some(
        Fault::TaskFailed(TaskFailure {
            task: task_id(&first.record),
            kernel: table.kernel_name(first.kernel).to_string(),
            label: first.label,
            site: table.site(first.record.site),
            scope_site: table.site(first.record.scope_site),
            cause: first.cause,
            failed: totals.failed.max(1),
            skipped: totals.skipped,
        })
        .into(),
    )
}
