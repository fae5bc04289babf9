//! JSON value by value: no tree of the document is ever in memory.
//!
//! ```text
//! Input ──▶ Guard (depth, length of values) ──▶ serde_json ──▶ Object, List: a reader takes the fields it knows
//! ```
//!
//! A reader is a struct that implements [`Fields`] for an object or [`Items`] for a list. Its own errors go into a [`Reader`],
//! because an error of `serde` is only text.

mod guard;
mod seeds;

use serde::de::{DeserializeSeed, Error};
use serde_json::Deserializer;
use serde_json::de::IoRead;
use serde_json::error::Category;

use super::builder::GraphBuilder;
use super::input::Input;
use super::{Format, ImportError, Place};
use guard::Guard;
pub(super) use seeds::{Fields, Items, List, Number, Object, Skip, Text, TextOrNumber, Whole};

/// What every reader of JSON has: the graph so far, and why it stops.
pub(super) struct Reader<'o> {
    pub graph: GraphBuilder<'o>,
    failure: Option<ImportError>,
}

impl<'o> Reader<'o> {
    pub(super) const fn new(graph: GraphBuilder<'o>) -> Self {
        Reader { graph, failure: None }
    }

    /// Keeps an error, and gives `serde` one in its place.
    pub(super) fn keep<T, E: Error>(&mut self, result: Result<T, ImportError>) -> Result<T, E> {
        result.map_err(|error| {
            self.failure = Some(error);
            E::custom("see the failure of the reader")
        })
    }

    /// The place of the value that is being read.
    pub(super) fn place(&self) -> Place {
        self.graph.cursor.place()
    }

    pub(super) fn line(&self) -> u64 {
        self.graph.cursor.line()
    }
}

/// A document, or several one after the other.
pub(super) struct Json<'i, 'w> {
    from: Deserializer<IoRead<Guard<'i, 'w>>>,
}

impl<'i, 'w> Json<'i, 'w> {
    pub(super) fn new(input: &'i mut Input<'w>) -> Self {
        Json { from: Deserializer::from_reader(Guard::new(input)) }
    }

    /// Reads one value.
    pub(super) fn read<'de, S>(&mut self, seed: S) -> Result<S::Value, serde_json::Error>
    where
        S: DeserializeSeed<'de>,
    {
        seed.deserialize(&mut self.from)
    }

    /// Whether only white space is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.from.end().is_ok()
    }

    /// Checks that only white space is left.
    pub(super) fn end(&mut self) -> Result<(), serde_json::Error> {
        self.from.end()
    }
}

/// The error behind one of `serde`: of the input, of the reader, or of the text itself.
pub(super) fn explain(
    error: serde_json::Error,
    input: &mut Input<'_>,
    reader: &mut Reader<'_>,
) -> ImportError {
    if let Some(failure) = input.take_failure().or_else(|| reader.failure.take()) {
        return failure;
    }
    let format: Format = reader.graph.format;
    let place = Place::new(input.cursor().file(), error.line() as u64, error.column() as u64);
    let place = if place.line == 0 { input.cursor().place() } else { place };
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_string();
    match error.classify() {
        Category::Eof => ImportError::CutOff { place, what },
        Category::Syntax => ImportError::BadSyntax { place, format, what },
        Category::Data | Category::Io => ImportError::UnexpectedValue { place, format, what },
    }
}
