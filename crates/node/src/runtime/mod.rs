//! A node: an engine of its own whose cores are workers.
//!
//! ```text
//! Node::run ──▶ engine::session::run ──▶ NodeChip: ready tasks ──▶ mailboxes of idle workers ──▶ answers ──▶ ready tasks …
//! ```
//! It is the same engine as on a chip: dependencies from tensors, rings, scopes, deadlocks with a hint, failed tasks whose
//! dependants are skipped. Only the heap rings are in memory that the workers see.

mod chip;
mod dispatch;
mod journal;
mod orch;
mod sending;
mod tickets;
mod waiting;
mod worker_handle;

use core::panic::Location;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::kernel::Kernel;
use ringlane_engine::chip_runtime::{CoreLayout, HookThreads, Observable};
use ringlane_engine::orchestrator::State;
use ringlane_engine::remote::{Controlled, Remote, Thread};
use ringlane_engine::report::{Run, RunReport, RunningTask};
use ringlane_engine::seams::Probe;
use ringlane_engine::table::{Stop, Table};
use ringlane_engine::{Fault, Result, session};
use ringlane_task::{CallConfig, Capacities};

use chip::{Lent, NodeChip};
pub use journal::{CallRecord, CallStatus, Journal, WorkerRecord};
use orch::NodeContext;
pub use orch::{NodeOrch, WorkerInfo};
pub use tickets::On;
use tickets::Tickets;
use worker_handle::WorkerHandle;
pub use worker_handle::{ClockOffset, WorkerSpec};

use crate::callable::{Callable, registered_callables};
use crate::clock::{NODE_CLOCK_HZ, NodeClock};
use crate::error::NodeError;
use crate::limits;
use crate::mailbox::Spin;
use crate::memory::{Memories, Memory, Piece, SharedBuffers, check_shared};

/// What a node is made of.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// Its workers, at least one.
    pub workers: Vec<WorkerSpec>,
    /// The most memory for its tensors.
    pub memory_bytes: u64,
    /// How long a call may take.
    pub call_timeout: Duration,
    /// How many worker processes there are on this machine in all, those of its workers included: a process that polls before sleeping
    /// when they take all cores is in their way.
    pub processes: usize,
}

impl NodeOptions {
    /// A node with these workers.
    pub fn new(workers: Vec<WorkerSpec>) -> Self {
        let processes = workers.len();
        NodeOptions { workers, memory_bytes: limits::MEMORY_BYTES, call_timeout: limits::CALL, processes }
    }
}

/// How calls are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSettings {
    pub(crate) call_timeout: Duration,
    pub(crate) spin: Spin,
}

