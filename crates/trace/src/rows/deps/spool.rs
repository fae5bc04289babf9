//! Rows that arise with the tasks and follow them in the file. They wait packed, a quarter of the length of their
//! text: in memory while they are few, else in a spool.

use std::io::{self, ErrorKind, Read, Seek, Write};

use ringlane_task::TaskId;

use super::{EdgeSource, Hazard, Origin, Overlap, TensorIndex};
use crate::rows::field::Field;
use crate::text::Text;

/// Bytes of packed rows that are kept in memory.
const KEPT_BYTES: usize = 256 * 1024;

/// A value, or a row of values, with a packed form of fixed size. That of a row follows from its declaration.
pub(crate) trait Packed: Sized {
    const BYTES: usize;
    fn pack(&self, to: &mut Vec<u8>);
    /// Takes its bytes away; `None` if they are no such value.
    fn unpack(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! packed {
    ($($type:ident($inner:ty): $from:expr, $to:expr;)*) => {$(
        impl Packed for $type {
            const BYTES: usize = size_of::<$inner>();

            #[inline]
            fn pack(&self, to: &mut Vec<u8>) {
                let number: $inner = $from(*self);
                to.extend_from_slice(&number.to_le_bytes());
            }

            #[inline]
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                $to(<$inner>::from_le_bytes(*bytes))
            }
        }
    )*};
}
packed! {
    u32(u32): |number| number, Some;
    u64(u64): |number| number, Some;
    TaskId(u64): |id: TaskId| id.0, |id| Some(TaskId(id));
    TensorIndex(u32): |index: TensorIndex| index.0, |index| Some(TensorIndex(index));
    Origin(u8): |origin| origin as u8, Origin::from_code;
    EdgeSource(u8): |source| source as u8, EdgeSource::from_code;
    Hazard(u8): |hazard| hazard as u8, Hazard::from_code;
    Overlap(u8): |overlap| overlap as u8, Overlap::from_code;
}

/// A value that is not there takes as many bytes as one that is.
impl<T: Packed> Packed for Option<T> {
    const BYTES: usize = 1 + T::BYTES;

    #[inline]
    fn pack(&self, to: &mut Vec<u8>) {
        to.push(u8::from(self.is_some()));
        match self {
            Some(value) => value.pack(to),
            None => to.resize(to.len() + T::BYTES, 0),
        }
    }

    #[inline]
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let (&is_there, rest) = from.split_first()?;
        *from = rest;
        match is_there {
            0 => from.split_off(..T::BYTES).map(|_| None),
            _ => T::unpack(from).map(Some),
        }
    }
}

/// Rows of one kind that wait for their turn.
pub(super) struct Waiting<S> {
    spool: S,
    kept: Vec<u8>,
    spooled_rows: u64,
    pub(super) rows: u64,
}

impl<S: Read + Write + Seek> Waiting<S> {
    pub(super) const fn new(spool: S) -> Self {
        Waiting { spool, kept: Vec::new(), spooled_rows: 0, rows: 0 }
    }

    pub(super) fn push<R: Packed>(&mut self, row: &R) -> io::Result<()> {
        if self.kept.len() + R::BYTES > KEPT_BYTES {
            self.spool.write_all(&self.kept)?;
            self.kept.clear();
            self.spooled_rows = self.rows;
        }
        row.pack(&mut self.kept);
        self.rows += 1;
        Ok(())
    }

    /// Writes the text of all rows, with commas between them.
    pub(super) fn write_to<R: Packed + Field>(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut rows_text = RowsText::default();
        let kept = std::mem::take(&mut self.kept);
        if self.spooled_rows > 0 {
            self.spool.rewind()?;
        }
        let mut left = self.spooled_rows;
        let mut piece = vec![0; KEPT_BYTES / R::BYTES * R::BYTES];
        while left > 0 {
            let rows = left.min((piece.len() / R::BYTES) as u64);
            piece.truncate(rows as usize * R::BYTES);
            self.spool.read_exact(&mut piece)?;
            left -= rows;
            rows_text.write::<R>(&piece, out)?;
        }
        rows_text.write::<R>(&kept, out)?;
        rows_text.text.give(out)
    }
}

/// Rows on their way to the file.
#[derive(Default)]
struct RowsText {
    text: Text,
    written: u64,
}

impl RowsText {
    fn write<R: Packed + Field>(&mut self, packed: &[u8], out: &mut impl Write) -> io::Result<()> {
        for mut bytes in packed.chunks_exact(R::BYTES) {
            let row = R::unpack(&mut bytes).ok_or(ErrorKind::InvalidData)?;
            if self.written > 0 {
                self.text.raw(",\n");
            }
            row.write(&mut self.text);
            self.text.spill(out)?;
            self.written += 1;
        }
        Ok(())
    }
}
