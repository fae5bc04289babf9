//! The event loop of the chip: control threads and cores, one event after another.
//!
//! Events are ordered by time, then by the order in which they were set. That order alone determines the run.

use core::ops::Range;

use ringlane_engine::completion::Executor;
use ringlane_engine::observe::{PlacedBlock, ThreadWork};
use ringlane_engine::planted::{Bug, planted};
use ringlane_engine::seams::{Probe, RecordBytes, Threading};
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::Table;
use ringlane_task::{ChipSpec, ControlCosts, CoreId};

use crate::chaos::Chaos;
use crate::core::{Core, CoreKind, Flight};
use crate::cost::CostModel;
use crate::link::Link;
use crate::memory::ModelledMemory;
use crate::pmu::{COUNTERS_MAX, PmuModel};
use crate::policy::{Class, Policy, Ready};
use crate::records::RecordLog;
use crate::scheduler::{Complete, Next, Quiet, Scheduler};
use crate::time::{Ps, SimClock};

/// The core as which control threads open and complete tasks.
const EXECUTOR: CoreId = CoreId(0);

/// The number of phases that a round with work records.
const PHASES_OF_A_ROUND: u64 = 4;

/// The kind of a core: the first core of each cluster is the matrix core.
pub(crate) fn kind_of(spec: &ChipSpec, core: u32) -> CoreKind {
    if core.is_multiple_of(1 + spec.aiv_per_cluster) { CoreKind::Aic } else { CoreKind::Aiv }
}

/// The cores of a scheduler: whole clusters, divided evenly.
pub(crate) fn share_of(spec: &ChipSpec, thread: u32) -> Range<usize> {
    let first =
        |thread: u32| (thread * spec.clusters / spec.schedulers * (1 + spec.aiv_per_cluster)) as usize;
    first(thread)..first(thread + 1)
}

/// The state of the chip during a run.
pub(crate) struct Machine<'t, P> {
    pub(crate) table: &'t Table,
    pub(crate) probe: &'t P,
    pub(crate) spec: &'t ChipSpec,
    pub(crate) costs: ControlCosts,
    pub(crate) model: &'t CostModel,
    pub(crate) clock: SimClock,
    pub(crate) policy: Box<dyn Policy>,
    pub(crate) cores: Vec<Core>,
    pub(crate) schedulers: Vec<Scheduler>,
    /// Cores without a block, by kind.
    pub(crate) idle_cores: [u32; 2],
    /// Tasks that need no core: the next thread to run resolves them.
    pub(crate) no_op_tasks: Vec<Complete>,
    pub(crate) link: Link,
    pub(crate) chaos: Option<Chaos>,
    pub(crate) pmu: Option<&'t PmuModel>,
    /// One for each scheduler, then one for the orchestrator.
    pub(crate) logs: Vec<RecordLog>,
    record_bytes: RecordBytes,
    /// Picoseconds that threads waited for an empty record buffer.
    pub(crate) record_waits: Ps,
    /// Blocks that wait for a core, by class.
    pub(crate) queued: [u64; Class::COUNT],
    /// Counts events.
    sequence: u64,
}

impl<'t, P: Probe> Machine<'t, P> {
    pub(crate) fn new(
        table: &'t Table,
        probe: &'t P,
        spec: &'t ChipSpec,
        model: &'t CostModel,
        clock: SimClock,
        policy: Box<dyn Policy>,
    ) -> Self {
        let cluster = |core: u32| core / (1 + spec.aiv_per_cluster);
        let cores = (0..spec.cores()).map(|core| Core::new(kind_of(spec, core), cluster(core))).collect();
        let schedulers = (0..spec.schedulers).map(|s| Scheduler::new(share_of(spec, s))).collect();
        let idle_cores = [spec.aic_cores(), spec.aiv_cores()];
        let log = |thread| RecordLog::new(spec.records, spec.host_memory, thread);
        let mut machine = Machine {
            table,
            probe,
            spec,
            costs: spec.costs,
            model,
            clock,
            policy,
            cores,
            schedulers,
            idle_cores,
            no_op_tasks: Vec::new(),
            link: Link::new(spec.link),
            chaos: None,
            pmu: None,
            logs: (0..=spec.schedulers).map(log).collect(),
            record_bytes: probe.record_bytes(),
            record_waits: 0,
            queued: [0; Class::COUNT],
            sequence: 0,
        };
        (0..machine.schedulers.len()).for_each(|thread| machine.set(thread, 0, Next::Round));
        machine
    }

