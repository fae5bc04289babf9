//! Counts allocations, so that `ringlane bench alloc` can show that a task costs none.
//!
//! A program installs the allocator; the command has done so. Outside of `bench alloc` it costs an allocation one
//! relaxed load.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: ringlane_bench::CountingAllocator = ringlane_bench::CountingAllocator;
//! # fn main() {}
//! ```
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether allocations are counted now. Relaxed: it is set before the run that is watched and after it.
static COUNTING: AtomicBool = AtomicBool::new(false);
/// Allocations counted so far. Relaxed: a count, read when the threads that add to it are idle.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with a counter that `ringlane bench alloc` switches on.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the trait's promises; the counter
// is an atomic and allocates nothing itself.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promises are those that the callee asks for.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[inline]
fn note() {
    if COUNTING.load(Ordering::Relaxed) {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts from here on, from 0.
pub(crate) fn start() {
    COUNT.store(0, Ordering::Relaxed);
    COUNTING.store(true, Ordering::Relaxed);
}

/// Stops counting; gives the allocations since the start, of all threads.
pub(crate) fn stop() -> u64 {
    COUNTING.store(false, Ordering::Relaxed);
    COUNT.load(Ordering::Relaxed)
}

/// Whether this program's allocator counts.
pub(crate) fn are_counted() -> bool {
    start();
    drop(std::hint::black_box(Box::new(0u8)));
    stop() > 0
}
