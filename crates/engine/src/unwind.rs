//! Panics of code that is not ours: what they say, how their payloads go, and where they must not pass.
//!
//! A payload is a value of the program's own, and dropping it runs the program's code, which may panic again. Nothing may
//! unwind past a run that still has tasks: they write memory that the run only borrows.

#![forbid(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a caught panic says.
///
/// ```
/// let caught = std::panic::catch_unwind(|| panic!("{} apples", 3)).unwrap_err();
/// assert_eq!(ringlane_engine::panic_text(&*caught), "3 apples");
/// ```
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Drops what a caught panic carried. If that panics in turn, what the second panic carries is leaked, because dropping it
/// might never come to an end.
///
/// ```
/// struct Bomb;
/// impl Drop for Bomb {
///     fn drop(&mut self) {
///         std::panic::panic_any(Bomb);
///     }
/// }
/// let caught = std::panic::catch_unwind(|| std::panic::panic_any(Bomb)).unwrap_err();
/// ringlane_engine::drop_panic(caught); // returns
/// ```
#[cold]
pub fn drop_panic(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        core::mem::forget(again);
    }
}

/// Ends the process if a panic unwinds past it: for code between which and its caller tasks are still running. Only the
/// runtime's own code and probes run under it; panics of kernels and orchestrations are caught further inside.
#[derive(Debug)]
pub struct AbortOnUnwind(());

impl AbortOnUnwind {
    /// Guards what follows, until [`disarm`](Self::disarm).
    #[must_use]
    pub fn new() -> Self {
        AbortOnUnwind(())
    }

    /// Nothing depends on the caller any more.
    pub fn disarm(self) {
        core::mem::forget(self);
    }
}

impl Default for AbortOnUnwind {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        // Model checkers unwind threads to end an execution.
        if cfg!(any(loom, shuttle)) {
            return;
        }
        eprintln!(
            "ringlane: a probe or the runtime itself panicked while tasks were running; the process ends"
        );
        std::process::abort();
    }
}
