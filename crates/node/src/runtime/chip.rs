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
use ringlane_engine::observed::PlacedBlock;
use ringlane_engine::placed::BlockArgument;
use ringlane_engine::seams::{Chip, Company, Probe};
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::Table;
use ringlane_task::{
    BlobTensor, BufferHandle, CallConfig, CoreId, DfxFlags, Explain, Scalar, TensorView, Ticks,
};

use super::crew::{Attempt, Ended, Heard, Job, Mate};
use super::journal::{Journal, directory};
use super::orch::Desk;
use super::tickets::{On, Ticket};
use super::waiting::wait_for_any;
use super::{Callables, Orders};
use crate::callable::{Callable, Kind, TICKET};
use crate::clock::now_ns;
use crate::error::NodeError;
use crate::limits;
use crate::memory::Memories;

/// A task that waits for workers.
struct Waiting {
    task: SlotIndex,
    record: TaskRecord,
    callable: &'static Callable,
    ticket: Ticket,
}

/// A call on its way to a worker.
struct Outgoing {
    task: SlotIndex,
    record: TaskRecord,
    index: u32,
    callable: &'static Callable,
    config: CallConfig,
    attempt: Attempt,
    /// Its number on its worker, which is that of its directory, however often it is sent.
    seq: u64,
}

/// Where a waiting task can go.
enum Placement {
    /// To these workers, now.
    Now(Vec<usize>),
    /// Later; these are kept for it.
    Later(Vec<usize>),
    /// Nowhere, ever again.
    Never(NodeError),
}

/// A node, as the engine's submitter sees it.
pub(crate) struct NodeChip<'n, P> {
    pub(crate) table: &'n Table,
    pub(crate) probe: &'n P,
    pub(crate) crew: &'n mut [Mate],
    pub(crate) journal: &'n mut Journal,
    pub(crate) desk: &'n Desk,
    pub(crate) memories: &'n Memories,
    pub(crate) callables: &'n Callables,
    pub(crate) orders: Orders,
    /// When the task of each slot was submitted.
    pub(crate) submit_ns: &'n mut [u64],
    ready: VecDeque<Waiting>,
    /// Tasks that run nothing, or nothing any more.
    bare: Vec<(SlotIndex, TaskRecord)>,
    is_interrupted: bool,
}

/// What a run lends its chip.
pub(crate) struct Lent<'n, P> {
    pub(crate) table: &'n Table,
    pub(crate) probe: &'n P,
    pub(crate) crew: &'n mut [Mate],
    pub(crate) journal: &'n mut Journal,
    pub(crate) desk: &'n Desk,
    pub(crate) memories: &'n Memories,
    pub(crate) callables: &'n Callables,
    pub(crate) orders: Orders,
    pub(crate) submit_ns: &'n mut [u64],
}

impl<'n, P: Probe> NodeChip<'n, P> {
    pub(crate) fn new(lent: Lent<'n, P>) -> Self {
        let Lent { table, probe, crew, journal, desk, memories, callables, orders, submit_ns } = lent;
        let (ready, bare, is_interrupted) = (VecDeque::new(), Vec::new(), false);
        NodeChip {
            table,
            probe,
            crew,
            journal,
            desk,
            memories,
            callables,
            orders,
            submit_ns,
            ready,
            bare,
            is_interrupted,
        }
    }

