//! Counts allocations, so that `ringlane bench alloc` can show that a task needs none.
//!
//! A program installs the allocator; the command does so. Outside of `bench alloc` it costs one relaxed load per
//! allocation.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: ringlane_bench::CountingAllocator = ringlane_bench::CountingAllocator;
//! # fn main() {}
//! ```
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether allocations are counted now. Relaxed: it is set before and after the measured run.
static COUNTING: AtomicBool = AtomicBool::new(false);
/// Allocations counted so far. Relaxed: a count, read when the threads that add to it are idle.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with a counter that `ringlane bench alloc` enables.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

// SAFETY: every call is forwarded unchanged to the system's allocator, which fulfils the trait's contract; the
// counter is an atomic and does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's contract is the same as that of the callee.
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

/// Starts to count, from 0.
pub(crate) fn start() {
    COUNT.store(0, Ordering::Relaxed);
    COUNTING.store(true, Ordering::Relaxed);
}

/// Stops counting; returns the allocations of all threads since the start.
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
