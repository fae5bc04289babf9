//! Reserved memory: as large as its capacity, touched only where it is used.
//!
//! The allocator gives zeroed pages without touching them only for ordinary alignments, so the cache-line alignment is
//! made here, by starting a little later.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use crate::fault::{Fault, Result};
use crate::limits::ALIGNMENT;
use crate::memory::Space;

/// A range of zeroed bytes, aligned to a cache line.
#[derive(Debug)]
pub struct Arena {
    /// What is freed with it; nothing of memory that somebody else owns.
    allocation: Option<(*mut u8, Layout)>,
    base: *mut u8,
    bytes: u64,
}

// SAFETY: the arena owns its memory; code that dereferences an address in it answers for the access.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// Reserves `bytes`.
    pub fn new(bytes: u64, what: &'static str) -> Result<Self> {
        let refused = || Fault::OutOfMemory { what, bytes };
        let size = bytes.checked_add(ALIGNMENT).and_then(|b| usize::try_from(b).ok()).ok_or_else(refused)?;
        let layout = Layout::from_size_align(size, 16).map_err(|_| refused())?;
        // SAFETY: the size is at least the alignment, which is not zero.
        let allocation = unsafe { alloc_zeroed(layout) };
        if allocation.is_null() {
            return Err(refused().into());
        }
        let skip = allocation.align_offset(ALIGNMENT as usize);
        // SAFETY: `skip` is less than the alignment, by which the allocation is longer than `bytes`.
        let base = unsafe { allocation.add(skip) };
        Ok(Arena { allocation: Some((allocation, layout)), base, bytes })
    }

    /// An arena in memory that somebody else owns.
    ///
    /// # Safety
    /// The space is zeroed, aligned to a cache line, there as long as the arena, and nobody else's.
    pub(crate) unsafe fn of(space: Space) -> Self {
        Arena { allocation: None, base: space.base, bytes: space.bytes }
    }

    /// First byte.
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Some((allocation, layout)) = self.allocation {
            // SAFETY: allocated in `new` with this layout, freed only here.
            unsafe { dealloc(allocation, layout) };
        }
    }
}
