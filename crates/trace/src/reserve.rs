//! Room for `run.json` and for the beginning of each artifact, taken before the run starts.
//!
//! Files are written after the run, when a disk may have filled up: the manifest last of all, and it says what is
//! missing. So their first blocks are allocated before: writing into them needs no free space. An artifact that does not
//! fit as a whole still has its head and its counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::temp_file::TempFile;

/// Bytes kept free for the manifest. It has about a kilobyte and a hundred bytes for each of at most seven files; the
/// rest is for parameters and for the words of an error.
pub(crate) const MANIFEST_BYTES: u64 = 64 * 1024;
/// Bytes kept free for an artifact without rows: its head, which names the kernels, and its counts.
pub(crate) const ARTIFACT_BYTES: u64 = 16 * 1024;

/// A file of blocks that are allocated and not yet used.
#[derive(Debug)]
pub(crate) struct Reserve {
    temp: TempFile,
    bytes: u64,
}

impl Reserve {
    pub(crate) fn take(dir: &Path, name: &str, bytes: u64) -> io::Result<Self> {
        let temp = TempFile::create(dir, name)?;
        match fallocate(&temp.file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {}
            // A file system that cannot allocate ahead gets zeros instead: they take the same room.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => write_zeros(&temp.file, bytes)?,
            Err(errno) => return Err(errno.into()),
        }
        Ok(Reserve { temp, bytes })
    }

    /// Turns the reserved file into the file at `path`.
    pub(crate) fn write_to(mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.temp.file.write_all_at(bytes, 0)?;
        self.temp.file.set_len(bytes.len() as u64)?;
        self.temp.rename_to(path)
    }

    /// The file, to be written from its beginning, and how long it is.
    pub(crate) fn into_temp(self) -> (TempFile, u64) {
        (self.temp, self.bytes)
    }

    /// Room again, from a file that was given up; what it had beyond is free.
    pub(crate) fn again(mut temp: TempFile, bytes: u64) -> io::Result<Self> {
        temp.file.set_len(bytes)?;
        temp.file.seek(SeekFrom::Start(0))?;
        Ok(Reserve { temp, bytes })
    }
}

fn write_zeros(file: &File, bytes: u64) -> io::Result<()> {
    file.write_all_at(&vec![0; bytes as usize], 0)
}

/// What is reserved in a directory, by the name of the file that it is for.
#[derive(Debug, Default)]
pub(crate) struct Reserves(Mutex<BTreeMap<String, Reserve>>);

impl Reserves {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Reserve>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, name: &str, reserve: Reserve) {
        self.open().insert(name.to_string(), reserve);
    }

    pub(crate) fn take(&self, name: &str) -> Option<Reserve> {
        self.open().remove(name)
    }

    pub(crate) fn clear(&self) {
        self.open().clear();
    }
}
