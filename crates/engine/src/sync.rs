//! The one door to atomics and shared cells, so that loom and shuttle can stand in for them.
//!
//! With `--cfg loom` the lock-free protocols are model-checked with these very types; with `--cfg shuttle` whole
//! runs are scheduled at random; otherwise they are the standard library's.

#[cfg(loom)]
pub use loom::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
#[cfg(shuttle)]
pub use shuttle::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
#[cfg(not(any(loom, shuttle)))]
pub use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

/// Plain data that one thread at a time touches, as some protocol says; loom checks that it is so.
#[cfg(loom)]
#[derive(Debug)]
pub struct Shared<T>(loom::cell::UnsafeCell<T>);

/// Plain data that one thread at a time touches, as some protocol says; loom checks that it is so.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct Shared<T>(core::cell::UnsafeCell<T>);

// SAFETY: every access goes through `get` and `set`, whose callers answer for the ordering.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// A cell holding `value`.
    pub fn new(value: T) -> Self {
        #[cfg(loom)]
        return Shared(loom::cell::UnsafeCell::new(value));
        #[cfg(not(loom))]
        Shared(core::cell::UnsafeCell::new(value))
    }

    /// Reads the value.
    ///
    /// # Safety
    /// No write happens at the same time.
    #[inline]
    pub unsafe fn get(&self) -> T {
        #[cfg(loom)]
        // SAFETY: the caller's promise, checked by loom.
        return self.0.with(|p| unsafe { *p });
        #[cfg(not(loom))]
        // SAFETY: the caller's promise.
        unsafe {
            *self.0.get()
        }
    }

    /// Writes the value.
    ///
    /// # Safety
    /// No other access happens at the same time.
    #[inline]
    pub unsafe fn set(&self, value: T) {
        #[cfg(loom)]
        // SAFETY: the caller's promise, checked by loom.
        self.0.with_mut(|p| unsafe { *p = value });
        #[cfg(not(loom))]
        // SAFETY: the caller's promise.
        unsafe {
            *self.0.get() = value;
        }
    }
}

/// A type whose first state is all zero bits, so that a table of it can be reserved without being touched.
///
/// # Safety
/// All zero bits are a valid value (outside of loom and shuttle), equal to `zero()`.
pub unsafe trait Zeroed {
    /// The first state.
    fn zero() -> Self;
}

/// A table in its first state. The memory is reserved, not touched.
pub fn zeroed_table<T: Zeroed>(len: usize) -> Box<[T]> {
    #[cfg(any(loom, shuttle))]
    return (0..len).map(|_| T::zero()).collect();
    #[cfg(not(any(loom, shuttle)))]
    // SAFETY: `Zeroed` promises that zero bits are valid.
    unsafe {
        Box::new_zeroed_slice(len).assume_init()
    }
}

/// Puts its content on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

impl<T> core::ops::Deref for Padded<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
