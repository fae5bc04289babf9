//! Where a panic happened, so that a task's failure names the line.
//!
//! The unwinding payload holds the message only; the place is known to the process's panic hook alone. So the first run of a
//! process puts a hook before the one that is there, and that is all it does: it takes note of the place for the thread that
//! panics, and hands on to the hook that was there, which prints, logs or stays silent as before. It is installed by the first
//! run and not by the caller, because a program that does not know of it would get errors without the line, and once, because
//! hooks cannot be taken out of the middle of a chain. A hook that the program sets later without chaining replaces it, and
//! then a failure has the message without the place.

#![forbid(unsafe_code)]

use std::any::Any;
use std::cell::RefCell;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::Once;

use crate::unwind::panic_text;

thread_local! {
    /// The message and the place of this thread's last panic.
    static LAST: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Sees to it that places of panics are noted from here on. Costs an atomic load after the first time.
pub fn note_panics() {
    static INSTALLED: Once = Once::new();
    // A thread that unwinds may not touch the hook; the next run will.
    if INSTALLED.is_completed() || std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            note(info);
            previous(info);
        }));
    });
}

fn note(info: &PanicHookInfo<'_>) {
    let Some(place) = info.location() else { return };
    let noted = (panic_text(info.payload()).to_string(), format!("{}:{}", place.file(), place.line()));
    // A panic inside a destructor of thread-locals has no place to be noted.
    let _ = LAST.try_with(|last| last.replace(Some(noted)));
}

/// What a panic that this thread has just caught says, after the place where it happened if that was noted.
///
/// ```
/// ringlane_engine::note_panics();
/// let caught = std::panic::catch_unwind(|| panic!("{} apples", 3)).unwrap_err();
/// let said = ringlane_engine::describe_panic(&*caught);
/// assert!(said.starts_with("panicked at ") && said.ends_with(": 3 apples"), "{said}");
/// ```
pub fn describe_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic_text(panic);
    // `resume_unwind` calls no hook: the note of an earlier panic is not about this one, unless it says the same.
    let noted = LAST.try_with(RefCell::take).ok().flatten().filter(|(said, _)| said == text);
    match noted {
        Some((_, place)) => format!("panicked at {place}: {text}"),
        None => format!("panicked: {text}"),
    }
}
