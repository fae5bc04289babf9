//! Reads a chip from a file of the user.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ringlane_task::ChipSpec;

use super::chip::parse;
use super::error::{FileLocation, SpecError};
use super::limits::FILE_BYTES_MAX;

/// Reads a chip from a file or a pipe.
///
/// ```
/// use ringlane_chip_sim::spec;
/// use ringlane_task::Explain;
///
/// let error = spec::load("no/such/chip.toml".as_ref()).unwrap_err();
/// assert_eq!(error.name(), "CannotReadChip");
/// assert!(error.hint().contains("spec::builtin_text"));
/// ```
pub fn load(path: &Path) -> Result<ChipSpec, SpecError> {
    // The origin stays on one line, whatever the file name contains.
    let origin: String =
        path.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    match bounded(path) {
        Err(error) => Err(SpecError::CannotRead { origin, error }),
        Ok(bytes) if bytes.len() as u64 > FILE_BYTES_MAX => {
            Err(SpecError::TooLarge { origin, limit: FILE_BYTES_MAX })
        }
        Ok(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => parse(text, &origin),
            Err(error) => Err(not_text(origin, &bytes[..error.valid_up_to()])),
        },
    }
}

/// The bytes of a file, up to one more than the limit.
fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_text(origin: String, before: &[u8]) -> SpecError {
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let place = Box::new(FileLocation { origin, line, field: String::new() });
    SpecError::NotText { place, valid_up_to: before.len() }
}
