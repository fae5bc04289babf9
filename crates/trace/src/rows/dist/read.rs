//! Reading the calls, one by one or whole.

use std::path::Path;

use super::{CallRow, DistMeta, DistWorker, FILE_NAME, RowCounts, stays_below};
use crate::error::TraceError;
use crate::rows::document::{Counted, Document, Value, read_document};
use crate::rows::row::{ArrayRow, ArrayRows};
use crate::rows::scan::ReadError;

/// Everything but the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistHead {
    /// What does not change during a run.
    pub meta: DistMeta,
    /// How many calls there are, and how many were lost.
    pub counts: RowCounts,
}

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dist {
    /// Everything but the rows.
    pub head: DistHead,
    /// Calls, in the order of the file.
    pub calls: Vec<CallRow<'static>>,
}

impl Dist {
    /// Reads the calls of a node's run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut calls = Vec::new();
        let head = read_dist(path, |row| calls.push(row))?;
        Ok(Dist { head, calls })
    }

    /// The worker of a call.
    pub fn worker(&self, call: &CallRow<'_>) -> &DistWorker {
        &self.head.meta.workers[call.worker.at()]
    }

    /// The name of what was called.
    pub fn callable(&self, call: &CallRow<'_>) -> &str {
        &self.head.meta.callables[call.callable.at()]
    }
}

/// Reads the calls of a node's run one by one, with memory that does not grow with them.
pub fn read_dist(path: impl AsRef<Path>, each: impl FnMut(CallRow<'static>)) -> Result<DistHead, TraceError> {
    let reader = Reader { each, meta: None, columns: None, counted: Counted::default() };
    let Reader { meta, counted, .. } = read_document(path.as_ref(), reader)?;
    Ok(DistHead { meta: meta.unwrap_or_default(), counts: counted.counts })
}

struct Reader<F> {
    each: F,
    meta: Option<DistMeta>,
    columns: Option<Vec<String>>,
    counted: Counted,
}

impl<F: FnMut(CallRow<'static>)> Document for Reader<F> {
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        match key {
            "metadata" => self.meta = Some(value.read()?),
            "call_columns" => self.columns = Some(value.read()?),
            "calls" => self.calls(value)?,
            _ => self.counted.field(key, value)?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &["metadata", "call_columns", "calls", "total", "collected", "dropped"]
    }

    fn check(&self) -> Result<(), String> {
        self.counted.check("calls")
    }
}

impl<F: FnMut(CallRow<'static>)> Reader<F> {
    fn calls(&mut self, value: Value<'_, '_>) -> Result<(), ReadError> {
        let Some(names) = self.columns.take() else {
            return Err("call_columns comes after calls".into());
        };
        let Some(meta) = &self.meta else {
            return Err("metadata comes after calls".into());
        };
        let rows = ArrayRows::find(names, CallRow::REQUIRED)?;
        value.read_rows_with(&rows, "calls", |row| {
            check_row(&row, meta)?;
            (self.each)(row);
            self.counted.rows += 1;
            Ok(())
        })
    }
}

/// What a row refers to is there, and its directory is below the node's.
fn check_row(row: &CallRow<'_>, meta: &DistMeta) -> Result<(), String> {
    if row.worker.at() >= meta.workers.len() {
        return Err(format!("worker {} of {}", row.worker.0, meta.workers.len()));
    }
    if row.callable.at() >= meta.callables.len() {
        return Err(format!("callable {} of {}", row.callable.0, meta.callables.len()));
    }
    match &row.dir {
        Some(dir) if !stays_below(dir) => Err(format!("directory {dir:?} is not inside the run directory")),
        _ => Ok(()),
    }
}
