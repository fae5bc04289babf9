//! Rows that arise with the tasks and stand after them in the file. They wait packed, a quarter of the length of their
//! text: in memory while they are few, else in a spool.

use std::convert::Infallible;
use std::io::{self, ErrorKind, Read, Seek, Write};

use ringlane_task::TaskId;

use super::memo::{Around, Memo, bytes_of};
use super::{DepsEdge, DepsTensor, EdgeCause, EdgeSource, Hazard, Origin, Overlap, TensorIndex};
use crate::text::Text;

/// Bytes of packed rows that are kept in memory.
const KEPT_BYTES: usize = 256 * 1024;

/// A row with a packed form of fixed size, and a text.
pub(super) trait Packed: Sized {
    const BYTES: usize;
    /// Text that many rows have in common.
    type Common: Default;
    fn pack(&self, to: &mut Vec<u8>);
    /// `None` if the bytes are no row.
    fn unpack(from: &[u8]) -> Option<Self>;
    fn write(&self, common: &mut Self::Common, text: &mut Text);
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
        let mut rows_text = RowsText::<R>::default();
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
            rows_text.write(&piece, out)?;
        }
        rows_text.write(&kept, out)?;
        rows_text.text.give(out)
    }
}

/// Rows on their way to the file.
struct RowsText<R: Packed> {
    text: Text,
    common: R::Common,
    written: Written,
}

/// Whether a row has been written: the next one stands behind a comma.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Nothing,
    Rows,
}

impl<R: Packed> Default for RowsText<R> {
    fn default() -> Self {
        RowsText { text: Text::default(), common: R::Common::default(), written: Written::Nothing }
    }
}

impl<R: Packed> RowsText<R> {
    fn write(&mut self, packed: &[u8], out: &mut impl Write) -> io::Result<()> {
        for bytes in packed.chunks_exact(R::BYTES) {
            let row = R::unpack(bytes).ok_or(ErrorKind::InvalidData)?;
            if self.written == Written::Rows {
                self.text.raw(",\n");
            }
            row.write(&mut self.common, &mut self.text);
            self.text.spill(out)?;
            self.written = Written::Rows;
        }
        Ok(())
    }
}

/// The first `N` bytes, which are taken away.
fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*first)
}

impl Packed for DepsTensor {
    const BYTES: usize = 13;
    /// The text after the number, by size and origin.
    type Common = Memo<(u64, Origin), Box<[u8]>>;

    fn pack(&self, to: &mut Vec<u8>) {
        // Put together first: one copy of a length that is known.
        let mut packed = [0; Self::BYTES];
        packed[..8].copy_from_slice(&self.bytes.to_le_bytes());
        packed[8..12].copy_from_slice(&self.tensor.0.to_le_bytes());
        packed[12] = self.origin as u8;
        to.extend_from_slice(&packed);
    }

    fn unpack(mut from: &[u8]) -> Option<Self> {
        let bytes = u64::from_le_bytes(take(&mut from)?);
        let tensor = TensorIndex(u32::from_le_bytes(take(&mut from)?));
        Some(DepsTensor { tensor, bytes, origin: Origin::from_code(*from.first()?)? })
    }

    fn write(&self, common: &mut Self::Common, text: &mut Text) {
        let key = (self.bytes, self.origin);
        let make = || {
            let text = bytes_of(|text| {
                text.raw(",\"bytes\":").number(self.bytes).raw(",\"origin\":\"").raw(self.origin.as_str());
                text.raw("\"}");
            });
            Ok::<_, Infallible>((key, text))
        };
        let Ok(rest) = common.get(self.bytes << 1 | self.origin as u64, |known| *known == key, make);
        text.raw("{\"tensor\":").number(self.tensor.0).push_bytes(rest);
    }
}

/// Stands for the hazard of an edge that has none.
const NO_CAUSE: u8 = u8::MAX;

impl Packed for DepsEdge {
    const BYTES: usize = 27;
    /// The text around the tensor, by all that is not a task.
    type Common = Memo<EdgeForm, Around>;

    fn pack(&self, to: &mut Vec<u8>) {
        let (hazard, arg, tensor, overlap) = match &self.cause {
            Some(cause) => (cause.hazard as u8, cause.arg, cause.tensor.0, cause.overlap as u8),
            None => (NO_CAUSE, 0, 0, 0),
        };
        let mut packed = [0; Self::BYTES];
        packed[..8].copy_from_slice(&self.pred.0.to_le_bytes());
        packed[8..16].copy_from_slice(&self.succ.0.to_le_bytes());
        packed[16..20].copy_from_slice(&arg.to_le_bytes());
        packed[20..24].copy_from_slice(&tensor.to_le_bytes());
        packed[24..].copy_from_slice(&[self.source as u8, hazard, overlap]);
        to.extend_from_slice(&packed);
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

    fn write(&self, common: &mut Self::Common, text: &mut Text) {
        text.raw("{\"pred\":").number(self.pred.0).raw(",\"succ\":").number(self.succ.0);
        let Some(cause) = &self.cause else {
            text.raw(",\"source\":\"").raw(self.source.as_str()).raw("\"}");
            return;
        };
        let form = (self.source, cause.hazard, cause.overlap, cause.arg);
        let codes = (self.source as u64) << 4 | (cause.hazard as u64) << 2 | cause.overlap as u64;
        let make = || Ok::<_, Infallible>((form, around_tensor(form)));
        let Ok(around) = common.get(u64::from(cause.arg) << 6 | codes, |known| *known == form, make);
        text.push_bytes(&around.before).number(cause.tensor.0).push_bytes(&around.after);
    }
}

/// What many edges have in common.
type EdgeForm = (EdgeSource, Hazard, Overlap, u32);

fn around_tensor((source, hazard, overlap, arg): EdgeForm) -> Around {
    let before = bytes_of(|text| {
        text.raw(",\"source\":\"").raw(source.as_str()).raw("\",\"hazard\":\"").raw(hazard.as_str());
        text.raw("\",\"arg\":").number(arg).raw(",\"tensor\":");
    });
    let after = bytes_of(|text| {
        text.raw(",\"overlap\":\"").raw(overlap.as_str()).raw("\"}");
    });
    Around { before, after }
}
