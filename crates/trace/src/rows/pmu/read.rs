//! Reading the counters, row by row or whole.

use std::io::{BufRead, BufReader};
use std::path::Path;

use ringlane_task::{CoreId, KernelId, TaskId};

use super::{FILE_NAME, HEAD_COLUMNS, LAST_COLUMN, OwnedPmuRow};
use crate::error::TraceError;
use crate::rows::document::{locate, open};

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
    let mut file = BufReader::new(open(&path)?);
    let mut next = |number: u64| match next_record(&mut file) {
        Ok(Ok(fields)) => Ok(fields),
        Ok(Err(what)) => {
            Err(TraceError::Damaged { path: path.clone(), what: format!("row {number}: {what}") })
        }
        Err(source) => Err(TraceError::CannotRead { path: path.clone(), source }),
    };
    let damaged = |what| TraceError::Damaged { path: path.clone(), what };
    let columns = next(0)?.ok_or_else(|| damaged("it has no line of column names".to_string()))?;
    let places = Places::find(&columns).map_err(damaged)?;
    for number in 1.. {
        let Some(fields) = next(number)? else { break };
        each(places.row(&columns, &fields).map_err(|what| damaged(format!("row {number}: {what}")))?);
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

    fn row(&self, columns: &[String], fields: &[String]) -> Result<OwnedPmuRow, String> {
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
            core_type: fields[core_type].clone(),
            pmu_total_cycles: number(cycles)?,
            counters: self.counters.iter().map(|&at| number(at)).collect::<Result<_, _>>()?,
            event_type: small(self.last)?,
        })
    }
}

/// The fields of the next record; the inner error is damage, `None` the end of the file.
fn next_record(file: &mut impl BufRead) -> std::io::Result<Result<Option<Vec<String>>, String>> {
    let mut line = Vec::new();
    // A line end within quotes belongs to its field: a record is whole when its quotes are in pairs.
    while file.read_until(b'\n', &mut line)? > 0 {
        if line.iter().filter(|&&byte| byte == b'"').count() % 2 == 0 {
            let text = String::from_utf8(line).map_err(|_| "it is not UTF-8".to_string());
            return Ok(text.and_then(|text| split_fields(text.trim_end_matches(['\n', '\r']))).map(Some));
        }
    }
    Ok(if line.is_empty() { Ok(None) } else { Err("a quote is not closed".to_string()) })
}

fn split_fields(line: &str) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_field(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].to_string(), &rest[end..])
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
