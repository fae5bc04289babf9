//! Which threads run a Python kernel now: a kernel that does not end can be interrupted.

use std::cell::OnceCell;
use std::ffi::c_ulong;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

/// A thread that has run a Python kernel.
struct Slot {
    /// The interpreter's number of the thread.
    thread: c_ulong,
    /// How many kernels it is in: more than one if a kernel waits for others.
    depth: AtomicU64,
}

static SLOTS: Mutex<Vec<Weak<Slot>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: OnceCell<Arc<Slot>> = const { OnceCell::new() };
}

/// While it lives, this thread is in a Python kernel.
pub struct InKernel(Arc<Slot>);

impl InKernel {
    /// Enters a kernel.
    pub fn enter() -> Self {
        let slot = OWN.with(|own| own.get_or_init(register).clone());
        slot.depth.fetch_add(1, Ordering::Relaxed);
        InKernel(slot)
    }
}

impl Drop for InKernel {
    fn drop(&mut self) {
        self.0.depth.fetch_sub(1, Ordering::Relaxed);
    }
}

fn register() -> Arc<Slot> {
    let number = Python::attach(|py| py.import("threading")?.call_method0("get_ident")?.extract::<c_ulong>());
    let slot = Arc::new(Slot { thread: number.unwrap_or(0), depth: AtomicU64::new(0) });
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    slots.retain(|slot| slot.strong_count() > 0);
    slots.push(Arc::downgrade(&slot));
    slot
}

/// Raises `KeyboardInterrupt` in every Python kernel that runs now. A kernel sees it at its next line.
pub fn interrupt_all(py: Python<'_>) {
    let class = py.get_type::<pyo3::exceptions::PyKeyboardInterrupt>();
    each_running(|slot| {
        // SAFETY: the lock is held; a number that is no thread of the interpreter is ignored.
        unsafe { ffi::PyThreadState_SetAsyncExc(slot.thread as _, class.as_ptr()) };
    });
}

/// Takes back what [`interrupt_all`] asked for where no kernel has seen it, so that no kernel of the next run does.
pub fn forget_interrupts(_py: Python<'_>) {
    let slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    for slot in slots.iter().filter_map(Weak::upgrade) {
        // SAFETY: as above; null clears what is pending.
        unsafe { ffi::PyThreadState_SetAsyncExc(slot.thread as _, std::ptr::null_mut()) };
    }
}

fn each_running(mut f: impl FnMut(&Slot)) {
    let slots: Vec<_> = {
        let slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().filter_map(Weak::upgrade).collect()
    };
    slots.iter().filter(|slot| slot.depth.load(Ordering::Relaxed) > 0).for_each(|slot| f(slot));
}
