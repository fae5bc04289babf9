//! Memory for lanes, kept warm between recordings.
//!
//! It is mapped and not taken from the allocator, which clears recycled memory by writing to all of it: pages come into
//! being where they are touched. The first touch of a page costs more than all the records that then fill it, so a
//! program that records repeatedly keeps a [`Pool`]: the pages that one recording touched, the next one reuses at no cost.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Memory that recordings leave for later ones. Clones are the same pool. It holds at most what the recordings
/// that were alive at one time had, of each size of lane, and gives it back to the system when its last clone is dropped.
///
/// Nothing else goes from one recording to another: a record is read only as far as it was written in its own.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<Mutex<Vec<Mapping>>>);

impl Pool {
    /// A mapping of `bytes` bytes: a returned one, or a new one. The first returned is taken first, so that a
    /// recording like the last one has the same memory in each lane, warm as far as that lane needs it.
    pub(super) fn take(&self, bytes: usize) -> io::Result<Mapping> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.iter().position(|mapping| mapping.bytes == bytes) {
            Some(found) => Ok(idle.remove(found)),
            None => Mapping::new(bytes),
        }
    }

    /// Takes memory back.
    pub(super) fn give_back(&self, mapping: Mapping) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(mapping);
    }

    /// Bytes that are reserved and not in use.
    pub fn idle_bytes(&self) -> u64 {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter().map(|mapping| mapping.bytes as u64).sum()
    }
}

/// A range of initialised bytes: zeros, or what an earlier recording left.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) base: NonNull<u8>,
    pub(super) bytes: usize,
    /// The number of bytes from the beginning that have their pages. Only a hint, kept by one collector after the other.
    prepared: AtomicUsize,
}

// SAFETY: the mapping belongs to this value; code that touches its bytes justifies the access.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(bytes: usize) -> io::Result<Self> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: no address is asked for, so that no other mapping is replaced.
        let base = unsafe { mmap_anonymous(core::ptr::null_mut(), bytes, protection, flags) }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { base, bytes, prepared: AtomicUsize::new(0) })
    }

    /// Gives the bytes up to `end` their pages, while others may be using them. A kernel that cannot do so leaves it to
    /// the first touch.
    pub(super) fn prepare(&self, end: usize) {
        let (from, end) = (self.prepared.load(Relaxed), end.min(self.bytes));
        if from < end {
            let page = from & !4095;
            // SAFETY: the range is in the mapping, whose base is that of a page, and the advice changes no content.
            let _ = unsafe {
                madvise(self.base.as_ptr().add(page).cast(), end - page, Advice::LinuxPopulateWrite)
            };
            self.prepared.store(end, Relaxed);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; no reference into it outlives `self`. It cannot fail for a whole
        // mapping, and there would be nothing to do about it.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.bytes) };
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_found_again_by_its_size() {
        let pool = Pool::default();
        let (small, large) = (pool.take(4096).unwrap(), pool.take(8192).unwrap());
        let address = small.base;
        pool.clone().give_back(small);
        pool.give_back(large);
        assert_eq!(pool.idle_bytes(), 4096 + 8192);
        assert_eq!(pool.take(4096).unwrap().base, address);
        assert_eq!(pool.idle_bytes(), 8192);
    }

    #[test]
    fn prepared_memory_is_as_it_was() {
        let mapping = Pool::default().take(3 * 4096).unwrap();
        // SAFETY: the byte is in the mapping, which is this test's alone.
        let byte = unsafe { mapping.base.add(5000).as_mut() };
        *byte = 7;
        mapping.prepare(10);
        mapping.prepare(usize::MAX);
        assert_eq!((*byte, mapping.prepared.load(Relaxed)), (7, 3 * 4096));
    }
}
