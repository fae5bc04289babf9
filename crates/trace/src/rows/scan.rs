//! Walks JSON text that may be longer than memory: token by token, or one value at a time.
//!
//! ```text
//! file ──▶ buffer: │ done │ start ── ready ── end │ free │
//!                                └─ a whole value, if it fits (the buffer grows up to VALUE_BYTES_MAX)
//!                                └─ or skipped, without keeping it
//! ```
//!
//! A value is found by a walk that checks its grammar and keeps its own list of open brackets, so that no nesting can
//! overflow the stack. What a value means is for others to read, from its bytes.

use std::io::{self, Read};
use std::path::Path;

use serde::de::IgnoredAny;

use crate::error::TraceError;

/// Bytes read at once: they stay in a core's own cache until they are parsed.
pub(crate) const BUFFER_BYTES: usize = 256 * 1024;

/// The most bytes of one value that is read whole (a row, a field that is not an array of rows), and the most brackets open
/// at once. Costs as much memory when it is reached; a longer value is damage. A row of a thousand arguments has
/// some 150 KiB.
pub(crate) const VALUE_BYTES_MAX: usize = 64 * 1024 * 1024;

const _: () = assert!(BUFFER_BYTES <= VALUE_BYTES_MAX);

/// Why reading stops.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What was read is not what should be there.
    #[error("{0}")]
    Damaged(String),
    /// The file has a version that is not known.
    #[error("version {version}, known versions: {known}")]
    UnknownVersion { version: u64, known: &'static str },
}

impl ReadError {
    /// The same with the place where it was found.
    pub(crate) fn at_byte(self, byte: u64) -> Self {
        self.map(|what| format!("{what} (at byte {byte})"))
    }

    /// The same with other words for the damage.
    pub(crate) fn map(self, words: impl FnOnce(String) -> String) -> Self {
        match self {
            ReadError::Damaged(what) => ReadError::Damaged(words(what)),
            other => other,
        }
    }

    /// The same with the file in which it was found.
    pub(crate) fn of_file(self, path: &Path) -> TraceError {
        let path = path.to_path_buf();
        match self {
            ReadError::Io(source) => TraceError::CannotRead { path, source },
            ReadError::Damaged(what) => TraceError::Damaged { path, what },
            ReadError::UnknownVersion { version, known } => {
                TraceError::UnknownVersion { path, version, known }
            }
        }
    }
}

impl From<String> for ReadError {
    fn from(what: String) -> Self {
        ReadError::Damaged(what)
    }
}

impl From<&str> for ReadError {
    fn from(what: &str) -> Self {
        ReadError::Damaged(what.to_string())
    }
}

impl From<serde_json::Error> for ReadError {
    /// Lines and columns would be those of one value, not of the file: they are left out.
    fn from(error: serde_json::Error) -> Self {
        ReadError::Damaged(without_place(error.to_string()))
    }
}

/// The words of an error of `serde_json` without the line and column at their end.
pub(crate) fn without_place(mut what: String) -> String {
    let is_place = |place: &str| {
        let numbers = place.split_once(" column ");
        numbers
            .is_some_and(|(line, column)| [line, column].iter().all(|number| number.parse::<u64>().is_ok()))
    };
    if let Some((before, _)) = what.rsplit_once(" at line ").filter(|(_, place)| is_place(place)) {
        what.truncate(before.len());
    }
    what
}

/// JSON text and how far it has been read.
pub(crate) struct Scanner<'s> {
    source: Box<dyn Read + 's>,
    buffer: Vec<u8>,
    /// Bytes before it have been read.
    start: usize,
    /// Bytes from here on have not come from the source yet.
    end: usize,
    /// Where in the file the buffer begins.
    buffer_at: u64,
    value_bytes_max: usize,
}

/// What becomes of the bytes of a value that is walked over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bytes {
    Keep,
    Drop,
}

/// A walk over one value: how far beyond `start` it is.
struct Walk {
    at: usize,
    bytes: Bytes,
}

impl<'s> Scanner<'s> {
    pub(crate) fn new(source: impl Read + 's) -> Self {
        Self::with_sizes(source, BUFFER_BYTES, VALUE_BYTES_MAX)
    }

    /// The same with a buffer of another size and other values that are too long.
    pub(crate) fn with_sizes(source: impl Read + 's, buffer_bytes: usize, value_bytes_max: usize) -> Self {
        let (source, buffer) = (Box::new(source), vec![0; buffer_bytes]);
        Scanner { source, buffer, start: 0, end: 0, buffer_at: 0, value_bytes_max }
    }

