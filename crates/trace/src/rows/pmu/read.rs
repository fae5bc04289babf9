//! Reading the counters, row by row or whole.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{Cells, FILE_NAME, PmuRow, is_counter};
use crate::error::TraceError;
use crate::rows::document::{locate, open};
use crate::rows::quick::Quick;
use crate::rows::scan::{BUFFER_BYTES, ReadError};

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pmu {
    /// All columns, in the order of the file.
    pub columns: Vec<String>,
    /// Rows, in the order of the file.
    pub rows: Vec<PmuRow<'static>>,
}

impl Pmu {
    /// Reads the counters of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut rows = Vec::new();
        let columns = read_pmu(path, |row| rows.push(row))?;
        Ok(Pmu { columns, rows })
    }

    /// The columns of counters, in the order of a row's `counters`.
    pub fn counter_columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str).filter(|name| is_counter(name))
    }
}

/// Reads the counters of a run row by row, and gives the columns of the file.
pub fn read_pmu(
    path: impl AsRef<Path>,
    mut each: impl FnMut(PmuRow<'static>),
) -> Result<Vec<String>, TraceError> {
    let path = locate(path.as_ref(), FILE_NAME);
    let failed = |error: ReadError| error.of_file(&path);
    let mut records =
        Records { file: BufReader::with_capacity(BUFFER_BYTES, open(&path)?), record: Vec::new() };
    let first = records.next().and_then(|record| record.map(split_fields).transpose());
    let Some(columns) = first.map_err(|error| failed(error.map(|what| format!("row 0: {what}"))))? else {
        return Err(failed("it has no line of column names".into()));
    };
    let columns = columns.into_iter().map(Cow::into_owned).collect();
    let cells = Cells::find(columns).map_err(|what| failed(what.into()))?;
    for number in 1u64.. {
        let in_row = |error: ReadError| failed(error.map(|what| format!("row {number}: {what}")));
        let Some(record) = records.next().map_err(in_row)? else { break };
        each(row_of(record, &cells).map_err(in_row)?);
    }
    Ok(cells.columns)
}

/// A row, read quickly where it is as our own writer writes it.
fn row_of(record: &[u8], cells: &Cells) -> Result<PmuRow<'static>, ReadError> {
    let mut text = Quick::new(record);
    let quick = cells.is_usual.then(|| PmuRow::quick_cells(&mut text, cells)).flatten();
    if let Some(row) = quick.filter(|_| text.left() == 0) {
        return Ok(row);
    }
    let fields = split_fields(record)?;
    if fields.len() != cells.columns.len() {
        return Err(format!("{} fields for {} columns", fields.len(), cells.columns.len()).into());
    }
    Ok(PmuRow::read_cells(cells, &fields)?)
}

/// A file record by record; the memory of one is used again for the next.
struct Records<R> {
    file: R,
    record: Vec<u8>,
}

impl<R: BufRead> Records<R> {
    /// The next record; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<&[u8]>, ReadError> {
        self.record.clear();
        let mut quotes = 0;
        loop {
            let line = self.record.len();
            if self.file.read_until(b'\n', &mut self.record)? == 0 {
                return if line == 0 { Ok(None) } else { Err("a quote is not closed".into()) };
            }
            // A line end within quotes belongs to its field: a record is whole when its quotes are in pairs.
            quotes += self.record[line..].iter().filter(|&&byte| byte == b'"').count();
            if quotes % 2 == 0 {
                break;
            }
        }
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let end = self.record.iter().rposition(|byte| !is_end(byte)).map_or(0, |last| last + 1);
        Ok(Some(&self.record[..end]))
    }
}

fn split_fields(record: &[u8]) -> Result<Vec<Cow<'_, str>>, ReadError> {
    let line = std::str::from_utf8(record).map_err(|_| ReadError::from("it is not UTF-8"))?;
    // At least as many as there are; a comma in quotes is counted too.
    let mut fields = Vec::with_capacity(1 + line.bytes().filter(|&byte| byte == b',').count());
    let mut rest = line;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (field, after) = quoted_field(quoted)?;
                (Cow::Owned(field), after)
            }
            None => {
                let end = rest.bytes().position(|byte| byte == b',').unwrap_or(rest.len());
                (Cow::Borrowed(&rest[..end]), &rest[end..])
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(fields),
            None => return Err(format!("{after:?} follows a closing quote").into()),
        }
    }
}

/// A field up to its closing quote, and what follows it.
fn quoted_field(text: &str) -> Result<(String, &str), String> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"').ok_or("a quote is not closed")?;
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => return Ok((field, rest)),
        }
    }
}