    fn executor(&self, worker: usize) -> Executor<'n, P> {
        let core = CoreId(worker as u32);
        Executor { table: self.table, probe: self.probe, core, company: Company::Alone }
    }

    /// A task became ready.
    fn make_ready(&mut self, task: SlotIndex) {
        let executor = self.executor(0);
        #[allow(unsafe_code)]
        // SAFETY: whoever made it ready handed it to the chip.
        let record = unsafe { executor.record(task) };
        if record.lanes() == 0 || record.blocks == 0 {
            return self.bare.push((task, record));
        }
        #[allow(unsafe_code)]
        // SAFETY: as above.
        let ticket = match unsafe { executor.arguments(&record, 0) }.last() {
            Some(BlockArgument::Scalar(scalar)) if scalar.dtype() == TICKET => {
                scalar.get::<u64>().and_then(|number| self.desk.tickets.get(number))
            }
            _ => None,
        };
        let callable = self.table.kernel(record.kernels[0]).and_then(|kernel| self.callables.of(kernel));
        // Only `NodeOrch` submits here, and it submits callables with tickets.
        let (Some(ticket), Some(callable)) = (ticket, callable) else {
            executor.skip(task);
            return self.bare.push((task, record));
        };
        self.ready.push_back(Waiting { task, record, callable, ticket });
    }

    /// Does what can be done at once; whether that was anything.
    fn go_on(&mut self) -> bool {
        let mut did = self.collect();
        loop {
            let completed = self.complete_bare();
            if !(self.dispatch() | completed) {
                return did;
            }
            did = true;
        }
    }

    /// Completes tasks that have nothing to run.
    fn complete_bare(&mut self) -> bool {
        let bare = std::mem::take(&mut self.bare);
        let any = !bare.is_empty();
        for (task, record) in bare {
            self.complete(0, task, &record);
        }
        any
    }

    fn complete(&mut self, worker: usize, task: SlotIndex, record: &TaskRecord) {
        let mut ready = Vec::new();
        #[allow(unsafe_code)]
        // SAFETY: all its blocks are finished, or it has none to run, and it was taken off where it stood once.
        unsafe {
            self.executor(worker).complete(task, record, |successor| ready.push(successor));
        }
        ready.into_iter().for_each(|task| self.make_ready(task));
    }

    /// Takes the answers that are there; whether there was one.
    fn collect(&mut self) -> bool {
        self.hear_interrupt();
        let (now, mut any) = (Instant::now(), false);
        for worker in 0..self.crew.len() {
            if self.crew[worker].is_ready_to_tell(now)
                && let Some(ended) = self.crew[worker].take_answer()
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
        if ended.heard == Heard::No && ended.job.attempt == Attempt::First && !self.table.stopped() {
            let Job { task, record, index, callable, config, seq, .. } = ended.job;
            let call = Outgoing { task, record, index, callable, config, attempt: Attempt::Second, seq };
            if let Err(error) = self.send(worker, call) {
                self.end_block(worker, task, &record, index, Err(error));
            }
            return;
        }
        self.journal.note(worker as u32, self.crew[worker].child.name(), &ended);
        self.observe(worker, &ended);
        let Ended { job: Job { task, record, index, .. }, result, .. } = ended;
        self.end_block(worker, task, &record, index, result);
    }

    fn end_block(
        &mut self,
        worker: usize,
        task: SlotIndex,
        record: &TaskRecord,
        index: u32,
        result: Result<(), NodeError>,
    ) {
        let executor = self.executor(worker);
        let result = result.map_err(|error| KernelError(format!("{}: {}", error.name(), error.detail())));
        executor.end_block(task, record, index, result);
        if executor.finish_block(task) {
            self.complete(worker, task, record);
        }
    }

    /// Tells the probe of a call as of a block on a core.
    fn observe(&self, worker: usize, ended: &Ended) {
        if !P::WATCHES_CORES {
            return;
        }
        let Ended { job, times, done_ns, .. } = ended;
        let clock = self.crew[worker].clock;
        let bounded =
            |at: u64, from: u64| if at == 0 { from } else { clock.to_node(at).clamp(from, *done_ns) };
        let start = bounded(times.run_ns, job.sent_ns);
        let end = if times.end_ns == 0 { *done_ns } else { bounded(times.end_ns, start) };
        let (kernel, lane, block) = self.executor(worker).place_of(&job.record, job.index);
        self.probe.block(&PlacedBlock {
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
        if self.is_interrupted || !self.table.interrupted() {
            return;
        }
        self.is_interrupted = true;
        let moment = limits::INTERRUPTED / self.memories.all().len().max(1) as u32;
        let last = Instant::now() + moment;
        for mate in self.crew.iter_mut() {
            if let Some(job) = &mut mate.job {
                mate.child.interrupt();
                mate.is_spent = true;
                if last < job.deadline {
                    (job.deadline, job.limit) = (last, moment);
                }
            }
        }
    }

    /// Gives tasks to workers, the oldest first; whether any was given or given up. What a group waits for is kept for it, so
    /// that later tasks cannot keep it from ever beginning.
    fn dispatch(&mut self) -> bool {
        let (mut kept, mut did, mut at) = (Vec::new(), false, 0);
        while at < self.ready.len() {
            let idle = |worker: usize| self.crew[worker].is_idle() && !kept.contains(&worker);
            // Tasks that only lost workers could run, and those of a run that is to end, are waiting for nobody.
            let is_any_lost = self.crew.iter().any(|mate| mate.lost.is_some());
            if !(0..self.crew.len()).any(idle) && !is_any_lost && !self.table.stopped() {
                break;
            }
            match self.placement(&self.ready[at], &idle) {
                Placement::Later(keeps) => {
                    kept.extend(keeps);
                    at += 1;
                    continue;
                }
                Placement::Now(workers) => {
                    if let Some(waiting) = self.ready.remove(at) {
                        self.begin(&waiting, &workers);
                    }
                }
                Placement::Never(error) => {
                    if let Some(waiting) = self.ready.remove(at) {
                        self.give_up(&waiting, &error);
                    }
                }
            }
            did = true;
        }
        did
    }

    fn placement(&self, waiting: &Waiting, is_idle: &dyn Fn(usize) -> bool) -> Placement {
        let members = waiting.record.blocks as usize;
        if self.table.stopped() {
            // It is not run any more, wherever it goes.
            return Placement::Now(vec![0; members]);
        }
        let wanted: Vec<usize> = match &waiting.ticket.on {
            On::Any => {
                let kind = waiting.callable.kind();
                (0..self.crew.len()).filter(|&worker| self.crew[worker].kind == kind).collect()
            }
            On::Worker(worker) => vec![*worker as usize],
            On::Workers(workers) => workers.iter().map(|&worker| worker as usize).collect(),
        };
        let lost: Vec<&NodeError> =
            wanted.iter().filter_map(|&worker| self.crew[worker].lost.as_ref()).collect();
        if wanted.len() - lost.len() < members
            && let Some(&error) = lost.last()
        {
            return Placement::Never(error.clone());
        }
        let idle: Vec<usize> = wanted.into_iter().filter(|&worker| is_idle(worker)).collect();
        if idle.len() < members {
            return Placement::Later(if members > 1 { idle } else { Vec::new() });
        }
        Placement::Now(idle[..members].to_vec())
    }

    /// A task that no worker is left for.
    fn give_up(&mut self, waiting: &Waiting, error: &NodeError) {
        let Waiting { task, record, .. } = waiting;
        #[allow(unsafe_code)]
        // SAFETY: it was taken off the ready ones, once.
        if !unsafe { self.executor(0).open(*task, record) } {
            return self.bare.push((*task, *record));
        }
        for index in 0..record.blocks {
            self.end_block(0, *task, record, index, Err(error.clone()));
        }
    }

    /// Begins a task in these workers.
    fn begin(&mut self, waiting: &Waiting, workers: &[usize]) {
        let Waiting { task, record, .. } = waiting;
        #[allow(unsafe_code)]
        // SAFETY: it was taken off the ready ones, once.
        if !unsafe { self.executor(workers[0]).open(*task, record) } {
            return self.bare.push((*task, *record));
        }
        for (index, &worker) in workers.iter().enumerate() {
            let index = index as u32;
            #[allow(unsafe_code)]
            // SAFETY: the task is open, and each of its blocks is begun once.
            unsafe {
                self.executor(worker).begin_block(record, index);
            }
            self.crew[worker].calls += 1;
            let (seq, attempt) = (self.crew[worker].calls, Attempt::First);
            let sent = self.config_for(waiting, worker, seq).and_then(|config| {
                let (task, record, callable) = (*task, *record, waiting.callable);
                self.send(worker, Outgoing { task, record, index, callable, config, attempt, seq })
            });
            if let Err(error) = sent {
                self.end_block(worker, *task, record, index, Err(error));
            }
        }
    }

    /// Sends a call. A worker that has died since its last call is started again first.
    fn send(&mut self, worker: usize, call: Outgoing) -> Result<(), NodeError> {
        let Outgoing { task, record, index, callable, config, attempt, seq } = call;
        #[allow(unsafe_code)]
        // SAFETY: the chip holds the task until its blocks are finished.
        let arguments = unsafe { self.executor(worker).arguments(&record, index) };
        let (tensors, scalars) = packed(self.memories, &arguments)?;
        let mate = &mut self.crew[worker];
        mate.revive();
        if let Some(error) = &mate.lost {
            return Err(error.clone());
        }
        let sent_ns = now_ns();
        let member = (index, record.blocks);
        let sent = mate.child.send(callable, &config, member, &tensors, &scalars);
        if sent.is_err() && !mate.child.is_alive() && attempt == Attempt::First {
            return self.send(worker, Outgoing { attempt: Attempt::Second, ..call });
        }
        sent?;
        let limit = self.orders.call_timeout;
        let deadline = Instant::now().checked_add(limit).unwrap_or_else(far_away);
        let submit_ns = self.submit_ns[task.0 as usize].min(sent_ns);
        mate.job = Some(Job {
            task,
            record,
            index,
            callable,
            config,
            attempt,
            seq,
            submit_ns,
            sent_ns,
            deadline,
            limit,
        });
        Ok(())
    }

    /// The configuration of a call: the submit's, in a directory of its own. Plain functions leave no files.
    fn config_for(&self, waiting: &Waiting, worker: usize, seq: u64) -> Result<CallConfig, NodeError> {
        let (mut config, mate) = (waiting.ticket.config, &self.crew[worker]);
        if waiting.callable.kind() == Kind::Function {
            config.dfx_flags = DfxFlags::NONE;
        }
        let mut prefix = String::new();
        if !config.dfx_flags.is_empty() {
            prefix = format!("{}/{}", self.desk.prefix, directory(mate.child.name(), seq));
        }
        config.set_output_prefix(&prefix).map_err(NodeError::Config)?;
        Ok(config)
    }
}

/// Later than anything that is waited for.
fn far_away() -> Instant {
    Instant::now() + std::time::Duration::from_secs(86_400 * 365)
}

/// Arguments as a mailbox takes them: tensors by memory and offset; the node's own scalar is left out.
fn packed(
    memories: &Memories,
    arguments: &[BlockArgument],
) -> Result<(Vec<BlobTensor>, Vec<Scalar>), NodeError> {
    let (mut tensors, mut scalars) = (Vec::new(), Vec::new());
    for (index, argument) in arguments[..arguments.len() - 1].iter().enumerate() {
        match argument {
            BlockArgument::Scalar(scalar) => scalars.push(*scalar),
            BlockArgument::Tensor { address, dtype, dims, access } => {
                let (id, offset) = memories.locate(*address).ok_or(NodeError::TensorElsewhere { index })?;
                let bytes = memories.get(id).map_or(0, |memory| memory.bytes());
                let view = TensorView::from_parts(*dtype, offset, dims, bytes).map_err(|source| {
                    NodeError::Arguments(ringlane_task::BlobError::BadView { index, source })
                })?;
                let buffer = BufferHandle { id, generation: 0 };
                tensors.push(BlobTensor { view, buffer, access: *access });
            }
        }
    }
    Ok((tensors, scalars))
}

impl<P: Probe> Chip for NodeChip<'_, P> {
    // So that it is told of edges: when a task was submitted is noted by slot.
    const TIMED: bool = true;

    fn publish(&mut self, task: SlotIndex) {
        self.submit_ns[task.0 as usize] = self.desk.tickets.submitting_ns();
        self.make_ready(task);
        self.go_on();
    }

    fn wired(&mut self, _predecessor: SlotIndex, successor: SlotIndex) {
        self.submit_ns[successor.0 as usize] = self.desk.tickets.submitting_ns();
    }

    fn submitted(&mut self, _outstanding: u64) {
        self.go_on();
    }

    fn relax(&mut self) {
        if !self.go_on() {
            wait_for_any(self.crew, self.memories, self.orders.spin, || {
                !self.is_interrupted && self.table.interrupted()
            });
        }
    }

    fn now(&self) -> Ticks {
        Ticks(now_ns())
    }

    fn company(&self) -> Company {
        Company::Alone
    }
}