    /// The offset of the next byte in the file.
    pub(crate) fn position(&self) -> u64 {
        self.buffer_at + self.start as u64
    }

    /// What is there of the rest, without reading on.
    #[inline]
    pub(crate) fn ready(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Goes past the first bytes of what is ready.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.end - self.start);
        self.start += bytes;
    }

    /// The next byte that is not white space; `None` at the end of the file.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            match self.ready().first().copied() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.start += 1,
                Some(byte) => return Ok(Some(byte)),
                None if self.read_on()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Goes past one of `wanted`, and returns it; the error for any other byte names `what` was expected.
    #[inline]
    pub(crate) fn take(&mut self, wanted: &[u8], what: &str) -> Result<u8, ReadError> {
        match self.peek()? {
            Some(byte) if wanted.contains(&byte) => {
                self.start += 1;
                Ok(byte)
            }
            Some(_) => Err(self.damaged(&format!("expected {what}"))),
            None => Err(self.damaged(&format!("the file ends before {what}"))),
        }
    }

    /// Goes past the name of a field and its colon.
    pub(crate) fn key(&mut self) -> Result<String, ReadError> {
        let at = self.position();
        let key =
            serde_json::from_slice(self.value()?).map_err(|error| ReadError::from(error).at_byte(at))?;
        self.take(b":", "`:`")?;
        Ok(key)
    }

    /// Goes past a value and returns its bytes, which the caller has to parse: where all of them are ready, only the end is
    /// searched for.
    pub(crate) fn value(&mut self) -> Result<&[u8], ReadError> {
        self.peek()?;
        let length = match bracketed(self.ready()) {
            Some(length) => length,
            None => self.walk(Bytes::Keep)?,
        };
        let start = self.start;
        self.start += length;
        Ok(&self.buffer[start..self.start])
    }

    /// Goes past a value of any length.
    pub(crate) fn skip(&mut self) -> Result<(), ReadError> {
        let length = self.walk(Bytes::Drop)?;
        self.start += length;
        Ok(())
    }

    /// Goes past white space, up to the end of the file.
    pub(crate) fn finish(&mut self) -> Result<(), ReadError> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.damaged("there is data after the end")),
        }
    }

    fn damaged(&self, what: &str) -> ReadError {
        ReadError::from(what).at_byte(self.position())
    }

    /// Reads more after what is ready; false at the end of the file.
    #[cold]
    fn read_on(&mut self) -> Result<bool, ReadError> {
        if self.end == self.buffer.len() {
            self.make_room()?;
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Moves what is ready to the front or, if it is there already, makes the buffer longer.
    fn make_room(&mut self) -> Result<(), ReadError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.buffer_at += self.start as u64;
            self.end -= self.start;
            self.start = 0;
            return Ok(());
        }
        let longer = self.buffer.len().saturating_mul(2).clamp(1, self.value_bytes_max);
        if longer <= self.buffer.len() {
            return Err(self.damaged(&format!("a value has more than {} bytes", self.value_bytes_max)));
        }
        self.buffer.resize(longer, 0);
        Ok(())
    }
}

/// How long the array or object at the start of a text is; `None` if it is neither or not all there. If this is no JSON, then
/// neither is what it finds.
fn bracketed(text: &[u8]) -> Option<usize> {
    let (mut at, mut open) = (0, 0usize);
    loop {
        match text.get(at)? {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.checked_sub(1)?,
            b'"' => at = string_end(text, at)?,
            _ => {}
        }
        at += 1;
        if open == 0 {
            return matches!(text[0], b'[' | b'{').then_some(at);
        }
    }
}

