//! Memory that the host does not see: external buffers are copied into it before a run and out of it afterwards.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use ringlane_engine::api::args::Space;
use ringlane_engine::api::buffers::Permission;

/// Alignment of a buffer, as the engine has it.
const ALIGNMENT: usize = 64;

/// A buffer in the chip's memory.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    host: *mut u8,
    device: *mut u8,
    layout: Layout,
    pub(crate) permission: Permission,
}

impl DeviceBuffer {
    /// A copy of a host buffer.
    ///
    /// # Safety
    /// `host` is a buffer that stays until this value is dropped, and that nobody writes meanwhile.
    pub(crate) unsafe fn copy_of(host: Space, permission: Permission) -> Self {
        let layout = Layout::from_size_align((host.bytes as usize).max(1), ALIGNMENT)
            .expect("a buffer of this size exists on the host");
        // SAFETY: the size is not 0.
        let device = unsafe { alloc_zeroed(layout) };
        if device.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        // SAFETY: both are as long; the new one overlaps nothing.
        unsafe { core::ptr::copy_nonoverlapping(host.base, device, host.bytes as usize) };
        DeviceBuffer { host: host.base, device, layout, permission }
    }

    /// Where the chip has it.
    pub(crate) fn space(&self, bytes: u64) -> Space {
        Space { base: self.device, bytes }
    }

    /// Copies what the chip wrote back to the host.
    ///
    /// # Safety
    /// No task runs.
    pub(crate) unsafe fn copy_back(&self, bytes: u64) {
        // SAFETY: as in `copy_of`, the other way.
        unsafe { core::ptr::copy_nonoverlapping(self.device, self.host, bytes as usize) };
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed only here.
        unsafe { dealloc(self.device, self.layout) };
    }
}
