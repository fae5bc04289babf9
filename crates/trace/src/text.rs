//! Text of the artifacts, made without `serde` and without a new allocation for each row: rows are many.

use std::io::{self, Write};

/// Length at which a buffer of rows is given on: as much as [`crate::ArtifactFile`] gives to the system without a copy.
const FULL_BYTES: usize = 64 * 1024;

/// One more than the largest number of eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;
/// Eight times the digit `0`.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Text that grows until it is given on; the memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Text(Vec<u8>);

impl Text {
    #[inline]
    pub(crate) fn raw(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    #[inline]
    pub(crate) fn number(&mut self, value: impl Number) -> &mut Self {
        if value.is_negative() {
            self.raw("-");
        }
        match value.size() {
            // Many are: places, lanes, offsets of whole tensors.
            digit @ 0..10 => self.0.push(b'0' + digit as u8),
            size => self.digits(size),
        }
        self
    }

    fn digits(&mut self, size: u64) {
        if size < EIGHT_DIGITS {
            return self.first_digits(size as u32);
        }
        let (before, last) = (size / EIGHT_DIGITS, (size % EIGHT_DIGITS) as u32);
        match before {
            0..10 => self.0.push(b'0' + before as u8),
            // Tasks of the second ring and those after it have ten digits.
            10..100 => self.0.extend_from_slice(&[b'0' + (before / 10) as u8, b'0' + (before % 10) as u8]),
            100..EIGHT_DIGITS => self.first_digits(before as u32),
            _ => {
                self.first_digits((before / EIGHT_DIGITS) as u32);
                self.eight_digits((before % EIGHT_DIGITS) as u32);
            }
        }
        self.eight_digits(last);
    }

    /// A number of at most eight digits. Eight bytes are copied, whose length is known, and those that are too many are
    /// taken back.
    #[inline]
    fn first_digits(&mut self, value: u32) {
        let digits = eight_digits(value);
        // The last digit stays, also of 0.
        let leading = (digits | 1 << 56).trailing_zeros() / 8;
        let end = self.0.len() + 8 - leading as usize;
        self.0.extend_from_slice(&((digits | ZEROS) >> (8 * leading)).to_le_bytes());
        self.0.truncate(end);
    }

    /// All eight digits, leading zeros included.
    #[inline]
    fn eight_digits(&mut self, value: u32) {
        self.0.extend_from_slice(&(eight_digits(value) | ZEROS).to_le_bytes());
    }

    /// Values with commas between them, in brackets.
    pub(crate) fn list<T>(
        &mut self,
        values: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.raw("[");
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            each(self, value);
        }
        self.raw("]")
    }

    /// A JSON string, quotes included. All bytes of a piece are checked together; most strings need no escapes.
    #[inline]
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        let bytes = text.as_bytes();
        let is_plain = |plain: bool, &byte: &u8| plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\');
        if !bytes.iter().fold(true, is_plain) {
            return self.escaped(bytes);
        }
        self.0.reserve(bytes.len() + 2);
        self.0.push(b'"');
        self.0.extend_from_slice(bytes);
        self.0.push(b'"');
        self
    }

    #[cold]
    fn escaped(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.push(b'"');
        for &byte in bytes {
            match byte {
                b'"' | b'\\' | 0..b' ' => self.escape(byte),
                _ => self.0.push(byte),
            }
        }
        self.0.push(b'"');
        self
    }

    fn escape(&mut self, byte: u8) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        match byte {
            b'"' | b'\\' => self.0.extend_from_slice(&[b'\\', byte]),
            b'\n' => self.0.extend_from_slice(b"\\n"),
            b'\r' => self.0.extend_from_slice(b"\\r"),
            b'\t' => self.0.extend_from_slice(b"\\t"),
            _ => {
                let [high, low] = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                self.0.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        }
    }

    /// A field of a CSV row, in quotes if it needs them.
    pub(crate) fn csv_field(&mut self, text: &str) -> &mut Self {
        if !text.contains([',', '"', '\n', '\r']) {
            return self.raw(text);
        }
        self.raw("\"").raw(&text.replace('"', "\"\"")).raw("\"")
    }

    #[cfg(test)]
    pub(crate) const fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Gives the text on if there is much of it.
    #[inline]
    pub(crate) fn spill(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.0.len() < FULL_BYTES { Ok(()) } else { self.give(out) }
    }

    /// Gives all of the text on.
    pub(crate) fn give(&mut self, out: &mut impl Write) -> io::Result<()> {
        let given = out.write_all(&self.0);
        self.0.clear();
        given
    }
}

