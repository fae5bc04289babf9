//! Big tables as columns: numbers ──▶ differences ──▶ variable-length bytes ──▶ gzip ──▶ base64.
//!
//! A page of 10^6 blocks is read by a browser as it is opened, so its size decides when something is seen. Columns of
//! small differences take about one byte a row; the browser has gzip built in (`DecompressionStream`), from `file://` too.
//! `assets/columns.js` is the reader.

use std::borrow::Cow;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use ringlane_trace::rows::Numbers;
use serde::Serialize;

use super::limits::EXACT_MAX;

/// How the numbers of a column are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coding {
    /// As they are; none is negative.
    Plain,
    /// With a sign.
    Signed,
    /// As differences to the one before.
    Delta,
    /// With a sign, or not known.
    Maybe,
}

/// A column, encoded.
#[derive(Clone, Debug)]
pub struct Column {
    /// What the page finds it by: `blocks.start`.
    pub name: Cow<'static, str>,
    /// How many numbers.
    pub rows: usize,
    /// How they are encoded.
    pub coding: Coding,
    is_zero: bool,
    gzip: Vec<u8>,
}

/// Takes numbers one by one, and never holds more of them than their bytes.
pub struct ColumnWriter {
    name: Cow<'static, str>,
    coding: Coding,
    rows: usize,
    is_zero: bool,
    before: i64,
    gzip: GzEncoder<Vec<u8>>,
    pending: Vec<u8>,
}

/// Bytes that are handed to the compressor at once.
const PIECE_BYTES: usize = 1 << 15;

impl ColumnWriter {
    /// An empty column.
    pub fn new(name: impl Into<Cow<'static, str>>, coding: Coding) -> Self {
        let gzip = GzEncoder::new(Vec::new(), Compression::new(6));
        let name = name.into();
        ColumnWriter {
            name,
            coding,
            rows: 0,
            is_zero: true,
            before: 0,
            gzip,
            pending: Vec::with_capacity(PIECE_BYTES + 10),
        }
    }

    /// Adds a number.
    pub fn push(&mut self, value: i64) {
        self.is_zero &= value == 0;
        let bits = match self.coding {
            Coding::Plain => value.max(0) as u64,
            Coding::Signed => zigzag(value),
            Coding::Delta => zigzag(value.wrapping_sub(std::mem::replace(&mut self.before, value))),
            Coding::Maybe => zigzag(value).saturating_add(1),
        };
        self.bits(bits);
    }

    /// Adds a number that may not be known; only a column of [`Coding::Maybe`] can distinguish that from 0.
    pub fn push_maybe(&mut self, value: Option<i64>) {
        match (value, self.coding) {
            (None, Coding::Maybe) => {
                self.is_zero = false;
                self.bits(0);
            }
            (value, _) => self.push(value.unwrap_or(0)),
        }
    }

    fn bits(&mut self, mut bits: u64) {
        self.rows += 1;
        while bits >= 0x80 {
            self.pending.push(bits as u8 | 0x80);
            bits >>= 7;
        }
        self.pending.push(bits as u8);
        if self.pending.len() >= PIECE_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.gzip.write_all(&self.pending).expect("memory takes all bytes");
        self.pending.clear();
    }

    /// The column.
    pub fn finish(mut self) -> Column {
        self.flush();
        let gzip = self.gzip.finish().expect("memory takes all bytes");
        Column { name: self.name, rows: self.rows, coding: self.coding, is_zero: self.is_zero, gzip }
    }
}

impl Column {
    /// A column of these numbers.
    pub fn of(
        name: impl Into<Cow<'static, str>>,
        coding: Coding,
        values: impl IntoIterator<Item = i64>,
    ) -> Self {
        let mut writer = ColumnWriter::new(name, coding);
        values.into_iter().for_each(|value| writer.push(value));
        writer.finish()
    }

    /// The columns that rows declare, those of them that `wanted` names. They hold 0 where there is no row.
    pub fn of_rows<'r, R: Numbers + 'r>(
        table: &str,
        coding: Coding,
        rows: impl Iterator<Item = Option<&'r R>> + Clone,
        wanted: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let number = |row: Option<&R>, at| row.and_then(|row| row.number(at)).unwrap_or(0);
        let column = |(at, name): (usize, &&str)| {
            let values = rows.clone().map(move |row| number(row, at).min(EXACT_MAX) as i64);
            Column::of(format!("{table}.{name}"), coding, values)
        };
        R::NAMES.iter().enumerate().filter(|(_, name)| wanted(name)).map(column).collect()
    }

    /// Whether all of its numbers are 0.
    pub fn is_zero(&self) -> bool {
        self.is_zero
    }

    /// Writes its bytes as text that is safe anywhere in a page.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        base64(&self.gzip, out)
    }
}

/// Small numbers of either sign to small numbers without.
const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
    for piece in bytes.chunks(3 << 12) {
        let mut text = Vec::with_capacity(4 << 12);
        for three in piece.chunks(3) {
            let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            let letter = |at: u32| ALPHABET[(bits >> (18 - 6 * at) & 63) as usize];
            text.extend([letter(0), letter(1), letter(2), letter(3)]);
            let padding = 3 - three.len();
            let len = text.len();
            text[len - padding..].fill(b'=');
        }
        out.write_all(&text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn bytes_of(column: &Column) -> Vec<u8> {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&column.gzip[..]).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn differences_take_one_byte_where_they_are_small() {
        let column = Column::of("a", Coding::Delta, [1_000_000, 1_000_003, 1_000_001]);
        assert_eq!(bytes_of(&column), [0x80, 0x89, 0x7a, 6, 3]);
        assert_eq!(column.rows, 3);
    }

    #[test]
    fn an_unknown_number_is_not_a_zero() {
        let mut column = ColumnWriter::new("a", Coding::Maybe);
        [Some(0), None, Some(-1)].into_iter().for_each(|value| column.push_maybe(value));
        assert_eq!(bytes_of(&column.finish()), [1, 0, 2]);
    }

    #[test]
    fn the_ends_of_the_range_are_encoded() {
        let column = Column::of("a", Coding::Signed, [i64::MIN, i64::MAX]);
        assert_eq!(bytes_of(&column).len(), 20);
    }

    #[test]
    fn base64_is_padded_as_everyone_expects() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            let mut out = Vec::new();
            base64(bytes.as_bytes(), &mut out).unwrap();
            assert_eq!(out, text.as_bytes());
        }
    }
}
