//! What threads do: run tasks without a probe, run them with one, or end.
//!
//! Most of the time they run without a probe. An observed run is a mode of its own: all threads enter it before its first
//! task and leave it after its last, so that no task of the run goes unobserved and no thread uses the probe afterwards.
//!
//! ```text
//! runtime        mode := observed ──▶ all have entered ──▶ run ──▶ mode := plain ──▶ all have left
//! thread   plain ─┘ enters: work(core) …………………………………………… returns ─┘ leaves, plain
//! ```

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering};

const KIND_MASK: u32 = 3;
const PLAIN: u32 = 0;
const OBSERVED: u32 = 1;
const SHUTDOWN: u32 = 2;

/// Identifies a mode: differs from every earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation(u32);

/// What a thread does.
pub(crate) enum Mode {
    /// Runs tasks without a probe.
    Plain,
    /// Does this work, with the probe of the run.
    Observed(Work),
    /// Ends.
    Shutdown,
}

/// The work of an observed run: each thread calls it with its core and the generation; it returns when the mode
/// changes.
#[derive(Clone, Copy)]
pub(crate) struct Work(*const (dyn Fn(usize, Generation) + Sync));

// SAFETY: what it points to is `Sync`, and stays until all threads have left the mode (see `Modes::observed`).
unsafe impl Send for Work {}

impl Work {
    /// Does it.
    ///
    /// # Safety
    /// The caller has entered the mode and has not left it.
    pub(crate) unsafe fn run(self, core: usize, generation: Generation) {
        // SAFETY: the mode does not end before the caller leaves it, so the work is still there.
        unsafe { (*self.0)(core, generation) };
    }
}

/// The mode of one runtime's threads.
pub(crate) struct Modes {
    /// The generation, with the kind of the mode in its low bits. Stored with release, after the work; loaded with acquire by
    /// threads, between tasks.
    generation: AtomicU32,
    work: Mutex<Option<Work>>,
    /// Threads that have entered an observed mode and not left it.
    present: Mutex<usize>,
    changed: Condvar,
}

impl Modes {
    pub(crate) fn new() -> Self {
        Modes {
            generation: AtomicU32::new(PLAIN),
            work: Mutex::new(None),
            present: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    /// The generation now.
    pub(crate) fn current(&self) -> Generation {
        Generation(self.generation.load(Ordering::Acquire))
    }

    /// Whether the mode is still this one.
    #[inline]
    pub(crate) fn is_current(&self, generation: Generation) -> bool {
        self.generation.load(Ordering::Acquire) == generation.0
    }

    /// Enters the mode of a generation. A thread that gets observed work has to [`leave`](Self::leave) it.
    pub(crate) fn enter(&self, generation: Generation) -> Mode {
        match generation.0 & KIND_MASK {
            PLAIN => Mode::Plain,
            OBSERVED => {
                let work = *self.work.lock().expect("no panic while the work is read");
                self.count(|present| present + 1);
                Mode::Observed(work.expect("an observed mode has work until all have left it"))
            }
            _ => Mode::Shutdown,
        }
    }

    /// A thread has done its last of an observed mode.
    pub(crate) fn leave(&self) {
        self.count(|present| present - 1);
    }

    fn count(&self, change: impl FnOnce(usize) -> usize) {
        let mut present = self.present.lock().expect("no panic while threads are counted");
        *present = change(*present);
        self.changed.notify_all();
    }

    fn wait_until(&self, count: usize) {
        let mut present = self.present.lock().expect("no panic while threads are counted");
        while *present != count {
            present = self.changed.wait(present).expect("no panic while threads are counted");
        }
    }

    fn set(&self, kind: u32) {
        let count = (self.generation.load(Ordering::Relaxed) & !KIND_MASK).wrapping_add(KIND_MASK + 1);
        self.generation.store(count | kind, Ordering::Release);
    }

    /// Ends the threads.
    pub(crate) fn shut_down(&self) {
        self.set(SHUTDOWN);
    }

    /// Begins an observed mode of `threads` threads; they do `work` until the answer is dropped, which waits for them.
    /// `wake` wakes those that sleep.
    pub(crate) fn observed<'s>(
        &'s self,
        threads: usize,
        work: &'s (dyn Fn(usize, Generation) + Sync + 's),
        wake: &'s dyn Fn(),
    ) -> ObservedMode<'s> {
        type Short<'a> = *const (dyn Fn(usize, Generation) + Sync + 'a);
        // SAFETY: only the lifetime bound of the trait object changes; `ObservedMode` borrows the work, and no thread has it
        // any more when that is dropped.
        let work = unsafe { core::mem::transmute::<Short<'s>, Short<'static>>(work) };
        *self.work.lock().expect("no panic while the work is read") = Some(Work(work));
        let mode = ObservedMode { modes: self, wake };
        self.set(OBSERVED);
        wake();
        self.wait_until(threads);
        mode
    }
}

/// An observed mode; it ends when this is dropped.
pub(crate) struct ObservedMode<'s> {
    modes: &'s Modes,
    wake: &'s dyn Fn(),
}

impl Drop for ObservedMode<'_> {
    fn drop(&mut self) {
        self.modes.set(PLAIN);
        (self.wake)();
        self.modes.wait_until(0);
        *self.modes.work.lock().expect("no panic while the work is read") = None;
    }
}
