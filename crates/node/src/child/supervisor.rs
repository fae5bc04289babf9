//! The thread that keeps one child: starts it, listens to it, notices its death at once and reaps it.
//!
//! ```text
//! spawn ─▶ poll(pidfd, output) ─┬─ output: keep the last bytes
//!                               └─ death: reap, say how it ended, notify its owner ─▶ end of the thread
//! ```
//! The kernel ties a child to the *thread* that made it: when that thread ends, the child is killed. This one lives exactly
//! as long as the child, so the thread that asked for the child may end. The owner of a mailbox hears of the death by the bell
//! that an answer rings, so that a parent that waits for an answer notices it without polling.

use std::fmt;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::OwnedFd;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ringlane_task::topics;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tracing::{info, warn};

use crate::error::NodeError;
use crate::exit::{CapturedOutput, Exit};

/// Whose child it is: how the child is started, and who is notified of its end. All of it is called on the supervisor's thread.
pub(crate) trait Owner: fmt::Debug + Send + Sync {
    /// Starts the process; what it prints goes to `output`.
    fn spawn(&self, output: PipeWriter) -> io::Result<process::Child>;
    /// The child has printed this.
    fn printed(&self, _printed: &[u8]) {}
    /// The child has ended; how, is known by now.
    fn ended(&self);
}

/// What the thread and its owner share.
#[derive(Debug)]
struct Kept {
    name: String,
    owner: Arc<dyn Owner>,
    /// Whether the child has ended. The release in [`Kept::reap`] pairs with the acquire in [`Supervisor::is_gone`].
    gone: AtomicBool,
    /// Whether it was asked to end; read for the log only.
    dismissed: AtomicBool,
    words: Mutex<CapturedOutput>,
    exit: Mutex<Option<Exit>>,
    reaped: Condvar,
}

/// A child and the thread that keeps it. Dropping it kills the child and waits until it is reaped.
#[derive(Debug)]
pub(crate) struct Supervisor {
    kept: Arc<Kept>,
    pub(crate) pid: u32,
    pidfd: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

/// A process and the descriptor that refers to it and to no other that may get its number.
type Started = (process::Child, OwnedFd, PipeReader);

impl Supervisor {
    /// Starts a child of this name.
    pub(crate) fn start(name: &str, owner: Arc<dyn Owner>) -> Result<Self, NodeError> {
        let cannot = |doing| {
            let worker = name.to_string();
            move |error: io::Error| NodeError::CannotStart { worker, doing, error: error.to_string() }
        };
        let kept = Arc::new(Kept {
            name: name.to_string(),
            owner,
            gone: AtomicBool::new(false),
            dismissed: AtomicBool::new(false),
            words: Mutex::default(),
            exit: Mutex::default(),
            reaped: Condvar::new(),
        });
        let (sender, started) = channel();
        let theirs = kept.clone();
        let thread = std::thread::Builder::new().name(format!("supervisor of {name}"));
        let thread = thread.spawn(move || theirs.keep(&sender)).map_err(cannot("a thread to keep it"))?;
        // A supervisor that ends without a word has panicked; there is no child then.
        let ended = || Err(io::Error::other("its supervisor ended"));
        let (pid, pidfd) = match started.recv().unwrap_or_else(|_| ended()) {
            Ok(started) => started,
            Err(error) => {
                // Whatever it holds of the owner's is let go before the owner hears of the error.
                let _ = thread.join();
                return Err(cannot("a new process")(error));
            }
        };
        info!(target: topics::WORKERS, name, pid, "a process started");
        Ok(Supervisor { kept, pid, pidfd, thread: Some(thread) })
    }

    /// Whether the child has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.kept.gone.load(Ordering::Acquire)
    }

    /// What it printed last, so far.
    pub(crate) fn captured_output(&self) -> String {
        lock(&self.kept.words).text()
    }

    /// Kills the child, at once and without asking it.
    pub(crate) fn kill(&self) {
        self.kept.dismissed.store(true, Ordering::Relaxed);
        self.signal(Signal::KILL);
    }

    /// Sends the child a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        // An error means that it has ended already.
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Waits until the child has ended.
    pub(crate) fn exit_within(&self, timeout: Duration) -> Option<Exit> {
        let exit = lock(&self.kept.exit);
        let waited = self.kept.reaped.wait_timeout_while(exit, timeout, |exit| exit.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Kills the child and reports how it ended. What is killed ends, however long the kernel takes.
    pub(crate) fn killed(&self) -> Exit {
        self.kill();
        loop {
            if let Some(exit) = self.exit_within(Duration::from_secs(1)) {
                return exit;
            }
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.kill();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Kept {
    /// The life of the thread.
    fn keep(&self, sender: &Sender<io::Result<(u32, OwnedFd)>>) {
        let started = start(&*self.owner);
        // The asking thread waits for the answer, so that it is taken.
        match started {
            Ok((mut started, pidfd)) => {
                let _ = sender.send(Ok((started.0.id(), pidfd)));
                self.listen(&started.1, &mut started.2);
                self.reap(started);
            }
            Err(error) => drop(sender.send(Err(error))),
        }
    }

    /// Keeps what the child prints, until it has ended.
    fn listen(&self, pidfd: &OwnedFd, output: &mut PipeReader) {
        let mut is_open = true;
        loop {
            let mut both = [PollFd::new(pidfd, PollFlags::IN), PollFd::new(output, PollFlags::IN)];
            let asked = if is_open { &mut both[..] } else { &mut both[..1] };
            // An error is a signal: ask again.
            let _ = poll(asked, None);
            let [ended, printed] = both.map(|fd| !fd.revents().is_empty());
            if is_open && (printed || ended) {
                is_open = self.read(output);
            }
            if ended {
                return;
            }
        }
    }

    /// Reads what there is; whether there may be more later.
    fn read(&self, output: &mut PipeReader) -> bool {
        let mut buffer = [0; 1024];
        // A child that prints without end must not keep its own death from being noticed.
        for _ in 0..64 {
            match output.read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    lock(&self.words).add(&buffer[..count]);
                    self.owner.printed(&buffer[..count]);
                }
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
        true
    }

    fn reap(&self, (mut child, ..): Started) {
        let pid = child.id();
        // It has ended, so that this does not wait. An error would mean that somebody else has reaped it.
        let status = child.wait().unwrap_or_default();
        let captured_output = lock(&self.words).text();
        match status.success() || self.dismissed.load(Ordering::Relaxed) {
            true => info!(target: topics::WORKERS, name = self.name, pid, %status, "a process ended"),
            false => warn!(target: topics::WORKERS, name = self.name, pid, %status, "a process ended"),
        }
        *lock(&self.exit) = Some(Exit { pid, status, captured_output });
        self.gone.store(true, Ordering::Release);
        self.reaped.notify_all();
        self.owner.ended();
    }
}

/// Starts the process; gives a second descriptor of it, for the owner of the supervisor.
fn start(owner: &dyn Owner) -> io::Result<(Started, OwnedFd)> {
    let (output, theirs) = io::pipe()?;
    rustix::fs::fcntl_setfl(&output, OFlags::NONBLOCK)?;
    let mut child = owner.spawn(theirs)?;
    let pid = Pid::from_child(&child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from);
    match pidfd.and_then(|pidfd| Ok((pidfd.try_clone()?, pidfd))) {
        Ok((pidfd, theirs)) => Ok(((child, pidfd, output), theirs)),
        Err(error) => {
            child.kill()?;
            child.wait()?;
            Err(error)
        }
    }
}

/// A lock that is held for a moment, by code that does not panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
