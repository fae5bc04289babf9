//! The runtime on this machine's cores: a table, worker threads that live as long as it, and runs.

use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::orchestrator::State;
use ringlane_engine::ready::ReadyQueue;
use ringlane_engine::report::{Run, Status};
use ringlane_engine::seams::Company;
use ringlane_engine::table::{Stop, Table};
use ringlane_engine::{Fault, Result, session};
use ringlane_task::{CallConfig, Capacities};

use crate::fence;
use crate::grain::Grain;
use crate::sleep::Sleep;
use crate::sync::{Arc, AtomicBool, JoinHandle, Ordering, thread};
use crate::worker::{Shared, Worker};

/// The most threads of one runtime.
const THREADS_MAX: usize = 1024;

/// Runs orchestrations on worker threads of this machine. Can be used again after any outcome.
pub struct CpuRuntime {
    shared: Arc<Shared>,
    state: State,
    helpers: Vec<JoinHandle<()>>,
}

/// A hand on a running [`CpuRuntime`] from another thread.
#[derive(Clone)]
pub struct Remote(Arc<Shared>);

impl CpuRuntime {
    /// A runtime with the threads and capacities of `config`.
    pub fn new(config: &CallConfig) -> Result<Self> {
        config.validate().map_err(Fault::Config)?;
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let workers = if config.workers == 0 { cores } else { config.workers as usize };
        if workers > THREADS_MAX {
            let detail = format!("{workers} threads, at most {THREADS_MAX}");
            return Err(Fault::BadLaunch { detail }.into());
        }
        let table = Table::new(&Capacities::of(config), workers)?;
        let state = State::new(&table);
        let queues = (0..workers).map(|_| ReadyQueue::new(table.slot_count())).collect::<Result<_>>()?;
        let looks = if workers <= cores { crate::worker::LOOKS } else { 1 };
        let company = if workers == 1 { Company::Alone } else { Company::Shared };
        let (sleep, shutdown) = (Sleep::new(workers), AtomicBool::new(false));
        let shared = Arc::new(Shared { table, queues, sleep, shutdown, looks, company, grain: Grain::new() });
        fence::register();
        let mut runtime = CpuRuntime { shared, state, helpers: Vec::new() };
        runtime.start_workers(workers)?;
        Ok(runtime)
    }

    fn start_workers(&mut self, workers: usize) -> Result<()> {
        for core in 1..workers {
            let shared = self.shared.clone();
            let spawned = thread::Builder::new().name(format!("ringlane-{core}")).spawn(move || {
                Worker::new(&shared, &(), core).work();
            });
            self.helpers.push(spawned.map_err(|_| Fault::OutOfMemory { what: "a worker thread", bytes: 0 })?);
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
        let chip = Worker::new(&self.shared, &(), 0);
        // SAFETY: `&mut self`: no other run uses the table; the last one left no task; workers run each task once.
        let mut run = unsafe { session::run(&self.shared.table, &mut self.state, chip, &(), buffers, f) };
        run.report.clock_freq_hz = 1_000_000_000;
        run.report.cores = self.threads();
        run
    }

    /// A hand for other threads: interrupts the run, looks inside.
    pub fn remote(&self) -> Remote {
        Remote(self.shared.clone())
    }
}

impl Drop for CpuRuntime {
    fn drop(&mut self) {
        self.shared.shutdown.store(true, Ordering::Release);
        fence::heavy();
        self.shared.sleep.wake_all();
        for helper in self.helpers.drain(..) {
            // A worker catches what kernels do; if it died all the same there is nothing left to wait for.
            let _ = helper.join();
        }
    }
}

impl Remote {
    /// Ends the run at the next task.
    pub fn interrupt(&self) {
        self.0.table.stop(Stop::Interrupted);
    }

    /// What the run is doing now.
    pub fn status(&self) -> Status {
        self.0.table.status()
    }
}
