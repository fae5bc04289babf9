//! Tasks on a chip that places their blocks itself: it decides where and when each block runs, and asks here for the rest.
//!
//! ```text
//! record ──▶ open ──▶ with_args, compute: once for each block ──▶ finish_block, true for the last ──▶ complete
//!             └─ not to run: complete at once
//! ```
//! A chip whose cores take their blocks themselves calls [`run`](Executor::run) instead, which does all of it. One whose cores
//! are elsewhere, in another process say, has the block's arguments from [`arguments`](Executor::arguments) and says with
//! [`begin_block`](Executor::begin_block) and [`end_block`](Executor::end_block) what it does with it, instead of `compute`.

use core::ops::Range;

use ringlane_task::{Access, DType, Dim, Scalar};

use crate::api::annotations::Annotations;
use crate::api::args::{Args, Record, TensorRecord, decode, tensor_records};
use crate::api::kernel::{Kernel, KernelResult};
use crate::completion::Executor;
use crate::limits::RINGS;
use crate::memory::Memory;
use crate::seams::Probe;
use crate::slot::{SKIPPED, SlotIndex, TaskRecord};
use crate::table::task_id;

impl<P: Probe, M: Memory + Copy> Executor<'_, P, M> {
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

    /// For a chip that places blocks itself: a block in words, for an error.
    pub fn describe(&self, record: &TaskRecord, index: u32) -> String {
        let (kernel, _, block) = self.place_of(record, index);
        let (kernel, site) = (self.table.kernel_name(kernel), self.table.site(record.site));
        format!(
            "block {block} of {} of task {} ({kernel}, submitted at {site})",
            record.blocks,
            task_id(record)
        )
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
        if record.flags.has_inits() {
            // SAFETY: the caller holds the task, and calls this once.
            unsafe { self.initialize(task) };
        }
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
        // SAFETY: as above; a cost model reads shapes and scalars only.
        f(run.kernel, &unsafe { run.args() })
    }

    /// For a chip that models time: the name and the duration that the task was given.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter, and uses them no longer than that.
    pub unsafe fn annotations(&self, record: &TaskRecord) -> Annotations<'_> {
        // SAFETY: the caller's promise.
        unsafe { self.table.annotations(record) }
    }

    /// For a chip that replays recorded times: counts a block whose values nobody needs, instead of computing it.
    #[inline]
    pub fn pass_block(&self) {
        self.table.board.core(self.core.0).add_block();
    }

    /// For a chip that runs a whole graph by itself: counts its blocks.
    pub fn pass_blocks(&self, blocks: u64) {
        self.table.board.core(self.core.0).add_blocks(blocks);
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
        let result = unsafe { self.block(record, lane, block).run(|error| self.abort_block(error)) };
        line.set_idle();
        line.add_block();
        if let Err(error) = result {
            self.note_failure(task, record, index, record.kernels[lane], error.0);
        }
    }

    /// For a chip whose cores are elsewhere: what a block is given, in order.
    ///
    /// # Safety
    /// The caller holds the task.
    pub unsafe fn arguments(&self, record: &TaskRecord, index: u32) -> Vec<BlockArgument> {
        let (lane, block) = self.lane_of(record, index);
        // SAFETY: the caller's promise.
        let run = unsafe { self.block(record, lane, block) };
        // SAFETY: as above; nothing is read or written through it here.
        let args = unsafe { run.args() };
        let (mut words, mut arguments) = (args.words(), Vec::new());
        while !words.is_empty() {
            let (argument, used) = decode(words);
            words = &words[used..];
            arguments.push(match argument {
                Record::Scalar(scalar) => BlockArgument::Scalar(scalar),
                Record::Tensor(tensor) => {
                    let part = args.part(&tensor);
                    let (dtype, access) = (tensor.dtype(), tensor.access());
                    let dims = part.dims[..part.rank].to_vec();
                    BlockArgument::Tensor { address: part.base, dtype, dims, access }
                }
            });
        }
        arguments
    }

    /// For a chip whose cores read argument records themselves: a block, as its task's records describe it.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter, and uses the records no longer than that.
    pub unsafe fn encoded(&self, record: &TaskRecord, index: u32) -> EncodedBlock<'_> {
        let (lane, block) = self.lane_of(record, index);
        // SAFETY: the caller's promise.
        let run = unsafe { self.block(record, lane, block) };
        EncodedBlock { kernel: run.kernel, words: run.own_words(), block, blocks: record.blocks }
    }

    /// For a chip whose cores are elsewhere: the external buffers that a task may write, by their numbers, and the bytes between
    /// the first and the last that it may write there.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter.
    pub unsafe fn external_writes(&self, record: &TaskRecord) -> impl Iterator<Item = (usize, Range<u64>)> {
        // SAFETY: the caller's promise.
        let words = unsafe { self.table.words(record) };
        let writes = |tensor: &TensorRecord<'_>| {
            tensor.access().writes() || tensor.access() == Access::NoDep && !tensor.is_read_only()
        };
        let external = |tensor: &TensorRecord<'_>| (tensor.space as usize).checked_sub(RINGS);
        tensor_records(words).filter(writes).filter_map(move |tensor| {
            let end = tensor.offset + tensor.view().span_bytes();
            external(&tensor).map(|number| (number, tensor.offset..end))
        })
    }

    /// For a chip whose cores are elsewhere: the addresses of the run's spaces, by number.
    ///
    /// # Safety
    /// The caller holds a task.
    pub unsafe fn space_bases(&self) -> impl Iterator<Item = *mut u8> {
        // SAFETY: the caller's promise.
        unsafe { self.table.spaces() }.0.iter().map(|space| space.base)
    }

    /// For a chip whose cores are elsewhere: the block is about to be given away. What it makes is zeroed; where that fails the
    /// run ends, and the block [ends](Self::end_block) with this error.
    ///
    /// # Safety
    /// The caller holds the task, [`open`](Self::open) said yes, and each block begins once.
    pub unsafe fn begin_block(&self, record: &TaskRecord, index: u32) -> KernelResult {
        let (lane, block) = self.lane_of(record, index);
        self.table.board.core(self.core.0).set_running(task_id(record), record.kernels[lane]);
        // SAFETY: the caller's promise; conflicting tasks are ordered as in `run_block`.
        let prepared = unsafe { self.block(record, lane, block).prepare() };
        prepared.map_err(|error| self.abort_block(error))
    }

    /// For a chip whose cores are elsewhere: the block has ended, like this.
    pub fn end_block(&self, task: SlotIndex, record: &TaskRecord, index: u32, result: KernelResult) {
        let (lane, _) = self.lane_of(record, index);
        let line = self.table.board.core(self.core.0);
        line.set_idle();
        line.add_block();
        if let Err(error) = result {
            self.note_failure(task, record, index, record.kernels[lane], error.0);
        }
    }
}

/// One block, for a chip whose cores read argument records themselves.
#[derive(Clone, Copy, Debug)]
pub struct EncodedBlock<'a> {
    /// Its kernel.
    pub kernel: &'static Kernel,
    /// The records of its kernel's arguments: see `api/args.rs`.
    pub words: &'a [u64],
    /// Which block of its kernel.
    pub block: u32,
    /// Number of blocks of each kernel.
    pub blocks: u32,
}

/// An argument of one block, for a chip that runs it elsewhere.
#[derive(Clone, Debug)]
pub enum BlockArgument {
    /// A tensor, or the block's part of one.
    Tensor {
        /// Its first byte in the chip's memory.
        address: *mut u8,
        /// The type of its elements.
        dtype: DType,
        /// Its dimensions; one of them may be empty.
        dims: Vec<Dim>,
        /// What the task does to it.
        access: Access,
    },
    /// A value.
    Scalar(Scalar),
}
