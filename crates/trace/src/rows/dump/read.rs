//! Reading the records of captured arguments, one by one or whole.

use std::path::Path;

use super::record::RecordRow;
use super::{BIN_FILE, DumpCounts, DumpKernel, DumpRecord, DumpTask, FILE_NAME};
use crate::error::TraceError;
use crate::rows::document::{Document, Value, counts_of, read_document};
use crate::rows::row::{ArrayRows, ObjectRows};
use crate::rows::scan::ReadError;

/// One row of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpRow {
    /// A task that has records.
    Task(DumpTask<'static>),
    /// An argument at one moment.
    Record(DumpRecord),
}

/// Everything but the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpHead {
    /// What was chosen to be captured; `None` for everything.
    pub selection: Option<String>,
    /// The kernels of the run.
    pub kernels: Vec<DumpKernel>,
    /// How many records the file says it has.
    pub counts: DumpCounts,
}

/// The whole file in memory; the bytes of tensors stay where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// Everything but the rows.
    pub head: DumpHead,
    /// Tasks.
    pub tasks: Vec<DumpTask<'static>>,
    /// Records.
    pub records: Vec<DumpRecord>,
}

impl Dump {
    /// Reads the records of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut dump = Dump::default();
        dump.head = read_dump(path, |row| match row {
            DumpRow::Task(task) => dump.tasks.push(task),
            DumpRow::Record(record) => dump.records.push(record),
        })?;
        Ok(dump)
    }
}

/// Reads the records of a run one by one, with memory that does not grow with them.
pub fn read_dump(path: impl AsRef<Path>, each: impl FnMut(DumpRow)) -> Result<DumpHead, TraceError> {
    let reader = Reader { each, head: DumpHead::default(), total: 0, found: DumpCounts::default() };
    Ok(read_document(path.as_ref(), reader)?.head)
}

struct Reader<F> {
    each: F,
    head: DumpHead,
    total: u64,
    /// What the records themselves add up to.
    found: DumpCounts,
}

impl<F: FnMut(DumpRow)> Document for Reader<F> {
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        let counts = &mut self.head.counts;
        match key {
            "bin_file" => {
                let name: String = value.read()?;
                if name != BIN_FILE {
                    return Err(format!("bin_file {name:?} is not {BIN_FILE:?}").into());
                }
            }
            "selection" => self.head.selection = value.read()?,
            "kernels" => self.head.kernels = value.read()?,
            "tasks" => value.read_rows_with(&ArrayRows::unnamed(), "tasks", |task| {
                (self.each)(DumpRow::Task(task));
                Ok(())
            })?,
            "records" => value.read_rows_with(&ObjectRows::<RecordRow>::new(), "records", |row| {
                let record = DumpRecord::try_from(row)?;
                self.found.add(&record);
                (self.each)(DumpRow::Record(record));
                Ok(())
            })?,
            "total" => self.total = value.read()?,
            "collected" => counts.records.collected = value.read()?,
            "dropped" => counts.records.dropped = value.read()?,
            "tensors" => counts.tensors = value.read()?,
            "scalars" => counts.scalars = value.read()?,
            "truncated" => counts.truncated = value.read()?,
            "before_dispatch" => counts.before_dispatch = value.read()?,
            "after_completion" => counts.after_completion = value.read()?,
            _ => value.skip()?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &[
            "bin_file",
            "tasks",
            "records",
            "total",
            "collected",
            "dropped",
            "tensors",
            "scalars",
            "truncated",
            "before_dispatch",
            "after_completion",
        ]
    }

    fn check(&self) -> Result<(), String> {
        let (said, found) = (&self.head.counts, &self.found);
        counts_of(self.total, said.records.collected, said.records.dropped)?;
        for (name, said, found) in [
            ("collected", said.records.collected, found.records.collected),
            ("tensors", said.tensors, found.tensors),
            ("scalars", said.scalars, found.scalars),
            ("truncated", said.truncated, found.truncated),
            ("before_dispatch", said.before_dispatch, found.before_dispatch),
            ("after_completion", said.after_completion, found.after_completion),
        ] {
            if said != found {
                return Err(format!("{name} says {said}, there are {found}"));
            }
        }
        Ok(())
    }
}
