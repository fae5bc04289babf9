//! Memory that is reserved once and used again: freeing memory of a device waits until nothing runs there.

use std::sync::{Arc, Mutex};

use crate::device::{Address, Answer, Device, Mapped};

/// The smallest piece of memory that is reserved.
const SMALLEST_BYTES: u64 = 4096;
/// Sizes up to this are rounded up to powers of two: sizes repeat.
const ROUNDED_BYTES_MAX: u64 = 64 << 20;

/// Pieces that nobody uses, with their sizes.
type Kept<T> = Arc<Mutex<Vec<(u64, T)>>>;

/// Memory of the device that is kept for later when this is dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) at: Address,
    bytes: u64,
    kept: Kept<Address>,
}

/// Memory of the host from which the device copies while other work goes on. Kept for later when this is dropped.
#[derive(Debug)]
pub(crate) struct Staging {
    memory: Mapped,
    bytes: u64,
    kept: Kept<Mapped>,
}

/// Gives out memory of a device, and of the host for it.
#[derive(Debug)]
pub(crate) struct Pool {
    device: Arc<dyn Device>,
    kept: Kept<Address>,
    kept_staging: Kept<Mapped>,
}

// SAFETY: the addresses are plain numbers; who uses what they name is settled by `Memory` and `Staging`, which own it.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Send for Staging {}
// SAFETY: shared, it gives out nothing to write.
unsafe impl Sync for Staging {}

impl Drop for Memory {
    fn drop(&mut self) {
        self.kept.lock().expect("no panic while it is held").push((self.bytes, self.at));
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.kept.lock().expect("no panic while it is held").push((self.bytes, self.memory));
    }
}

impl Staging {
    /// Its bytes.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the piece has this many bytes, all initialized, and belongs to this alone.
        unsafe { core::slice::from_raw_parts_mut(self.memory.host, self.bytes as usize) }
    }
}

impl Pool {
    pub(crate) fn new(device: Arc<dyn Device>) -> Self {
        Pool { device, kept: Kept::default(), kept_staging: Kept::default() }
    }

    /// Reserves memory of the device. What it holds is undefined.
    pub(crate) fn reserve(&self, bytes: u64) -> Answer<Memory> {
        let bytes = rounded(bytes);
        let at = match take(&self.kept, bytes) {
            Some(at) => at,
            None => self.device.alloc(bytes).or_else(|_| {
                // What is kept for later may be in the way.
                self.give_back();
                self.device.alloc(bytes)
            })?,
        };
        Ok(Memory { at, bytes, kept: self.kept.clone() })
    }

    /// Reserves memory of the host.
    pub(crate) fn reserve_staging(&self, bytes: u64) -> Answer<Staging> {
        let bytes = rounded(bytes);
        let memory = match take(&self.kept_staging, bytes) {
            Some(memory) => memory,
            None => self.device.alloc_mapped(bytes)?,
        };
        Ok(Staging { memory, bytes, kept: self.kept_staging.clone() })
    }

    /// Gives back what nobody uses. Nothing runs.
    fn give_back(&self) {
        for (_, at) in self.kept.lock().expect("no panic while it is held").drain(..) {
            self.device.free(at);
        }
        for (_, memory) in self.kept_staging.lock().expect("no panic while it is held").drain(..) {
            self.device.free_mapped(memory);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.give_back();
    }
}

fn rounded(bytes: u64) -> u64 {
    let bytes = bytes.max(SMALLEST_BYTES);
    if bytes <= ROUNDED_BYTES_MAX { bytes.next_power_of_two() } else { bytes }
}

fn take<T: Copy>(kept: &Kept<T>, bytes: u64) -> Option<T> {
    let mut kept = kept.lock().expect("no panic while it is held");
    kept.iter().position(|(size, _)| *size == bytes).map(|place| kept.swap_remove(place).1)
}
