//! Reading the counters, row by row or whole.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};
use std::path::Path;

use ringlane_task::{CoreId, KernelId, TaskId};

use super::{FILE_NAME, HEAD_COLUMNS, LAST_COLUMN, OwnedPmuRow};
use crate::error::TraceError;
use crate::rows::document::{locate, open};
use crate::rows::scan::{BUFFER_BYTES, ReadError};

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pmu {
    /// All columns, in the order of the file.
    pub columns: Vec<String>,
    /// Rows, in the order of the file.
    pub rows: Vec<OwnedPmuRow>,
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
    mut each: impl FnMut(OwnedPmuRow),
) -> Result<Vec<String>, TraceError> {
    let path = locate(path.as_ref(), FILE_NAME);
    let failed = |error: ReadError| error.of_file(&path);
    let mut records =
        Records { file: BufReader::with_capacity(BUFFER_BYTES, open(&path)?), record: Vec::new() };
    let Some(columns) = records.next().map_err(|error| failed(error.map(|what| format!("row 0: {what}"))))?
    else {
        return Err(failed("it has no line of column names".into()));
    };
    let columns: Vec<String> = columns.into_iter().map(Cow::into_owned).collect();
    let places = Places::find(&columns).map_err(|what| failed(what.into()))?;
    for number in 1u64.. {
        let in_row = |error: ReadError| failed(error.map(|what| format!("row {number}: {what}")));
        let Some(fields) = records.next().map_err(in_row)? else { break };
        each(places.row(&columns, &fields).map_err(|what| in_row(what.into()))?);
    }
    Ok(columns)
}

fn is_counter(name: &str) -> bool {
    name != LAST_COLUMN && !HEAD_COLUMNS.contains(&name)
}

/// Where the columns stand.
struct Places {
    head: [usize; HEAD_COLUMNS.len()],
    counters: Vec<usize>,
    last: usize,
}

impl Places {
    fn find(columns: &[String]) -> Result<Self, String> {
        let place = |name: &str| {
            columns
                .iter()
                .position(|column| column == name)
                .ok_or_else(|| format!("there is no column {name:?}"))
        };
        let mut head = [0; HEAD_COLUMNS.len()];
        for (to, name) in head.iter_mut().zip(HEAD_COLUMNS) {
            *to = place(name)?;
        }
        let counters = (0..columns.len()).filter(|&at| is_counter(&columns[at])).collect();
        Ok(Places { head, counters, last: place(LAST_COLUMN)? })
    }

    fn row(&self, columns: &[String], fields: &[Cow<'_, str>]) -> Result<OwnedPmuRow, String> {
        if fields.len() != columns.len() {
            return Err(format!("{} fields for {} columns", fields.len(), columns.len()));
        }
        let number = |at: usize| {
            let text = &fields[at];
            text.parse::<u64>().map_err(|_| format!("{} {text:?} is not a number", columns[at]))
        };
        let small = |at: usize| {
            let value = number(at)?;
            u32::try_from(value).map_err(|_| format!("{} {value} is too large", columns[at]))
        };
        let [thread, core, task, kernel, core_type, cycles] = self.head;
        Ok(OwnedPmuRow {
            thread_id: small(thread)?,
            core_id: CoreId(small(core)?),
            task_id: TaskId(number(task)?),
            func_id: KernelId(small(kernel)?),
            core_type: fields[core_type].to_string(),
            pmu_total_cycles: number(cycles)?,
            counters: self.counters.iter().map(|&at| number(at)).collect::<Result<_, _>>()?,
            event_type: small(self.last)?,
        })
    }
}

/// A file record by record; the memory of one is used again for the next.
struct Records<R> {
    file: R,
    record: Vec<u8>,
}

impl<R: BufRead> Records<R> {
    /// The fields of the next record; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Vec<Cow<'_, str>>>, ReadError> {
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
        let text = std::str::from_utf8(&self.record).map_err(|_| ReadError::from("it is not UTF-8"))?;
        Ok(Some(split_fields(text.trim_end_matches(['\n', '\r']))?))
    }
}

fn split_fields(line: &str) -> Result<Vec<Cow<'_, str>>, String> {
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
            None => return Err(format!("{after:?} stands after a closing quote")),
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
