//! The one door to atomics and shared cells, so that loom and shuttle can replace them.
//!
//! With `--cfg loom` the lock-free protocols are model-checked with these very types; with `--cfg shuttle` whole
//! runs are scheduled at random; otherwise they are the standard library's.

#[cfg(loom)]
use loom as door;
#[cfg(shuttle)]
use shuttle as door;
#[cfg(not(any(loom, shuttle)))]
use std as door;

pub use door::sync::Mutex;
pub use door::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub use door::thread::yield_now;

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

/// A word that goes from thread to thread like plain memory, as some protocol says. It is a relaxed atomic, so that a
/// caller who breaks the protocol meets a wrong value and not a data race; loom checks it as plain memory.
#[derive(Debug)]
pub struct Word(#[cfg(loom)] Shared<u32>, #[cfg(not(loom))] AtomicU32);

impl Word {
    /// Reads the word.
    #[inline]
    pub fn get(&self) -> u32 {
        #[cfg(loom)]
        // SAFETY: loom ends the test if another thread writes it at the same time.
        return unsafe { self.0.get() };
        #[cfg(not(loom))]
        self.0.load(Ordering::Relaxed)
    }

    /// Writes the word.
    #[inline]
    pub fn set(&self, value: u32) {
        #[cfg(loom)]
        // SAFETY: loom ends the test if another thread uses it at the same time.
        return unsafe { self.0.set(value) };
        #[cfg(not(loom))]
        self.0.store(value, Ordering::Relaxed);
    }
}

// SAFETY: zero bits are the word 0.
unsafe impl Zeroed for Word {
    fn zero() -> Self {
        #[cfg(loom)]
        return Word(Shared::new(0));
        #[cfg(not(loom))]
        Word(AtomicU32::new(0))
    }
}

/// A place for a `&'static T`, empty at first. Stored with release, loaded with acquire: a thread that finds the reference sees
/// what it refers to.
#[derive(Debug)]
pub struct AtomicRef<T: 'static>(AtomicPtr<T>);

impl<T: Sync> AtomicRef<T> {
    /// What was stored last.
    #[inline]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: an address other than null comes from a `&'static T`, in `set`.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Stores a reference.
    pub fn set(&self, thing: &'static T) {
        self.0.store(core::ptr::from_ref(thing).cast_mut(), Ordering::Release);
    }
}

// SAFETY: zero bits are the null pointer: nothing is stored.
unsafe impl<T> Zeroed for AtomicRef<T> {
    fn zero() -> Self {
        AtomicRef(AtomicPtr::new(core::ptr::null_mut()))
    }
}

/// A table of `T` in its first state. The memory is reserved, not touched.
#[derive(Debug)]
pub struct Reserved<T> {
    #[cfg(any(loom, shuttle))]
    items: Box<[T]>,
    #[cfg(not(any(loom, shuttle)))]
    memory: crate::arena::Arena,
    #[cfg(not(any(loom, shuttle)))]
    len: usize,
    kind: core::marker::PhantomData<T>,
}

impl<T: Zeroed> Reserved<T> {
    /// A table of `len` items.
    pub fn new(len: usize, what: &'static str) -> crate::Result<Self> {
        const {
            assert!(
                align_of::<T>() <= crate::limits::ALIGNMENT as usize
                    && !core::mem::needs_drop::<T>() | cfg!(any(loom, shuttle))
            )
        };
        let kind = core::marker::PhantomData;
        #[cfg(any(loom, shuttle))]
        {
            let _ = what;
            Ok(Reserved { items: (0..len).map(|_| T::zero()).collect(), kind })
        }
        #[cfg(not(any(loom, shuttle)))]
        {
            let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
            Ok(Reserved { memory: crate::arena::Arena::new(bytes, what)?, len, kind })
        }
    }
}

impl<T> core::ops::Deref for Reserved<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        #[cfg(any(loom, shuttle))]
        return &self.items;
        #[cfg(not(any(loom, shuttle)))]
        // SAFETY: the arena holds `len` items, aligned, zeroed, and `Zeroed` says that this is a valid state; from
        // then on they are changed only through `&T`.
        unsafe {
            core::slice::from_raw_parts(self.memory.base().cast(), self.len)
        }
    }
}

/// Asks for a cache line that will be written soon, so that it comes over from another core or from memory meanwhile.
#[inline]
pub fn prefetch<T>(_line: *const T) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    // SAFETY: a prefetch has no effect but on caches, whatever the address.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_ET0 }>(_line.cast());
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
