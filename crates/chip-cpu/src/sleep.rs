//! Sleeping workers, and how each is woken without a lost wake-up.
//!
//! A worker that found nothing announces itself, fences, polls once more and parks. A thread that makes a task ready pushes
//! it, fences (lightly) and wakes one sleeper if there is any. So either the sleeper sees the task or the pusher sees the
//! sleeper.
//!
//! The submitter also waits for *completions*. It announces itself the same way and then lets its caller check the condition
//! once more before it parks; a core that completes a task during the announcement wakes it.

use ringlane_engine::planted::{Bug, planted};
use ringlane_engine::sync::Padded;

use crate::fence;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, Mutex, Ordering, Thread, thread};

const AWAKE: u8 = 0;
const ASLEEP: u8 = 1;

/// The sleepers of one runtime.
#[derive(Debug)]
pub(crate) struct Sleep {
    /// How many are asleep or about to be. Read by every push, written only around sleeps.
    sleepers: Padded<AtomicU32>,
    /// Whether the submitter waits for a completion. Read by every completion.
    submitter_waits: Padded<AtomicBool>,
    states: Vec<Padded<AtomicU8>>,
    /// Each worker's thread; locked only to wake it.
    threads: Vec<Mutex<Option<Thread>>>,
}

impl Sleep {
    pub(crate) fn new(workers: usize) -> Self {
        Sleep {
            sleepers: Padded(AtomicU32::new(0)),
            submitter_waits: Padded(AtomicBool::new(false)),
            states: (0..workers).map(|_| Padded(AtomicU8::new(AWAKE))).collect(),
            threads: (0..workers).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// The calling thread is this worker from now on.
    pub(crate) fn register(&self, worker: usize) {
        *self.threads[worker].lock().expect("no panic while a thread is looked up") = Some(thread::current());
    }

    /// After a task was pushed: wakes a sleeper if there is one.
    #[inline]
    pub(crate) fn pushed(&self) {
        fence::light();
        if self.sleepers.load(Ordering::Relaxed) > 0 && !planted(Bug::LostWakeUp) {
            self.wake_one();
        }
    }

    /// After a task was completed: wakes the submitter if it waits for that.
    #[inline]
    pub(crate) fn completed(&self) {
        fence::light();
        if self.submitter_waits.load(Ordering::Relaxed) && !planted(Bug::LostWakeUp) {
            self.wake_submitter();
        }
    }

    #[cold]
    fn wake_one(&self) {
        for worker in (0..self.states.len()).rev() {
            if self.wake(worker) {
                return;
            }
        }
    }

    #[cold]
    fn wake_submitter(&self) {
        if self.submitter_waits.swap(false, Ordering::AcqRel) {
            self.wake(0);
        }
    }

    /// Wakes all, for the end of the runtime.
    pub(crate) fn wake_all(&self) {
        for worker in 0..self.states.len() {
            self.wake(worker);
        }
    }

    fn wake(&self, worker: usize) -> bool {
        let woken =
            self.states[worker].compare_exchange(ASLEEP, AWAKE, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if woken {
            self.sleepers.fetch_sub(1, Ordering::Relaxed);
            if let Some(thread) = &*self.threads[worker].lock().expect("no panic while a thread is looked up")
            {
                thread.unpark();
            }
        }
        woken
    }

    /// Announces that a worker is about to sleep. What is published from here on wakes it.
    pub(crate) fn announce(&self, worker: usize) {
        self.states[worker].store(ASLEEP, Ordering::Relaxed);
        if worker == 0 {
            self.submitter_waits.store(true, Ordering::Relaxed);
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence::heavy();
    }

    /// Takes the announcement back: there was something to do.
    pub(crate) fn cancel(&self, worker: usize) {
        if worker == 0 {
            self.submitter_waits.store(false, Ordering::Relaxed);
        }
        if self.states[worker].compare_exchange(ASLEEP, AWAKE, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            self.sleepers.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Sleeps until woken after an announcement.
    pub(crate) fn park(&self, worker: usize) {
        while self.states[worker].load(Ordering::Acquire) == ASLEEP {
            thread::park();
        }
        if worker == 0 {
            self.submitter_waits.store(false, Ordering::Relaxed);
        }
    }
}
