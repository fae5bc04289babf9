//! The one source of atomics and shared cells, so that loom can replace them; most are those of the engine's `sync` module.
//!
//! Beyond it there are a cell through which a value moves, a guard that lets loom watch plain bytes, and the pause
//! of a writer that waits.

use core::mem::MaybeUninit;

pub(crate) use ringlane_engine::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, Padded, prefetch};

#[cfg(not(loom))]
use core::cell::UnsafeCell;
#[cfg(loom)]
use loom::cell::UnsafeCell;

/// A place through which values move from one thread to another, one at a time.
#[derive(Debug)]
pub(crate) struct Passage<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: a value moves in on one thread and out on another; the callers of `put` and `take` answer for the order.
unsafe impl<T: Send> Sync for Passage<T> {}

impl<T> Passage<T> {
    /// An empty passage. A value that is still in it when it goes is forgotten, so that it must not need a drop.
    pub(crate) fn new() -> Self {
        const { assert!(!core::mem::needs_drop::<T>()) };
        Passage(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Moves a value in.
    ///
    /// # Safety
    /// No other access happens at the same time.
    #[inline]
    pub(crate) unsafe fn put(&self, value: T) {
        #[cfg(loom)]
        // SAFETY: the caller's promise, checked by loom.
        self.0.with_mut(|p| unsafe { p.write(MaybeUninit::new(value)) });
        #[cfg(not(loom))]
        // SAFETY: the caller's promise.
        unsafe {
            self.0.get().write(MaybeUninit::new(value));
        }
    }

    /// Moves the value out.
    ///
    /// # Safety
    /// A value was put in and not yet taken, and no other access happens at the same time.
    #[inline]
    pub(crate) unsafe fn take(&self) -> T {
        #[cfg(loom)]
        // SAFETY: the caller's promise, checked by loom as far as access goes.
        return self.0.with_mut(|p| unsafe { p.read().assume_init() });
        #[cfg(not(loom))]
        // SAFETY: the caller's promise.
        unsafe {
            self.0.get().read().assume_init()
        }
    }
}

/// Represents some plain bytes, so that loom sees who reads and who writes them; without loom it is empty.
#[derive(Debug)]
pub(crate) struct Watched(#[cfg(loom)] UnsafeCell<()>);

// SAFETY: the cell holds nothing; it is there so that loom counts its users.
#[cfg(loom)]
unsafe impl Sync for Watched {}

impl Watched {
    pub(crate) fn new() -> Self {
        Watched(
            #[cfg(loom)]
            UnsafeCell::new(()),
        )
    }

    /// The bytes are written now.
    #[inline]
    pub(crate) fn written(&self) {
        #[cfg(loom)]
        self.0.with_mut(|_| ());
    }

    /// The bytes are read now.
    #[inline]
    pub(crate) fn read(&self) {
        #[cfg(loom)]
        self.0.with(|_| ());
    }
}

/// Pauses after the `round`-th poll of a wait: first by spinning for a few polls, then by yielding to other threads,
/// then by short sleeps.
pub(crate) fn pause(round: u32) {
    #[cfg(any(loom, shuttle))]
    {
        let _ = round;
        ringlane_engine::sync::yield_now();
    }
    #[cfg(not(any(loom, shuttle)))]
    match round {
        0..64 => core::hint::spin_loop(),
        64..96 => std::thread::yield_now(),
        _ => std::thread::sleep(core::time::Duration::from_micros(50)),
    }
}
