//! No panic reaches a user: one inside a run becomes that run's error, any other an `InternalError`.
//!
//! The engine catches a kernel's panic and turns it into a failed task with its own error, so while a case runs the hook
//! only stores the panic's message.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::atomic::{AtomicU32, Ordering};

use ringlane::Panicked;
use ringlane_task::Explain;

use crate::errors;

/// How many [`quietly`] are open. A statistic, not a lock: the hook may read it at any time.
static QUIET: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// What the last panic of this thread said.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A panic of the command itself.
#[derive(Debug, thiserror::Error)]
struct InternalError {
    said: String,
}

ringlane_task::display_explained!(InternalError);

impl Explain for InternalError {
    fn name(&self) -> &'static str {
        "InternalError"
    }
    fn summary(&self) -> String {
        "the command panicked".to_string()
    }
    fn detail(&self) -> String {
        self.said.clone()
    }
    fn hint(&self) -> String {
        "this is a bug in Ringlane: please report this line and the command".to_string()
    }
}

/// Replaces the default hook, which prints panics.
pub fn install() {
    set_hook(Box::new(|info| {
        let said = describe(info);
        if QUIET.load(Ordering::Relaxed) == 0 {
            errors::print(&InternalError { said: said.clone() });
        }
        LAST.with_borrow_mut(|last| *last = Some(said));
    }));
}

/// Runs code of a scene and returns its panic as an error.
pub fn quietly<T>(f: impl FnOnce() -> T) -> Result<T, Panicked> {
    QUIET.fetch_add(1, Ordering::Relaxed);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.fetch_sub(1, Ordering::Relaxed);
    result.map_err(|_| last_panic())
}

/// What the last panic of this thread said.
pub fn last_panic() -> Panicked {
    let said = LAST.with_borrow_mut(Option::take);
    Panicked::new(said.unwrap_or_else(|| "a panic without a message".to_string()))
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let said =
        info.payload_as_str().unwrap_or("a panic without a message").lines().collect::<Vec<_>>().join("; ");
    match info.location() {
        Some(place) => format!("{}:{}: {said}", place.file(), place.line()),
        None => said,
    }
}
