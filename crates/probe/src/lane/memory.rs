//! The memory of a lane: equal buffers, and the rights to them.

use core::ptr::NonNull;
use std::io;

use super::pool::{Mapping, Pool};
use crate::sync::Watched;

/// The right to one buffer of a [`Memory`]: there is exactly one for each buffer, and its holder may read and write.
#[derive(Debug)]
pub(crate) struct Buffer {
    index: u32,
}

/// A buffer with records at its beginning.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) buffer: Buffer,
    /// Bytes of records.
    pub(crate) used: u32,
    /// Number of records.
    pub(crate) rows: u32,
}

/// The buffers of one lane.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Where the first buffer begins.
    base: NonNull<u8>,
    /// There until the memory goes back to the pool.
    mapping: Option<Mapping>,
    pool: Pool,
    buffers: u32,
    buffer_bytes: u32,
    /// One for each buffer; they are something only under loom.
    watched: Box<[Watched]>,
}

// SAFETY: the mapping belongs to this value; its bytes are touched only by the holder of the `Buffer`.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Reserves the buffers; nothing of them is touched.
    pub(crate) fn new(pool: &Pool, buffers: u32, buffer_bytes: u32) -> io::Result<(Self, Vec<Buffer>)> {
        let mapping = pool.take(buffers as usize * buffer_bytes as usize)?;
        let watched = (0..buffers).map(|_| Watched::new()).collect();
        let (base, pool) = (mapping.base, pool.clone());
        let memory = Memory { base, mapping: Some(mapping), pool, buffers, buffer_bytes, watched };
        Ok((memory, (0..buffers).map(|index| Buffer { index }).collect()))
    }

    /// How many buffers there are.
    pub(crate) fn buffers(&self) -> u32 {
        self.buffers
    }

    /// The size of each.
    #[inline]
    pub(crate) fn buffer_bytes(&self) -> u32 {
        self.buffer_bytes
    }

    /// All bytes that are reserved.
    pub(crate) fn bytes(&self) -> usize {
        self.buffers as usize * self.buffer_bytes as usize
    }

    /// Gives the bytes up to `end` their pages before they are touched. This is a system call, unless they have them.
    pub(crate) fn prepare(&self, end: usize) {
        if let Some(mapping) = &self.mapping {
            mapping.prepare(end);
        }
    }

    /// Where a buffer begins. Its bytes may be used as long as the `Buffer` is held, and are never uninitialised.
    #[inline]
    pub(crate) fn start(&self, buffer: &Buffer) -> NonNull<u8> {
        // SAFETY: a `Buffer` of this memory has an index below the number of buffers, so this stays in the mapping.
        unsafe { self.base.add(buffer.index as usize * self.buffer_bytes as usize) }
    }

    /// Notifies loom that the holder of a buffer writes it now.
    #[inline]
    pub(crate) fn note_write(&self, buffer: Option<&Buffer>) {
        if cfg!(loom)
            && let Some(buffer) = buffer
        {
            self.watched[buffer.index as usize].written();
        }
    }

    /// The records of a filled buffer.
    pub(crate) fn records<'a>(&'a self, filled: &'a Filled) -> &'a [u8] {
        self.watched[filled.buffer.index as usize].read();
        // SAFETY: `used` is at most the size of a buffer, which is in the mapping and initialised; nobody writes
        // it while the only right to it is borrowed.
        unsafe { core::slice::from_raw_parts(self.start(&filled.buffer).as_ptr(), filled.used as usize) }
    }
}

impl Drop for Memory {
    /// Leaves the mapping to the pool. Both ends of the lane have been dropped, so it is unused.
    fn drop(&mut self) {
        if let Some(mapping) = self.mapping.take() {
            self.pool.give_back(mapping);
        }
    }
}
