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

use core::ops::Range;
use std::collections::VecDeque;

use ringlane_engine::Result;
use ringlane_engine::api::kernel::KernelError;
use ringlane_engine::completion::Executor;
use ringlane_engine::lists::{BATCHES_MAX, is_worth_a_launch};
use ringlane_engine::memory::{Memory as EngineMemory, Space};
use ringlane_engine::observe::PlacedBlock;
use ringlane_engine::seams::{Chip, External, Probe, Threading};
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::Table;
use ringlane_task::{CoreId, Ticks};

use crate::alone::LaunchedBlocks;
use crate::batch::Batch;
use crate::clock::CudaClock;
use crate::device::{Address, Answer, Device};
use crate::encode::push;
use crate::entry::Times;
use crate::error::DeviceError;
use crate::externals::Externals;
use crate::launcher::{Launcher, Outcome, Started, Timing};
use crate::launches::{Launches, NotedLaunch};
use crate::lists::{Lists, Upload};
use crate::memory::{Copies, DeviceMemory};
use crate::pending::{Numbers, Pending};
use crate::runtime::Shared;

/// Tasks on the device.
pub(crate) struct Sent {
    /// By number in the batch; none where memory is initialized.
    pub(crate) tasks: Vec<Option<(SlotIndex, TaskRecord)>>,
    pub(crate) batch: Batch,
    pub(crate) lists: Lists,
}

/// A batch that was launched, and when.
struct Launched {
    sent: Sent,
    started: Started,
    at: u64,
    noted: NotedLaunch,
}

/// What the next batch is made in: memory of one that was settled.
type Spare = (Vec<Option<(SlotIndex, TaskRecord)>>, Batch);

/// The chip during one run, as the engine's submitter sees it.
pub(crate) struct CudaChip<'t, P> {
    pub(crate) table: &'t Table,
    pub(crate) probe: &'t P,
    pub(crate) launcher: &'t mut Launcher,
    pub(crate) device: &'t dyn Device,
    copies: &'t Copies,
    pub(crate) launches: &'t Launches,
    pub(crate) clock: CudaClock,
    pub(crate) externals: &'t mut Externals,
    spaces: Option<Address>,
    pending: Pending,
    numbers: Numbers,
    /// The batches on the device, the first one first.
    running: VecDeque<Launched>,
    spare: Vec<Spare>,
    /// Whether tasks run one at a time.
    alone: bool,
}

