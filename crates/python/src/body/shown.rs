//! Values with memory that kernels see as arrays. A kernel can keep such an array; then the memory must stay.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often kernels of this process kept an array after they returned.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// Takes note that a kernel kept an array.
pub fn note_kept() {
    KEPT.fetch_add(1, Ordering::Relaxed);
}

/// A runtime, a graph or the arrays of a run. It is never dropped if a kernel has kept an array since it was made, because the array
/// may show its memory; nor in a child of `fork`, which does not have the threads that would have to end.
pub struct Shown<T> {
    value: ManuallyDrop<T>,
    kept: u64,
    process: u32,
}

impl<T> Shown<T> {
    /// From now on, kernels may see its memory.
    pub fn new(value: T) -> Self {
        let kept = KEPT.load(Ordering::Relaxed);
        Shown { value: ManuallyDrop::new(value), kept, process: std::process::id() }
    }
}

impl<T> Deref for Shown<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Shown<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Shown<T> {
    fn drop(&mut self) {
        if self.kept == KEPT.load(Ordering::Relaxed) && self.process == std::process::id() {
            // SAFETY: the value is not used after this, and dropped nowhere else.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
