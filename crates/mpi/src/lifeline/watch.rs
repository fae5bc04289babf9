//! Watches lifelines: a thread that sleeps until a line ends or this process receives SIGTERM.

use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use ringlane_node::remote::Rank;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::SIGTERM;
use signal_hook::low_level;

use crate::limits::{KILL_AFTER, SCHEDULER_GRACE, WORKER_GRACE};

/// The byte that a rank sends before it closes its line.
const GOODBYE: u8 = b'.';

/// Why the run has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The line of a rank ended without a goodbye.
    Died(Rank),
    /// SIGTERM, and no line ended by itself.
    Terminated,
}

/// What a rank does when the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownRules {
    /// How long it survives a SIGTERM.
    pub grace: Duration,
    /// How long after the end the process is killed, if it still exists.
    pub kill_after: Option<Duration>,
}

impl ShutdownRules {
    /// For rank 0: it reports the cause, and ends by itself.
    pub const SCHEDULER: ShutdownRules = ShutdownRules { grace: SCHEDULER_GRACE, kill_after: None };
    /// For the others: they end soon, whatever they are doing.
    pub const WORKER: ShutdownRules = ShutdownRules { grace: WORKER_GRACE, kill_after: Some(KILL_AFTER) };
}

/// The lines of this rank, watched by a thread until [`Watch::leave`].
#[derive(Debug)]
pub struct Watch {
    /// Closed only by the end of the process, because that is the meaning of the end of a line.
    lines: ManuallyDrop<Vec<TcpStream>>,
    shared: Arc<Shared>,
}

/// State that the thread shares with the watch.
#[derive(Debug, Default)]
struct Shared {
    end: OnceLock<End>,
    /// Whether this rank ends in an orderly way. Written by `leave` and read by the thread; it guards no other data.
    leaving: AtomicBool,
}

impl Watch {
    pub(super) fn start(lines: Vec<(Rank, TcpStream)>, rules: ShutdownRules) -> io::Result<Self> {
        let (signal_read, signal_write) = UnixStream::pair()?;
        low_level::pipe::register(SIGTERM, signal_write)?;
        for (_, line) in &lines {
            line.set_nonblocking(true)?;
        }
        let ours = lines.iter().map(|(_, line)| line.try_clone()).collect::<io::Result<_>>()?;
        let shared = Arc::new(Shared::default());
        let watcher = Watcher { lines, signal_read, rules, shared: Arc::clone(&shared), terminated: None };
        thread::Builder::new().name("lifelines".to_string()).spawn(move || watcher.watch())?;
        Ok(Watch { lines: ManuallyDrop::new(ours), shared })
    }

    /// The reason why the run has to end, if it has to.
    pub fn end(&self) -> Option<End> {
        self.shared.end.get().copied()
    }

    #[cfg(test)]
    pub(super) fn lines_of_this_test(&self) -> impl Iterator<Item = &TcpStream> {
        self.lines.iter()
    }

    /// Sends a goodbye to the others: lines that end from now on are not failures.
    pub fn leave(self) {
        self.shared.leaving.store(true, Ordering::Relaxed);
        for mut line in self.lines.iter() {
            // A rank that has already gone needs no goodbye.
            let _ = line.write_all(&[GOODBYE]);
        }
    }
}

/// The state of the thread.
struct Watcher {
    lines: Vec<(Rank, TcpStream)>,
    signal_read: UnixStream,
    rules: ShutdownRules,
    shared: Arc<Shared>,
    /// When SIGTERM arrived.
    terminated: Option<Instant>,
}

impl Watcher {
    fn watch(mut self) {
        let end = loop {
            if self.lines.is_empty() {
                return;
            }
            let ready = match self.sleep() {
                Some(ready) => ready,
                None => break End::Terminated,
            };
            if ready.first() == Some(&true) && self.terminated.is_none() {
                self.terminated = Some(Instant::now());
            }
            if let Some(rank) = self.ended(&ready[1..]) {
                break End::Died(rank);
            }
        };
        if self.shared.leaving.load(Ordering::Relaxed) {
            return;
        }
        let _ = self.shared.end.set(end);
        if let Some(kill_after) = self.rules.kill_after {
            thread::sleep(kill_after);
            // Not `exit`: exit handlers of MPI may wait for ranks that have died.
            low_level::exit(1);
        }
    }

    /// Sleeps until something happens. Returns which descriptors are ready, the signal first and then each line;
    /// `None` once the grace period after a SIGTERM has passed.
    fn sleep(&self) -> Option<Vec<bool>> {
        let rest = match self.terminated {
            Some(at) => Some(self.rules.grace.checked_sub(at.elapsed())?),
            None => None,
        };
        // A received signal stays ready, and is not polled again.
        let signal = if self.terminated.is_some() { PollFlags::empty() } else { PollFlags::IN };
        let mut polled = vec![PollFd::new(&self.signal_read, signal)];
        polled.extend(self.lines.iter().map(|(_, line)| PollFd::new(line, PollFlags::IN)));
        let wait =
            rest.map(|rest| Timespec { tv_sec: rest.as_secs() as i64, tv_nsec: rest.subsec_nanos().into() });
        // After an interrupted sleep nothing is ready.
        let _ = poll(&mut polled, wait.as_ref());
        Some(polled.iter().map(|one| !one.revents().is_empty()).collect())
    }

    /// The first line that has ended without a goodbye. Lines with a goodbye are removed.
    fn ended(&mut self, ready: &[bool]) -> Option<Rank> {
        let mut is_ready = ready.iter();
        let mut ended = None;
        self.lines.retain(|(rank, line)| {
            if !is_ready.next().copied().unwrap_or(false) {
                return true;
            }
            match line_event(line) {
                LineEvent::Nothing => true,
                LineEvent::Goodbye => false,
                LineEvent::End => {
                    ended = ended.or(Some(*rank));
                    false
                }
            }
        });
        ended
    }
}

enum LineEvent {
    Nothing,
    Goodbye,
    End,
}

fn line_event(mut line: &TcpStream) -> LineEvent {
    let mut byte = [0];
    match line.read(&mut byte) {
        Ok(1) if byte[0] == GOODBYE => LineEvent::Goodbye,
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            LineEvent::Nothing
        }
        // The end of the line, a reset, or an invalid byte.
        _ => LineEvent::End,
    }
}
