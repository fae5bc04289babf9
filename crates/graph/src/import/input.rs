//! The bytes of an input, piece by piece: counted, checked to be UTF-8 where they are text, and given up on request.

use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::str;

use super::ImportError;
use super::limits::FILE_BYTES_MAX;
use super::place::Cursor;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Bytes of a character, of which all but one may be left from the last read.
const CHARACTER_BYTES: usize = 4;

/// What watches an import: it hears how many more bytes were read, and may end it.
pub type Watch<'w> = dyn FnMut(u64) -> ControlFlow<()> + 'w;

/// What an input consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// UTF-8, with or without a byte order mark.
    Text,
    /// Any bytes; it has no lines.
    Bytes,
}

/// A file that is being read.
pub(super) struct Input<'w> {
    from: Box<dyn Read + 'w>,
    watch: &'w mut Watch<'w>,
    cursor: Cursor,
    content: Content,
    buffer: Box<[u8]>,
    /// Bytes of the buffer that the parser has.
    at: usize,
    /// Bytes of the buffer that are read.
    end: usize,
    /// Bytes read into the buffer so far, all of them together.
    bytes: u64,
    /// The first bytes of a character whose others are not read yet; they are also at the end of the buffer.
    unfinished: usize,
    /// Why reading failed: a parser is given another error in its place.
    failure: Option<ImportError>,
}

impl<'w> Input<'w> {
    pub(super) fn new(file: &str, from: Box<dyn Read + 'w>, watch: &'w mut Watch<'w>) -> Self {
        Input {
            from,
            watch,
            cursor: Cursor::new(file),
            content: Content::Bytes,
            buffer: vec![0; BUFFER_BYTES + CHARACTER_BYTES].into_boxed_slice(),
            at: 0,
            end: 0,
            bytes: 0,
            unfinished: 0,
            failure: None,
        }
    }

    /// The first bytes, which stay unread.
    pub(super) fn start(&mut self) -> Result<&[u8], ImportError> {
        // A pipe may give few bytes at a time.
        while self.end < BUFFER_BYTES && self.append()? > 0 {}
        Ok(&self.buffer[..self.end])
    }

    /// Takes the rest as text: bytes that are not UTF-8 are an error from now on.
    pub(super) fn into_text(mut self) -> Result<Self, ImportError> {
        self.content = Content::Text;
        self.start()?;
        if self.buffer[..self.end].starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        self.check_text(self.at)?;
        Ok(self)
    }

    pub(super) const fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Why the last read failed.
    pub(super) fn take_failure(&mut self) -> Option<ImportError> {
        self.failure.take()
    }

