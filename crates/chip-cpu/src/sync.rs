//! Threads and parking, in one place so that loom and shuttle can replace them.

#[cfg(loom)]
use loom as door;
#[cfg(shuttle)]
use shuttle as door;
#[cfg(not(any(loom, shuttle)))]
use std as door;

pub(crate) use std::sync::Arc;

pub(crate) use door::{
    hint::spin_loop,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence},
    },
    thread::{self, JoinHandle, Thread},
};

/// Gives the core away for a while, or until the thread is unparked.
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::thread::park_timeout as nap;

/// Gives the core away: here no time passes.
#[cfg(any(loom, shuttle))]
pub(crate) fn nap(_: std::time::Duration) {
    thread::yield_now();
}
