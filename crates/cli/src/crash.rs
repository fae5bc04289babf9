//! A kernel that ends its process (an invalid address, a stack overflow, `abort`) leaves one line that names it:
//!
//! ```text
//! crash: SIGSEGV in kernel ODD of task 1:2 on core 0; run directory outputs/odd_one_20261116_120000, without run.json
//! ```
//! The handler writes it and then restores what was there before it, so that the process ends as it would have: the same
//! status, the same core dump, and of a stack overflow also the line of Rust's own handler. It uses only what may be used in
//! a signal handler: atomics of the engine's board, a lock that it tries and never waits for, and `writev`. Every thread that
//! Rust starts has an alternate stack, on which it runs.

use std::io::{self, IoSlice};
use std::mem::zeroed;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, c_int, c_void, siginfo_t};

use crate::output::path_text;
use ringlane::{Remote, Thread};

/// The signals by which a kernel can end its process.
const SIGNALS: [(c_int, &str); 5] =
    [(SIGSEGV, "SIGSEGV"), (SIGBUS, "SIGBUS"), (SIGFPE, "SIGFPE"), (SIGILL, "SIGILL"), (SIGABRT, "SIGABRT")];

/// The run that goes on.
static RUN: Mutex<Option<WatchedRun>> = Mutex::new(None);

/// Whether the line was written: a stack overflow comes first as SIGSEGV, then as SIGABRT. Guards no data.
static IS_REPORTED: AtomicBool = AtomicBool::new(false);

/// What the signals did before, in the order of [`SIGNALS`]. Set before the handlers are.
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

struct WatchedRun {
    remote: Remote,
    submitter: u32,
    /// As it is printed.
    dir: Option<String>,
}

/// The number of this thread, as the system has it.
fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// From now on, a crash is one of this run, which this thread submits.
pub fn begin(remote: Remote, dir: Option<&Path>) {
    let dir = dir.map(path_text);
    let run = WatchedRun { remote, submitter: this_thread(), dir };
    *RUN.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
}

/// The run is over.
pub fn end() {
    let run = RUN.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(run);
}

/// Installs the handlers; a second call does nothing.
#[allow(unsafe_code)]
pub fn install() -> io::Result<()> {
    static ONCE: Mutex<bool> = Mutex::new(false);
    let mut is_done = ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_done {
        return Ok(());
    }
    // SAFETY: zero bits are a `sigaction`: the default action, no flags, an empty mask.
    let mut before: [libc::sigaction; SIGNALS.len()] = unsafe { zeroed() };
    for ((signal, _), before) in SIGNALS.iter().zip(&mut before) {
        // SAFETY: no new action is given; the old one is written to a `sigaction`.
        check(unsafe { libc::sigaction(*signal, ptr::null(), before) })?;
    }
    BEFORE.get_or_init(|| before);
    // SAFETY: as above.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = on_crash as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    for (signal, _) in SIGNALS {
        // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does only what a handler may do.
        check(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })?;
    }
    *is_done = true;
    Ok(())
}

fn check(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[allow(unsafe_code)]
extern "C" fn on_crash(signal: c_int, info: *mut siginfo_t, _context: *mut c_void) {
    let position = SIGNALS.iter().position(|(number, _)| *number == signal);
    // First of all, so that a crash in here ends the process.
    let before = position.and_then(|position| BEFORE.get()?.get(position));
    // SAFETY: the old action is one that the system gave; null takes none back.
    let restored =
        unsafe { libc::sigaction(signal, before.map_or(ptr::null(), ptr::from_ref), ptr::null_mut()) };
    if restored != 0 || before.is_none() {
        // SAFETY: `_exit` may be called in a handler, and does not return.
        unsafe { libc::_exit(128 + signal) };
    }
    if !IS_REPORTED.swap(true, Ordering::Relaxed) {
        report(position.map_or("a signal", |position| SIGNALS[position].1));
    }
    // SAFETY: the system gives a handler with SA_SIGINFO what it knows of the signal.
    let is_sent = unsafe { (*info).si_code } <= 0;
    if is_sent {
        // What a fault did is done again on return; what was sent has to be sent again. It waits until then.
        // SAFETY: `raise` may be called in a handler.
        unsafe { libc::raise(signal) };
    }
}

/// Writes the line. Called in a signal handler.
fn report(signal: &str) {
    let Ok(run) = RUN.try_lock() else { return };
    let Some(WatchedRun { remote, submitter, dir }) = &*run else { return };
    let number = this_thread();
    let running = remote.running_on(Thread { number, is_submitter: number == *submitter });
    let mut digits = [[0; 20]; 3];
    let [ring, local, core] = &mut digits;
    let task = running.map_or(0, |running| running.task.0);
    let (ring, local) = (decimal(task >> 32, ring), decimal(task & u64::from(u32::MAX), local));
    let core = decimal(running.map_or(0, |running| running.core.into()), core);
    let place: [&str; 7] = match &running {
        Some(running) => [" in kernel ", running.kernel, " of task ", ring, ":", local, " on core "],
        None => [" outside of a kernel", "", "", "", "", "", ""],
    };
    let core = if running.is_some() { core } else { "" };
    let dir: [&str; 3] = match dir {
        Some(dir) => ["; run directory ", dir, ", without run.json"],
        None => ["; no run directory", "", ""],
    };
    let [p0, p1, p2, p3, p4, p5, p6] = place;
    let parts = ["crash: ", signal, p0, p1, p2, p3, p4, p5, p6, core, dir[0], dir[1], dir[2], "\n"];
    let parts = parts.map(|part| IoSlice::new(part.as_bytes()));
    // There is nobody to report an error to.
    let _ = rustix::io::writev(rustix::stdio::stderr(), &parts);
}

/// A number in digits, without allocation.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &str {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    core::str::from_utf8(&digits[at..]).unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_write_them() {
        for number in [0, 7, 10, 1234567890, u64::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string());
        }
    }
}
