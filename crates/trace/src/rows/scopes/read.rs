//! Reading the scopes, one by one or whole.

use std::path::Path;

use super::{FILE_NAME, RowCounts, ScopeFatal, ScopeRow};
use crate::error::TraceError;
use crate::rows::document::{Counted, Document, Value, read_document};
use crate::rows::row::ObjectRows;
use crate::rows::scan::ReadError;

/// Everything but the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopesHead {
    /// Which scope exhausted what, if that ended the run.
    pub fatal: Option<ScopeFatal<'static>>,
    /// How many scopes the file says it has.
    pub counts: RowCounts,
}

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// Everything but the rows.
    pub head: ScopesHead,
    /// Scopes, in the order of the file.
    pub scopes: Vec<ScopeRow<'static>>,
}

impl Scopes {
    /// Reads the scopes of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut scopes = Vec::new();
        let head = read_scopes(path, |row| scopes.push(row))?;
        Ok(Scopes { head, scopes })
    }
}

/// Reads the scopes of a run one by one, with memory that does not grow with them.
pub fn read_scopes(
    path: impl AsRef<Path>,
    each: impl FnMut(ScopeRow<'static>),
) -> Result<ScopesHead, TraceError> {
    let Reader { fatal, counted, .. } = read_document(path.as_ref(), Reader::new(each))?;
    Ok(ScopesHead { fatal, counts: counted.counts })
}

pub(super) struct Reader<F> {
    each: F,
    fatal: Option<ScopeFatal<'static>>,
    counted: Counted,
}

impl<F: FnMut(ScopeRow<'static>)> Reader<F> {
    pub(super) fn new(each: F) -> Self {
        Reader { each, fatal: None, counted: Counted::default() }
    }
}

impl<F: FnMut(ScopeRow<'static>)> Document for Reader<F> {
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        match key {
            "fatal" => self.fatal = value.read()?,
            "scopes" => value.read_rows_with(&ObjectRows::<_>::new(), "scopes", |row| {
                (self.each)(row);
                self.counted.rows += 1;
                Ok(())
            })?,
            _ => self.counted.field(key, value)?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &["fatal", "scopes", "total", "collected", "dropped"]
    }

    fn check(&self) -> Result<(), String> {
        self.counted.check("scopes")
    }
}
