//! Tasks whose blocks run apart from any batch: one at a time, in submission order.
//!
//! Once a block has failed, everything that did not run on the device runs here, by the rules of the engine. So do all tasks while
//! values are captured. The other blocks of a failed task run as well, as on every chip: which of them the device had begun is chance.

use ringlane_engine::api::kernel::KernelError;
use ringlane_engine::seams::Probe;
use ringlane_engine::slot::{SlotIndex, TaskRecord};

use crate::batch::{Batch, BatchTask};
use crate::chip::{CudaChip, Sent};
use crate::device::Answer;
use crate::entry::Times;
use crate::error::DeviceError;
use crate::launcher::Outcome;
use crate::lists::Upload;

/// What became of a block.
struct BlockEnd {
    result: Result<(), KernelError>,
    /// When it ran, and when it was launched.
    times: Option<(Times, u64)>,
}

/// Blocks of one task that were launched.
pub(crate) struct LaunchedBlocks<'a> {
    pub(crate) sent: &'a Sent,
    pub(crate) outcome: &'a Outcome,
    /// The task's number in its batch.
    pub(crate) task: u32,
    pub(crate) launched: u64,
}

impl LaunchedBlocks<'_> {
    /// What became of the blocks, in the order in which they were added; none for one that neither ended nor failed.
    fn ends(&self) -> impl Iterator<Item = Option<BlockEnd>> {
        (0u32..).zip(self.sent.batch.places_of(self.task)).map(|(index, place)| {
            let failure =
                self.outcome.failed.iter().find(|block| (block.task, block.index) == (self.task, index));
            let result = match failure {
                Some(block) => Err(KernelError::new(&block.text)),
                None if self.outcome.ended(&self.sent.lists, place) => Ok(()),
                None => return None,
            };
            let times = self.outcome.times.get(self.sent.lists.number_of(place) as usize);
            Some(BlockEnd { result, times: times.map(|&times| (times, self.launched)) })
        })
    }
}

impl<P: Probe> CudaChip<'_, P> {
    /// Runs one task whose predecessors are complete, by the rules for tasks after a failure.
    pub(crate) fn run_alone(&mut self, slot: SlotIndex) {
        let executor = self.executor(0);
        // SAFETY: everything that it follows is complete, and nobody else runs it.
        let record = unsafe { executor.record(slot) };
        // SAFETY: as above; called once.
        if unsafe { executor.open(slot, &record) } {
            return self.run_blocks(slot, &record, (0..record.total_blocks()).map(|_| None).collect());
        }
        // SAFETY: it is marked as skipped.
        unsafe { executor.complete(slot, &record, |_| {}) };
    }

    /// Runs the other blocks of a task of which some have run, and completes it.
    pub(crate) fn run_rest(&mut self, slot: SlotIndex, record: &TaskRecord, some: &LaunchedBlocks<'_>) {
        self.run_blocks(slot, record, some.ends().collect());
    }

    /// Runs the blocks of a task that have no end, and completes it.
    fn run_blocks(&mut self, slot: SlotIndex, record: &TaskRecord, mut ends: Vec<Option<BlockEnd>>) {
        if let Err(error) = self.run_missing(record, &mut ends) {
            let error = self.explained(error, |_| Some((slot, *record)));
            for end in ends.iter_mut().filter(|end| end.is_none()) {
                *end = Some(BlockEnd { result: Err(KernelError::new(&error)), times: None });
            }
            self.table.abort_run(error);
        }
        let executor = self.executor(0);
        for (index, end) in (0u32..).zip(ends) {
            let BlockEnd { result, times } = end.unwrap_or(BlockEnd { result: Ok(()), times: None });
            executor.end_block(slot, record, index, result);
            if let Some((times, launched)) = times {
                self.show(record, index, &times, launched);
            }
            executor.finish_block(slot);
        }
        self.clock.show_present();
        // SAFETY: all its blocks ran, and it is completed once.
        unsafe { executor.complete(slot, record, |_| {}) };
    }

    /// Runs the blocks that have no end, until all have one: a block that fails may keep others from running.
    fn run_missing(&mut self, record: &TaskRecord, ends: &mut [Option<BlockEnd>]) -> Answer<()> {
        loop {
            let missing: Vec<u32> =
                (0u32..).zip(&*ends).filter(|(_, end)| end.is_none()).map(|(i, _)| i).collect();
            if missing.is_empty() {
                return Ok(());
            }
            let (sent, outcome, launched) = self.launch_blocks(record, &missing)?;
            let some = LaunchedBlocks { sent: &sent, outcome: &outcome, task: 0, launched };
            for (&index, end) in missing.iter().zip(some.ends()) {
                ends[index as usize] = end;
            }
            if missing.iter().all(|&index| ends[index as usize].is_none()) {
                return Err(DeviceError::DeviceStalled { tasks: 1 });
            }
        }
    }

    fn launch_blocks(&mut self, record: &TaskRecord, blocks: &[u32]) -> Answer<(Sent, Outcome, u64)> {
        let spaces = self.spaces()?;
        let executor = self.executor(0);
        // SAFETY: the caller holds the task.
        unsafe { self.externals.note_writes(&executor, record) };
        let mut batch = Batch::new(self.device.blocks());
        let mut encoded = Vec::with_capacity(blocks.len());
        for &index in blocks {
            // SAFETY: the caller holds the task.
            let block = unsafe { executor.encoded(record, index) };
            encoded.push((self.launcher.number_of(block.kernel)?, block));
        }
        batch.push(&BatchTask { predecessors: &[], makes_outputs: record.flags.has_outputs() }, &encoded);
        let mut lists = self.launcher.upload(&batch, Upload::WithLaunch)?;
        let (launched, timing) = (self.clock.present(), self.timing());
        // SAFETY: nothing else runs; the memory stays until the task is complete.
        let started = unsafe { self.launcher.start(&mut lists, spaces, timing) };
        // The lists may still be on their way, from memory that is used again when they are dropped.
        let started = started.inspect_err(|_| drop(self.device.wait()))?;
        let outcome = self.launcher.finish(&lists, started, timing)?;
        Ok((Sent { tasks: Vec::new(), batch, lists }, outcome, launched))
    }
}
