//! Shifts: what worker threads do until they get other orders.
//!
//! Most of the time they work for nobody's eyes. A run that is watched is a shift of its own: all workers change over
//! before its first task and change back after its last, so no task of it is run unseen, and no worker keeps a hand on
//! the probe.
//!
//! ```text
//! runtime        orders := watched ──▶ all have come ──▶ run ──▶ orders := plain ──▶ all have left
//! worker   plain shift ─┘ comes: job(core) ……………………………………… returns ─┘ leaves, plain shift
//! ```

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering};

const KIND_MASK: u32 = 3;
const PLAIN: u32 = 0;
const WATCHED: u32 = 1;
const SHUTDOWN: u32 = 2;

/// What a worker is told to do; differs from every earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orders(u32);

/// What an order asks for.
pub(crate) enum Shift {
    /// Work unseen.
    Plain,
    /// Work as the job says.
    Watched(Job),
    /// Go home.
    Shutdown,
}

/// A watched shift's work: called by each worker thread with its core and orders, returns when the orders change.
#[derive(Clone, Copy)]
pub(crate) struct Job(*const (dyn Fn(usize, Orders) + Sync));

// SAFETY: what it points to is `Sync`, and stays until the shift is over (see `Shifts::watched`).
unsafe impl Send for Job {}

impl Job {
    /// Does it.
    ///
    /// # Safety
    /// The caller has come to the shift and has not left it.
    pub(crate) unsafe fn work(self, core: usize, orders: Orders) {
        // SAFETY: the shift is not over before the caller leaves, so the job is still there.
        unsafe { (*self.0)(core, orders) };
    }
}

/// The orders of one runtime's workers.
pub(crate) struct Shifts {
    /// A count of orders and, in the low bits, what they ask for. Stored with release, after the job; loaded with acquire
    /// by workers, between tasks.
    orders: AtomicU32,
    job: Mutex<Option<Job>>,
    /// Workers that are in a watched shift.
    present: Mutex<usize>,
    changed: Condvar,
}

impl Shifts {
    pub(crate) fn new() -> Self {
        Shifts {
            orders: AtomicU32::new(PLAIN),
            job: Mutex::new(None),
            present: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    /// The orders now.
    pub(crate) fn orders(&self) -> Orders {
        Orders(self.orders.load(Ordering::Acquire))
    }

    /// Whether these are still the orders.
    #[inline]
    pub(crate) fn stand(&self, orders: Orders) -> bool {
        self.orders.load(Ordering::Acquire) == orders.0
    }

    /// What orders ask for. A worker that is told to work watched has come to the shift by that.
    pub(crate) fn shift(&self, orders: Orders) -> Shift {
        match orders.0 & KIND_MASK {
            PLAIN => Shift::Plain,
            WATCHED => {
                let job = *self.job.lock().expect("no panic while the job is looked at");
                self.count(|present| present + 1);
                Shift::Watched(job.expect("a watched shift has a job until all have left it"))
            }
            _ => Shift::Shutdown,
        }
    }

    /// A worker has done its last of a watched shift.
    pub(crate) fn leave(&self) {
        self.count(|present| present - 1);
    }

    fn count(&self, change: impl FnOnce(usize) -> usize) {
        let mut present = self.present.lock().expect("no panic while workers are counted");
        *present = change(*present);
        self.changed.notify_all();
    }

    fn wait_until(&self, count: usize) {
        let mut present = self.present.lock().expect("no panic while workers are counted");
        while *present != count {
            present = self.changed.wait(present).expect("no panic while workers are counted");
        }
    }

    fn order(&self, kind: u32) {
        let count = (self.orders.load(Ordering::Relaxed) & !KIND_MASK).wrapping_add(KIND_MASK + 1);
        self.orders.store(count | kind, Ordering::Release);
    }

    /// Tells the workers to go home.
    pub(crate) fn shut_down(&self) {
        self.order(SHUTDOWN);
    }

    /// Begins a watched shift of `workers` workers; they work on `job` until the answer is dropped, which waits for them.
    /// `wake` wakes those that sleep.
    pub(crate) fn watched<'s>(
        &'s self,
        workers: usize,
        job: &'s (dyn Fn(usize, Orders) + Sync + 's),
        wake: &'s dyn Fn(),
    ) -> WatchedShift<'s> {
        type Short<'a> = *const (dyn Fn(usize, Orders) + Sync + 'a);
        // SAFETY: only the lifetime bound of the trait object changes; `WatchedShift` borrows the job and takes it out of
        // every worker's hands before it goes.
        let job = unsafe { core::mem::transmute::<Short<'s>, Short<'static>>(job) };
        *self.job.lock().expect("no panic while the job is looked at") = Some(Job(job));
        let shift = WatchedShift { shifts: self, wake };
        self.order(WATCHED);
        wake();
        self.wait_until(workers);
        shift
    }
}

/// A watched shift; it is over when this is dropped.
pub(crate) struct WatchedShift<'s> {
    shifts: &'s Shifts,
    wake: &'s dyn Fn(),
}

impl Drop for WatchedShift<'_> {
    fn drop(&mut self) {
        self.shifts.order(PLAIN);
        (self.wake)();
        self.shifts.wait_until(0);
        *self.shifts.job.lock().expect("no panic while the job is looked at") = None;
    }
}
