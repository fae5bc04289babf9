//! The path in a configuration: a fixed number of bytes, so that the whole stays plain data.

use core::fmt;

#[cfg(feature = "wire")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::ConfigError;
use crate::limits::OUTPUT_PREFIX_BYTES;

/// NUL-terminated UTF-8; all bytes after the NUL are zero. All zero means that there is no prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "wire", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[repr(transparent)]
pub struct OutputPrefix([u8; OUTPUT_PREFIX_BYTES]);

impl OutputPrefix {
    pub(super) const EMPTY: OutputPrefix = OutputPrefix([0; OUTPUT_PREFIX_BYTES]);

    pub(super) fn new(path: &str) -> Result<Self, ConfigError> {
        if let Some(at) = path.bytes().position(|b| b == 0) {
            return Err(ConfigError::OutputPrefixHasNul { at });
        }
        if path.len() >= OUTPUT_PREFIX_BYTES {
            return Err(ConfigError::OutputPrefixTooLong { bytes: path.len() });
        }
        let mut prefix = OutputPrefix::EMPTY;
        prefix.0[..path.len()].copy_from_slice(path.as_bytes());
        Ok(prefix)
    }

    pub(super) fn get(&self) -> Result<Option<&str>, ConfigError> {
        let end = self.0.iter().position(|&b| b == 0).ok_or(ConfigError::OutputPrefixNotTerminated)?;
        if self.0[end..].iter().any(|&b| b != 0) {
            return Err(ConfigError::OutputPrefixHasNul { at: end });
        }
        let path = core::str::from_utf8(&self.0[..end])
            .map_err(|error| ConfigError::OutputPrefixNotUtf8 { at: error.valid_up_to() })?;
        Ok(Some(path).filter(|path| !path.is_empty()))
    }
}

impl fmt::Debug for OutputPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Ok(path) => path.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn the_longest_path_leaves_room_for_its_nul_and_one_more_byte_is_refused() {
        let longest = "p".repeat(OUTPUT_PREFIX_BYTES - 1);
        assert_eq!(OutputPrefix::new(&longest).unwrap().get(), Ok(Some(longest.as_str())));
        let bytes = OUTPUT_PREFIX_BYTES;
        assert_eq!(
            OutputPrefix::new(&"p".repeat(bytes)),
            Err(ConfigError::OutputPrefixTooLong { bytes: 1024 })
        );
    }

    #[test]
    fn a_path_with_a_nul_is_refused_when_set_and_when_read() {
        assert_eq!(OutputPrefix::new("a\0b"), Err(ConfigError::OutputPrefixHasNul { at: 1 }));
        let mut prefix = OutputPrefix::new("ab").unwrap();
        prefix.0[5] = b'x';
        assert_eq!(prefix.get(), Err(ConfigError::OutputPrefixHasNul { at: 2 }));
    }

    #[test]
    fn bytes_that_are_not_a_string_are_refused() {
        let full = OutputPrefix([b'x'; OUTPUT_PREFIX_BYTES]);
        assert_eq!(full.get(), Err(ConfigError::OutputPrefixNotTerminated));
        let mut prefix = OutputPrefix::new("abc").unwrap();
        prefix.0[1] = 0xff;
        assert_eq!(prefix.get(), Err(ConfigError::OutputPrefixNotUtf8 { at: 1 }));
        assert_eq!(format!("{prefix:?}"), "OutputPrefixNotUtf8 { at: 1 }");
    }

    #[test]
    fn no_prefix_is_none_and_not_an_empty_path() {
        assert_eq!(OutputPrefix::EMPTY.get(), Ok(None));
        assert_eq!(OutputPrefix::new(""), Ok(OutputPrefix::EMPTY));
    }
}
