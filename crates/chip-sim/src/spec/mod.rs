//! Chip files: parsing, checking, and the built-in ones.
//!
//! A chip file is TOML written by a person. Every quantity has a unit and is parsed exactly, into integers; every
//! cost names its source; a field that is unknown, missing or out of range is an error with the file, the line, the
//! field, the value and the allowed values.
//!
//! ```text
//! text ─▶ fields (tables with lines) ─▶ quantity (number × unit, exact) ─▶ chip (which fields, which ranges) ─▶ ChipSpec
//! ```
//!
//! ```
//! use ringlane_chip_sim::spec;
//! use ringlane_task::Explain;
//!
//! let text = spec::builtin_text("a2a3sim").unwrap().replace("clusters = 24", "clusters = 8");
//! let chip = spec::parse(&text, "mine.toml")?;
//! assert_eq!((chip.aic_cores(), chip.aiv_cores()), (8, 16));
//!
//! let error = spec::parse(&text.replace("100 ns", "100"), "mine.toml").unwrap_err();
//! assert!(error.detail().starts_with("mine.toml:35: dispatch.poll.time: \"100\""), "{}", error.detail());
//! # Ok::<(), spec::SpecError>(())
//! ```
#![forbid(unsafe_code)]

mod builtin;
mod check;
mod chip;
mod error;
mod fields;
mod limits;
mod load;
mod quantity;

pub(crate) use check::problem;

pub use builtin::{EXAMPLES, NAMES, builtin, builtin_text};
pub use chip::parse;
pub use error::{FileLocation, SpecError};
pub use limits::{FILE_BYTES_MAX, RATE, SCHEDULERS_MAX};
pub use load::load;
pub use quantity::{frequency_text, time_text};

/// The known word that was probably meant, if one is similar enough.
fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    // The distance takes time proportional to the product of both lengths; nobody mistypes a field into a page of
    // text.
    if given.len() > 64 {
        return None;
    }
    let distance = |name: &&'a str| strsim::damerau_levenshtein(given, name);
    let near = known.iter().copied().min_by_key(distance)?;
    (distance(&near) <= (near.len() / 3).max(1)).then_some(near)
}
