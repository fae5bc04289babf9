//! A node as the engine's chip: its cores are workers, its blocks are calls.
//!
//! ```text
//! publish ──▶ ready ──▶ dispatch: begin_block, send ──▶ (a worker runs it) ──▶ collect: end_block, complete ──▶ ready …
//! ```
//! All of it happens on the thread of the orchestration, whenever that submits or waits: nothing is locked, and what is
//! decided follows from the order in which answers are seen. While the orchestration does something else, workers finish what
//! they have and get nothing new.

use std::collections::VecDeque;
use std::time::Instant;

use ringlane_engine::api::kernel::KernelError;
use ringlane_engine::completion::Executor;
use ringlane_engine::memory::DirectMemory;
use ringlane_engine::observe::PlacedBlock;
use ringlane_engine::placed::BlockArgument;
use ringlane_engine::seams::{Chip, Probe, Threading};
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::Table;
use ringlane_task::{CoreId, Ticks};

use super::dispatch::Waiting;
use super::journal::Journal;
use super::orch::NodeContext;
use super::sending::Outgoing;
use super::waiting::wait_for_any;
use super::worker_handle::{Attempt, Ended, Heard, WorkerCall, WorkerHandle};
use super::{CallSettings, Callables};
use crate::callable::{TICKET, WorkerKind};
use crate::clock::now_ns;
use crate::error::NodeError;
use crate::limits;
use crate::memory::Memories;

/// What a run lends its chip.
pub(crate) struct Lent<'n, P> {
    pub(crate) table: &'n Table,
    pub(crate) probe: &'n P,
    pub(crate) pool: &'n mut [WorkerHandle],
    pub(crate) journal: &'n mut Journal,
    pub(crate) context: &'n NodeContext,
    pub(crate) memories: &'n Memories,
    pub(crate) callables: &'n Callables,
    pub(crate) call_settings: CallSettings,
    /// When the task of each slot was submitted.
    pub(crate) submit_ns: &'n mut [u64],
}

/// A node, as the engine's submitter sees it.
pub(crate) struct NodeChip<'n, P> {
    pub(super) lent: Lent<'n, P>,
    /// By the kind of worker that they wait for.
    pub(super) ready: [VecDeque<Waiting>; WorkerKind::ALL.len()],
    /// Tasks that run nothing, or nothing any more.
    pub(super) no_op_tasks: Vec<(SlotIndex, TaskRecord)>,
    is_interrupted: bool,
}

impl<'n, P: Probe> NodeChip<'n, P> {
    pub(crate) fn new(lent: Lent<'n, P>) -> Self {
        NodeChip { lent, ready: Default::default(), no_op_tasks: Vec::new(), is_interrupted: false }
    }

