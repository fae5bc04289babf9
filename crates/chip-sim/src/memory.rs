//! Memory that the host does not see: external buffers are copied into it before a run and out of it afterwards.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use ringlane_engine::api::args::Space;
use ringlane_engine::api::buffers::Permission;
use ringlane_engine::limits::ALIGNMENT;

/// A buffer in the chip's memory.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    host: Space,
    device: *mut u8,
    layout: Layout,
    permission: Permission,
}

impl DeviceBuffer {
    /// A copy of a host buffer; `None` if there is no memory for it.
    ///
    /// # Safety
    /// `host` is a buffer that stays until this value is dropped, and that nobody writes meanwhile.
    pub(crate) unsafe fn copy_of(host: Space, permission: Permission) -> Option<Self> {
        let bytes = usize::try_from(host.bytes).ok()?;
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT as usize).ok()?;
        // SAFETY: the size is not 0.
        let device = unsafe { alloc_zeroed(layout) };
        if device.is_null() {
            return None;
        }
        // SAFETY: both are as long; the new one overlaps nothing.
        unsafe { core::ptr::copy_nonoverlapping(host.base, device, bytes) };
        Some(DeviceBuffer { host, device, layout, permission })
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> u64 {
        self.host.bytes
    }

    /// Where the chip has it.
    pub(crate) fn space(&self) -> Space {
        Space { base: self.device, bytes: self.host.bytes }
    }

    /// Copies what the chip may have written back to the host; says whether there was anything.
    ///
    /// # Safety
    /// No task runs.
    pub(crate) unsafe fn copy_back(&self) -> bool {
        if self.permission == Permission::Read || self.host.bytes == 0 {
            return false;
        }
        // SAFETY: as in `copy_of`, the other way.
        unsafe { core::ptr::copy_nonoverlapping(self.device, self.host.base, self.host.bytes as usize) };
        true
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed only here.
        unsafe { dealloc(self.device, self.layout) };
    }
}
