//! The memory of a modelled chip. Its bytes are in the host's memory, where kernels compute their values; a chip whose
//! memory the host cannot access is modelled by copies.

use ringlane_engine::api::buffers::Permission;
use ringlane_engine::arena::Arena;
use ringlane_engine::memory::{DirectMemory, Memory, MemoryResult};
use ringlane_task::HostMemory;

/// An external buffer in the chip's memory.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    pub(crate) arena: Arena,
    pub(crate) permission: Permission,
}

/// The chip's memory, as the engine sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelledMemory {
    pub(crate) host: HostMemory,
    /// Whether values matter: a replay leaves all memory untouched.
    pub(crate) has_values: bool,
}

impl Memory for ModelledMemory {
    #[inline]
    fn host_sees(&self) -> bool {
        self.host == HostMemory::Mapped
    }
    #[inline]
    unsafe fn zero(&self, at: *mut u8, bytes: usize) -> MemoryResult {
        // SAFETY: the caller's promise.
        if self.has_values { unsafe { DirectMemory.zero(at, bytes) } } else { Ok(()) }
    }
    #[inline]
    unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult {
        // SAFETY: as above.
        if self.has_values { unsafe { DirectMemory.copy_in(from, at) } } else { Ok(()) }
    }
    #[inline]
    unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult {
        // SAFETY: as above.
        if self.has_values { unsafe { DirectMemory.copy_out(at, into) } } else { Ok(()) }
    }
}
