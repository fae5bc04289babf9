//! The shared memory of a mailbox: a file without a name, of a size that nobody can change.
//!
//! The memory goes when the last of the two processes goes; there is nothing in `/dev/shm` that could remain.

#![allow(unsafe_code)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::layout::{Layout, MAILBOX_BYTES};
use crate::error::NodeError;

/// A mailbox in memory that two processes share.
#[derive(Debug)]
pub struct Region {
    file: OwnedFd,
    layout: NonNull<Layout>,
}

// SAFETY: the layout is nothing but atomics, in memory that stays mapped until the region is dropped.
unsafe impl Send for Region {}
// SAFETY: as above; through `&Region` there is only `&Layout`.
unsafe impl Sync for Region {}

impl Region {
    /// A fresh mailbox, in the state [`Starting`](super::State::Starting). Its file is closed by an exec.
    pub fn create() -> Result<Self, NodeError> {
        let region = Self::create_file().and_then(Self::map).map_err(NodeError::no_memory)?;
        region.layout().write_header();
        Ok(region)
    }

    fn create_file() -> Result<OwnedFd, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("ringlane-mailbox", flags)?;
        rustix::fs::ftruncate(&file, MAILBOX_BYTES as u64)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(file)
    }

    /// The mailbox in a file that another process made. Its size, its seals and its head are checked.
    pub fn adopt(file: OwnedFd) -> Result<Self, NodeError> {
        let size = rustix::fs::fstat(&file).map_err(NodeError::no_memory)?.st_size;
        if size != MAILBOX_BYTES as i64 {
            return Err(NodeError::corrupt("size of the file", size as u64));
        }
        // A file that could shrink could take the memory away from under a reader. One that has no seals at all, a file
        // on a disk, says so with an error.
        let seals = rustix::fs::fcntl_get_seals(&file).unwrap_or(SealFlags::empty());
        if !seals.contains(SealFlags::SHRINK) {
            return Err(NodeError::corrupt("seals", seals.bits()));
        }
        let region = Self::map(file).map_err(NodeError::no_memory)?;
        region.layout().check_header()?;
        Ok(region)
    }

    fn map(file: OwnedFd) -> Result<Self, Errno> {
        // Loom's atomics are no plain words: there is nothing that could be mapped as a layout of them.
        if cfg!(loom) {
            return Err(Errno::NOSYS);
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let nowhere = std::ptr::null_mut();
        // SAFETY: a new mapping at an address that the kernel chooses touches no memory that is in use.
        let start =
            unsafe { rustix::mm::mmap(nowhere, MAILBOX_BYTES, protection, MapFlags::SHARED, &file, 0) }?;
        let layout = NonNull::new(start.cast()).ok_or(Errno::INVAL)?;
        Ok(Region { file, layout })
    }

    pub(crate) fn layout(&self) -> &Layout {
        // SAFETY: the mapping has `MAILBOX_BYTES`, no fewer than a layout, and begins at a page, so that it is aligned; the
        // file cannot shrink, so that every byte is there; a layout is atomics only, so that any bytes are a valid one and
        // the other process may write them meanwhile; and the mapping lives as long as `self`.
        unsafe { self.layout.as_ref() }
    }
}

impl AsFd for Region {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `map` with this size, and no reference into it outlives the region. An error
        // would mean that the address is wrong, and then there is nothing to unmap.
        let _ = unsafe { rustix::mm::munmap(self.layout.as_ptr().cast(), MAILBOX_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_mailbox_cannot_be_changed() {
        let region = Region::create().unwrap();
        assert_eq!(rustix::fs::ftruncate(&region, 0), Err(Errno::PERM));
        assert_eq!(rustix::fs::ftruncate(&region, 1 << 20), Err(Errno::PERM));
    }

    #[test]
    fn a_file_that_can_shrink_or_has_another_size_is_no_mailbox() {
        let file = rustix::fs::memfd_create("a", MemfdFlags::ALLOW_SEALING).unwrap();
        let error = Region::adopt(file.try_clone().unwrap()).unwrap_err();
        assert_eq!(error, NodeError::CorruptMailbox { field: "size of the file", value: 0 });
        rustix::fs::ftruncate(&file, MAILBOX_BYTES as u64).unwrap();
        let error = Region::adopt(file).unwrap_err();
        assert_eq!(error, NodeError::CorruptMailbox { field: "seals", value: 0 });
    }

    #[test]
    fn a_head_that_is_not_a_mailbox_is_named() {
        let region = Region::create().unwrap();
        for (at, field) in [(0, "magic"), (8, "version"), (12, "bytes"), (36, "reserved")] {
            region.layout().write_header();
            rustix::io::pwrite(&region, &[77], at).unwrap();
            let error = Region::adopt(region.as_fd().try_clone_to_owned().unwrap()).unwrap_err();
            assert!(matches!(error, NodeError::CorruptMailbox { field: named, .. } if named == field));
        }
    }
}
