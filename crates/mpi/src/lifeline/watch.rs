//! Watching lifelines: a thread that sleeps until a line ends or this process is told to end.

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

use crate::limits::{LAST_CHANCE, SCHEDULER_GRACE, WORKER_GRACE};

/// What a rank says before it closes its line.
const GOODBYE: u8 = b'.';

/// Why there is no going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A rank's line ended without a goodbye.
    Died(Rank),
    /// SIGTERM, and no line that had ended by itself.
    Terminated,
}

/// How a rank behaves when the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// How long it outlives a SIGTERM.
    pub grace: Duration,
    /// How long after the end the whole process is ended, if it is still there.
    pub last_chance: Option<Duration>,
}

impl Manners {
    /// Of rank 0: it tells what happened, and ends by itself.
    pub const SCHEDULER: Manners = Manners { grace: SCHEDULER_GRACE, last_chance: None };
    /// Of the others: whatever they are doing, they end soon.
    pub const WORKER: Manners = Manners { grace: WORKER_GRACE, last_chance: Some(LAST_CHANCE) };
}

/// The lines of this rank, watched by a thread of its own until [`Watch::leave`].
#[derive(Debug)]
pub struct Watch {
    /// Never closed but by the end of the process, because that is what the end of a line means.
    lines: ManuallyDrop<Vec<TcpStream>>,
    shared: Arc<Shared>,
}

/// What the thread tells.
#[derive(Debug, Default)]
struct Shared {
    end: OnceLock<End>,
    /// Whether this rank ends in order. Written by `leave` and read by the thread; it guards no other data.
    leaving: AtomicBool,
}

impl Watch {
    pub(super) fn start(lines: Vec<(Rank, TcpStream)>, manners: Manners) -> io::Result<Self> {
        let (told, teller) = UnixStream::pair()?;
        low_level::pipe::register(SIGTERM, teller)?;
        for (_, line) in &lines {
            line.set_nonblocking(true)?;
        }
        let ours = lines.iter().map(|(_, line)| line.try_clone()).collect::<io::Result<_>>()?;
        let shared = Arc::new(Shared::default());
        let watcher = Watcher { lines, told, manners, shared: Arc::clone(&shared), terminated: None };
        thread::Builder::new().name("lifelines".to_string()).spawn(move || watcher.watch())?;
        Ok(Watch { lines: ManuallyDrop::new(ours), shared })
    }

    /// Whether and why there is no going on.
    pub fn end(&self) -> Option<End> {
        self.shared.end.get().copied()
    }

    #[cfg(test)]
    pub(super) fn lines_of_this_test(&self) -> impl Iterator<Item = &TcpStream> {
        self.lines.iter()
    }

    /// Says goodbye to the others: what ends from now on ends in order.
    pub fn leave(self) {
        self.shared.leaving.store(true, Ordering::Relaxed);
        for mut line in self.lines.iter() {
            // Whoever has gone already needs no goodbye.
            let _ = line.write_all(&[GOODBYE]);
        }
    }
}

/// What the thread works with.
struct Watcher {
    lines: Vec<(Rank, TcpStream)>,
    told: UnixStream,
    manners: Manners,
    shared: Arc<Shared>,
    /// When SIGTERM came.
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
        if let Some(last_chance) = self.manners.last_chance {
            thread::sleep(last_chance);
            // Not `exit`: what runs at the exit of an MPI program may wait for ranks that are gone.
            low_level::exit(1);
        }
    }

    /// Sleeps until something happens: gives what is ready, the signal first and then each line; `None` once the time
    /// after a SIGTERM is over.
    fn sleep(&self) -> Option<Vec<bool>> {
        let rest = match self.terminated {
            Some(at) => Some(self.manners.grace.checked_sub(at.elapsed())?),
            None => None,
        };
        // A signal that has come stays ready: nobody asks for it again.
        let signal = if self.terminated.is_some() { PollFlags::empty() } else { PollFlags::IN };
        let mut polled = vec![PollFd::new(&self.told, signal)];
        polled.extend(self.lines.iter().map(|(_, line)| PollFd::new(line, PollFlags::IN)));
        let wait =
            rest.map(|rest| Timespec { tv_sec: rest.as_secs() as i64, tv_nsec: rest.subsec_nanos().into() });
        // An interrupted sleep has nothing ready.
        let _ = poll(&mut polled, wait.as_ref());
        Some(polled.iter().map(|one| !one.revents().is_empty()).collect())
    }

    /// The first line that has ended without a goodbye. Lines with one are watched no longer.
    fn ended(&mut self, ready: &[bool]) -> Option<Rank> {
        let mut is_ready = ready.iter();
        let mut ended = None;
        self.lines.retain(|(rank, line)| {
            if !is_ready.next().copied().unwrap_or(false) {
                return true;
            }
            match hear(line) {
                Heard::Nothing => true,
                Heard::Goodbye => false,
                Heard::End => {
                    ended = ended.or(Some(*rank));
                    false
                }
            }
        });
        ended
    }
}

enum Heard {
    Nothing,
    Goodbye,
    End,
}

fn hear(mut line: &TcpStream) -> Heard {
    let mut byte = [0];
    match line.read(&mut byte) {
        Ok(1) if byte[0] == GOODBYE => Heard::Goodbye,
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Heard::Nothing
        }
        // The end of the line, a reset, or what no rank says.
        _ => Heard::End,
    }
}
