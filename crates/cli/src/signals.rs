//! Ctrl-C, SIGUSR1 and the limit on the size of files.
//!
//! The first Ctrl-C asks the run to end at its next task; a second one ends the process from inside the signal
//! handler, whatever the program is doing. SIGUSR1 asks for a look inside. A write past the limit on the size of a file
//! (`ulimit -f`) would end the process by SIGXFSZ; that is caught, so that the write fails like one on a full disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::errors::{CliError, INTERRUPTED};

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
pub struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    /// Whether it was.
    pub fn is_set(&self) -> bool {
        // Pairs with the store of signal-hook's handler; the flag guards no other data.
        self.0.load(Ordering::Relaxed)
    }
}

/// The signals that have arrived.
pub struct Inbox {
    signals: Signals,
}

impl Inbox {
    /// Starts to catch them.
    pub fn open() -> Result<(Self, Interrupted), CliError> {
        let set = Arc::new(AtomicBool::new(false));
        let open = || {
            // Handlers run in this order: the first Ctrl-C finds the flag clear and sets it.
            flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&set))?;
            flag::register(SIGINT, Arc::clone(&set))?;
            // Nobody looks at this flag: the write that went too far answers for itself.
            flag::register(SIGXFSZ, Arc::default())?;
            Signals::new([SIGINT, SIGUSR1])
        };
        let signals = open().map_err(CliError::NoSignals)?;
        Ok((Inbox { signals }, Interrupted(set)))
    }

    /// What was asked for since the last time.
    pub fn take(&mut self) -> Vec<Wish> {
        let wish = |signal| if signal == SIGINT { Wish::Interrupt } else { Wish::Look };
        self.signals.pending().map(wish).collect()
    }
}