/// Where the string that begins here has its closing quote.
fn string_end(text: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The walk over one value.
impl Scanner<'_> {
    /// Finds the end of the value that begins here, and returns how far from `start` it is.
    fn walk(&mut self, bytes: Bytes) -> Result<usize, ReadError> {
        let walk = &mut Walk { at: 0, bytes };
        // What would close each of the brackets that are open.
        let mut open = Vec::new();
        loop {
            match self.token(walk)? {
                bracket @ (b'{' | b'[') => {
                    walk.at += 1;
                    let close = if bracket == b'{' { b'}' } else { b']' };
                    self.open(&mut open, close)?;
                    match self.token(walk)? {
                        next if next == close => {}
                        _ if close == b'}' => {
                            self.walk_key(walk)?;
                            continue;
                        }
                        _ => continue,
                    }
                }
                b'"' => self.walk_string(walk)?,
                _ => self.walk_word(walk)?,
            }
            // Past a value: it is the last of as many brackets as are closed now.
            loop {
                let Some(&close) = open.last() else { return Ok(walk.at) };
                match self.token(walk)? {
                    b',' => {
                        walk.at += 1;
                        if close == b'}' {
                            self.walk_key(walk)?;
                        }
                        break;
                    }
                    byte if byte == close => {
                        walk.at += 1;
                        open.pop();
                    }
                    _ => return Err(self.odd(walk, &format!("expected `,` or `{}`", char::from(close)))),
                }
            }
        }
    }

    fn open(&self, open: &mut Vec<u8>, close: u8) -> Result<(), ReadError> {
        if open.len() == self.value_bytes_max {
            return Err(self.damaged(&format!("more than {} brackets are open", self.value_bytes_max)));
        }
        open.push(close);
        Ok(())
    }

    fn odd(&self, walk: &Walk, what: &str) -> ReadError {
        ReadError::from(what).at_byte(self.position() + walk.at as u64)
    }

    /// The byte that the walk has come to; `None` at the end of the file.
    #[inline]
    fn peek_at(&mut self, walk: &mut Walk) -> Result<Option<u8>, ReadError> {
        loop {
            if let Some(&byte) = self.ready().get(walk.at) {
                return Ok(Some(byte));
            }
            if walk.bytes == Bytes::Drop {
                self.start += std::mem::take(&mut walk.at);
            }
            if !self.read_on()? {
                return Ok(None);
            }
        }
    }

    /// As `peek_at`, where the file must not end.
    #[inline]
    fn byte(&mut self, walk: &mut Walk) -> Result<u8, ReadError> {
        let byte = self.peek_at(walk)?;
        byte.ok_or_else(|| self.odd(walk, "the file ends within a value"))
    }

    /// The next byte that is not white space.
    #[inline]
    fn token(&mut self, walk: &mut Walk) -> Result<u8, ReadError> {
        loop {
            match self.byte(walk)? {
                b' ' | b'\n' | b'\r' | b'\t' => walk.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    fn walk_key(&mut self, walk: &mut Walk) -> Result<(), ReadError> {
        if self.token(walk)? != b'"' {
            return Err(self.odd(walk, "expected the name of a field"));
        }
        self.walk_string(walk)?;
        if self.token(walk)? != b':' {
            return Err(self.odd(walk, "expected `:`"));
        }
        walk.at += 1;
        Ok(())
    }

    fn walk_string(&mut self, walk: &mut Walk) -> Result<(), ReadError> {
        walk.at += 1;
        loop {
            // Most of a string is plain: it is passed at once, as far as it is there.
            let there = self.ready().get(walk.at..).unwrap_or_default();
            let plain = there.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ');
            walk.at += plain.unwrap_or(there.len());
            match self.byte(walk)? {
                b'"' => break,
                b'\\' => self.walk_escape(walk)?,
                0..0x20 => return Err(self.odd(walk, "a control character is in a string")),
                _ => {}
            }
        }
        walk.at += 1;
        Ok(())
    }

    /// From the backslash past the last byte of the escape.
    fn walk_escape(&mut self, walk: &mut Walk) -> Result<(), ReadError> {
        walk.at += 1;
        let digits = match self.byte(walk)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
            b'u' => 4,
            _ => return Err(self.odd(walk, "invalid escape")),
        };
        for _ in 0..digits {
            walk.at += 1;
            if !self.byte(walk)?.is_ascii_hexdigit() {
                return Err(self.odd(walk, "invalid escape"));
            }
        }
        walk.at += 1;
        Ok(())
    }

    /// A number, `true`, `false` or `null`; it is kept while its bytes are checked.
    fn walk_word(&mut self, walk: &mut Walk) -> Result<(), ReadError> {
        if walk.bytes == Bytes::Drop {
            self.start += std::mem::take(&mut walk.at);
        }
        let kept = &mut Walk { at: walk.at, bytes: Bytes::Keep };
        while let Some(byte) = self.peek_at(kept)? {
            if matches!(byte, b',' | b']' | b'}' | b':' | b'"' | b'[' | b'{' | b' ' | b'\n' | b'\r' | b'\t') {
                break;
            }
            kept.at += 1;
        }
        let word = &self.ready()[walk.at..kept.at];
        if serde_json::from_slice::<IgnoredAny>(word).is_err() {
            return Err(self.odd(walk, "expected a value"));
        }
        walk.at = kept.at;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
