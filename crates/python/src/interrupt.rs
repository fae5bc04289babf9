//! Ctrl-C while a run goes on.
//!
//! ```text
//! SIGINT ──▶ our handler ──▶ Python's handler: KeyboardInterrupt at the next line of Python code
//!                └── a byte into a pipe ──▶ the watching thread: interrupts the runs of the main thread, and
//!                                            after a while the Python kernels that still run
//! ```
//! The handler is there while the main thread is in a run, and only if Python's own handler for Ctrl-C is in place.

use std::ffi::c_int;
use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use ringlane::Remote;

use crate::body::running;

/// How long kernels have to end after a run was interrupted, before they are interrupted too.
const PATIENCE: Duration = Duration::from_millis(300);

/// Where the handler writes.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// The process that the watching thread is in: a child of `fork` needs its own.
static WATCHED_IN: AtomicU32 = AtomicU32::new(0);
/// The handler that was there before.
static BEFORE: AtomicUsize = AtomicUsize::new(0);

/// The runs of the main thread, the outermost first.
static RUNS: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

struct Watched {
    number: u64,
    remote: Remote,
    interrupted: bool,
}

fn runs() -> MutexGuard<'static, Vec<Watched>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run of the main thread, which Ctrl-C interrupts while this lives.
pub struct Watch(u64);

impl Watch {
    /// Watches a run, if this is the main thread and Ctrl-C raises `KeyboardInterrupt`.
    pub fn start(py: Python<'_>, remote: Remote) -> PyResult<Option<Self>> {
        if !is_main_thread() || !has_usual_handler(py)? {
            return Ok(None);
        }
        start_watching()?;
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed) as u64;
        let mut runs = runs();
        if runs.is_empty() {
            install();
        }
        runs.push(Watched { number, remote, interrupted: false });
        Ok(Some(Watch(number)))
    }

    /// Ends; whether Ctrl-C was pressed meanwhile.
    pub fn end(self, py: Python<'_>) -> bool {
        let interrupted = remove(self.0);
        if interrupted {
            running::forget_interrupts(py);
        }
        interrupted
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        remove(self.0);
    }
}

/// Takes a run off the list, if it is still there; whether it was interrupted.
fn remove(number: u64) -> bool {
    let mut runs = runs();
    let Some(place) = runs.iter().position(|run| run.number == number) else { return false };
    let run = runs.remove(place);
    if runs.is_empty() {
        uninstall();
    }
    run.interrupted
}

/// Interrupts the runs of the main thread; the oldest number of those that go on.
fn interrupt_runs() -> Option<u64> {
    let mut runs = runs();
    for run in runs.iter_mut() {
        run.remote.interrupt();
        run.interrupted = true;
    }
    runs.first().map(|run| run.number)
}

/// A Python kernel was interrupted: its run ends.
pub fn in_kernel() {
    interrupt_runs();
}

fn is_main_thread() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::getpid() == libc::gettid() }
}

/// Whether Ctrl-C raises `KeyboardInterrupt`, as it does unless the program changed it.
fn has_usual_handler(py: Python<'_>) -> PyResult<bool> {
    static SIGNAL: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let (getsignal, usual) = SIGNAL.get_or_try_init(py, || -> PyResult<_> {
        let signal = py.import("signal")?;
        Ok((signal.getattr("getsignal")?.unbind(), signal.getattr("default_int_handler")?.unbind()))
    })?;
    Ok(getsignal.call1(py, (libc::SIGINT,))?.is(usual))
}

/// Starts the watching thread of this process.
fn start_watching() -> PyResult<()> {
    let process = std::process::id();
    if WATCHED_IN.swap(process, Ordering::Relaxed) == process {
        return Ok(());
    }
    runs().clear();
    let mut ends = [0; 2];
    // SAFETY: two numbers are written where there is room for two.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error().into());
    }
    PIPE.store(ends[1], Ordering::Relaxed);
    let from = ends[0];
    std::thread::Builder::new().name("ringlane-ctrl-c".to_string()).spawn(move || watch(from))?;
    Ok(())
}

/// The watching thread: waits for Ctrl-C, interrupts the runs and, if they do not end, the kernels that still run.
fn watch(from: c_int) {
    let mut byte = 0u8;
    // SAFETY: reads one byte into one byte.
    while unsafe { libc::read(from, (&raw mut byte).cast(), 1) } != 0 {
        let Some(first) = interrupt_runs() else { continue };
        std::thread::sleep(PATIENCE);
        // With the lock: the run cannot end between the question and the interrupt.
        Python::try_attach(|py| {
            let goes_on = runs().first().is_some_and(|run| run.number == first);
            if goes_on {
                running::interrupt_all(py);
            }
        });
    }
}

extern "C" fn on_signal(signal: c_int) {
    let pipe = PIPE.load(Ordering::Relaxed);
    // SAFETY: `write` may be called in a signal handler; it may change `errno`, which is restored.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(pipe, [1u8].as_ptr().cast(), 1);
        *libc::__errno_location() = errno;
    }
    let before = BEFORE.load(Ordering::Relaxed);
    if before != libc::SIG_DFL && before != libc::SIG_IGN {
        // SAFETY: the address is that of the handler that was installed before, Python's own, which takes the signal.
        let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(before) };
        handler(signal);
    }
}

fn install() {
    // SAFETY: `sigaction` is plain data that may be zero; the handler does only what a signal handler may.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGINT, std::ptr::null(), &mut before);
        if before.sa_sigaction == on_signal as extern "C" fn(c_int) as usize {
            return;
        }
        let mut action = before;
        action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
        BEFORE.store(before.sa_sigaction, Ordering::Relaxed);
        libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut());
    }
}

fn uninstall() {
    // SAFETY: as in `install`; only our own handler is replaced, by the one that was there before.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGINT, std::ptr::null(), &mut now);
        if now.sa_sigaction == on_signal as extern "C" fn(c_int) as usize {
            now.sa_sigaction = BEFORE.load(Ordering::Relaxed);
            libc::sigaction(libc::SIGINT, &now, std::ptr::null_mut());
        }
    }
}
