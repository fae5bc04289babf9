//! The device's memory as the engine sees it: reached by copies only.

use std::sync::Mutex;

use ringlane_engine::chip_runtime::{CopyLog, CopyRecord};
use ringlane_engine::memory::{Memory, MemoryError, MemoryResult};
use ringlane_task::Ticks;

use crate::clock::CudaClock;
use crate::device::{Answer, Device};

/// Zeros to copy: the device's own way to zero memory would wait for the tasks that run.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Copies that are noted in one run; more are counted.
const COPIES_MAX: usize = 4096;

/// Where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ToDevice,
    ToHost,
}

/// The copies between host and device, with their times.
#[derive(Debug)]
pub(crate) struct Copies {
    clock: CudaClock,
    log: Mutex<CopyLog>,
}

impl Copies {
    pub(crate) fn new(clock: CudaClock) -> Self {
        Copies { clock, log: Mutex::default() }
    }

    /// Forgets the copies of earlier runs.
    pub(crate) fn clear(&self) {
        *self.log.lock().expect("no panic while it is held") = CopyLog::default();
    }

    /// The copies that began at this time or later.
    pub(crate) fn since(&self, start: Ticks) -> CopyLog {
        let mut log = self.log.lock().expect("no panic while it is held").clone();
        log.copies.retain(|copy| copy.start >= start);
        log
    }

    fn timed(&self, way: Way, bytes: usize, copy: impl FnOnce() -> Answer<()>) -> MemoryResult {
        let start = Ticks(self.clock.present());
        let done = copy().map_err(MemoryError::new);
        let end = Ticks(self.clock.present());
        let to_chip = way == Way::ToDevice;
        let mut log = self.log.lock().expect("no panic while it is held");
        if log.copies.len() < COPIES_MAX {
            log.copies.push(CopyRecord {
                to_chip,
                what: "values".to_string(),
                bytes: bytes as u64,
                start,
                end,
            });
        } else {
            log.dropped += 1;
        }
        done
    }
}

/// The memory of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceMemory<'d> {
    pub(crate) device: &'d dyn Device,
    pub(crate) copies: &'d Copies,
}

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
        self.copies.timed(Way::ToDevice, from.len(), || unsafe { self.device.copy_in(from, at as u64) })
    }

    unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult {
        // SAFETY: the caller's promise.
        self.copies.timed(Way::ToHost, into.len(), || unsafe { self.device.copy_out(at as u64, into) })
    }
}