/// The digits of a number below [`EIGHT_DIGITS`], one in each byte, the first in the lowest: halves of four digits, then
/// of two, then of one, all halves at once.
#[inline]
const fn eight_digits(value: u32) -> u64 {
    let fours = (value / 10_000) as u64 | (((value % 10_000) as u64) << 32);
    // n / 100 for n below 10,000, and n / 10 for n below 100, without a division.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - 10 * tens) << 8)
}

/// A whole number.
pub(crate) trait Number: Copy {
    fn is_negative(self) -> bool;
    /// Without its sign.
    fn size(self) -> u64;
}

macro_rules! numbers {
    ($($unsigned:ty)*; $($signed:ty)*) => {
        $(impl Number for $unsigned {
            #[inline]
            fn is_negative(self) -> bool {
                false
            }

            #[inline]
            fn size(self) -> u64 {
                self as u64
            }
        })*
        $(impl Number for $signed {
            #[inline]
            fn is_negative(self) -> bool {
                self < 0
            }

            #[inline]
            fn size(self) -> u64 {
                self.unsigned_abs() as u64
            }
        })*
    };
}
numbers!(u8 u16 u32 u64 usize; i8 i16 i32 i64);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_around_every_power_of_ten_are_written_in_full() {
        let json = |number: &dyn Fn(&mut Text)| {
            let mut text = Text::default();
            number(&mut text);
            String::from_utf8(text.bytes().to_vec()).unwrap()
        };
        for power in 0..20 {
            let value = 10u64.pow(power);
            for value in [value - 1, value, value + 1, value.saturating_mul(9), value.saturating_mul(7) / 3] {
                assert_eq!(
                    json(&|text| {
                        text.number(value);
                    }),
                    value.to_string()
                );
            }
        }
        for value in [i64::MIN, -1, 0, i64::MAX] {
            assert_eq!(
                json(&|text| {
                    text.number(value);
                }),
                value.to_string()
            );
        }
        assert_eq!(
            json(&|text| {
                text.number(u64::MAX).raw(" ").number(-128i8);
            }),
            "18446744073709551615 -128"
        );
    }

    #[test]
    fn every_group_of_eight_digits_is_taken_apart_right() {
        // Each half of four digits on its own: they do not touch each other.
        for four in 0..10_000 {
            for value in [four, four * 10_000, four * 10_001] {
                let digits = (eight_digits(value) | ZEROS).to_le_bytes();
                assert_eq!(std::str::from_utf8(&digits).unwrap(), format!("{value:08}"));
            }
        }
    }

    proptest! {
        #[test]
        fn every_string_is_read_back_from_its_json(text in any::<String>(), odd in "[\"\\\\\u{0}-\u{1f}\u{2028}<>a]*") {
            for text in [text, odd] {
                let mut json = Text::default();
                json.string(&text);
                prop_assert_eq!(serde_json::from_slice::<String>(json.bytes()).unwrap(), text);
            }
        }
    }

    #[test]
    fn names_that_would_break_out_of_their_place_stay_in_it() {
        let json = |text: &str| String::from_utf8(Text::default().string(text).bytes().to_vec()).unwrap();
        assert_eq!(json("\"><script>"), r#""\"><script>""#);
        assert_eq!(json("a,b\nc\u{1}\\"), r#""a,b\nc\u0001\\""#);
        let csv = |text: &str| String::from_utf8(Text::default().csv_field(text).bytes().to_vec()).unwrap();
        assert_eq!(csv("a,b\nc"), "\"a,b\nc\"");
        assert_eq!(csv("say \"so\""), "\"say \"\"so\"\"\"");
        assert_eq!(csv("cycles"), "cycles");
    }
}
