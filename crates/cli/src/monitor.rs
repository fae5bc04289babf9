//! The one background thread of a command: signals, the progress bar and the watchdog.
//!
//! ```text
//! every tick:  signals ──▶ interrupt the run, or print its status
//!              status  ──▶ progress bar, watchdog
//! ```
//! It holds nothing of a run but its remote, and does nothing when there is no run.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::crash;
use crate::errors::CliError;
use crate::execute::Audience;
use crate::limits::{TICK, WATCHDOG_EVERY};
use crate::output::say;
use crate::progress::Bar;
use crate::signals::{Inbox, SignalRequest, is_stop_asked};
use crate::watchdog::Watchdog;
use ringlane::Remote;

/// The thread, from the command's side.
pub struct Monitor {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    run: Mutex<Option<ObservedRun>>,
    /// Set once, by `Drop`; pairs with the load in `MonitorThread::watch`. Guards no other data.
    stop: AtomicBool,
}

/// A run that goes on.
struct ObservedRun {
    remote: Remote,
    bar: Bar,
    watchdog: Watchdog,
    checked_at: Instant,
}

impl Shared {
    fn run(&self) -> MutexGuard<'_, Option<ObservedRun>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Monitor {
    /// Starts the thread and catches signals from now on.
    pub fn start(audience: &Audience) -> Result<Self, CliError> {
        let inbox = Inbox::open()?;
        crash::install().map_err(CliError::NoSignals)?;
        let shared = Arc::new(Shared { run: Mutex::new(None), stop: AtomicBool::new(false) });
        let audience = audience.clone();
        let eye = MonitorThread { shared: Arc::clone(&shared), inbox, audience };
        let thread = thread::Builder::new().name("ringlane-monitor".into()).spawn(move || eye.watch());
        let thread = thread.map_err(CliError::NoSignals)?;
        Ok(Monitor { shared, thread: Some(thread) })
    }

    /// Whether a person asked to stop.
    pub fn interrupted(&self) -> bool {
        is_stop_asked()
    }

    /// Watches a run, which this thread submits, until the answer is dropped. `dir` is its directory, if it has one.
    pub fn watch(&self, remote: Remote, bar: Bar, dir: Option<&Path>) -> Watch<'_> {
        crash::begin(remote.clone(), dir);
        let checked_at = Instant::now();
        *self.shared.run() = Some(ObservedRun { remote, bar, watchdog: Watchdog::default(), checked_at });
        Watch(self)
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// While it lives, its run is watched.
pub struct Watch<'m>(&'m Monitor);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        crash::end();
        if let Some(watched) = self.0.shared.run().take() {
            watched.bar.clear();
        }
    }
}

/// The thread, from inside.
struct MonitorThread {
    shared: Arc<Shared>,
    inbox: Inbox,
    audience: Audience,
}

impl MonitorThread {
    fn watch(mut self) {
        while !self.shared.stop.load(Ordering::Relaxed) {
            let mut requests = self.inbox.take();
            if matches!(self.audience, Audience::Parent(_)) {
                // The parent hands a stop signal on to all its processes, and says so once.
                requests.retain(|request| *request == SignalRequest::Status);
            }
            match &mut *self.shared.run() {
                Some(run) => {
                    if is_stop_asked() {
                        // At every tick: a run that was about to start when the signal came must hear it too.
                        run.remote.interrupt();
                    }
                    run.tick(&requests);
                }
                None => requests.into_iter().for_each(between_runs),
            }
            thread::park_timeout(TICK);
        }
    }
}

fn between_runs(request: SignalRequest) {
    match request {
        SignalRequest::Stop(signal) => say(signal.text("the command ends after this step")),
        SignalRequest::Status => say("no tasks run at this moment"),
    }
}

impl ObservedRun {
    fn tick(&mut self, requests: &[SignalRequest]) {
        for request in requests {
            match request {
                SignalRequest::Stop(signal) => self.bar.say(signal.text("the run ends at the next task")),
                SignalRequest::Status => self.bar.say(self.remote.status().to_string().trim_end()),
            }
        }
        let now = Instant::now();
        let is_check_due = now.duration_since(self.checked_at) >= WATCHDOG_EVERY;
        if !is_check_due && !self.bar.is_shown() {
            return;
        }
        let status = self.remote.status();
        self.bar.update(status.submitted, status.running.len());
        if is_check_due {
            self.checked_at = now;
            self.watchdog.check(now, &status).into_iter().for_each(|line| self.bar.say(line));
        }
    }
}
