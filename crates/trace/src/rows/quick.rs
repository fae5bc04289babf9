//! Reads rows as our own writers write them, at a few bytes a nanosecond.
//!
//! A row is read quickly only if its text is just what is expected: no white space, fields in the writer's order, strings
//! without escapes. Whatever differs is `None`, which says nothing about the row: it is then read by `serde`,
//! which knows all of JSON and says what is wrong.

/// The rest of a text.
#[derive(Clone, Copy)]
pub(crate) struct Quick<'t> {
    rest: &'t [u8],
}

/// Eight times the digit `0`.
const ZEROS: u64 = 0x3030_3030_3030_3030;
/// The highest bit of eight bytes.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
/// More digits than these may be too large a number.
const DIGITS_MAX: u32 = 19;

impl<'t> Quick<'t> {
    pub(crate) const fn new(text: &'t [u8]) -> Self {
        Quick { rest: text }
    }

    /// Bytes that have not been read.
    pub(crate) const fn left(&self) -> usize {
        self.rest.len()
    }

    /// The next byte.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Exactly this.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text.as_bytes())?;
        Some(())
    }

    /// The byte, if it comes next.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> Option<()> {
        let (&first, rest) = self.rest.split_first()?;
        if first != byte {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    /// A number, a name or `null`, of a column that is not known.
    pub(crate) fn plain_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'n' => self.text("null"),
            _ => self.number().map(drop),
        }
    }

    /// A whole number that is not negative. The caller's next step checks that it ends here, and not with a fraction.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let leading_zero = self.peek() == Some(b'0');
        let (mut value, mut digits) = (0, 0);
        loop {
            let (piece, count) = leading_digits(self.rest);
            digits += count;
            if digits > DIGITS_MAX {
                return None;
            }
            value = value * POWERS[count as usize] + piece;
            self.rest = &self.rest[count as usize..];
            if count < 8 {
                break;
            }
        }
        (digits == 1 || (digits > 1 && !leading_zero)).then_some(value)
    }

    /// A number that fits.
    #[inline]
    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// `true` or `false`.
    #[inline]
    pub(crate) fn truth(&mut self) -> Option<bool> {
        match self.peek()? {
            b't' => self.text("true").map(|()| true),
            _ => self.text("false").map(|()| false),
        }
    }

    /// A string without escapes, quotes included.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let end = self.rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
        let (string, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.take(b'"')?;
        std::str::from_utf8(string).ok()
    }

    /// What comes before the next comma, without quotes.
    #[inline]
    pub(crate) fn until_comma(&mut self) -> Option<&'t str> {
        let end = self.rest.iter().position(|&byte| byte == b',')?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        std::str::from_utf8(text).ok().filter(|text| !text.contains('"'))
    }

    /// Values with commas between them, in brackets.
    #[inline]
    pub(crate) fn list(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            each(self)?;
            match self.take(b',') {
                Some(()) => {}
                None => return self.take(b']'),
            }
        }
    }
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The number that the first digits make, and how many they are: at most eight.
#[inline]
fn leading_digits(text: &[u8]) -> (u64, u32) {
    let eight = text.first_chunk::<8>().copied().unwrap_or_else(|| {
        let mut padded = [0; 8];
        padded[..text.len()].copy_from_slice(text);
        padded
    });
    let values = u64::from_le_bytes(eight) ^ ZEROS;
    // A byte has its highest bit set if it is more than nine: nine and 0x76 are less than 0x80.
    let others = ((values & !HIGH_BITS).wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS;
    let count = others.trailing_zeros() / 8;
    if count == 0 {
        return (0, 0);
    }
    // The digits move to the end, with zeros before them. Then neighbours are combined: pairs, fours, all.
    let values = values << (64 - 8 * count);
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    (all, count)
}

#[cfg(test)]
pub(crate) mod check;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_what_the_standard_library_says_or_left_to_others(
            value in prop_oneof![any::<u64>(), 0..1000u64, Just(u64::MAX), (0..20u32).prop_map(|power| 10u64.saturating_pow(power))],
            after in "[,\\]}]?[0-9:/ ]{0,3}",
        ) {
            let text = format!("{value}|{after}");
            let mut quick = Quick::new(text.as_bytes());
            match quick.number() {
                Some(number) => {
                    prop_assert_eq!(number, value);
                    prop_assert_eq!(quick.left(), after.len() + 1);
                }
                None => prop_assert!(value.ilog10() >= DIGITS_MAX, "{} is not read", value),
            }
        }

        #[test]
        fn digits_of_any_text_are_those_before_the_first_other_byte(text in prop::collection::vec(prop_oneof![any::<u8>(), b'/'..=b':'], 0..12)) {
            let count = text.iter().take(8).take_while(|byte| byte.is_ascii_digit()).count();
            let value = text[..count].iter().fold(0, |value, byte| value * 10 + u64::from(byte - b'0'));
            prop_assert_eq!(leading_digits(&text), (value, count as u32));
        }
    }

    #[test]
    fn what_is_no_plain_number_is_left_to_others() {
        for text in ["", "-1", "01", "00", "x", "99999999999999999999", "18446744073709551616", ".5", "\"1\""]
        {
            assert_eq!(Quick::new(text.as_bytes()).number(), None, "{text}");
        }
        // The rest does not fit what comes after a number.
        let mut fraction = Quick::new(b"1.5,");
        assert_eq!((fraction.number(), fraction.take(b',')), (Some(1), None));
    }

    #[test]
    fn strings_with_escapes_or_odd_bytes_are_left_to_others() {
        assert_eq!(Quick::new("\"aé[\"".as_bytes()).string(), Some("aé["));
        for text in [&b"\"a\\n\""[..], b"\"a\n\"", b"\"a", b"\"\xff\"", b"a", b""] {
            assert_eq!(Quick::new(text).string(), None, "{text:?}");
        }
    }
}