    /// The next byte, which stays unread.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        if self.at == self.ready() {
            self.refill()?;
        }
        Ok(self.buffer[..self.ready()].get(self.at).copied())
    }

    /// The next byte.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<u8>, ImportError> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.at += 1;
            self.cursor.pass(byte);
        }
        Ok(byte)
    }

    /// Reads bytes without lines, as many as there are up to the length of `to`.
    pub(super) fn read_bytes(&mut self, to: &mut [u8]) -> Result<usize, ImportError> {
        if self.peek()?.is_none() {
            return Ok(0);
        }
        let ready = &self.buffer[self.at..self.end];
        let count = ready.len().min(to.len());
        to[..count].copy_from_slice(&ready[..count]);
        self.at += count;
        Ok(count)
    }

    /// Where the bytes end that may be given on: a character is given on whole.
    #[inline]
    const fn ready(&self) -> usize {
        self.end - self.unfinished
    }

    #[cold]
    fn refill(&mut self) -> Result<(), ImportError> {
        let rest = self.ready();
        self.buffer.copy_within(rest..self.end, 0);
        (self.at, self.end) = (0, self.unfinished);
        loop {
            let read = self.append()?;
            if self.content == Content::Text {
                self.unfinished = 0;
                self.check_text(0)?;
            }
            if read == 0 && self.unfinished > 0 {
                return Err(ImportError::NotUtf8 { place: self.cursor.place() });
            }
            if read == 0 || self.ready() > 0 {
                return Ok(());
            }
        }
    }

    /// Reads more bytes behind those that are in the buffer.
    fn append(&mut self) -> Result<usize, ImportError> {
        let read = loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let read = read.map_err(|source| ImportError::UnreadableInput {
            path: PathBuf::from(self.cursor.file()),
            source,
        })?;
        self.end += read;
        self.bytes += read as u64;
        if self.bytes > FILE_BYTES_MAX {
            return Err(ImportError::InputTooLarge { file: self.cursor.file().to_string() });
        }
        match (self.watch)(read as u64) {
            ControlFlow::Continue(()) => Ok(read),
            ControlFlow::Break(()) => {
                Err(ImportError::ImportInterrupted { file: self.cursor.file().to_string() })
            }
        }
    }

    /// Checks that the bytes in the buffer are text, but for a character that is not whole at their end.
    fn check_text(&mut self, from: usize) -> Result<(), ImportError> {
        let Err(error) = str::from_utf8(&self.buffer[from..self.end]) else { return Ok(()) };
        let valid = from + error.valid_up_to();
        if error.error_len().is_none() {
            self.unfinished = self.end - valid;
            return Ok(());
        }
        // The place of the bytes, not of what the parser has come to.
        for &byte in &self.buffer[self.at..valid] {
            self.cursor.pass(byte);
        }
        let mut place = self.cursor.place();
        place.column += 1;
        Err(ImportError::NotUtf8 { place })
    }
}

/// For parsers that read by themselves. They take one byte at a time.
impl Read for Input<'_> {
    #[inline]
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(to) = to.first_mut() else { return Ok(0) };
        match self.next() {
            Ok(Some(byte)) => {
                *to = byte;
                Ok(1)
            }
            Ok(None) => Ok(0),
            Err(error) => Err(self.fail(error)),
        }
    }
}

impl Input<'_> {
    /// Keeps an error for the caller of a parser, and gives the parser one in its place.
    pub(super) fn fail(&mut self, error: ImportError) -> io::Error {
        self.failure = Some(error);
        io::Error::other("see the failure of the input")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Explain;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let count = 1.min(to.len());
            self.0.read(&mut to[..count])
        }
    }

    fn text_of(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut watch = |_| ControlFlow::Continue(());
        let input = Input::new("a", Box::new(Slow(bytes)), &mut watch);
        let all = input.into_text().and_then(|mut input| {
            let mut all = Vec::new();
            while let Some(byte) = input.next()? {
                all.push(byte);
            }
            Ok(all)
        });
        all.map_err(|error| format!("{} {}", error.name(), error.detail()))
    }

    #[test]
    fn text_is_given_on_and_other_bytes_are_named_by_line_and_column() {
        assert_eq!(text_of("\u{feff}größe\n".as_bytes()).unwrap(), "größe\n".as_bytes());
        assert_eq!(text_of(b"ab\nc\xffd").unwrap_err(), "NotUtf8 a:2:2: bytes that are not UTF-8");
        assert!(text_of(b"ab\nc\xc3").unwrap_err().starts_with("NotUtf8 a:"));
        let long = "ö".repeat(BUFFER_BYTES) + "x";
        assert_eq!(text_of(long.as_bytes()).unwrap(), long.as_bytes());
        let mut bad = long.into_bytes();
        bad.extend(b"\n\xff");
        assert_eq!(text_of(&bad).unwrap_err(), "NotUtf8 a:2:1: bytes that are not UTF-8");
    }

    #[test]
    fn the_watch_hears_of_every_byte_and_may_end_it() {
        let mut heard = 0;
        let mut watch = |bytes| {
            heard += bytes;
            if heard < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let mut input = Input::new("a", Box::new(Slow(b"0123456789")), &mut watch);
        assert_eq!(input.start().unwrap_err().name(), "ImportInterrupted");
        drop(input);
        assert_eq!(heard, 5);
    }
}
