//! Room for `run.json`, taken before the run starts.
//!
//! The manifest is written last, when a disk may have filled up, and it is the file that tells what is missing.
//! So its blocks are allocated first: writing into them needs no free space.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::artifact_file::TempFile;
use crate::manifest;

/// Bytes kept free for the manifest. It has about a kilobyte and a hundred bytes for each of at most seven files; the
/// rest is for parameters and for the words of an error.
const RESERVED_BYTES: u64 = 64 * 1024;

/// A file of blocks that are allocated and not yet used.
#[derive(Debug)]
pub(crate) struct Reserve(TempFile);

impl Reserve {
    pub(crate) fn take(dir: &Path) -> io::Result<Self> {
        let temp = TempFile::create(dir, manifest::FILE_NAME)?;
        match fallocate(&temp.file, FallocateFlags::empty(), 0, RESERVED_BYTES) {
            Ok(()) => {}
            // A file system that cannot allocate ahead gets zeros instead: they take the same room.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => write_zeros(&temp.file)?,
            Err(errno) => return Err(errno.into()),
        }
        Ok(Reserve(temp))
    }

    /// Turns the reserved file into the file at `path`.
    pub(crate) fn write_to(mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.file.write_all_at(bytes, 0)?;
        self.0.file.set_len(bytes.len() as u64)?;
        self.0.rename_to(path)
    }
}

fn write_zeros(mut file: &File) -> io::Result<()> {
    file.write_all(&vec![0; RESERVED_BYTES as usize])
}
