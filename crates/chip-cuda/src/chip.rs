//! What the engine asks of the chip while it runs.
//!
//! Tasks go to the device in batches, in submission order: the device resolves the dependencies inside a batch, and batches follow
//! one another. While a batch runs, the submitter prepares the next one. When a batch has ended, its tasks are *settled*: completed
//! in the engine's table in the order in which they ended, at the times at which they ended.
//!
//! ```text
//! submit ──▶ pending ──launch──▶ running on the device ──wait──▶ settled: completed in the table
//!              └── one at a time, once a task has failed or where values are captured
//! ```
//! A block that fails halts the device. What did not run then is run one task at a time, in submission order, by the rules of the
//! engine: a task that reads what a failed one would have written is skipped.

use std::collections::{HashMap, VecDeque};

use ringlane_engine::Result;
use ringlane_engine::api::buffers::Permission;
use ringlane_engine::api::kernel::KernelError;
use ringlane_engine::completion::Executor;
use ringlane_engine::memory::{Memory as EngineMemory, Space};
use ringlane_engine::observe::PlacedBlock;
use ringlane_engine::seams::{Chip, Probe, Threading};
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::Table;
use ringlane_task::{CoreId, Ticks};

use crate::batch::{Batch, BatchTask, Laid};
use crate::clock::CudaClock;
use crate::device::{Address, Answer, Device, bytes_of};
use crate::entry::Times;
use crate::launcher::{Launcher, Memory, Outcome, Timing, Uploaded};
use crate::memory::{Copies, DeviceMemory};
use crate::runtime::Shared;

/// Tasks of a batch: enough that the launch costs little for each, and few enough that the first batch begins soon.
const BATCH_TASKS: usize = 1024;

/// A task that is not on the device yet.
struct Pending {
    slot: SlotIndex,
    predecessors: Vec<SlotIndex>,
}

/// Tasks on the device.
pub(crate) struct Sent {
    /// By number in the batch; none where memory is initialized.
    pub(crate) tasks: Vec<Option<(SlotIndex, TaskRecord)>>,
    pub(crate) laid: Laid,
    pub(crate) lists: Uploaded,
}

/// The chip during one run, as the engine's submitter sees it.
pub(crate) struct CudaChip<'t, P> {
    pub(crate) table: &'t Table,
    pub(crate) probe: &'t P,
    pub(crate) launcher: &'t mut Launcher,
    pub(crate) device: &'t dyn Device,
    copies: &'t Copies,
    pub(crate) clock: CudaClock,
    pub(crate) externals: Vec<Memory>,
    pub(crate) spaces: Option<Memory>,
    pending: VecDeque<Pending>,
    /// The batch that the device runs, and when it was launched.
    running: Option<(Sent, u64)>,
    /// Whether tasks run one at a time.
    alone: bool,
}

impl<'t, P: Probe> CudaChip<'t, P> {
    pub(crate) fn new(
        table: &'t Table,
        probe: &'t P,
        launcher: &'t mut Launcher,
        shared: &'t Shared,
    ) -> Self {
        CudaChip {
            table,
            probe,
            launcher,
            device: &*shared.device,
            copies: &shared.copies,
            clock: shared.clock.clone(),
            externals: Vec::new(),
            spaces: None,
            pending: VecDeque::new(),
            running: None,
            alone: P::WATCHES_CORES && probe.sees_values(),
        }
    }

    pub(crate) fn executor(&self, core: u32) -> Executor<'t, P, DeviceMemory<'t>> {
        let (table, probe) = (self.table, self.probe);
        let memory = self.device_memory();
        Executor { table, probe, core: CoreId(core), threading: Threading::Single, memory }
    }

