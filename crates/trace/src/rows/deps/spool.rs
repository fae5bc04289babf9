//! Rows that arise with the tasks and stand after them in the file. They wait packed, a quarter of the length of their
//! text: in memory while they are few, else in a spool.

use std::io::{self, ErrorKind, Read, Seek, Write};

use ringlane_task::TaskId;

use super::{DepsEdge, DepsTensor, EdgeCause, EdgeSource, Hazard, Origin, Overlap, TensorIndex};
use crate::text::Text;

/// Bytes of packed rows that are kept in memory.
const KEPT_BYTES: usize = 256 * 1024;

/// A row with a packed form of fixed size, and a text.
pub(super) trait Packed: Sized {
    const BYTES: usize;
    fn pack(&self, to: &mut Vec<u8>);
    /// `None` if the bytes are no row.
    fn unpack(from: &[u8]) -> Option<Self>;
    fn write(&self, text: &mut Text);
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
    pub(super) fn write_to<R: Packed>(&mut self, out: &mut impl Write) -> io::Result<()> {
        let (mut text, mut written) = (Text::default(), 0);
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
            write_rows::<R>(&piece, &mut written, &mut text, out)?;
        }
        write_rows::<R>(&kept, &mut written, &mut text, out)?;
        text.give(out)
    }
}

/// Writes rows; `written` counts those that stand before the next one.
fn write_rows<R: Packed>(
    packed: &[u8],
    written: &mut u64,
    text: &mut Text,
    out: &mut impl Write,
) -> io::Result<()> {
    for bytes in packed.chunks_exact(R::BYTES) {
        let row = R::unpack(bytes).ok_or(ErrorKind::InvalidData)?;
        if *written > 0 {
            text.raw(",\n");
        }
        row.write(text);
        text.spill(out)?;
        *written += 1;
    }
    Ok(())
}

/// The first `N` bytes, which are taken away.
fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*first)
}

impl Packed for DepsTensor {
    const BYTES: usize = 13;

    fn pack(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.bytes.to_le_bytes());
        to.extend_from_slice(&self.tensor.0.to_le_bytes());
        to.push(self.origin as u8);
    }

    fn unpack(mut from: &[u8]) -> Option<Self> {
        let bytes = u64::from_le_bytes(take(&mut from)?);
        let tensor = TensorIndex(u32::from_le_bytes(take(&mut from)?));
        Some(DepsTensor { tensor, bytes, origin: Origin::from_code(*from.first()?)? })
    }

    fn write(&self, text: &mut Text) {
        text.raw("{\"tensor\":").number(self.tensor.0).raw(",\"bytes\":").number(self.bytes);
        text.raw(",\"origin\":\"").raw(self.origin.as_str()).raw("\"}");
    }
}

/// Stands for the hazard of an edge that has none.
const NO_CAUSE: u8 = u8::MAX;

impl Packed for DepsEdge {
    const BYTES: usize = 27;

    fn pack(&self, to: &mut Vec<u8>) {
        let (hazard, arg, tensor, overlap) = match &self.cause {
            Some(cause) => (cause.hazard as u8, cause.arg, cause.tensor.0, cause.overlap as u8),
            None => (NO_CAUSE, 0, 0, 0),
        };
        to.extend_from_slice(&self.pred.0.to_le_bytes());
        to.extend_from_slice(&self.succ.0.to_le_bytes());
        to.extend_from_slice(&arg.to_le_bytes());
        to.extend_from_slice(&tensor.to_le_bytes());
        to.extend_from_slice(&[self.source as u8, hazard, overlap]);
    }

    fn unpack(mut from: &[u8]) -> Option<Self> {
        let pred = TaskId(u64::from_le_bytes(take(&mut from)?));
        let succ = TaskId(u64::from_le_bytes(take(&mut from)?));
        let arg = u32::from_le_bytes(take(&mut from)?);
        let tensor = TensorIndex(u32::from_le_bytes(take(&mut from)?));
        let [source, hazard, overlap] = take(&mut from)?;
        let cause = match hazard {
            NO_CAUSE => None,
            code => {
                let overlap = Overlap::from_code(overlap)?;
                Some(EdgeCause { hazard: Hazard::from_code(code)?, arg, tensor, overlap })
            }
        };
        Some(DepsEdge { pred, succ, source: EdgeSource::from_code(source)?, cause })
    }

    fn write(&self, text: &mut Text) {
        text.raw("{\"pred\":").number(self.pred.0).raw(",\"succ\":").number(self.succ.0);
        text.raw(",\"source\":\"").raw(self.source.as_str()).raw("\"");
        if let Some(cause) = &self.cause {
            text.raw(",\"hazard\":\"").raw(cause.hazard.as_str()).raw("\",\"arg\":").number(cause.arg);
            text.raw(",\"tensor\":").number(cause.tensor.0);
            text.raw(",\"overlap\":\"").raw(cause.overlap.as_str()).raw("\"");
        }
        text.raw("}");
    }
}
