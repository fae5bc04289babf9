//! What can be wrong with a chip's file, and where.

use std::fmt;
use std::io;

use ringlane_task::{Explain, Reader};

use super::builtin::NAMES;

/// Where in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// The field with the tables around it: `dispatch.poll.time`. Empty for the file as a whole.
    pub field: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.origin, self.line)?;
        if self.field.is_empty() { Ok(()) } else { write!(f, ": {}", self.field) }
    }
}

/// Why a text is no chip.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The file cannot be opened or read.
    CannotRead {
        /// The file.
        origin: String,
        /// Why.
        error: io::Error,
    },
    /// The file is larger than any chip.
    TooLarge {
        /// The file.
        origin: String,
        /// The most bytes it can have.
        limit: u64,
    },
    /// The bytes are not UTF-8.
    NotText {
        /// The file, and the line of the first byte that is wrong.
        place: Box<Place>,
        /// Bytes before it.
        valid_up_to: usize,
    },
    /// It is not TOML.
    Syntax {
        /// Where the parser stopped.
        place: Box<Place>,
        /// What it says.
        message: String,
    },
    /// A field that no chip has.
    UnknownField {
        /// The field.
        place: Box<Place>,
        /// Those that can be there.
        known: &'static [&'static str],
        /// The one that was probably meant.
        similar: Option<&'static str>,
    },
    /// A field that every chip has.
    MissingField {
        /// The field, at the line of the table that it belongs into.
        place: Box<Place>,
        /// What it could be.
        example: String,
    },
    /// A field has a value that it cannot have.
    BadValue {
        /// The field.
        place: Box<Place>,
        /// The value, as it stands there.
        value: String,
        /// Those that can be there.
        allowed: String,
        /// One of them.
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
            SpecError::CannotRead { .. } => "a chip's file cannot be read",
            SpecError::TooLarge { .. } => "a chip's file is too large",
            SpecError::NotText { .. } => "a chip's file is not text",
            SpecError::Syntax { .. } => "a chip's file is not TOML",
            SpecError::UnknownField { .. } => "a chip has no such field",
            SpecError::MissingField { .. } => "a field of the chip is missing",
            SpecError::BadValue { .. } => "a field of the chip has a value that is not allowed",
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
                format!("{place}; there are: {}", known.join(", "))
            }
            SpecError::MissingField { place, .. } => format!("{place} is not there"),
            SpecError::BadValue { place, value, allowed, .. } => {
                format!("{place}: {value}; allowed: {allowed}")
            }
        }
    }

    fn hint(&self) -> String {
        let start = match Reader::current() {
            Reader::Program => {
                format!("`spec::builtin_text(\"{}\")` is a whole file to start from", NAMES[0])
            }
            Reader::Command => {
                format!("`ringlane chips show {}` prints a whole file to start from", NAMES[0])
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
            SpecError::UnknownField { .. } => "remove it, or write it as a comment".to_string(),
            SpecError::MissingField { example, .. } | SpecError::BadValue { example, .. } => {
                format!("for example: {example}")
            }
            SpecError::TooLarge { .. } | SpecError::NotText { .. } | SpecError::Syntax { .. } => start,
        }
    }
}
