//! The device's memory as the engine sees it: reached by copies only.

use ringlane_engine::memory::{Memory, MemoryError, MemoryResult};

use crate::device::Device;

/// Zeros to copy: the device's own way to zero memory would wait for the tasks that run.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The memory of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceMemory<'d>(pub(crate) &'d dyn Device);

impl Memory for DeviceMemory<'_> {
    fn host_sees(&self) -> bool {
        false
    }

    unsafe fn zero(&self, at: *mut u8, bytes: usize) -> MemoryResult {
        for start in (0..bytes).step_by(ZEROS.len()) {
            let zeros = &ZEROS[..ZEROS.len().min(bytes - start)];
            // SAFETY: a part of what the caller vouches for.
            unsafe { self.copy_in(zeros, at.wrapping_add(start)) }?;
        }
        Ok(())
    }

    unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult {
        // SAFETY: the caller's promise.
        unsafe { self.0.copy_in(from, at as u64) }.map_err(MemoryError::new)
    }

    unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult {
        // SAFETY: the caller's promise.
        unsafe { self.0.copy_out(at as u64, into) }.map_err(MemoryError::new)
    }
}
