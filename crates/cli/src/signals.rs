//! Ctrl-C, SIGUSR1 and the limit on the size of files.
//!
//! The first Ctrl-C asks the run to end at its next task; a second one ends the process from inside the signal
//! handler, whatever the program is doing. One that follows the first at once is its echo and does nothing: some senders
//! signal a process and then its group. SIGUSR1 asks for a look inside. A write past the limit on the size of a file
//! (`ulimit -f`) would end the process by SIGXFSZ; that is caught, so that the write fails like one on a full disk.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::errors::{CliError, INTERRUPTED};
use crate::limits::CTRL_C_ECHO;

/// What a person asked for by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// End the run at the next task.
    Interrupt,
    /// Say what the run is doing.
    Look,
}

/// Tells whether Ctrl-C was pressed.
#[derive(Clone)]
pub struct Interrupted(Arc<Presses>);

impl Interrupted {
    /// Whether it was.
    pub fn is_set(&self) -> bool {
        self.0.any()
    }
}

/// What one more Ctrl-C means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Press {
    /// It is the first.
    First,
    /// It belongs to the first.
    Echo,
    /// It was pressed again.
    Again,
}

/// When Ctrl-C was first pressed.
struct Presses {
    /// Nanoseconds since some start, or [`NEVER`]. Written once, by the exchange in `press`; read there and in `any`. It
    /// guards no other data.
    first_ns: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl Presses {
    const fn none() -> Self {
        Presses { first_ns: AtomicU64::new(NEVER) }
    }

    fn any(&self) -> bool {
        self.first_ns.load(Ordering::Relaxed) != NEVER
    }

    /// Ctrl-C is pressed, so long after the start. Called in a signal handler: it neither waits nor allocates.
    fn press(&self, at: Duration) -> Press {
        let at = u64::try_from(at.as_nanos()).unwrap_or(NEVER).min(NEVER - 1);
        match self.first_ns.compare_exchange(NEVER, at, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Press::First,
            // Threads may come here in another order than they looked at the clock.
            Err(first) if u128::from(at.saturating_sub(first)) < CTRL_C_ECHO.as_nanos() => Press::Echo,
            Err(_) => Press::Again,
        }
    }
}

/// Catches Ctrl-C from now on.
fn catch_ctrl_c(presses: Arc<Presses>) -> io::Result<()> {
    let start = Instant::now();
    let handler = move || {
        if presses.press(start.elapsed()) == Press::Again {
            low_level::exit(INTERRUPTED.into());
        }
    };
    // SAFETY: the handler reads the monotonic clock, exchanges an atomic and perhaps calls `_exit`: all of that may be done in
    // a signal handler. It takes no lock, allocates nothing and does not panic (`elapsed` is zero where a clock goes
    // backwards).
    #[allow(unsafe_code)]
    unsafe { low_level::register(SIGINT, handler) }.map(drop)
}

/// The signals that have arrived.
pub struct Inbox {
    signals: Signals,
    /// Whether the first Ctrl-C was handed on: those after it are echoes, or end the process.
    heard_ctrl_c: bool,
}

impl Inbox {
    /// Starts to catch them.
    pub fn open() -> Result<(Self, Interrupted), CliError> {
        let presses = Arc::new(Presses::none());
        let open = || {
            catch_ctrl_c(Arc::clone(&presses))?;
            // Nobody looks at this flag: the write that went too far answers for itself.
            flag::register(SIGXFSZ, Arc::default())?;
            Signals::new([SIGINT, SIGUSR1])
        };
        let signals = open().map_err(CliError::NoSignals)?;
        Ok((Inbox { signals, heard_ctrl_c: false }, Interrupted(presses)))
    }

    /// What was asked for since the last time.
    pub fn take(&mut self) -> Vec<Wish> {
        let mut wishes = Vec::new();
        for signal in self.signals.pending() {
            if signal != SIGINT {
                wishes.push(Wish::Look);
            } else if !core::mem::replace(&mut self.heard_ctrl_c, true) {
                wishes.push(Wish::Interrupt);
            }
        }
        wishes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ctrl_c_within_the_time_of_an_echo_is_the_same_one_and_a_later_one_is_the_second() {
        let presses = Presses::none();
        assert!(!presses.any());
        let (first, one) = (Duration::from_secs(3), Duration::from_nanos(1));
        assert_eq!(presses.press(first), Press::First);
        assert!(presses.any());
        for echo in [first, first - one, first + one, first + CTRL_C_ECHO - one] {
            assert_eq!(presses.press(echo), Press::Echo, "{echo:?}");
        }
        for again in [first + CTRL_C_ECHO, first + CTRL_C_ECHO + one, Duration::MAX] {
            assert_eq!(presses.press(again), Press::Again, "{again:?}");
        }
    }

    #[test]
    fn a_key_that_is_held_down_ends_the_command_once_the_time_of_an_echo_is_over() {
        let presses = Presses::none();
        let repeats = (0..).map(|i| presses.press(CTRL_C_ECHO * i / 4));
        let until_again: Vec<_> = repeats.take_while(|&press| press != Press::Again).collect();
        assert_eq!(until_again, [Press::First, Press::Echo, Press::Echo, Press::Echo]);
    }
}
