//! Errors of chip files, with their location.

use std::fmt;
use std::io;

use ringlane_task::{Explain, Reader};

use super::builtin::NAMES;

/// A location in a chip file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLocation {
    /// The file name, as given.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// The field with its enclosing tables: `dispatch.poll.time`. Empty for the file as a whole.
    pub field: String,
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.origin, self.line)?;
        if self.field.is_empty() { Ok(()) } else { write!(f, ": {}", self.field) }
    }
}

/// Why a text is not a valid chip file.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The file cannot be opened or read.
    CannotRead {
        /// The file.
        origin: String,
        /// Why.
        error: io::Error,
    },
    /// The file is larger than the limit.
    TooLarge {
        /// The file.
        origin: String,
        /// The largest allowed size in bytes.
        limit: u64,
    },
    /// The bytes are not UTF-8.
    NotText {
        /// The file, and the line of the first invalid byte.
        place: Box<FileLocation>,
        /// The number of valid bytes before it.
        valid_up_to: usize,
    },
    /// The text is not TOML.
    Syntax {
        /// Where the parser stopped.
        place: Box<FileLocation>,
        /// The parser's message.
        message: String,
    },
    /// A field that chip files do not have.
    UnknownField {
        /// The field.
        place: Box<FileLocation>,
        /// The fields that are allowed there.
        known: &'static [&'static str],
        /// The field that was probably meant.
        similar: Option<&'static str>,
    },
    /// A required field is missing.
    MissingField {
        /// The field, at the line of its table.
        place: Box<FileLocation>,
        /// An example of the field.
        example: String,
    },
    /// A field has a value that is not allowed.
    BadValue {
        /// The field.
        place: Box<FileLocation>,
        /// The value, as written in the file.
        value: String,
        /// The allowed values.
        allowed: String,
        /// An example of the field.
        example: String,
    },
}

ringlane_task::display_explained!(SpecError);

impl Explain for SpecError {
    fn name(&self) -> &'static str {
        match self {
            SpecError::CannotRead { .. } => "CannotReadChip",
            SpecError::TooLarge { .. } => "ChipTooLarge",
            SpecError::NotText { .. } => "ChipNotText",
            SpecError::Syntax { .. } => "ChipSyntax",
            SpecError::UnknownField { .. } => "UnknownChipField",
            SpecError::MissingField { .. } => "MissingChipField",
            SpecError::BadValue { .. } => "BadChipValue",
        }
    }

    fn summary(&self) -> String {
        match self {
            SpecError::CannotRead { .. } => "the chip file cannot be read",
            SpecError::TooLarge { .. } => "the chip file is too large",
            SpecError::NotText { .. } => "the chip file is not text",
            SpecError::Syntax { .. } => "the chip file is not TOML",
            SpecError::UnknownField { .. } => "the chip file has an unknown field",
            SpecError::MissingField { .. } => "the chip file lacks a field",
            SpecError::BadValue { .. } => "a field of the chip file has a value that is not allowed",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            SpecError::CannotRead { origin, error } => format!("{origin}: {error}"),
            SpecError::TooLarge { origin, limit } => format!("{origin}: more than {limit} bytes"),
            SpecError::NotText { place, valid_up_to } => {
                format!("{place}: byte {valid_up_to} of the file is not UTF-8")
            }
            SpecError::Syntax { place, message } => format!("{place}: {message}"),
            SpecError::UnknownField { place, known, .. } => {
                format!("{place}; known fields: {}", known.join(", "))
            }
            SpecError::MissingField { place, .. } => format!("{place} is missing"),
            SpecError::BadValue { place, value, allowed, .. } => {
                format!("{place}: {value}; allowed: {allowed}")
            }
        }
    }

    fn hint(&self) -> String {
        let start = match Reader::current() {
            Reader::Program => {
                format!("`spec::builtin_text(\"{}\")` is a complete file to start from", NAMES[0])
            }
            Reader::Command => {
                format!("`ringlane chips show {}` prints a complete file to start from", NAMES[0])
            }
        };
        match self {
            SpecError::CannotRead { origin, .. } => match NAMES.iter().find(|name| *name == origin) {
                Some(name) => {
                    let how = match Reader::current() {
                        Reader::Program => format!("`spec::builtin(\"{name}\")`"),
                        Reader::Command => format!("--platform {name}"),
                    };
                    format!("{name} comes with ringlane: {how}")
                }
                None => start,
            },
            SpecError::UnknownField { similar: Some(similar), .. } => format!("did you mean {similar}?"),
            SpecError::UnknownField { .. } => "remove it, or turn it into a comment".to_string(),
            SpecError::MissingField { example, .. } | SpecError::BadValue { example, .. } => {
                format!("for example: {example}")
            }
            SpecError::TooLarge { .. } | SpecError::NotText { .. } | SpecError::Syntax { .. } => start,
        }
    }
}
