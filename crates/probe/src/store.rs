//! How the collector keeps filled buffers: pieces put into their file, or chunks appended to a spool.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::kind::{Opener, PIECE_HEADER_BYTES, PieceHeader, Storage};

/// Why the records of a kind are not all kept: the first write that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{errno}: {}: {message}", path.display())]
pub struct WriteFailure {
    /// The error's name, as in `ENOSPC`.
    pub errno: String,
    /// What the system says about it.
    pub message: String,
    /// The file that misses something now.
    pub path: PathBuf,
}

impl WriteFailure {
    /// What the system says about it, as in `ENOSPC: No space left on device`.
    pub fn reason(&self) -> String {
        format!("{}: {}", self.errno, self.message)
    }

    /// What happened to a file of this kind.
    pub(crate) fn new(error: &io::Error, path: &Path) -> Self {
        WriteFailure { errno: errno_name(error), message: error.to_string(), path: path.to_path_buf() }
    }
}

/// The name of a system's error, or what comes nearest to it.
pub(crate) fn errno_name(error: &io::Error) -> String {
    let named = ringlane_trace::errno_name(error).map(str::to_string);
    let numbered = || error.raw_os_error().map(|number| format!("errno {number}"));
    named.or_else(numbered).unwrap_or_else(|| format!("{:?}", error.kind()))
}

/// Writes all of the bytes.
pub(crate) fn write_all_at(storage: &dyn Storage, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match storage.write_at(bytes, offset) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads as many bytes as there is room for.
fn read_exact_at(storage: &dyn Storage, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match storage.read_at(bytes, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Puts the pieces of a buffer into their places. Says how many were put there, and what stopped it.
pub(crate) fn place_pieces(
    storage: &dyn Storage,
    mut pieces: &[u8],
    bytes: &mut u64,
) -> (u32, io::Result<()>) {
    let (mut placed, mut together) = (0, Together::default());
    while let Ok((header, rest)) = PieceHeader::read_from_prefix(pieces) {
        let piece = &rest[..header.len as usize];
        if !together.takes(header.offset, piece) {
            if let Err(error) = together.write(storage, &mut placed, bytes) {
                return (placed, Err(error));
            }
            together.start = header.offset;
        }
        together.bytes.extend_from_slice(piece);
        together.pieces += 1;
        pieces = &rest[piece.len().next_multiple_of(8)..];
    }
    debug_assert!(pieces.len() < PIECE_HEADER_BYTES);
    let written = together.write(storage, &mut placed, bytes);
    (placed, written)
}

/// Pieces that follow each other in their file, written in one call: most are tiny, and a system call is not.
#[derive(Default)]
struct Together {
    start: u64,
    bytes: Vec<u8>,
    pieces: u32,
}

impl Together {
    /// Bytes beyond which a write is large enough.
    const ENOUGH: usize = 1 << 18;

    fn takes(&self, offset: u64, piece: &[u8]) -> bool {
        let end = self.start + self.bytes.len() as u64;
        self.pieces > 0 && offset == end && self.bytes.len() + piece.len() <= Self::ENOUGH
    }

    fn write(&mut self, storage: &dyn Storage, placed: &mut u32, bytes: &mut u64) -> io::Result<()> {
        write_all_at(storage, &self.bytes, self.start)?;
        *bytes += self.bytes.len() as u64;
        *placed += core::mem::take(&mut self.pieces);
        self.bytes.clear();
        Ok(())
    }
}

/// The header of each chunk of a spool.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct ChunkHeader {
    lane: u32,
    rows: u32,
    bytes: u32,
}

/// A temporary file of chunks, opened when the first one comes.
#[derive(Default)]
pub(crate) struct Spool {
    opener: Option<Opener>,
    storage: Option<Box<dyn Storage>>,
    /// Bytes of whole chunks; what a failed write left after them is not read.
    bytes: u64,
    chunk_bytes_max: usize,
}

impl Spool {
    /// Gives up the room on disk; nothing can be read from it any more.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.storage.as_ref().map_or(Ok(()), |storage| storage.clear())
    }

    pub(crate) fn new(opener: Opener) -> Self {
        Spool { opener: Some(opener), ..Spool::default() }
    }

    /// Bytes on disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the records of a buffer. If that fails, it is as if it had not been tried.
    pub(crate) fn append(&mut self, lane: u32, rows: u32, records: &[u8]) -> io::Result<()> {
        if let Some(open) = self.opener.take() {
            self.storage = Some(open()?);
        }
        let storage = self.storage.as_deref().ok_or(ErrorKind::NotFound)?;
        let header = ChunkHeader { lane, rows, bytes: records.len() as u32 };
        let records_at = self.bytes + size_of::<ChunkHeader>() as u64;
        write_all_at(storage, header.as_bytes(), self.bytes)?;
        write_all_at(storage, records, records_at)?;
        self.bytes = records_at + records.len() as u64;
        self.chunk_bytes_max = self.chunk_bytes_max.max(records.len());
        Ok(())
    }

    /// Reads the chunks in the order they came. The outer error is of the reading, the inner one the visitor's.
    pub(crate) fn for_each<E>(
        &self,
        mut visit: impl FnMut(u32, &[u8]) -> Result<(), E>,
    ) -> io::Result<Result<(), E>> {
        let Some(storage) = self.storage.as_deref() else { return Ok(Ok(())) };
        let (mut buffer, mut at) = (vec![0; self.chunk_bytes_max], 0);
        while at < self.bytes {
            let mut header = ChunkHeader { lane: 0, rows: 0, bytes: 0 };
            read_exact_at(storage, header.as_mut_bytes(), at)?;
            at += size_of::<ChunkHeader>() as u64;
            let records = buffer.get_mut(..header.bytes as usize).ok_or(ErrorKind::InvalidData)?;
            read_exact_at(storage, records, at)?;
            at += u64::from(header.bytes);
            if let Err(error) = visit(header.lane, records) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}
