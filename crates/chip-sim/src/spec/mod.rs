//! Chips as files: reading them, checking them, and those that come with the program.
//!
//! A file is TOML that a person writes, so it is held to what a person can get wrong. Every quantity carries its unit and
//! is read exactly, in integers; every cost carries its source; a field that is unknown, missing or out of range is an
//! error with the file, the line, the field, the value and what is allowed.
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
pub use error::{Place, SpecError};
pub use limits::{FILE_BYTES_MAX, SCHEDULERS_MAX};
pub use load::load;
pub use quantity::{frequency_text, time_text};

/// The one of the known words that was probably meant, if one is near enough to be a slip.
fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    // A distance takes the product of both lengths; nobody mistypes a field into a page of text.
    if given.len() > 64 {
        return None;
    }
    let distance = |name: &&'a str| strsim::damerau_levenshtein(given, name);
    let near = known.iter().copied().min_by_key(distance)?;
    (distance(&near) <= (near.len() / 3).max(1)).then_some(near)
}
