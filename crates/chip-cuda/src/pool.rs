//! Memory that is reserved once and used again: freeing memory of a device waits until nothing runs there.

use std::sync::{Arc, Mutex};

use crate::device::{Address, Answer, Device, Mapped};

/// The smallest piece of memory that is reserved.
const SMALLEST_BYTES: u64 = 4096;
/// Sizes up to this are rounded up to powers of two, and larger ones to a sixteenth of one: sizes repeat, and what is kept is
/// used again.
const POWERS_OF_TWO_MAX: u64 = 64 << 20;

/// Pieces that nobody uses, with their sizes. The pool and everything that it has given out share it: the last of them frees the
/// pieces.
#[derive(Debug)]
struct Shelf<T: Copy> {
    device: Arc<dyn Device>,
    pieces: Mutex<Vec<(u64, T)>>,
    free: fn(&dyn Device, T),
}

impl<T: Copy> Shelf<T> {
    fn new(device: &Arc<dyn Device>, free: fn(&dyn Device, T)) -> Arc<Self> {
        Arc::new(Shelf { device: device.clone(), pieces: Mutex::default(), free })
    }

    fn put(&self, bytes: u64, piece: T) {
        self.pieces.lock().expect("no panic while it is held").push((bytes, piece));
    }

    fn take(&self, bytes: u64) -> Option<T> {
        let mut pieces = self.pieces.lock().expect("no panic while it is held");
        pieces.iter().position(|(size, _)| *size == bytes).map(|place| pieces.swap_remove(place).1)
    }

    /// Frees all pieces.
    fn clear(&self) {
        let pieces = core::mem::take(&mut *self.pieces.lock().expect("no panic while it is held"));
        pieces.into_iter().for_each(|(_, piece)| (self.free)(&*self.device, piece));
    }
}

impl<T: Copy> Drop for Shelf<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Memory of the device that is kept for later when this is dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) at: Address,
    bytes: u64,
    shelf: Arc<Shelf<Address>>,
}

/// Memory of the host from which the device copies while other work goes on. Kept for later when this is dropped.
#[derive(Debug)]
pub(crate) struct Staging {
    memory: Mapped,
    bytes: u64,
    shelf: Arc<Shelf<Mapped>>,
}

/// Gives out memory of a device, and of the host for it.
#[derive(Debug)]
pub(crate) struct Pool {
    device: Arc<dyn Device>,
    shelf: Arc<Shelf<Address>>,
    staging: Arc<Shelf<Mapped>>,
}

// SAFETY: the addresses are plain numbers; what uses the memory that they name is settled by `Memory` and `Staging`, which own it.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Send for Staging {}
// SAFETY: shared, it gives out nothing to write.
unsafe impl Sync for Staging {}

impl Drop for Memory {
    fn drop(&mut self) {
        self.shelf.put(self.bytes, self.at);
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.shelf.put(self.bytes, self.memory);
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
        let shelf = Shelf::new(&device, |device, at| device.free(at));
        let staging = Shelf::new(&device, |device, memory| device.free_mapped(memory));
        Pool { device, shelf, staging }
    }

    /// Reserves memory of the device. What it holds is undefined.
    pub(crate) fn reserve(&self, bytes: u64) -> Answer<Memory> {
        let memory = |bytes, at| Memory { at, bytes, shelf: self.shelf.clone() };
        let size = rounded(bytes);
        if let Some(at) = self.shelf.take(size) {
            return Ok(memory(size, at));
        }
        if let Ok(at) = self.device.alloc(size) {
            return Ok(memory(size, at));
        }
        // What is kept for later may be in the way, and what is rounded up.
        self.shelf.clear();
        self.staging.clear();
        Ok(memory(bytes, self.device.alloc(bytes)?))
    }

    /// Reserves memory of the host.
    pub(crate) fn reserve_staging(&self, bytes: u64) -> Answer<Staging> {
        let bytes = rounded(bytes);
        let memory = match self.staging.take(bytes) {
            Some(memory) => memory,
            None => self.device.alloc_mapped(bytes)?,
        };
        Ok(Staging { memory, bytes, shelf: self.staging.clone() })
    }
}

fn rounded(bytes: u64) -> u64 {
    let bytes = bytes.max(SMALLEST_BYTES);
    let power = bytes.checked_next_power_of_two().unwrap_or(1 << 63);
    if bytes <= POWERS_OF_TWO_MAX {
        power
    } else {
        bytes.checked_next_multiple_of(power / 16).unwrap_or(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_repeat_and_are_at_most_an_eighth_larger() {
        assert_eq!([1, 4096, 4097, 64 << 20].map(rounded), [4096, 4096, 8192, 64 << 20]);
        let large = (64 << 20) + 1;
        let sizes: std::collections::BTreeSet<u64> =
            (large..2 * large).step_by(1 << 16).map(rounded).collect();
        assert!(sizes.len() <= 10, "{sizes:?}");
        for bytes in [large, 100 << 20, 5_000_000_000, u64::MAX - 1, u64::MAX] {
            let size = rounded(bytes);
            assert!(size >= bytes && (size - bytes) <= bytes / 8, "{bytes}: {size}");
        }
    }
}
