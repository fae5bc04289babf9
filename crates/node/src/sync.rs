//! The one door to atomics and to sleeping, so that loom can replace both.
//!
//! A futex compares a word and goes to sleep in one step. Under loom a lock and a condition make that one step, so that
//! a wake-up that is lost in the model is one that can be lost on a machine.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, Ordering};

use std::time::Duration;

/// A word that two processes share, and on which either can sleep.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(transparent))]
pub(crate) struct FutexWord {
    #[cfg(not(loom))]
    word: AtomicU32,
    #[cfg(loom)]
    modelled: (AtomicU32, loom::sync::Mutex<()>, loom::sync::Condvar),
}

#[cfg(not(loom))]
impl FutexWord {
    /// The word itself.
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word is `seen`, until somebody wakes it, and no longer than this. It may return early.
    pub(crate) fn sleep(&self, seen: u32, at_most: Duration) {
        use rustix::thread::futex;
        let seconds = futex::Secs::try_from(at_most.as_secs()).unwrap_or(futex::Secs::MAX);
        let timeout = futex::Timespec { tv_sec: seconds, tv_nsec: at_most.subsec_nanos().into() };
        // No PRIVATE: the sleeper and the waker are two processes. Every error means "poll again": the word has
        // changed, time is up, or a signal came.
        let _ = futex::wait(&self.word, futex::Flags::empty(), seen, Some(&timeout));
    }

    /// Wakes the sleepers.
    pub(crate) fn wake(&self) {
        // An error would mean that the address is no memory; the word is a live reference.
        let _ =
            rustix::thread::futex::wake(&self.word, rustix::thread::futex::Flags::empty(), i32::MAX as u32);
    }
}

#[cfg(loom)]
impl FutexWord {
    pub(crate) fn new() -> Self {
        FutexWord { modelled: (AtomicU32::new(0), loom::sync::Mutex::new(()), loom::sync::Condvar::new()) }
    }

    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.modelled.0
    }

    pub(crate) fn sleep(&self, seen: u32, _at_most: Duration) {
        let (word, lock, condition) = &self.modelled;
        let held = lock.lock().unwrap();
        if word.load(Ordering::Relaxed) == seen {
            drop(condition.wait(held).unwrap());
        }
    }

    pub(crate) fn wake(&self) {
        let (_, lock, condition) = &self.modelled;
        let _held = lock.lock().unwrap();
        condition.notify_all();
    }
}