impl<'t, P: Probe> CudaChip<'t, P> {
    pub(crate) fn new(
        table: &'t Table,
        probe: &'t P,
        launcher: &'t mut Launcher,
        externals: &'t mut Externals,
        shared: &'t Shared,
    ) -> Self {
        CudaChip {
            table,
            probe,
            launcher,
            device: &*shared.device,
            copies: &shared.copies,
            launches: &shared.launches,
            clock: shared.clock.clone(),
            externals,
            spaces: None,
            pending: Pending::default(),
            numbers: Numbers::default(),
            running: VecDeque::new(),
            spare: Vec::new(),
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

    /// Where the spaces of the run begin, on the device.
    pub(crate) fn spaces(&mut self) -> Answer<Address> {
        if self.spaces.is_none() {
            let executor = self.executor(0);
            // SAFETY: a task exists.
            let bases: Vec<u64> = unsafe { executor.space_bases() }.map(|base| base as u64).collect();
            self.spaces = Some(self.launcher.spaces(bases)?);
        }
        Ok(self.spaces.expect("just set"))
    }

    /// Ends the run: what is pending is skipped.
    pub(crate) fn abort(&mut self, error: impl Into<ringlane_engine::Error>) {
        self.table.abort_run(error);
        self.alone = true;
    }

    /// Settles what has ended, and launches what is worth a launch; waits for nothing.
    fn poll(&mut self) {
        while self.running.front().is_some_and(|first| self.launcher.has_ended(first.started)) {
            self.settle();
        }
        if is_worth_a_launch(self.pending.len(), self.running.len()) {
            self.send();
        }
    }

    /// The submitter waits: launches what is pending, or waits for the first batch.
    fn advance(&mut self) {
        if self.pending.is_empty() || self.running.len() == BATCHES_MAX {
            self.settle();
        }
        self.send();
    }

    /// Sends the pending tasks to the device, or runs them one at a time.
    fn send(&mut self) {
        if self.runs_alone() {
            while !self.running.is_empty() {
                self.settle();
            }
            let pending = core::mem::take(&mut self.pending);
            pending.slots().for_each(|slot| self.run_alone(slot));
        } else if let Err(error) = self.launch() {
            self.abort(error);
        }
    }

    /// Sends the pending tasks to the device.
    fn launch(&mut self) -> Answer<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let begun = self.clock.present();
        let spaces = self.spaces()?;
        let executor = self.executor(0);
        let new = || (Vec::new(), Batch::new(self.device.blocks()));
        let (mut tasks, mut batch) = self.spare.pop().unwrap_or_else(new);
        self.numbers.begin(self.table.slot_count());
        let mut predecessors = Vec::new();
        for (slot, before) in self.pending.tasks() {
            // SAFETY: the submitter, whose tasks stay until they are settled.
            let record = unsafe { executor.record(slot) };
            predecessors.clear();
            predecessors.extend(before.iter().filter_map(|&before| self.numbers.get(before)));
            // SAFETY: as above.
            unsafe { self.externals.note_writes(&executor, &record) };
            push(&mut batch, self.launcher, &executor, &record, &predecessors)?;
            self.numbers.set(slot, tasks.len() as u32);
            tasks.push(Some((slot, record)));
        }
        if self.launcher.needs_another_program() {
            // Nothing may run while it is loaded.
            while !self.running.is_empty() {
                self.settle();
            }
            if self.runs_alone() {
                self.send();
                return Ok(());
            }
        }
        let mut lists = self.launcher.upload(&batch, Upload::WithLaunch)?;
        let at = self.clock.present();
        let timing = self.timing();
        // SAFETY: the spaces stay until the run has ended, and what tasks name in them until they are settled. Conflicting
        // tasks are ordered: by flags in the batch, by their batches otherwise.
        let started = unsafe { self.launcher.start(&mut lists, spaces, timing) };
        // The lists may still be on their way, from memory that is used again when they are dropped.
        let started = started.inspect_err(|_| drop(self.device.wait()))?;
        self.pending.clear();
        let noted = self.launches.launched(tasks.len(), begun, self.clock.present());
        self.running.push_back(Launched { sent: Sent { tasks, batch, lists }, started, at, noted });
        Ok(())
    }

    /// Waits for the first batch, and completes its tasks.
    fn settle(&mut self) {
        let Some(first) = self.running.pop_front() else { return };
        let waits_from = self.clock.present();
        let outcome = self.finish(&first);
        let mut ended = vec![(first, outcome)];
        if !matches!(&ended[0].1, Ok(outcome) if !outcome.is_halted()) {
            // A failure halts those that follow too. Nothing is run alone while one of them is on the device.
            while let Some(next) = self.running.pop_front() {
                let outcome = self.finish(&next);
                ended.push((next, outcome));
            }
        }
        for (Launched { mut sent, at, noted, .. }, outcome) in ended {
            self.settle_outcome(&sent, outcome, at);
            self.launches.settled(noted, waits_from, self.clock.present());
            sent.tasks.clear();
            sent.batch.clear();
            self.spare.push((sent.tasks, sent.batch));
        }
    }

    fn finish(&mut self, launched: &Launched) -> Answer<Outcome> {
        let timing = self.timing();
        self.launcher.finish(&launched.sent.lists, launched.started, timing)
    }

    /// Completes tasks that ran on the device.
    pub(crate) fn settle_outcome(&mut self, sent: &Sent, outcome: Answer<Outcome>, launched: u64) {
        match outcome {
            Ok(outcome) if outcome.is_halted() => self.settle_halted(sent, &outcome, launched),
            Ok(outcome) if outcome.times.is_empty() => self.settle_untimed(sent),
            Ok(outcome) => self.settle_all(sent, &outcome, launched),
            Err(error) => {
                let error = self.explained(error, |task| sent.tasks.get(task as usize).copied().flatten());
                self.abort(error);
                sent.tasks.iter().flatten().for_each(|&(slot, _)| self.run_alone(slot));
            }
        }
        self.clock.show_present();
    }

    /// An error of a device that stopped, with the names of what ran there.
    pub(crate) fn explained(
        &mut self,
        error: DeviceError,
        task: impl Fn(u32) -> Option<(SlotIndex, TaskRecord)>,
    ) -> DeviceError {
        let executor = self.executor(0);
        let suspects = self.launcher.take_suspects();
        let named = suspects
            .iter()
            .filter_map(|&(number, index)| task(number).map(|(_, record)| executor.describe(&record, index)));
        error.running(named.collect())
    }

    /// Every task ended well, and nobody asks when.
    fn settle_untimed(&mut self, sent: &Sent) {
        let executor = self.executor(0);
        let mut blocks = 0;
        for (slot, record) in sent.tasks.iter().flatten() {
            blocks += u64::from(record.total_blocks());
            // The device did that, and tasks that follow may have written the memory since.
            let record = TaskRecord { flags: record.flags.initialized(), ..*record };
            // SAFETY: the task ran, and is completed once. What follows it is in a batch, or will be.
            unsafe { executor.complete(*slot, &record, |_| {}) };
        }
        executor.pass_blocks(blocks);
    }

    /// Every task ended well.
    fn settle_all(&mut self, sent: &Sent, outcome: &Outcome, launched: u64) {
        let ended = |&task: &u32| {
            let times = |place| outcome.times[sent.lists.number_of(place) as usize].end;
            sent.batch.places_of(task).map(times).max().unwrap_or(0)
        };
        // What a task follows ended before it began.
        let mut order: Vec<u32> = (0..sent.tasks.len() as u32).collect();
        order.sort_by_cached_key(ended);
        for task in order {
            self.settle_task(sent, outcome, task, launched);
        }
    }

    /// Some block failed, in this batch or in one before it: what ended is completed, what failed fails, the others run now, in
    /// submission order.
    fn settle_halted(&mut self, sent: &Sent, outcome: &Outcome, launched: u64) {
        self.alone = true;
        for task in 0..sent.tasks.len() as u32 {
            let Some((slot, record)) = sent.tasks[task as usize] else { continue };
            let failed =
                |index| outcome.failed.iter().any(|block| (block.task, block.index) == (task, index));
            let is_through = |(index, place)| failed(index) || outcome.ended(&sent.lists, place);
            let mut blocks = (0u32..).zip(sent.batch.places_of(task)).map(is_through);
            match (blocks.clone().any(|through| through), blocks.all(|through| through)) {
                (_, true) => self.settle_task(sent, outcome, task, launched),
                (false, _) => self.run_alone(slot),
                _ => self.run_rest(slot, &record, &LaunchedBlocks { sent, outcome, task, launched }),
            }
        }
    }

    /// Completes a task all of whose blocks ran on the device.
    fn settle_task(&mut self, sent: &Sent, outcome: &Outcome, task: u32, launched: u64) {
        let Some((slot, record)) = sent.tasks[task as usize] else { return };
        // The device did that, and tasks that follow may have written the memory since.
        let record = TaskRecord { flags: record.flags.initialized(), ..record };
        let executor = self.executor(0);
        // A task without blocks has a place too.
        for (index, place) in (0..record.total_blocks()).zip(sent.batch.places_of(task)) {
            let failure = outcome.failed.iter().find(|block| block.task == task && block.index == index);
            let result = failure.map_or(Ok(()), |block| Err(KernelError::new(&block.text)));
            executor.end_block(slot, &record, index, result);
            if let Some(times) = outcome.times.get(sent.lists.number_of(place) as usize) {
                self.show(&record, index, times, launched);
            }
            executor.finish_block(slot);
        }
        // SAFETY: the task ran, and is completed once. What follows it is in a batch, or will be.
        unsafe { executor.complete(slot, &record, |_| {}) };
    }

    /// Shows a block to the probe, and when it ended on the clock.
    pub(crate) fn show(&self, record: &TaskRecord, index: u32, times: &Times, launched: u64) {
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
}

impl<'t, P: Probe> Chip for CudaChip<'t, P> {
    // So that it hears which tasks a task follows.
    const TIMED: bool = true;

    fn memory(&self) -> impl EngineMemory {
        self.device_memory()
    }

    fn external(&mut self, buffer: &External) -> Result<Space> {
        self.externals.place(self.launcher, buffer)
    }

    fn holds(&self, external: usize) -> bool {
        self.externals.holds(external)
    }

    fn written(&self, external: usize) -> Range<u64> {
        self.externals.written(external)
    }

    fn publish(&mut self, task: SlotIndex) {
        self.pending.add(task, None);
    }

    fn wired(&mut self, predecessor: SlotIndex, successor: SlotIndex) {
        self.pending.add(successor, Some(predecessor));
    }

    fn submitted(&mut self, _outstanding: u64) {
        self.poll();
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
