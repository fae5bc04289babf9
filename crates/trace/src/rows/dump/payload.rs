//! The bytes of captured tensors, read piece by piece: one of them may be larger than memory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{BIN_FILE_NAME, Checksum, DumpTensor, Truncated};
use crate::error::TraceError;
use crate::rows::document::{locate, open};

/// The file of bytes of a run.
#[derive(Debug)]
pub struct Payloads {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl Payloads {
    /// Opens the bytes of a run, given its directory or the file itself.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = locate(path.as_ref(), BIN_FILE_NAME);
        let file = open(&path)?;
        match file.metadata() {
            Ok(found) => Ok(Payloads { bytes: found.len(), file, path }),
            Err(source) => Err(TraceError::CannotRead { path, source }),
        }
    }

    /// Gives a tensor's bytes to `each`, in order, in pieces of whole elements that fit `buffer`; bytes after the last whole
    /// element of a tensor that is cut short are left out. A tensor that is not in the file, or has another size than its
    /// shape, is damage; so are bytes that do not have their checksum, which is known after the last piece.
    pub fn for_each_piece<E: From<TraceError>>(
        &self,
        tensor: &DumpTensor,
        buffer: &mut [u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(tensor)?;
        let element = tensor.view.dtype.size_bytes() as u64;
        let piece = buffer.len() as u64 / element * element;
        let (mut at, end) = (0, tensor.bin_size / element * element);
        let mut checksum = Checksum::default();
        while at < end && piece > 0 {
            let bytes = &mut buffer[..piece.min(end - at) as usize];
            self.read(tensor, at, bytes)?;
            checksum.add(bytes);
            each(bytes)?;
            at += bytes.len() as u64;
        }
        // Where bytes were left out there is no checksum of the others.
        if at == tensor.bin_size {
            self.compare_checksum(tensor, checksum.crc32())?;
        }
        Ok(())
    }

    /// Reads a tensor's bytes and compares them with their checksum, if they have one.
    pub fn verify(&self, tensor: &DumpTensor, buffer: &mut [u8]) -> Result<(), TraceError> {
        let (mut at, mut checksum) = (0, Checksum::default());
        while tensor.crc32.is_some() && at < tensor.bin_size {
            let bytes = (tensor.bin_size - at).min(buffer.len() as u64) as usize;
            self.read(tensor, at, &mut buffer[..bytes])?;
            checksum.add(&buffer[..bytes]);
            at += bytes as u64;
        }
        self.compare_checksum(tensor, checksum.crc32())
    }

    fn compare_checksum(&self, tensor: &DumpTensor, found: u32) -> Result<(), TraceError> {
        let DumpTensor { bin_offset, bin_size, crc32, .. } = *tensor;
        match crc32.filter(|&wanted| wanted != found) {
            None => Ok(()),
            Some(wanted) => {
                let what = format!(
                    "{bin_size} bytes at {bin_offset} have the checksum {found:#010x}, {wanted:#010x} was written"
                );
                Err(TraceError::Damaged { path: self.path.clone(), what })
            }
        }
    }

    /// Reads a part of a tensor's bytes, `at` bytes from its first.
    pub fn read(&self, tensor: &DumpTensor, at: u64, bytes: &mut [u8]) -> Result<(), TraceError> {
        let read = self.file.read_exact_at(bytes, tensor.bin_offset.saturating_add(at));
        read.map_err(|source| TraceError::CannotRead { path: self.path.clone(), source })
    }

    /// Whether the bytes that a record speaks of can be there.
    pub fn check(&self, tensor: &DumpTensor) -> Result<(), TraceError> {
        let DumpTensor { view, truncated, bin_offset, bin_size, .. } = tensor;
        let damaged = |what: String| Err(TraceError::Damaged { path: self.path.clone(), what });
        let whole = view.bytes();
        let fits = match truncated {
            Truncated::No => whole == Some(*bin_size),
            Truncated::Yes => whole.is_none_or(|whole| *bin_size <= whole),
        };
        if !fits {
            let (dtype, shape) = (view.dtype, view.shape().collect::<Vec<_>>());
            return damaged(format!("a payload of {bin_size} bytes for {dtype} {shape:?}"));
        }
        if *bin_size > 0 && bin_offset.checked_add(*bin_size).is_none_or(|end| end > self.bytes) {
            return damaged(format!("{bin_size} bytes at {bin_offset} of a file of {} bytes", self.bytes));
        }
        Ok(())
    }
}
