//! A node's memory as it is mapped in one process: a file without a name, mapped whole.
//!
//! Its first page is a head: what it is, how long, and the bell of its node. The rest is tensors.

#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::pieces::PAGE;
use crate::error::NodeError;
use crate::limits::MEMORY_BYTES_MAX;
use crate::mailbox::{Bell, Line};

/// The first eight bytes of every node's memory.
const MAGIC: u64 = u64::from_le_bytes(*b"ringnode");
/// The version of the head; another is refused.
const VERSION: u64 = 1;

/// The head of a memory.
#[derive(Debug)]
#[repr(C)]
struct Head {
    magic: AtomicU64,
    version: AtomicU64,
    bytes: AtomicU64,
    bell: Line<Bell>,
}

/// A node's memory in this process.
#[derive(Debug)]
pub(crate) struct Mapping {
    file: OwnedFd,
    base: NonNull<u8>,
    bytes: u64,
}

// SAFETY: the head is atomics only; code that dereferences another address in the memory answers for the access.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Bytes before the first tensor.
    pub(crate) const HEAD_BYTES: u64 = PAGE;

    /// New memory of at most this many bytes; no page of it exists until it is touched.
    pub(crate) fn create(bytes: u64) -> Result<Self, NodeError> {
        let bytes = bytes.clamp(2 * PAGE, MEMORY_BYTES_MAX).next_multiple_of(PAGE);
        let cannot = |error| NodeError::NoNodeMemory { bytes, error };
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("ringlane-node", flags).map_err(cannot)?;
        rustix::fs::ftruncate(&file, bytes).map_err(cannot)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).map_err(cannot)?;
        let mapping = Self::map(file, bytes)?;
        let Head { magic, version, bytes: stated_bytes, .. } = mapping.head();
        magic.store(MAGIC, Ordering::Relaxed);
        version.store(VERSION, Ordering::Relaxed);
        stated_bytes.store(bytes, Ordering::Relaxed);
        Ok(mapping)
    }

    /// The memory in a file that another process made. Its size, its seals and its head are checked.
    pub(crate) fn adopt(file: OwnedFd) -> Result<Self, NodeError> {
        let cannot = |error| NodeError::NoNodeMemory { bytes: 0, error };
        let bytes = rustix::fs::fstat(&file).map_err(cannot)?.st_size as u64;
        if !(2 * PAGE..=MEMORY_BYTES_MAX).contains(&bytes) || !bytes.is_multiple_of(PAGE) {
            return Err(NodeError::corrupt("size of a node's memory", bytes));
        }
        let seals = rustix::fs::fcntl_get_seals(&file).unwrap_or(SealFlags::empty());
        if !seals.contains(SealFlags::SHRINK) {
            return Err(NodeError::corrupt("seals of a node's memory", seals.bits()));
        }
        let mapping = Self::map(file, bytes)?;
        let Head { magic, version, bytes: stated_bytes, .. } = mapping.head();
        for (field, word, expected) in [
            ("magic of a node's memory", magic, MAGIC),
            ("version of a node's memory", version, VERSION),
            ("bytes of a node's memory", stated_bytes, bytes),
        ] {
            let found = word.load(Ordering::Relaxed);
            if found != expected {
                return Err(NodeError::corrupt(field, found));
            }
        }
        Ok(mapping)
    }

    fn map(file: OwnedFd, bytes: u64) -> Result<Self, NodeError> {
        let cannot = |error| NodeError::NoNodeMemory { bytes, error };
        // Loom's atomics are no plain words: there is nothing that could be mapped as a head of them.
        if cfg!(loom) {
            return Err(cannot(Errno::NOSYS));
        }
        let length = usize::try_from(bytes).map_err(|_| cannot(Errno::NOMEM))?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses touches no memory that is in use.
        let start = unsafe { rustix::mm::mmap(core::ptr::null_mut(), length, protection, flags, &file, 0) };
        let base = NonNull::new(start.map_err(cannot)?.cast()).ok_or(cannot(Errno::INVAL))?;
        Ok(Mapping { file, base, bytes })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping has at least two pages and begins at one, so that a head fits and is aligned; it is atomics
        // only, so that any bytes are a valid one and other processes may write them meanwhile.
        unsafe { self.base.cast().as_ref() }
    }

    /// The bell of the node whose memory this is.
    pub(crate) fn bell(&self) -> &Bell {
        &self.head().bell.0
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its file.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// The address of an offset, which is at most its length.
    pub(crate) fn at(&self, offset: u64) -> *mut u8 {
        assert!(offset <= self.bytes, "offset {offset} of a memory of {}", self.bytes);
        // SAFETY: inside of the mapping, or one past its end.
        unsafe { self.base.as_ptr().add(offset as usize) }
    }

    /// Where an address is, if it is in here.
    pub(crate) fn offset_of(&self, address: *const u8) -> Option<u64> {
        let offset = (address.addr() as u64).checked_sub(self.base.as_ptr().addr() as u64)?;
        (offset < self.bytes).then_some(offset)
    }

    /// Gives the pages of a range back to the kernel; they are zero when they are touched again.
    pub(crate) fn clear(&self, offset: u64, bytes: u64) {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        if fallocate(&self.file, flags, offset, bytes).is_err() {
            // SAFETY: the range is inside (it was taken from here), and its only holder gives it back.
            unsafe { self.at(offset).write_bytes(0, bytes as usize) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `map` with this size, and no reference into it outlives it. An error would mean that
        // the address is wrong, and then there is nothing to unmap.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.bytes as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_memory_of_a_node_is_refused_by_name() {
        let file = || rustix::fs::memfd_create("a", MemfdFlags::ALLOW_SEALING).unwrap();
        let field_of = |file| match Mapping::adopt(file).unwrap_err() {
            NodeError::CorruptMailbox { field, .. } => field,
            other => panic!("{other:?}"),
        };
        assert_eq!(field_of(file()), "size of a node's memory");
        let unsealed = file();
        rustix::fs::ftruncate(&unsealed, 3 * PAGE).unwrap();
        assert_eq!(field_of(unsealed.try_clone().unwrap()), "seals of a node's memory");
        rustix::fs::fcntl_add_seals(&unsealed, SealFlags::SHRINK).unwrap();
        assert_eq!(field_of(unsealed), "magic of a node's memory");
    }

    #[test]
    fn both_see_what_one_writes_until_it_is_cleared() {
        let mine = Mapping::create(1 << 16).unwrap();
        let theirs = Mapping::adopt(mine.file().try_clone().unwrap()).unwrap();
        // SAFETY: nobody else has these bytes.
        unsafe { mine.at(PAGE + 5).write(9) };
        // SAFETY: as above.
        assert_eq!(unsafe { theirs.at(PAGE + 5).read() }, 9);
        theirs.clear(PAGE, 6);
        // SAFETY: as above.
        assert_eq!(unsafe { mine.at(PAGE + 5).read() }, 0);
        assert_eq!(mine.offset_of(mine.at(77)), Some(77));
        assert_eq!(mine.offset_of(core::ptr::null()), None);
    }
}
