//! The interpreter's lock: threads that run Python kernels, and calls that wait without it.

use std::cell::Cell;

use pyo3::ffi;
use pyo3::prelude::*;

/// A value that is used on the thread that made it, also while that thread does not hold the interpreter's lock.
struct SameThread<T>(T);

// SAFETY: `detach` runs its closure on the calling thread; nothing crosses to another one.
unsafe impl<T> Send for SameThread<T> {}

impl<T> SameThread<T> {
    /// A method, so that a closure captures the whole value and not its field.
    fn take(self) -> T {
        self.0
    }
}

/// Runs `f` without the interpreter's lock, so that other Python threads, and kernels, run meanwhile. `f` must not touch Python
/// objects, except inside `Python::attach`.
pub fn without_lock<R>(py: Python<'_>, f: impl FnOnce() -> R) -> R {
    let f = SameThread(f);
    py.detach(move || SameThread((f.take())())).take()
}

thread_local! {
    /// Keeps the interpreter's state of this thread: to make one for each kernel would cost more than the kernel.
    static STATE: Cell<Option<KeptState>> = const { Cell::new(None) };
}

/// The state of a thread that the interpreter did not start.
struct KeptState(ffi::PyGILState_STATE);

impl Drop for KeptState {
    fn drop(&mut self) {
        // SAFETY: the interpreter is there; the state is the one that `keep_state` made on this thread.
        unsafe {
            if ffi::Py_IsInitialized() != 0 {
                ffi::PyEval_RestoreThread(ffi::PyGILState_GetThisThreadState());
                ffi::PyGILState_Release(self.0);
            }
        }
    }
}

/// Makes the interpreter's state of this thread last as long as the thread, if the interpreter did not start it.
fn keep_state() {
    STATE.with(|state| {
        let kept = state.take();
        let needs_one = kept.is_none();
        state.set(kept);
        // SAFETY: asks for the state of this thread, which is null if there is none.
        if needs_one && unsafe { ffi::PyGILState_GetThisThreadState() }.is_null() {
            // SAFETY: the thread has no state, so this makes one and takes the lock, which the next call gives back.
            let made = unsafe { ffi::PyGILState_Ensure() };
            // SAFETY: the lock is held since the line above.
            unsafe { ffi::PyEval_SaveThread() };
            state.set(Some(KeptState(made)));
        }
    });
}

/// Runs `f` with the interpreter's lock, on a thread that computes kernels.
pub fn with_lock<R>(f: impl FnOnce(Python<'_>) -> R) -> R {
    keep_state();
    Python::attach(f)
}
