//! What JSON may not be: nested too deeply, or with values that are too long. It is checked while the bytes pass, so that it
//! also holds for what is skipped.

use std::io::{self, Read};

use crate::import::ImportError;
use crate::import::input::Input;
use crate::import::limits::{DEPTH_MAX, TEXT_BYTES_MAX};

pub(super) struct Guard<'i, 'w> {
    input: &'i mut Input<'w>,
    depth: usize,
    /// Bytes of the string or number that is being read.
    length: usize,
    within: Within,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Value,
    String,
    Escape,
}

impl<'i, 'w> Guard<'i, 'w> {
    pub(super) const fn new(input: &'i mut Input<'w>) -> Self {
        Guard { input, depth: 0, length: 0, within: Within::Value }
    }

    #[inline]
    fn pass(&mut self, byte: u8) -> Result<(), ImportError> {
        self.length += 1;
        match (self.within, byte) {
            (Within::Value, b'"') => (self.within, self.length) = (Within::String, 0),
            (Within::Value, b'[' | b'{') => {
                (self.depth, self.length) = (self.depth + 1, 0);
                if self.depth > DEPTH_MAX {
                    return Err(ImportError::TooDeep { place: self.input.cursor().place() });
                }
            }
            (Within::Value, b']' | b'}') => (self.depth, self.length) = (self.depth.saturating_sub(1), 0),
            (Within::Value, b',' | b':' | b' ' | b'\n' | b'\r' | b'\t') => self.length = 0,
            (Within::String, b'"') => self.within = Within::Value,
            (Within::String, b'\\') => self.within = Within::Escape,
            (Within::Escape, _) => self.within = Within::String,
            (Within::Value | Within::String, _) => {}
        }
        if self.length > TEXT_BYTES_MAX {
            return Err(ImportError::TextTooLong { place: self.input.cursor().place() });
        }
        Ok(())
    }
}

impl Read for Guard<'_, '_> {
    #[inline]
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(to)?;
        if read > 0 {
            self.pass(to[0]).map_err(|error| self.input.fail(error))?;
        }
        Ok(read)
    }
}