    fn device_memory(&self) -> DeviceMemory<'t> {
        DeviceMemory { device: self.device, copies: self.copies }
    }

    /// Whether tasks run one at a time.
    pub(crate) fn runs_alone(&self) -> bool {
        self.alone || self.table.stopped()
    }

    pub(crate) fn timing(&self) -> Timing {
        if P::WATCHES_CORES { Timing::On } else { Timing::Off }
    }

    fn add(&mut self, slot: SlotIndex, predecessor: Option<SlotIndex>) {
        if self.pending.back().is_none_or(|last| last.slot != slot) {
            self.pending.push_back(Pending { slot, predecessors: Vec::new() });
        }
        let last = self.pending.back_mut().expect("just added");
        last.predecessors.extend(predecessor);
    }

    /// Where the spaces of the run begin, on the device.
    pub(crate) fn spaces(&mut self) -> Answer<Address> {
        if self.spaces.is_none() {
            let executor = self.executor(0);
            // SAFETY: a task exists.
            let bases: Vec<u64> = unsafe { executor.space_bases() }.map(|base| base as u64).collect();
            let memory = self.launcher.reserve(size_of_val(&bases[..]) as u64)?;
            // SAFETY: it is new, and as large.
            unsafe { self.device.copy_in(bytes_of(&bases), memory.at) }?;
            self.spaces = Some(memory);
        }
        Ok(self.spaces.as_ref().expect("just set").at)
    }

    /// Ends the run: what is pending is skipped.
    pub(crate) fn abort(&mut self, error: impl Into<ringlane_engine::Error>) {
        self.table.abort_run(error);
        self.alone = true;
    }

    /// Settles the running batch, and starts the next one.
    fn advance(&mut self) {
        self.settle();
        if self.runs_alone() {
            while let Some(task) = self.pending.pop_front() {
                self.run_alone(task.slot);
            }
        } else if let Err(error) = self.launch() {
            self.abort(error);
        }
    }

    /// Sends the pending tasks to the device.
    fn launch(&mut self) -> Answer<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let spaces = self.spaces()?;
        let executor = self.executor(0);
        let mut batch = Batch::new(self.device.blocks());
        let (mut tasks, mut numbers) = (Vec::new(), HashMap::new());
        for task in &self.pending {
            // SAFETY: the submitter, whose tasks stay until they are settled.
            let record = unsafe { executor.record(task.slot) };
            let known = |before: &SlotIndex| numbers.get(before).copied();
            let mut predecessors: Vec<u32> = task.predecessors.iter().filter_map(known).collect();
            predecessors.sort_unstable();
            predecessors.dedup();
            push(&mut batch, self.launcher, &executor, &record, &predecessors)?;
            numbers.insert(task.slot, tasks.len() as u32);
            tasks.push(Some((task.slot, record)));
        }
        let laid = batch.lay();
        let lists = self.launcher.upload(&laid)?;
        let launched = self.clock.present();
        // SAFETY: the spaces stay until the run has ended, and what tasks name in them until they are settled. Conflicting
        // tasks are ordered: by flags in the batch, by their batches otherwise.
        unsafe { self.launcher.start(&lists, spaces, self.timing()) }?;
        self.pending.clear();
        self.running = Some((Sent { tasks, laid, lists }, launched));
        Ok(())
    }

    /// Waits for the running batch, and completes its tasks.
    fn settle(&mut self) {
        let Some((sent, launched)) = self.running.take() else { return };
        let timing = self.timing();
        let outcome = self.launcher.finish(&sent.lists, timing);
        self.settle_outcome(&sent, outcome, launched);
    }

    /// Completes tasks that ran on the device.
    pub(crate) fn settle_outcome(&mut self, sent: &Sent, outcome: Answer<Outcome>, launched: u64) {
        match outcome {
            Ok(outcome) if outcome.failed.is_empty() => self.settle_all(sent, &outcome, launched),
            Ok(outcome) => self.settle_failed(sent, &outcome, launched),
            Err(error) => {
                self.abort(error);
                sent.tasks.iter().flatten().for_each(|&(slot, _)| self.run_alone(slot));
            }
        }
        self.clock.show_present();
    }

    /// Every task ended well.
    fn settle_all(&mut self, sent: &Sent, outcome: &Outcome, launched: u64) {
        let mut order: Vec<u32> = (0..sent.tasks.len() as u32).collect();
        let ended = |task: u32| {
            let entries = &sent.laid.entry_of[task as usize];
            entries.iter().map(|&entry| outcome.times[entry as usize].end).max().unwrap_or(0)
        };
        if !outcome.times.is_empty() {
            // What a task follows ended before it began.
            order.sort_by_key(|&task| ended(task));
        }
        for task in order {
            self.settle_task(sent, outcome, task, launched);
        }
    }

    /// Some block failed: what ended is completed, what failed fails, the others run now, in submission order.
    fn settle_failed(&mut self, sent: &Sent, outcome: &Outcome, launched: u64) {
        self.alone = true;
        for task in 0..sent.tasks.len() as u32 {
            let Some((slot, record)) = sent.tasks[task as usize] else { continue };
            let entries = &sent.laid.entry_of[task as usize];
            let ended = |&entry: &u32| outcome.times[entry as usize].ended == outcome.epoch;
            let failed = outcome.failed.iter().any(|block| block.task == task);
            if failed || entries.iter().all(ended) {
                self.settle_task(sent, outcome, task, launched);
            } else if !entries.iter().any(ended) {
                self.run_alone(slot);
            } else {
                let missing = (0..entries.len() as u32).filter(|&index| !ended(&entries[index as usize]));
                let missing: Vec<u32> = missing.collect();
                self.run_blocks_alone(slot, &record, &missing);
            }
        }
    }

    /// Completes a task whose blocks ran on the device. Blocks that neither ended nor failed did not run because another one
    /// of their task failed.
    fn settle_task(&mut self, sent: &Sent, outcome: &Outcome, task: u32, launched: u64) {
        let Some((slot, record)) = sent.tasks[task as usize] else { return };
        // The device did that, and tasks that follow may have written the memory since.
        let record = TaskRecord { flags: record.flags.initialized(), ..record };
        let executor = self.executor(0);
        let entries = &sent.laid.entry_of[task as usize];
        for index in 0..record.total_blocks() {
            let failure = outcome.failed.iter().find(|block| block.task == task && block.index == index);
            let times = outcome.times.get(entries[index as usize] as usize);
            let ended = || times.is_some_and(|times| times.ended == outcome.epoch);
            if outcome.failed.is_empty() || failure.is_some() || ended() {
                let result = failure.map_or(Ok(()), |block| Err(KernelError::new(&block.text)));
                executor.end_block(slot, &record, index, result);
                if let Some(times) = times {
                    self.show(&record, index, times, launched);
                }
            }
            executor.finish_block(slot);
        }
        // SAFETY: the task ran, and is completed once. What follows it is in a batch, or will be.
        unsafe { executor.complete(slot, &record, |_| {}) };
    }

    /// Shows a block to the probe, and when it ended on the clock.
    fn show(&self, record: &TaskRecord, index: u32, times: &Times, launched: u64) {
        if !P::WATCHES_CORES {
            return;
        }
        let present = self.clock.present();
        let ahead = self.launcher.clock_ahead();
        let on_host = |time: u64| ((time as i64 - ahead).max(0) as u64).clamp(launched, present);
        let (start, end) = (on_host(times.start), on_host(times.end));
        let core = times.processor % self.device.blocks();
        let (kernel, lane, block) = self.executor(0).place_of(record, index);
        self.clock.show(end);
        self.probe.block(&PlacedBlock {
            core: CoreId(core),
            thread: core,
            record,
            kernel,
            lane,
            block,
            dispatch: Ticks(start),
            start: Ticks(start),
            end: Ticks(end),
            finish: Ticks(end),
            counters: &[times.cycles, end - start, u64::from(times.processor)],
            work: None,
        });
    }

    /// Runs one task whose predecessors are complete, by the rules for tasks after a failure.
    pub(crate) fn run_alone(&mut self, slot: SlotIndex) {
        let executor = self.executor(0);
        // SAFETY: everything that it follows is complete, and nobody else runs it.
        let record = unsafe { executor.record(slot) };
        // SAFETY: as above; called once.
        if unsafe { executor.open(slot, &record) } {
            let all: Vec<u32> = (0..record.total_blocks()).collect();
            return self.run_blocks_alone(slot, &record, &all);
        }
        // SAFETY: it is marked as skipped.
        unsafe { executor.complete(slot, &record, |_| {}) };
    }

    /// Runs the missing blocks of a task, and completes it.
    fn run_blocks_alone(&mut self, slot: SlotIndex, record: &TaskRecord, missing: &[u32]) {
        let executor = self.executor(0);
        let result = self.launch_blocks(record, missing);
        if let Err(error) = &result {
            self.table.abort_run(error.clone());
        }
        for index in 0..record.total_blocks() {
            let failure = result.as_ref().ok().and_then(|(_, outcome, _)| {
                outcome.failed.iter().find(|block| missing.get(block.index as usize) == Some(&index))
            });
            let result_of = match (&result, failure) {
                (Err(error), _) => Err(KernelError::new(error)),
                (_, Some(block)) => Err(KernelError::new(&block.text)),
                _ => Ok(()),
            };
            executor.end_block(slot, record, index, result_of);
            if let Ok((laid, outcome, launched)) = &result
                && let Some(place) = missing.iter().position(|&one| one == index)
                && let Some(times) = outcome.times.get(laid.entry_of[0][place] as usize)
                && times.end != 0
            {
                self.show(record, index, times, *launched);
            }
            executor.finish_block(slot);
        }
        self.clock.show_present();
        // SAFETY: all its blocks ran, and it is completed once.
        unsafe { executor.complete(slot, record, |_| {}) };
    }

    fn launch_blocks(&mut self, record: &TaskRecord, blocks: &[u32]) -> Answer<(Laid, Outcome, u64)> {
        let spaces = self.spaces()?;
        let executor = self.executor(0);
        let mut batch = Batch::new(self.device.blocks());
        let mut encoded = Vec::with_capacity(blocks.len());
        for &index in blocks {
            // SAFETY: the caller holds the task.
            let block = unsafe { executor.encoded(record, index) };
            encoded.push((self.launcher.number_of(block.kernel)?, block));
        }
        batch.push(&BatchTask { predecessors: &[], makes_outputs: record.flags.has_outputs() }, &encoded);
        let laid = batch.lay();
        let lists = self.launcher.upload(&laid)?;
        let (launched, timing) = (self.clock.present(), self.timing());
        // SAFETY: nothing else runs; the memory stays until the task is complete.
        unsafe { self.launcher.start(&lists, spaces, timing) }?;
        let outcome = self.launcher.finish(&lists, timing)?;
        Ok((laid, outcome, launched))
    }
}

