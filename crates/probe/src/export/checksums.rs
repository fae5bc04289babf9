//! The checksums of captured bytes, computed after the run from the file that they are in: a core that captures them has
//! other things to do.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use ringlane_trace::dump::Checksum;

/// Bytes read at once: as many as a core's small tensors have together, which follow each other in the file.
const WINDOW_BYTES: usize = 64 << 10;

/// Reads payloads back. Small ones that follow each other are read together.
pub(super) struct Checksums<'f> {
    file: Option<&'f File>,
    window: Box<[u8]>,
    /// Where the window begins in the file, and how many bytes of it are read.
    start: u64,
    filled: usize,
}

impl<'f> Checksums<'f> {
    pub(super) fn new(file: Option<&'f File>) -> Self {
        Checksums { file, window: vec![0; WINDOW_BYTES].into(), start: 0, filled: 0 }
    }

    /// The checksum of `bytes` bytes at `offset`; `None` where there are none, or they cannot be read.
    pub(super) fn of(&mut self, offset: u64, bytes: u64) -> Option<u32> {
        let (mut at, mut left, mut checksum) = (offset, bytes, Checksum::default());
        while left > 0 {
            let piece = left.min(WINDOW_BYTES as u64) as usize;
            checksum.add(self.read(at, piece)?);
            at += piece as u64;
            left -= piece as u64;
        }
        (bytes > 0).then(|| checksum.crc32())
    }

    /// Reads `bytes` bytes at `at`, at most a window.
    fn read(&mut self, at: u64, bytes: usize) -> Option<&[u8]> {
        let is_there = self.start <= at && at + bytes as u64 <= self.start + self.filled as u64;
        if !is_there {
            self.fill(at)?;
        }
        let from = (at - self.start) as usize;
        self.window[..self.filled].get(from..from + bytes)
    }

    fn fill(&mut self, at: u64) -> Option<()> {
        (self.start, self.filled) = (at, 0);
        while self.filled < self.window.len() {
            match self.file?.read_at(&mut self.window[self.filled..], at + self.filled as u64) {
                Ok(0) => break,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(())
    }
}
