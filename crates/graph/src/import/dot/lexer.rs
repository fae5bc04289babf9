//! The words of the dot language.

use crate::import::input::Input;
use crate::import::limits::TEXT_BYTES_MAX;
use crate::import::{Format, ImportError, Place};

/// A word; the text of an id is [`Lexer::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A name without quotes, or a number.
    Plain,
    /// A name in quotes or between angle brackets: never a keyword.
    Quoted,
    /// `->`
    Arrow,
    /// `--`
    Line,
    /// One of `{ } [ ] ; , = : +`
    Sign(u8),
    /// The end of the file.
    End,
}

pub(super) struct Lexer<'i, 'w> {
    input: &'i mut Input<'w>,
    text: Vec<u8>,
    /// Where the last word begins.
    line: u64,
    column: u64,
}

impl<'i, 'w> Lexer<'i, 'w> {
    pub(super) const fn new(input: &'i mut Input<'w>) -> Self {
        Lexer { input, text: Vec::new(), line: 1, column: 0 }
    }

    /// The text of the last id.
    pub(super) fn text(&self) -> Result<&str, ImportError> {
        str::from_utf8(&self.text).map_err(|_| ImportError::NotUtf8 { place: self.place() })
    }

    /// Where the last word begins.
    pub(super) fn place(&self) -> Place {
        Place::new(self.input.cursor().file(), self.line, self.column)
    }

    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn syntax(&self, what: impl Into<String>) -> ImportError {
        ImportError::BadSyntax { place: self.place(), format: Format::Dot, what: what.into() }
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Result<Word, ImportError> {
        self.skip_blanks()?;
        let Some(byte) = self.input.next()? else {
            self.mark();
            return Ok(Word::End);
        };
        self.mark();
        match byte {
            b'{' | b'}' | b'[' | b']' | b';' | b',' | b'=' | b':' | b'+' => Ok(Word::Sign(byte)),
            b'"' => self.quoted().map(|()| Word::Quoted),
            b'<' => self.html().map(|()| Word::Quoted),
            b'-' => match self.input.peek()? {
                Some(b'>') => self.input.next().map(|_| Word::Arrow),
                Some(b'-') => self.input.next().map(|_| Word::Line),
                _ => self.plain(byte),
            },
            byte if is_plain(byte) => self.plain(byte),
            byte => Err(self.syntax(format!("unexpected {:?}", char::from(byte)))),
        }
    }

    fn mark(&mut self) {
        (self.line, self.column) = (self.input.cursor().line(), self.input.cursor().column());
    }

    fn push(&mut self, byte: u8) -> Result<(), ImportError> {
        if self.text.len() == TEXT_BYTES_MAX {
            return Err(ImportError::TextTooLong { place: self.place() });
        }
        self.text.push(byte);
        Ok(())
    }

    fn plain(&mut self, first: u8) -> Result<Word, ImportError> {
        self.text.clear();
        self.text.push(first);
        // A number may have signs and points, a name may not: their use decides.
        while let Some(byte) = self.input.peek()?.filter(|&byte| is_plain(byte)) {
            self.push(byte)?;
            self.input.next()?;
        }
        Ok(Word::Plain)
    }

    /// Up to the closing quote. Only `\"` and a `\` at the end of a line are escapes here; others belong to labels.
    fn quoted(&mut self) -> Result<(), ImportError> {
        self.text.clear();
        loop {
            match self.input.next()? {
                None => return Err(self.cut_off("a string has no closing quote")),
                Some(b'"') => return Ok(()),
                Some(b'\\') => match self.input.next()? {
                    None => return Err(self.cut_off("a string has no closing quote")),
                    Some(b'"') => self.push(b'"')?,
                    Some(b'\n') => {}
                    Some(byte) => {
                        self.push(b'\\')?;
                        self.push(byte)?;
                    }
                },
                Some(byte) => self.push(byte)?,
            }
        }
    }

    /// Up to the closing angle bracket; those inside come in pairs.
    fn html(&mut self) -> Result<(), ImportError> {
        self.text.clear();
        let mut depth = 1;
        loop {
            let Some(byte) = self.input.next()? else {
                return Err(self.cut_off("a string has no closing `>`"));
            };
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
            self.push(byte)?;
        }
    }

    /// Goes past white space and comments.
    fn skip_blanks(&mut self) -> Result<(), ImportError> {
        let mut is_new_line = self.input.cursor().column() == 0;
        loop {
            match self.input.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => {
                    self.input.next()?;
                    is_new_line |= byte == b'\n';
                }
                // A line of the C preprocessor.
                Some(b'#') if is_new_line => self.skip_line()?,
                Some(b'/') => {
                    self.input.next()?;
                    self.mark();
                    match self.input.next()? {
                        Some(b'/') => self.skip_line()?,
                        Some(b'*') => self.skip_comment()?,
                        _ => return Err(self.syntax("unexpected '/'")),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) -> Result<(), ImportError> {
        while self.input.next()?.is_some_and(|byte| byte != b'\n') {}
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), ImportError> {
        let mut before = 0;
        while let Some(byte) = self.input.next()? {
            if (before, byte) == (b'*', b'/') {
                return Ok(());
            }
            before = byte;
        }
        Err(self.cut_off("a comment has no `*/`"))
    }

    pub(super) fn cut_off(&self, what: &str) -> ImportError {
        ImportError::CutOff { place: self.place(), what: what.to_string() }
    }
}

/// Bytes of names and numbers without quotes.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | 0x80..)
}
