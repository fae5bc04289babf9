//! A worker of level 3 and up: a node on a thread of its own, whose runs are handles.
//!
//! ```text
//! submit ─▶ [run, run] ─▶ the node's thread: one after another, in order ─▶ handle: done, wait
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ringlane_engine::Result;
use ringlane_engine::report::Run;
use ringlane_task::CallConfig;

use crate::error::NodeError;
use crate::limits::RUNS_IN_FLIGHT;
use crate::memory::{Memories, Memory, SharedBuffers};
use crate::runtime::{Journal, Node, NodeOptions, NodeOrch};
use ringlane_engine::remote::Remote;

/// A node that runs orchestrations while its owner does something else: up to two at a time are submitted, and are run in
/// the order in which they were.
///
/// Dropping it interrupts what runs, and ends the workers.
pub struct Worker {
    jobs: Option<Sender<WorkerCall>>,
    thread: Option<JoinHandle<()>>,
    remote: Remote,
    memory: Arc<Memory>,
    in_flight: Arc<AtomicUsize>,
}

/// A run, on its way to the node's thread.
type WorkerCall = Box<dyn FnOnce(&mut Node) + Send>;

/// A run that is over.
#[derive(Debug)]
pub struct Finished<R> {
    /// Its result and totals.
    pub run: Run<R>,
    /// Its buffers, which hold what it left.
    pub buffers: SharedBuffers,
    /// Its calls.
    pub journal: Journal,
}

/// A run that was submitted.
pub struct RunHandle<R> {
    shared: Arc<Shared<R>>,
}

struct Shared<R> {
    finished: Mutex<Option<thread::Result<Finished<R>>>>,
    is_over: Condvar,
}

impl<R> Shared<R> {
    fn finished(&self) -> MutexGuard<'_, Option<thread::Result<Finished<R>>>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// Starts the node and its workers, and waits until all of them are ready.
    pub fn start(above: &Memories, config: &CallConfig, options: &NodeOptions) -> Result<Self, NodeError> {
        let (jobs, queue) = channel::<WorkerCall>();
        let (sender, started) = channel();
        let (above, config, options) = (above.clone(), *config, options.clone());
        let live = move || {
            let mut node = match Node::start(&above, &config, &options) {
                Ok(node) => node,
                Err(error) => return drop(sender.send(Err(error))),
            };
            let _ = sender.send(Ok((node.remote(), node.memory().clone())));
            queue.into_iter().for_each(|job| job(&mut node));
        };
        let cannot = |error: &dyn std::fmt::Display| NodeError::CannotStart {
            worker: "node".to_string(),
            doing: "a thread to schedule on",
            error: error.to_string(),
        };
        let thread = thread::Builder::new().name("ringlane-node".to_string()).spawn(live);
        let thread = Some(thread.map_err(|error| cannot(&error))?);
        let (remote, memory) = started.recv().map_err(|error| cannot(&error))??;
        Ok(Worker { jobs: Some(jobs), thread, remote, memory, in_flight: Arc::default() })
    }

    /// Buffers in memory that its workers see: what its runs take.
    pub fn buffers(&self) -> SharedBuffers {
        SharedBuffers::new(&self.memory)
    }

    /// Submits a run and returns at once. The configuration is checked here: its output prefix is the directory below which
    /// the runs of workers leave theirs. Each run that leaves some needs a prefix of its own, as any run does.
    #[track_caller]
    pub fn submit<R: Send + 'static>(
        &self,
        config: &CallConfig,
        mut buffers: SharedBuffers,
        f: impl for<'o, 'r, 'e> FnOnce(&mut NodeOrch<'o, 'r, 'e>) -> Result<R> + Send + 'static,
    ) -> Result<RunHandle<R>, NodeError> {
        config.validate().map_err(NodeError::Config)?;
        let prefix = config.output_prefix().map_err(NodeError::Config)?.unwrap_or_default().to_string();
        let one_more = |count| (count < RUNS_IN_FLIGHT).then_some(count + 1);
        if self.in_flight.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            return Err(NodeError::TooManyRuns { limit: RUNS_IN_FLIGHT });
        }
        let shared = Arc::new(Shared { finished: Mutex::new(None), is_over: Condvar::new() });
        let (theirs, in_flight, site) =
            (shared.clone(), self.in_flight.clone(), core::panic::Location::caller());
        let job: WorkerCall = Box::new(move |node| {
            let run =
                catch_unwind(AssertUnwindSafe(|| node.run_at(site, buffers.buffers(), &(), &prefix, f)));
            let journal = node.journal().clone();
            in_flight.fetch_sub(1, Ordering::Relaxed);
            *theirs.finished() = Some(run.map(|run| Finished { run, buffers, journal }));
            theirs.is_over.notify_all();
        });
        // The thread takes runs until this end of the channel is dropped.
        match self.jobs.as_ref().map(|jobs| jobs.send(job)) {
            Some(Ok(())) => Ok(RunHandle { shared }),
            _ => {
                self.in_flight.fetch_sub(1, Ordering::Relaxed);
                Err(NodeError::CannotStart {
                    worker: "node".to_string(),
                    doing: "a run",
                    error: "its thread has ended".to_string(),
                })
            }
        }
    }

    /// A hand on the run that goes on.
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        // A run that begins only now has not heard of it: it is interrupted again.
        while self.in_flight.load(Ordering::Relaxed) > 0 {
            self.remote.interrupt();
            thread::sleep(Duration::from_millis(1));
        }
        if let Some(thread) = self.thread.take() {
            // Panics of runs are caught; no caller is left to report another to.
            let _ = thread.join();
        }
    }
}

impl<R> RunHandle<R> {
    /// Whether the run is over.
    pub fn done(&self) -> bool {
        self.shared.finished().is_some()
    }

    /// Waits until the run is over; gives the handle back if that takes longer than this. A panic of the orchestration goes
    /// on here.
    pub fn wait(self, timeout: Duration) -> core::result::Result<Finished<R>, Self> {
        let deadline = Instant::now().checked_add(timeout);
        let mut finished = self.shared.finished();
        loop {
            if let Some(finished) = finished.take() {
                return Ok(finished.unwrap_or_else(|panic| resume_unwind(panic)));
            }
            let left =
                deadline.map_or(timeout, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                drop(finished);
                return Err(self);
            }
            let waited = self.shared.is_over.wait_timeout(finished, left);
            finished = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<R> std::fmt::Debug for RunHandle<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.done() { "a run that is over" } else { "a run that goes on" })
    }
}
