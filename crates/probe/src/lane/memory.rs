//! The memory of a lane: equal buffers in one mapping that the kernel fills with pages only where it is touched.
//!
//! It is mapped and not taken from the allocator, which clears recycled memory by writing to all of it.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::io;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::sync::Watched;

/// The right to one buffer of a [`Memory`]: there is exactly one for each buffer, and who has it may read and write.
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
    base: NonNull<u8>,
    buffers: u32,
    buffer_bytes: u32,
    /// One for each buffer under loom, else empty structs.
    watched: Box<[Watched]>,
}

// SAFETY: the mapping belongs to this value; its bytes are touched only by whoever has the `Buffer`.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps the buffers; nothing of them is touched.
    pub(crate) fn new(buffers: u32, buffer_bytes: u32) -> io::Result<(Self, Vec<Buffer>)> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        let bytes = buffers as usize * buffer_bytes as usize;
        // SAFETY: no address is asked for, so that no other mapping is replaced.
        let base = unsafe { mmap_anonymous(core::ptr::null_mut(), bytes, protection, flags) }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let watched = (0..buffers).map(|_| Watched::new()).collect();
        let memory = Memory { base, buffers, buffer_bytes, watched };
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

    /// Where a buffer begins. Bytes behind it may be used as long as its `Buffer` is held, and are never uninitialised.
    #[inline]
    pub(crate) fn start(&self, buffer: &Buffer) -> NonNull<u8> {
        // SAFETY: a `Buffer` of this memory has an index below the number of buffers, so this stays in the mapping.
        unsafe { self.base.add(buffer.index as usize * self.buffer_bytes as usize) }
    }

    /// Tells loom that the holder of a buffer writes it now.
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
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; no reference into it outlives `self`. It cannot fail for a whole
        // mapping, and there would be nothing to do about it.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.bytes()) };
    }
}
