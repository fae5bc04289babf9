//! The runtime on this machine's cores: a table, threads that live as long as it, and runs.

use core::panic::Location;

use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::orchestrator::State;
use ringlane_engine::remote::ReplayedTable;
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::{Probe, Threading};
use ringlane_engine::table::Table;
use ringlane_engine::{AbortOnUnwind, Fault, Result, session};
use ringlane_task::{CallConfig, Capacities, ConfigError, CoreId};

use crate::clock::CpuClock;
use crate::cpu_thread::{CpuThread, Shared};
use crate::fence;
use crate::grain::Grain;
use crate::machine::{self, usable_cpus};
use crate::mode::{Generation, Mode, Modes};
use crate::ready::ReadyQueue;
use crate::replay::Bound;
use crate::sleep::Sleep;
use crate::sync::{Arc, JoinHandle, thread};

/// The most threads of one runtime.
const THREADS_MAX: usize = 1024;

/// Runs orchestrations on threads of this machine. Can be used again after any outcome.
pub struct CpuRuntime {
    pub(crate) shared: Arc<Shared>,
    pub(crate) state: State,
    pub(crate) config: CallConfig,
    pub(crate) helpers: Vec<JoinHandle<()>>,
    /// The graph that was replayed last, until a streamed run begins.
    pub(crate) bound: Option<Bound>,
}

/// This machine has neither clusters nor control threads to choose.
fn refuse_counts_of_models(config: &CallConfig) -> core::result::Result<(), ConfigError> {
    let counts = [("scheduler_threads", config.scheduler_threads), ("block_dim", config.block_dim)];
    match counts.into_iter().find(|(_, value)| *value != 0) {
        Some((field, value)) => Err(ConfigError::OnlyOnSimulators { field, value }),
        None => Ok(()),
    }
}

impl CpuRuntime {
    /// A runtime with the threads and capacities of `config`.
    pub fn new(config: &CallConfig) -> Result<Self> {
        config.validate().map_err(Fault::Config)?;
        refuse_counts_of_models(config).map_err(Fault::Config)?;
        let cores = usable_cpus();
        let threads = if config.threads == 0 { cores } else { config.threads as usize };
        if threads > THREADS_MAX {
            let (field, value, max) = ("threads", config.threads, THREADS_MAX as u32);
            return Err(Fault::Config(ConfigError::CountTooLarge { field, value, max }).into());
        }
        let table = Table::new(&Capacities::of(config), threads)?;
        let state = State::new(&table);
        let queues = (0..threads).map(|_| ReadyQueue::new(table.slot_count())).collect::<Result<_>>()?;
        let polls = if threads <= cores { crate::search::POLLS } else { 1 };
        let threading = if threads == 1 { Threading::Single } else { Threading::Multi };
        let (sleep, modes) = (Sleep::new(threads), Modes::new());
        let (grain, replayed) = (Grain::new(), ReplayedTable::default());
        let shared = Arc::new(Shared { table, queues, sleep, modes, polls, threading, grain, replayed });
        fence::prepare_process();
        // The first call measures the clock: not in the first run.
        CpuClock::get();
        let mut runtime = CpuRuntime { shared, state, config: *config, helpers: Vec::new(), bound: None };
        runtime.start_threads(threads)?;
        Ok(runtime)
    }

    fn start_threads(&mut self, threads: usize) -> Result<()> {
        let pins = machine::pins(threads);
        for core in 1..threads {
            let (shared, pin) = (self.shared.clone(), pins.get(core - 1).copied());
            let spawned = thread::Builder::new().name(format!("ringlane-{core}")).spawn(move || {
                pin.into_iter().for_each(machine::pin_to);
                live(&shared, core);
            });
            self.helpers.push(spawned.map_err(|error| Fault::NoThread {
                core,
                threads,
                reason: error.to_string(),
            })?);
        }
        Ok(())
    }

    /// Number of threads, the submitting one included.
    pub fn threads(&self) -> u32 {
        self.helpers.len() as u32 + 1
    }

    /// Runs an orchestration on these buffers. Returns when every task is done.
    #[track_caller]
    pub fn run<'e, R>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.run_at(Location::caller(), buffers, &(), f)
    }

    /// As [`run`](Self::run), with a probe that watches every thread, and a root scope that is said to be at `site`.
    pub fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.bound = None;
        if !P::WATCHES_CORES {
            return self.run_in_mode(site, buffers, probe, f);
        }
        let shared = self.shared.clone();
        let work = |core, generation: Generation| CpuThread::new(&shared, probe, core).work(generation);
        let wake = || shared.wake_all();
        let _mode = shared.modes.observed(self.helpers.len(), &work, &wake);
        probe.enter(CoreId(0));
        let _leave = OnDrop(|| probe.leave(CoreId(0)));
        self.run_in_mode(site, buffers, probe, f)
    }

    fn run_in_mode<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.shared.name_thread(0);
        let chip = CpuThread::new(&self.shared, probe, 0);
        // SAFETY: `&mut self`: no other run uses the table; the last one left no task; threads run each task once.
        let run = unsafe { session::run(&self.shared.table, &mut self.state, chip, probe, site, buffers, f) };
        Run { report: self.complete(run.report), ..run }
    }

    /// What the engine does not know of a run.
    pub(crate) fn complete(&self, report: RunReport) -> RunReport {
        RunReport { clock_freq_hz: CpuClock::get().freq_hz(), cores: self.threads(), ..report }
    }
}

/// Does something when it goes, also while unwinding.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The life of a thread.
fn live(shared: &Shared, core: usize) {
    shared.name_thread(core);
    // Kernels' panics are caught. A thread that unwound all the same would take its task with it, and the run would wait
    // for that task forever.
    let works = AbortOnUnwind::new();
    loop {
        let generation = shared.modes.current();
        match shared.modes.enter(generation) {
            Mode::Plain => CpuThread::new(shared, &(), core).work(generation),
            Mode::Observed(work) => {
                // However it ends: the runtime waits for this thread.
                let _leave = OnDrop(|| shared.modes.leave());
                // SAFETY: the mode was entered above, and is left afterwards.
                unsafe { work.run(core, generation) };
            }
            Mode::Shutdown => return works.disarm(),
        }
    }
}

/// This thread is a core of a table's runs.
pub(crate) fn name_thread(table: &Table, core: usize) {
    let thread = rustix::thread::gettid().as_raw_nonzero().get();
    table.board.core(core as u32).set_thread(thread.unsigned_abs());
}

impl Shared {
    /// This thread is a core: if a kernel ends the process here, it can be named.
    fn name_thread(&self, core: usize) {
        name_thread(&self.table, core);
    }

    /// Wakes every thread, so that it sees the new mode.
    pub(crate) fn wake_all(&self) {
        fence::heavy();
        self.sleep.wake_all();
    }
}

impl Drop for CpuRuntime {
    fn drop(&mut self) {
        self.shared.modes.shut_down();
        self.shared.wake_all();
        for helper in self.helpers.drain(..) {
            // A thread catches what kernels do; if it died all the same there is nothing left to wait for.
            let _ = helper.join();
        }
    }
}