/// Adds a task of the table to a batch.
pub(crate) fn push<P: Probe>(
    batch: &mut Batch,
    launcher: &mut Launcher,
    executor: &Executor<'_, P, DeviceMemory<'_>>,
    record: &TaskRecord,
    predecessors: &[u32],
) -> Answer<()> {
    let mut blocks = Vec::with_capacity(record.total_blocks() as usize);
    for index in 0..record.total_blocks() {
        // SAFETY: the submitter's own task, whose records stay until it is settled.
        let block = unsafe { executor.encoded(record, index) };
        blocks.push((launcher.number_of(block.kernel)?, block));
    }
    batch.push(&BatchTask { predecessors, makes_outputs: record.flags.has_outputs() }, &blocks);
    Ok(())
}

impl<'t, P: Probe> Chip for CudaChip<'t, P> {
    // So that it hears which tasks a task follows.
    const TIMED: bool = true;

    fn memory(&self) -> impl EngineMemory {
        self.device_memory()
    }

    fn external(&mut self, host: Space, _permission: Permission) -> Result<Space> {
        let memory = self.launcher.reserve(host.bytes)?;
        let space = Space { base: memory.at as *mut u8, bytes: host.bytes };
        self.externals.push(memory);
        Ok(space)
    }

    fn publish(&mut self, task: SlotIndex) {
        self.add(task, None);
    }

    fn wired(&mut self, predecessor: SlotIndex, successor: SlotIndex) {
        self.add(successor, Some(predecessor));
    }

    fn submitted(&mut self, _outstanding: u64) {
        if self.pending.len() >= BATCH_TASKS {
            self.advance();
        }
    }

    fn relax(&mut self) {
        self.advance();
    }

    fn now(&self) -> Ticks {
        Ticks(self.clock.present())
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}
