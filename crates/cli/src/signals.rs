//! Ctrl-C, SIGTERM, SIGHUP, SIGUSR1 and the limit on the size of files.
//!
//! ```text
//!                         nobody listens (report, dump, …)          an inbox is open (a run)
//! first stop signal       temporary files removed, exit             the run ends at its next task
//! another one             -                                         temporary files removed, exit
//! ```
//! An exit of this kind happens inside the signal handler, whatever the program is doing, and names the files that were
//! not written; its status is 128 and the signal's number. A signal that follows the first at once is its echo and does
//! nothing: some senders signal a process and then its group. SIGHUP stays ignored where it is ignored at the start
//! (`nohup`). SIGUSR1 asks for the status of a run. A write past the limit on the size of a file (`ulimit -f`) would end
//! the process by SIGXFSZ; that is caught, so that the write fails like one on a full disk.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ringlane_trace::remove_unfinished;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::errors::CliError;
use crate::limits::CTRL_C_ECHO;

/// A signal that asks the command to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// Ctrl-C.
    Interrupt,
    /// What `kill` and schedulers send.
    Terminate,
    /// The terminal was closed.
    HangUp,
}

impl StopSignal {
    const ALL: [Self; 3] = [StopSignal::Interrupt, StopSignal::Terminate, StopSignal::HangUp];

    const fn number(self) -> i32 {
        match self {
            StopSignal::Interrupt => SIGINT,
            StopSignal::Terminate => SIGTERM,
            StopSignal::HangUp => SIGHUP,
        }
    }

    /// The exit status of a command that it ended: 128 and its number.
    pub const fn exit_status(self) -> u8 {
        128 + self.number() as u8
    }

    /// What is said when it comes: what ends, and when.
    pub fn text(self, what_ends: &str) -> String {
        match self {
            StopSignal::Interrupt => format!("interrupted: {what_ends}; Ctrl-C again ends it at once"),
            StopSignal::Terminate => {
                format!("interrupted by SIGTERM: {what_ends}; a second one ends it at once")
            }
            StopSignal::HangUp => format!("interrupted by SIGHUP: {what_ends}; a second one ends it at once"),
        }
    }

    fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| signal.number() == number)
    }
}

/// What a person asked for by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRequest {
    /// End the run at the next task.
    Stop(StopSignal),
    /// Say what the run is doing.
    Status,
}

/// The stop signal that came first, if any has come.
pub fn stop_signal() -> Option<StopSignal> {
    PRESSES.first()
}

/// Whether a stop signal has come.
pub fn is_stop_asked() -> bool {
    stop_signal().is_some()
}

/// What one more stop signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Press {
    /// It is the first.
    First,
    /// It belongs to the first.
    Echo,
    /// It was sent again.
    Again,
}

/// Those of this process.
static PRESSES: Presses = Presses::none();

/// Inboxes that are open: whether the first stop signal is heeded, or ends the process. Set by `Inbox`, read in the handler;
/// guards no other data.
static LISTENERS: AtomicU32 = AtomicU32::new(0);

/// Whether SIGTERM is left to others: set once, before it can come, and read in the handler. Guards no data.
static SIGTERM_IS_LEFT: AtomicBool = AtomicBool::new(false);

/// Leaves SIGTERM to other code that catches it. To a rank of an MPI run it says that another rank may have died, and the rank
/// outlives it for a while.
pub fn leave_sigterm() {
    SIGTERM_IS_LEFT.store(true, Ordering::Relaxed);
}

fn is_left(signal: StopSignal) -> bool {
    signal == StopSignal::Terminate && SIGTERM_IS_LEFT.load(Ordering::Relaxed)
}

/// When the first stop signal came, and which it was.
struct Presses {
    /// Nanoseconds since some start, or [`NEVER`]. Written once, by the exchange in `press`; read there. It guards no other
    /// data.
    first_ns: AtomicU64,
    /// The number of the first, 0 before. Written once, after `first_ns`, by the thread that won it; read in `first`.
    first: AtomicU32,
}

const NEVER: u64 = u64::MAX;

impl Presses {
    const fn none() -> Self {
        Presses { first_ns: AtomicU64::new(NEVER), first: AtomicU32::new(0) }
    }

    fn first(&self) -> Option<StopSignal> {
        StopSignal::of(self.first.load(Ordering::Relaxed) as i32)
    }

    /// A stop signal came, so long after the start. Called in a signal handler: it neither waits nor allocates.
    fn press(&self, signal: StopSignal, at: Duration) -> Press {
        let at = u64::try_from(at.as_nanos()).unwrap_or(NEVER).min(NEVER - 1);
        match self.first_ns.compare_exchange(NEVER, at, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                self.first.store(signal.number() as u32, Ordering::Relaxed);
                Press::First
            }
            // Threads may come here in another order than they read the clock.
            Err(first) if u128::from(at.saturating_sub(first)) < CTRL_C_ECHO.as_nanos() => Press::Echo,
            Err(_) => Press::Again,
        }
    }
}

