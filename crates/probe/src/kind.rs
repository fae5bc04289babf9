//! What a recording consists of: kinds of records, each with its writers and its way to be kept.

use core::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::error::ProbeError;
use crate::lane::Writer;

/// Bytes to which buffers are aligned, and of which their size is a multiple.
pub const BUFFER_ALIGNMENT: u32 = 64;
/// The largest buffer: sizes within it and counts of its records fit into 32 bits.
pub const BUFFER_BYTES_MAX: u32 = 1 << 30;

/// A kind of record: a small number chosen by the caller that starts the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKind(pub u8);

/// A kind of record that is on: how its lanes are laid out and where its records go.
#[derive(Debug)]
pub struct KindSpec {
    /// Which kind.
    pub kind: RecordKind,
    /// Its name in messages.
    pub name: &'static str,
    /// The file that messages name when something cannot be written.
    pub path: PathBuf,
    /// Where its records go.
    pub sink: Sink,
    /// Buffers of each lane, at least 2.
    pub buffers: u32,
    /// Bytes of each buffer, a multiple of [`BUFFER_ALIGNMENT`].
    pub buffer_bytes: u32,
    /// Bytes of each lane that have their pages before the run begins. The first touch of a page costs more than the records that
    /// then fill it; what is beyond is made ready a little ahead of the writer.
    pub ready_bytes: u32,
    /// Number of writers; each has a lane of its own.
    pub writers: u32,
}

impl KindSpec {
    /// Checks the sizes.
    pub(crate) fn validate(&self) -> Result<(), ProbeError> {
        let &KindSpec { name, buffers, buffer_bytes, .. } = self;
        let fits = (BUFFER_ALIGNMENT..=BUFFER_BYTES_MAX).contains(&buffer_bytes)
            && buffer_bytes.is_multiple_of(BUFFER_ALIGNMENT)
            && (2..=1 << 20).contains(&buffers);
        if fits { Ok(()) } else { Err(ProbeError::UnfitBuffers { kind: name, buffers, buffer_bytes }) }
    }
}

/// Bytes at offsets: a file, or in tests something that fails like one.
pub trait Storage: Send + Sync {
    /// Writes some of the bytes, at least one, and says how many.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Reads some bytes and says how many; 0 at the end.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Forgets all bytes, so that they take no room any more.
    fn clear(&self) -> io::Result<()>;
}

impl Storage for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, bytes, offset)
    }

    fn clear(&self) -> io::Result<()> {
        self.set_len(0)
    }
}

/// Opens a storage when it is first needed.
pub(crate) type Opener = Box<dyn FnOnce() -> io::Result<Box<dyn Storage>> + Send + Sync>;

/// Where the records of a kind go.
pub enum Sink {
    /// They stay in memory, and go to a temporary file when half of the memory is in use; they are read back later.
    Spool(Opener),
    /// Each is a piece of a file (see [`Writer::reserve_piece`]) and is put into its place at once.
    Place(Box<dyn Storage>),
}

impl Sink {
    /// A spool in a file that is opened by the collector, once memory becomes short.
    pub fn spool<S: Storage + 'static>(open: impl FnOnce() -> io::Result<S> + Send + Sync + 'static) -> Self {
        Sink::Spool(Box::new(|| Ok(Box::new(open()?))))
    }

    /// Pieces of this file.
    pub fn place(storage: impl Storage + 'static) -> Self {
        Sink::Place(Box::new(storage))
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sink::Spool(_) => "Spool",
            Sink::Place(_) => "Place",
        })
    }
}

/// The header of a piece's bytes; the bytes are followed by padding to a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct PieceHeader {
    /// Where the bytes go.
    pub(crate) offset: u64,
    /// How many there are.
    pub(crate) len: u32,
    reserved: u32,
}

/// Bytes before those of a piece.
pub const PIECE_HEADER_BYTES: usize = size_of::<PieceHeader>();

impl Writer {
    /// The largest piece.
    pub fn piece_bytes_max(&self) -> usize {
        self.record_bytes_max() - PIECE_HEADER_BYTES
    }

    /// A place for `len` bytes that the collector will write at `offset` of the kind's file; for kinds that go to
    /// [`Sink::Place`]. `None`, as in [`Writer::reserve`], if there is no place or it is larger than the largest.
    #[inline]
    pub fn reserve_piece(&mut self, offset: u64, len: usize) -> Option<&mut [u8]> {
        let whole = PIECE_HEADER_BYTES + len.next_multiple_of(8);
        let (header, bytes) = self.reserve(whole)?.split_at_mut(PIECE_HEADER_BYTES);
        header.copy_from_slice(PieceHeader { offset, len: len as u32, reserved: 0 }.as_bytes());
        Some(&mut bytes[..len])
    }
}