    pub(super) fn executor(&self, worker: usize) -> Executor<'n, P> {
        let core = CoreId(worker as u32);
        Executor {
            table: self.lent.table,
            probe: self.lent.probe,
            core,
            threading: Threading::Single,
            memory: DirectMemory,
        }
    }

    /// A task became ready.
    fn make_ready(&mut self, task: SlotIndex) {
        let executor = self.executor(0);
        #[allow(unsafe_code)]
        // SAFETY: the thread that made it ready handed it to the chip.
        let record = unsafe { executor.record(task) };
        if record.lanes() == 0 || record.blocks == 0 {
            return self.no_op_tasks.push((task, record));
        }
        #[allow(unsafe_code)]
        // SAFETY: as above.
        let ticket = match unsafe { executor.arguments(&record, 0) }.last() {
            Some(BlockArgument::Scalar(scalar)) if scalar.dtype() == TICKET => {
                scalar.get::<u64>().and_then(|number| self.lent.context.tickets.get(number))
            }
            _ => None,
        };
        let callable =
            self.lent.table.kernel(record.kernels[0]).and_then(|kernel| self.lent.callables.of(kernel));
        // Only `NodeOrch` submits here, and it submits callables with tickets.
        let (Some(ticket), Some(callable)) = (ticket, callable) else {
            executor.skip(task);
            return self.no_op_tasks.push((task, record));
        };
        let kind = callable.kind() as usize;
        self.ready[kind].push_back(Waiting { task, record, callable, ticket });
    }

    /// Does what can be done at once; whether that was anything.
    fn go_on(&mut self) -> bool {
        let mut did = self.collect();
        loop {
            let completed = self.complete_no_op_tasks();
            if !(self.dispatch() | completed) {
                return did;
            }
            did = true;
        }
    }

    /// Completes tasks that have nothing to run.
    fn complete_no_op_tasks(&mut self) -> bool {
        let no_op_tasks = std::mem::take(&mut self.no_op_tasks);
        let any = !no_op_tasks.is_empty();
        for (task, record) in no_op_tasks {
            self.complete(0, task, &record);
        }
        any
    }

    fn complete(&mut self, worker: usize, task: SlotIndex, record: &TaskRecord) {
        let mut ready = Vec::new();
        #[allow(unsafe_code)]
        // SAFETY: all its blocks are finished, or it has none to run, and it was taken off its queue once.
        unsafe {
            self.executor(worker).complete(task, record, |successor| ready.push(successor));
        }
        ready.into_iter().for_each(|task| self.make_ready(task));
    }

    /// Takes the answers that are there; whether there was one.
    fn collect(&mut self) -> bool {
        self.hear_interrupt();
        let (now, mut any) = (Instant::now(), false);
        for worker in 0..self.lent.pool.len() {
            if self.lent.pool[worker].is_call_over(now)
                && let Some(ended) = self.lent.pool[worker].take_answer()
            {
                self.end(worker, ended);
                any = true;
            }
        }
        any
    }

    /// A call has ended. One that its worker never began, because it was dead by then, is sent once more, unless the run is
    /// to end.
    fn end(&mut self, worker: usize, ended: Ended) {
        if ended.heard == Heard::No && ended.job.attempt == Attempt::First && !self.lent.table.stopped() {
            let WorkerCall { task, record, index, callable, config, seq, .. } = ended.job;
            let call = Outgoing { task, record, index, callable, config, attempt: Attempt::Second, seq };
            if let Err(error) = self.send(worker, call) {
                self.end_block(worker, task, &record, index, Err(error));
            }
            return;
        }
        self.lent.journal.note(worker as u32, self.lent.pool[worker].child.name(), &ended);
        self.observe(worker, &ended);
        let Ended { job: WorkerCall { task, record, index, .. }, result, .. } = ended;
        self.end_block(worker, task, &record, index, result);
    }

    pub(super) fn end_block(
        &mut self,
        worker: usize,
        task: SlotIndex,
        record: &TaskRecord,
        index: u32,
        result: Result<(), NodeError>,
    ) {
        let executor = self.executor(worker);
        let result = result.map_err(KernelError::new);
        executor.end_block(task, record, index, result);
        if executor.finish_block(task) {
            self.complete(worker, task, record);
        }
    }

    /// Shows the probe a call as a block on a core.
    fn observe(&self, worker: usize, ended: &Ended) {
        if !P::WATCHES_CORES {
            return;
        }
        let Ended { job, times, done_ns, .. } = ended;
        let clock = self.lent.pool[worker].clock;
        let bounded =
            |at: u64, from: u64| if at == 0 { from } else { clock.to_node(at).clamp(from, *done_ns) };
        let start = bounded(times.run_ns, job.sent_ns);
        let end = if times.end_ns == 0 { *done_ns } else { bounded(times.end_ns, start) };
        let (kernel, lane, block) = self.executor(worker).place_of(&job.record, job.index);
        self.lent.probe.block(&PlacedBlock {
            work: None,
            core: CoreId(worker as u32),
            thread: 0,
            record: &job.record,
            kernel,
            lane,
            block,
            dispatch: Ticks(job.sent_ns),
            start: Ticks(start),
            end: Ticks(end),
            finish: Ticks(*done_ns),
            counters: &[],
        });
    }

    /// Once the run is interrupted, calls are too: they have a moment to end, a shorter one with each level, so that a node
    /// that kills its workers still has time to write what it recorded before it is killed itself.
    fn hear_interrupt(&mut self) {
        if self.is_interrupted || !self.lent.table.interrupted() {
            return;
        }
        self.is_interrupted = true;
        let moment = limits::INTERRUPTED / self.lent.memories.all().len().max(1) as u32;
        let last = Instant::now() + moment;
        for handle in self.lent.pool.iter_mut() {
            if let Some(job) = &mut handle.job {
                handle.child.interrupt();
                handle.is_spent = true;
                if last < job.deadline {
                    (job.deadline, job.limit) = (last, moment);
                }
            }
        }
    }
}

impl<P: Probe> Chip for NodeChip<'_, P> {
    // So that it hears of edges: when a task was submitted is noted by slot.
    const TIMED: bool = true;

    fn publish(&mut self, task: SlotIndex) {
        self.lent.submit_ns[task.0 as usize] = self.lent.context.tickets.submitting_ns();
        self.make_ready(task);
        self.go_on();
    }

    fn wired(&mut self, _predecessor: SlotIndex, successor: SlotIndex) {
        self.lent.submit_ns[successor.0 as usize] = self.lent.context.tickets.submitting_ns();
    }

    fn submitted(&mut self, _outstanding: u64) {
        self.go_on();
    }

    fn relax(&mut self) {
        if !self.go_on() {
            wait_for_any(self.lent.pool, self.lent.memories, self.lent.call_settings.spin, || {
                !self.is_interrupted && self.lent.table.interrupted()
            });
        }
    }

    fn now(&self) -> Ticks {
        Ticks(now_ns())
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}