/// Catches the stop signals from now on; a second call does nothing.
pub fn catch() -> io::Result<()> {
    static CAUGHT: Mutex<bool> = Mutex::new(false);
    let mut caught = CAUGHT.lock().unwrap_or_else(PoisonError::into_inner);
    if *caught {
        return Ok(());
    }
    let start = Instant::now();
    for signal in caught_signals() {
        let handler = move || {
            if is_left(signal) {
                return;
            }
            match PRESSES.press(signal, start.elapsed()) {
                Press::First if LISTENERS.load(Ordering::Relaxed) > 0 => {}
                Press::Echo => {}
                Press::First | Press::Again => end_process(signal),
            }
        };
        // SAFETY: the handler reads the monotonic clock, exchanges atomics and perhaps removes files and calls `_exit`: all of
        // that may be done in a signal handler. It waits for no lock, allocates nothing and does not panic (`elapsed` is zero
        // where a clock goes backwards).
        #[allow(unsafe_code)]
        unsafe {
            low_level::register(signal.number(), handler)?
        };
    }
    *caught = true;
    Ok(())
}

/// Those that are not ignored: a command under `nohup` outlives its terminal.
fn caught_signals() -> impl Iterator<Item = StopSignal> {
    let is_ignored = ignored_signals() & (1 << (SIGHUP - 1)) != 0;
    StopSignal::ALL.into_iter().filter(move |signal| *signal != StopSignal::HangUp || !is_ignored)
}

/// The signals that this process ignores, one bit each; none where the system does not say.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the process from inside a signal handler: nothing is left of files that are not whole, and they are named.
fn end_process(signal: StopSignal) {
    remove_unfinished(|name| {
        for part in ["interrupted: ", name, " was not written\n"] {
            // There is nobody to report an error to.
            let _ = rustix::io::write(rustix::stdio::stderr(), part.as_bytes());
        }
    });
    low_level::exit(signal.exit_status().into());
}

/// The signals that have arrived. While it is open, the first stop signal does not end the process.
pub struct Inbox {
    signals: Signals,
    /// Whether the first stop signal was handed on: those after it are echoes, or end the process.
    heard_stop: bool,
}

impl Inbox {
    /// Starts to catch them.
    pub fn open() -> Result<Self, CliError> {
        let open = || {
            catch()?;
            // Nobody checks this flag: the write that went too far answers for itself.
            flag::register(SIGXFSZ, std::sync::Arc::default())?;
            let stops = caught_signals().filter(|&signal| !is_left(signal));
            Signals::new(stops.map(StopSignal::number).chain([SIGUSR1]))
        };
        let signals = open().map_err(CliError::NoSignals)?;
        LISTENERS.fetch_add(1, Ordering::Relaxed);
        Ok(Inbox { signals, heard_stop: false })
    }

    /// What was asked for since the last time.
    pub fn take(&mut self) -> Vec<SignalRequest> {
        let mut requests = Vec::new();
        for signal in self.signals.pending() {
            match StopSignal::of(signal) {
                None => requests.push(SignalRequest::Status),
                Some(stop) if !core::mem::replace(&mut self.heard_stop, true) => {
                    requests.push(SignalRequest::Stop(stop))
                }
                Some(_) => {}
            }
        }
        requests
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ctrl_c_within_the_time_of_an_echo_is_the_same_one_and_a_later_one_is_the_second() {
        let presses = Presses::none();
        assert_eq!(presses.first(), None);
        let (first, one) = (Duration::from_secs(3), Duration::from_nanos(1));
        assert_eq!(presses.press(StopSignal::Terminate, first), Press::First);
        assert_eq!(presses.first(), Some(StopSignal::Terminate));
        for echo in [first, first - one, first + one, first + CTRL_C_ECHO - one] {
            assert_eq!(presses.press(StopSignal::Interrupt, echo), Press::Echo, "{echo:?}");
        }
        for again in [first + CTRL_C_ECHO, first + CTRL_C_ECHO + one, Duration::MAX] {
            assert_eq!(presses.press(StopSignal::HangUp, again), Press::Again, "{again:?}");
        }
    }

    #[test]
    fn a_key_that_is_held_down_ends_the_command_once_the_time_of_an_echo_is_over() {
        let presses = Presses::none();
        let repeats = (0..).map(|i| presses.press(StopSignal::Interrupt, CTRL_C_ECHO * i / 4));
        let until_again: Vec<_> = repeats.take_while(|&press| press != Press::Again).collect();
        assert_eq!(until_again, [Press::First, Press::Echo, Press::Echo, Press::Echo]);
    }

    #[test]
    fn the_exit_status_of_a_signal_is_the_one_that_shells_give() {
        assert_eq!(StopSignal::ALL.map(StopSignal::exit_status), [130, 143, 129]);
    }
}