/// The callables of the program by the kernels that represent them.
#[derive(Debug)]
pub(crate) struct Callables(HashMap<usize, &'static Callable>);

impl Callables {
    fn new() -> Self {
        let key = |callable: &&'static Callable| core::ptr::from_ref(callable.kernel()).addr();
        Callables(registered_callables().into_iter().map(|callable| (key(&callable), callable)).collect())
    }

    pub(crate) fn of(&self, kernel: &'static Kernel) -> Option<&'static Callable> {
        self.0.get(&core::ptr::from_ref(kernel).addr()).copied()
    }
}

/// Runs orchestrations over workers. Can be used again after any outcome.
pub struct Node {
    // First, so that the workers are gone before the memory that they see.
    pool: Vec<WorkerHandle>,
    table: Arc<Table>,
    state: State,
    callables: Arc<Callables>,
    call_settings: CallSettings,
    journal: Journal,
    submit_ns: Vec<u64>,
    /// Whether the last run was refused before it began.
    is_refused: bool,
    memories: Memories,
    memory: Arc<Memory>,
    /// The heap rings of the table.
    _heaps: Vec<Piece>,
}

/// What other threads may use of a node that runs.
struct Running {
    table: Arc<Table>,
    memory: Arc<Memory>,
}

impl Node {
    /// Starts the workers and waits until all of them are ready. `above` are the memories of the nodes above, if this one is
    /// a worker itself; `config` gives the capacities of its rings.
    pub fn start(above: &Memories, config: &CallConfig, options: &NodeOptions) -> Result<Self, NodeError> {
        config.validate().map_err(NodeError::Config)?;
        let count = options.workers.len();
        if count == 0 || count > limits::WORKERS_MAX {
            return Err(NodeError::TooManyWorkers { count });
        }
        let memory = Memory::create(options.memory_bytes)?;
        let memories = above.with_own(memory.clone());
        let (table, heaps) = table_in(&memory, config, count)?;
        let spin = Spin::for_workers(options.processes);
        let start = |spec: &WorkerSpec| {
            let launch = spec.launch.clone().with_memories(memories.clone()).with_spin(spin);
            WorkerHandle::start(&WorkerSpec { launch, ..spec.clone() })
        };
        let pool = options.workers.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let submit_ns = vec![0; table.slot_count()];
        Ok(Node {
            pool,
            state: State::new(&table),
            table: Arc::new(table),
            callables: Arc::new(Callables::new()),
            call_settings: CallSettings { call_timeout: options.call_timeout, spin },
            journal: Journal::default(),
            submit_ns,
            is_refused: false,
            memories,
            memory,
            _heaps: heaps,
        })
    }

    /// Buffers in memory that its workers see: what its runs take.
    pub fn buffers(&self) -> SharedBuffers {
        SharedBuffers::new(&self.memory)
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Its workers.
    pub fn workers(&self) -> Vec<WorkerInfo> {
        let info =
            |handle: &WorkerHandle| WorkerInfo { name: handle.child.name().to_string(), kind: handle.kind };
        self.pool.iter().map(info).collect()
    }

    /// Runs an orchestration on these buffers. Returns when every call is over.
    #[track_caller]
    pub fn run<'e, R>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'o, 'r> FnOnce(&mut NodeOrch<'o, 'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.run_at(Location::caller(), buffers, &(), "", f)
    }

    /// As [`run`](Self::run), with a probe that watches workers as it would cores, a root scope that is said to be at `site`,
    /// and a directory below which the runs of workers leave theirs.
    pub fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        prefix: &str,
        f: impl for<'o, 'r> FnOnce(&mut NodeOrch<'o, 'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.journal = Journal::default();
        self.is_refused = false;
        if let Err(error) = check_shared(&self.memories, buffers) {
            self.is_refused = true;
            return Run { result: Err(error), report: self.complete(RunReport::default()) };
        }
        for handle in &mut self.pool {
            (handle.calls, handle.lost) = (0, None);
            handle.revive();
        }
        let (tickets, prefix) = (Tickets::default(), prefix.to_string());
        let context =
            NodeContext { tickets, workers: self.workers(), callables: self.callables.clone(), prefix };
        let chip = NodeChip::new(Lent {
            table: &self.table,
            probe,
            pool: &mut self.pool,
            journal: &mut self.journal,
            context: &context,
            memories: &self.memories,
            callables: &self.callables,
            call_settings: self.call_settings,
            submit_ns: &mut self.submit_ns,
        });
        let f =
            |orch: &mut ringlane_engine::prelude::Orch<'_, 'e>| f(&mut NodeOrch { orch, context: &context });
        #[allow(unsafe_code)]
        // SAFETY: `&mut self`: no other run uses the table; the last one left no task; the chip runs each task once.
        let run = unsafe { session::run(&self.table, &mut self.state, chip, probe, site, buffers, f) };
        Run { report: self.complete(run.report), ..run }
    }

    /// What the engine does not know of a run.
    fn complete(&self, report: RunReport) -> RunReport {
        RunReport { clock_freq_hz: NODE_CLOCK_HZ, cores: self.pool.len() as u32, ..report }
    }

    /// The calls of the last run.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The workers as a timeline shows them.
    pub fn worker_records(&self) -> Vec<WorkerRecord> {
        let record = |handle: &WorkerHandle| WorkerRecord {
            name: handle.child.name().to_string(),
            kind: handle.kind,
            pid: handle.child.pid(),
            clock: handle.clock,
            restarts: handle.restarts,
        };
        self.pool.iter().map(record).collect()
    }

    /// A handle for other threads: interrupts the run and reads its state.
    pub fn remote(&self) -> Remote {
        Remote::new(Arc::new(Running { table: self.table.clone(), memory: self.memory.clone() }))
    }

    /// Asks all workers to end, and waits until they have; those that do not in time are killed.
    pub fn shutdown(self, timeout: Duration) {
        for handle in self.pool {
            handle.child.shutdown(timeout);
        }
    }
}

/// The engine's table, with its heaps in the node's memory.
fn table_in(
    memory: &Arc<Memory>,
    config: &CallConfig,
    workers: usize,
) -> Result<(Table, Vec<Piece>), NodeError> {
    let mut heaps = Vec::new();
    let heap = |bytes| {
        let piece = memory.take(bytes)?;
        let space = piece.space();
        heaps.push(piece);
        Ok(space)
    };
    #[allow(unsafe_code)]
    // SAFETY: pieces are zero, begin at a page, and belong to their holder; the node keeps them as long as the table.
    let table = unsafe { Table::in_memory(&Capacities::of(config), workers, heap) };
    match table {
        Ok(table) => Ok((table, heaps)),
        Err(error) => match error.fault() {
            Fault::OutOfMemory { bytes, .. } => {
                Err(NodeError::NoNodeMemory { bytes: *bytes, error: rustix::io::Errno::NOMEM })
            }
            _ => Err(NodeError::NoNodeMemory { bytes: 0, error: rustix::io::Errno::INVAL }),
        },
    }
}

impl Controlled for Running {
    fn table(&self) -> &Table {
        &self.table
    }

    /// No call begins any more, and those that go on are asked to end.
    fn interrupt(&self) {
        self.table.stop(Stop::Interrupted);
        self.memory.mapping.bell().ring_loudly();
    }

    /// The blocks of a node's tasks run in other processes.
    fn running_on(&self, _thread: Thread) -> Option<RunningTask> {
        None
    }
}

#[allow(unsafe_code)]
// SAFETY: everything is done by the thread that submits.
unsafe impl Observable for Node {
    type Clock = NodeClock;
    const HOOKS: HookThreads = HookThreads::One;

    fn clock(&self) -> NodeClock {
        NodeClock
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn last_report(&self) -> RunReport {
        let last = if self.is_refused { RunReport::default() } else { self.state.last_report().clone() };
        self.complete(last)
    }

    fn layout(&self) -> CoreLayout {
        let core_types = self.pool.iter().map(|handle| handle.kind.as_str()).collect();
        CoreLayout { core_types, threads: 1, core_to_thread: vec![0; self.pool.len()] }
    }
}
