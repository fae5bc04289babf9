//! Reading and writing the parts of a frame one after the other, each to a multiple of eight bytes.
//!
//! A reader never goes beyond its slice and allocates nothing; what fills up a part must be zero, so that one frame has
//! one encoding.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::error::FrameError;

/// The rest of a frame that is still to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'f> {
    rest: &'f [u8],
}

impl<'f> Reader<'f> {
    pub fn new(bytes: &'f [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// A fixed part; its size is a multiple of eight.
    pub fn fixed<T: FromBytes + KnownLayout + Immutable>(
        &mut self,
        field: &'static str,
    ) -> Result<T, FrameError> {
        const { assert!(size_of::<T>().is_multiple_of(8)) };
        let bytes = self.take(field, size_of::<T>() as u64)?;
        T::read_from_bytes(bytes).map_err(|_| FrameError::FrameTruncated {
            field,
            need_bytes: size_of::<T>() as u64,
            have_bytes: 0,
        })
    }

    /// This many bytes, and the zeros after them.
    pub fn padded(&mut self, field: &'static str, bytes: u64) -> Result<&'f [u8], FrameError> {
        let part = self.take(field, bytes)?;
        let filling = self.take(field, bytes.next_multiple_of(8) - bytes)?;
        match filling.iter().find(|&&byte| byte != 0) {
            Some(&byte) => Err(FrameError::corrupt("filling", byte)),
            None => Ok(part),
        }
    }

    /// Text of a length that was checked against its limit.
    pub fn text(&mut self, field: &'static str, bytes: u32, most: usize) -> Result<&'f str, FrameError> {
        if bytes as usize > most {
            return Err(FrameError::corrupt(field, bytes));
        }
        let part = self.padded(field, bytes.into())?;
        str::from_utf8(part).map_err(|error| FrameError::corrupt(field, error.valid_up_to() as u64))
    }

    /// The end of the frame.
    pub fn end(self) -> Result<(), FrameError> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(FrameError::corrupt("bytes after the end", more as u64)),
        }
    }

    fn take(&mut self, field: &'static str, bytes: u64) -> Result<&'f [u8], FrameError> {
        let have_bytes = self.rest.len() as u64;
        let cut = FrameError::FrameTruncated { field, need_bytes: bytes, have_bytes };
        let count = usize::try_from(bytes).map_err(|_| cut.clone())?;
        let (part, rest) = self.rest.split_at_checked(count).ok_or(cut)?;
        self.rest = rest;
        Ok(part)
    }
}

/// The end of a frame that is being written.
#[derive(Debug)]
pub(super) struct Writer<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Writer<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Writer { out }
    }

    pub fn fixed<T: IntoBytes + Immutable>(&mut self, part: &T) {
        const { assert!(size_of::<T>().is_multiple_of(8)) };
        self.out.extend_from_slice(part.as_bytes());
    }

    pub fn padded(&mut self, part: &[u8]) {
        self.out.extend_from_slice(part);
        let filled = self.out.len() + (part.len().next_multiple_of(8) - part.len());
        self.out.resize(filled, 0);
    }
}

/// A text's length for the wire, after it was cut at a character to fit.
pub(super) fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
