//! Text of the artifacts, made without `serde` and without a new allocation for each row: rows are many.

use std::io::{self, Write};

/// Length at which a buffer of rows is given on.
const FULL_BYTES: usize = 60 * 1024;

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
    pub(crate) fn number(&mut self, value: impl itoa::Integer) -> &mut Self {
        self.raw(itoa::Buffer::new().format(value))
    }

    /// Numbers with commas between them, in brackets.
    pub(crate) fn numbers(&mut self, values: impl IntoIterator<Item = u64>) -> &mut Self {
        self.list(values, |text, value| {
            text.number(value);
        })
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

    /// The number, or `null`.
    pub(crate) fn number_or_null(&mut self, value: Option<impl itoa::Integer>) -> &mut Self {
        match value {
            Some(value) => self.number(value),
            None => self.raw("null"),
        }
    }

    pub(crate) const fn truth(value: bool) -> &'static str {
        if value { "true" } else { "false" }
    }

    /// A JSON string, quotes included. Runs of ordinary bytes are copied at once.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.0.push(b'"');
        let bytes = text.as_bytes();
        let mut copied = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if byte >= b' ' && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.0.extend_from_slice(&bytes[copied..at]);
            self.escape(byte);
            copied = at + 1;
        }
        self.0.extend_from_slice(&bytes[copied..]);
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