    /// The engine's access to tasks, as one core.
    #[inline]
    pub(crate) fn executor(&self, core: usize) -> Executor<'t, P, ModelledMemory> {
        let (table, probe, core) = (self.table, self.probe, CoreId(core as u32));
        Executor { table, probe, core, threading: Threading::Single, memory: self.memory() }
    }

    /// The chip's memory.
    #[inline]
    pub(crate) fn memory(&self) -> ModelledMemory {
        ModelledMemory { host: self.spec.host_memory, has_values: !self.model.is_replay() }
    }

    pub(crate) fn set(&mut self, thread: usize, at: Ps, next: Next) {
        self.sequence += 1;
        self.schedulers[thread].next = Some((at, self.sequence, next));
    }

    /// The time of the next event.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<Ps> {
        self.earliest().map(|(at, ..)| at)
    }

    #[inline]
    fn earliest(&self) -> Option<(Ps, u64, usize)> {
        let times = self.schedulers.iter().enumerate();
        times.filter_map(|(thread, s)| s.next.map(|(at, sequence, _)| (at, sequence, thread))).min()
    }

    /// Handles all events up to a time.
    pub(crate) fn run_until(&mut self, limit: Ps) {
        while let Some((at, _, thread)) = self.earliest().filter(|&(at, ..)| at <= limit) {
            self.turn(thread, at);
        }
    }

    fn turn(&mut self, thread: usize, at: Ps) {
        let Some((_, _, next)) = self.schedulers[thread].next.take() else { return };
        match next {
            Next::Round => self.begin_round(thread, at),
            Next::Polled => self.polled(thread, at),
            Next::Recorded => self.resolve(thread, at),
            Next::Resolved => self.resolved(thread, at),
            Next::Captured => self.captured(thread, at),
            Next::Dispatched => self.after_dispatch(thread, at),
            Next::QuietRoundEnd => self.end_quiet_round(thread, at),
        }
    }

    pub(crate) fn record_work(&mut self, thread: usize, work: ThreadWork, end: Ps, tasks: u32) {
        let probe = self.probe;
        self.schedulers[thread]
            .record_work(thread, &self.clock, work, end, tasks, |phase| probe.phase(phase));
    }

    /// Begins a round, or goes quiet if it and the following rounds would find nothing.
    fn begin_round(&mut self, thread: usize, at: Ps) {
        self.end_quiet(thread, at);
        let in_flight = self.in_flight(thread).count() as u64;
        let takes = self.costs.round + self.costs.poll * in_flight;
        let scheduler = &mut self.schedulers[thread];
        (scheduler.begun, scheduler.completed) = (at, 0);
        let from = self.dispatches_from(thread, at);
        if from.is_none_or(|from| from > at + takes) {
            let gives = from.map(|from| at + (from - at - takes).next_multiple_of(takes.max(1)));
            let until = [self.finds_at(thread, at, takes), gives].into_iter().flatten().min();
            if until != Some(at) {
                self.record_work(thread, ThreadWork::Idle, at, 0);
                self.schedulers[thread].quiet = Some(Quiet { since: at, round: takes, until });
                if let Some(until) = until {
                    self.set(thread, until, Next::Round);
                }
                return;
            }
        }
        self.schedulers[thread].round += 1;
        self.set(thread, at + takes, Next::Polled);
    }

    /// Cores of a thread with a block in flight, in polling order.
    pub(crate) fn in_flight(&self, thread: usize) -> impl Iterator<Item = usize> + '_ {
        self.schedulers[thread].cores.clone().filter(|&core| !self.cores[core].is_idle())
    }

    /// When the first round that finds a finished block begins, if rounds of duration `round` follow each other from
    /// `at` on.
    fn finds_at(&self, thread: usize, at: Ps, round: Ps) -> Option<Ps> {
        let mut first: Option<Ps> = None;
        let mut polled = at + self.costs.round;
        for core in self.in_flight(thread) {
            polled += self.costs.poll;
            let Some(shows) = self.cores[core].shows().filter(|&shows| shows < crate::core::NEVER) else {
                continue;
            };
            let late = shows.saturating_sub(polled);
            let begins = match round {
                0 => at + late,
                round => at + late.div_ceil(round) * round,
            };
            first = Some(first.map_or(begins, |first| first.min(begins)));
        }
        first
    }

    /// Wakes a quiet thread because a task for its cores became ready: it sees the task at the end of its current
    /// round.
    fn wake(&mut self, thread: usize, at: Ps) {
        let Some(Quiet { since, round, .. }) = self.schedulers[thread].quiet else { return };
        let late = at - since;
        let sees = match round {
            0 => at,
            round => since + late.div_ceil(round).max(1) * round,
        };
        let earlier = self.schedulers[thread]
            .next
            .is_none_or(|(next, _, what)| sees < next || (sees == next && what == Next::Round));
        if earlier {
            self.set(thread, sees, Next::QuietRoundEnd);
        }
    }

    /// Makes a quiet thread begin a round now.
    pub(crate) fn begin_round_now(&mut self, thread: usize, at: Ps) {
        if self.schedulers[thread].quiet.is_some() {
            self.set(thread, at, Next::Round);
        }
    }

    /// Ends the rounds that found nothing, if there were any.
    fn end_quiet(&mut self, thread: usize, at: Ps) {
        if let Some(quiet) = self.schedulers[thread].quiet.take() {
            self.schedulers[thread].round += (at - quiet.since).checked_div(quiet.round).unwrap_or(0);
            self.record_work(thread, ThreadWork::Idle, at, 0);
        }
    }

    /// The end of a quiet round: there may be blocks to dispatch.
    fn end_quiet_round(&mut self, thread: usize, at: Ps) {
        let Some(quiet) = self.schedulers[thread].quiet else { return };
        let from = self.dispatches_from(thread, at);
        if from.is_some_and(|from| from <= at) {
            self.end_quiet(thread, at);
            return self.dispatch(thread, at);
        }
        if let Some(until) = quiet.until {
            self.set(thread, until, Next::Round);
        }
        if let Some(from) = from {
            self.wake(thread, from);
        }
    }

    /// The end of polling: blocks whose end was visible are finished.
    fn polled(&mut self, thread: usize, at: Ps) {
        let mut polled = self.schedulers[thread].begun + self.costs.round;
        let mut found = 0;
        for core in self.schedulers[thread].cores.clone() {
            if self.cores[core].is_idle() {
                continue;
            }
            polled += self.costs.poll;
            while self.cores[core].shows().is_some_and(|shows| shows <= polled || planted(Bug::EndSeenEarly))
            {
                found += 1;
                self.finish_block(thread, core, polled);
            }
        }
        let work = if found > 0 { ThreadWork::Complete } else { ThreadWork::Idle };
        let waits = self.store_records(thread, at, u64::from(found));
        self.record_work(thread, work, at + waits, found);
        match waits {
            0 => self.resolve(thread, at),
            waits => self.set(thread, at + waits, Next::Recorded),
        }
    }

    /// A scheduler records its round and the blocks that it found; returns how long it waits for a buffer.
    fn store_records(&mut self, thread: usize, at: Ps, blocks: u64) -> Ps {
        let RecordBytes { block, phase, .. } = self.record_bytes;
        let bytes = if blocks > 0 { blocks * block + PHASES_OF_A_ROUND * phase } else { 0 };
        self.store(thread, at, bytes)
    }

    /// The orchestrator records a submit; returns how long it waits for a buffer.
    pub(crate) fn store_submit(&mut self, at: Ps) -> Ps {
        self.store(self.schedulers.len(), at, self.record_bytes.submit)
    }

    /// The orchestrator records a scope; returns how long it waits for a buffer.
    pub(crate) fn store_scope(&mut self, at: Ps) -> Ps {
        self.store(self.schedulers.len(), at, self.record_bytes.scope)
    }

    /// A scheduler stores the captured arguments of tasks that it has opened or completed; returns how long it waits
    /// for a buffer.
    pub(crate) fn store_captured(&mut self, thread: usize, at: Ps) -> Ps {
        let captured = self.probe.captured_bytes(EXECUTOR);
        self.store(thread, at, captured)
    }

    /// The control thread with this log stores `bytes` bytes; returns how long it waits for a buffer.
    fn store(&mut self, log: usize, at: Ps, bytes: u64) -> Ps {
        let waits = self.logs[log].store(at, bytes, &mut self.link);
        self.record_waits += waits;
        waits
    }

    /// Finishes the oldest block of a core.
    fn finish_block(&mut self, thread: usize, core: usize, finish: Ps) {
        let Some(flight) = self.cores[core].flights.pop_front() else { return };
        self.cores[core].busy += flight.end - flight.start;
        if self.cores[core].is_idle() {
            self.idle_cores[self.cores[core].kind as usize] += 1;
        }
        self.record_block(thread, core, &flight, finish);
        if self.executor(core).finish_block(flight.task) {
            let cluster = Some(self.cores[core].cluster);
            let Flight { task, record, .. } = flight;
            self.schedulers[thread].complete.push(Complete { task, record, cluster });
        }
    }

    fn record_block(&self, thread: usize, core: usize, flight: &Flight, finish: Ps) {
        if !P::WATCHES {
            return;
        }
        let (start, end) = (self.clock.ticks(flight.start), self.clock.ticks(flight.end));
        let mut counters = [0; 1 + COUNTERS_MAX];
        let counters = match self.pmu {
            None => &[][..],
            Some(pmu) => {
                // A core counts each cycle that it has begun.
                let cycles = self.clock.ticks_begun(flight.end - flight.start);
                counters[0] = cycles;
                counters[1..].copy_from_slice(&pmu.counters(&flight.cost, self.cores[core].kind, cycles));
                &counters[..1 + pmu.columns().len()]
            }
        };
        let (kernel, lane, block) = self.executor(core).place_of(&flight.record, flight.index);
        self.probe.block(&PlacedBlock {
            core: CoreId(core as u32),
            thread: thread as u32,
            record: &flight.record,
            kernel,
            lane,
            block,
            dispatch: self.clock.ticks(flight.dispatch),
            start,
            end,
            finish: self.clock.ticks(finish),
            counters,
            work: Some(flight.cost.recorded()),
        });
    }

    /// Begins to resolve complete tasks, if there are any.
    pub(crate) fn resolve(&mut self, thread: usize, at: Ps) {
        let complete = &self.schedulers[thread].complete;
        if complete.is_empty() {
            return self.dispatch(thread, at);
        }
        let executor = self.executor(0);
        let consumers: u64 = complete.iter().map(|done| u64::from(executor.fan_out(done.task))).sum();
        self.set(thread, at + consumers * self.costs.resolve, Next::Resolved);
    }

    /// The end of resolving: successors without other unfinished predecessors are ready.
    fn resolved(&mut self, thread: usize, at: Ps) {
        let mut complete = core::mem::take(&mut self.schedulers[thread].complete);
        let tasks = complete.len() as u32;
        self.schedulers[thread].completed += tasks;
        self.clock.show(at);
        let executor = self.executor(0);
        let mut ready = core::mem::take(&mut self.schedulers[thread].ready);
        for Complete { task, record, cluster } in complete.drain(..) {
            self.policy.complete(task);
            // SAFETY: all its blocks are finished (or it has none), and it is taken from the list of complete tasks
            // once.
            unsafe { executor.complete(task, &record, |successor| ready.push((successor, cluster))) };
        }
        let scheduler = &mut self.schedulers[thread];
        (scheduler.complete, scheduler.ready) = (complete, ready);
        let waits = self.store_captured(thread, at);
        self.record_work(thread, ThreadWork::Resolve, at + waits, tasks);
        match waits {
            0 => self.captured(thread, at),
            waits => self.set(thread, at + waits, Next::Captured),
        }
    }

    /// The outputs of its complete tasks are captured: successors may overwrite them now.
    fn captured(&mut self, thread: usize, at: Ps) {
        let mut ready = core::mem::take(&mut self.schedulers[thread].ready);
        ready.drain(..).for_each(|(task, home)| self.make_ready(task, at, home));
        self.schedulers[thread].ready = ready;
        self.dispatch(thread, at);
    }

    /// Passes a ready task to the policy.
    pub(crate) fn make_ready(&mut self, task: SlotIndex, at: Ps, home: Option<u32>) {
        // SAFETY: the caller that made the task ready passed it to the chip.
        let record = unsafe { self.executor(0).record(task) };
        match self.class_of(&record) {
            Some(class) => {
                self.queued[class as usize] += u64::from(record.blocks);
                self.policy.ready(Ready { task, class, blocks: record.blocks, home });
            }
            None => self.no_op_tasks.push(Complete { task, record, cluster: None }),
        }
        self.wake_quiet(at);
    }

    /// Wakes the quiet threads that could dispatch now.
    pub(crate) fn wake_quiet(&mut self, at: Ps) {
        for thread in 0..self.schedulers.len() {
            if self.schedulers[thread].quiet.is_none() {
                continue;
            }
            if let Some(from) = self.dispatches_from(thread, at) {
                self.wake(thread, from.max(at));
            }
        }
    }

    /// The cores that a task requires; `None` if it runs no kernel.
    pub(crate) fn class_of(&self, record: &TaskRecord) -> Option<Class> {
        match record.lanes() {
            0 => None,
            _ if record.blocks == 0 => None,
            1 => Some(self.class_of_kernel(record.kernels[0])),
            _ => Some(Class::Mixed),
        }
    }
}
