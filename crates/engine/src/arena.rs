//! Reserved memory: as large as its capacity, touched only where it is used.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use crate::fault::{Fault, Result};
use crate::limits::ALIGNMENT;

/// A range of zeroed bytes, aligned to a cache line.
#[derive(Debug)]
pub struct Arena {
    base: *mut u8,
    layout: Layout,
}

// SAFETY: the arena owns its memory; whoever dereferences an address in it answers for the access.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// Reserves `bytes`.
    pub fn new(bytes: u64, what: &'static str) -> Result<Self> {
        let refused = || Fault::OutOfMemory { what, bytes };
        let size = usize::try_from(bytes.max(1)).map_err(|_| refused())?;
        let layout = Layout::from_size_align(size, ALIGNMENT as usize).map_err(|_| refused())?;
        // SAFETY: the size is at least one.
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() { Err(refused().into()) } else { Ok(Arena { base, layout }) }
    }

    /// First byte.
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Length.
    pub fn bytes(&self) -> u64 {
        self.layout.size() as u64
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, freed only here.
        unsafe { dealloc(self.base, self.layout) };
    }
}
