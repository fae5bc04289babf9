//! Tables: `tasks.csv`, one task a line, and `edges.csv` beside it, one edge a line.
//!
//! ```text
//! id,name,kind,duration_us          id and a duration are required; columns may come in any order, others are skipped
//! pred,succ
//! ```
//!
//! The cells follow RFC 4180. The reader is our own because it has to say what is wrong on which line, also of a quote that
//! is never closed, and to hold one row only.

use super::builder::{GraphBuilder, TaskText};
use super::input::Input;
use super::limits::TEXT_BYTES_MAX;
use super::scale::{Unit, parse_nanoseconds};
use super::{Format, ImportError};

/// The names that a column may have.
type Names = &'static [&'static str];

const ID: Names = &["id", "task", "task_id"];
const NAME: Names = &["name", "label"];
const KIND: Names = &["kind", "category", "type", "kernel"];
const PRED: Names = &["pred", "from", "source", "parent"];
const SUCC: Names = &["succ", "to", "target", "child"];
const DURATIONS: [(&str, Unit); 5] = [
    ("duration_us", Unit::Microseconds),
    ("duration", Unit::Microseconds),
    ("duration_ns", Unit::Nanoseconds),
    ("duration_ms", Unit::Milliseconds),
    ("duration_s", Unit::Seconds),
];

/// Reads the tasks.
pub(super) fn read_tasks(input: &mut Input<'_>, graph: &mut GraphBuilder<'_>) -> Result<(), ImportError> {
    let mut table = Table::open(input)?;
    let id = table.require(ID)?;
    let (name, kind) = (table.find(NAME), table.find(KIND));
    let duration = DURATIONS.iter().find_map(|&(name, unit)| Some((table.find(&[name])?, unit)));
    let (duration, unit) = duration.ok_or_else(|| table.missing("duration_us"))?;
    while table.next_row()? {
        let line = table.line;
        let task = graph.mention(table.cell(id)?)?;
        let [name, kind] = [name, kind].map(|at| at.map(|at| table.cell(at)).transpose());
        let label = name?.filter(|name| !name.is_empty());
        graph.define(task, line, TaskText { label, name: None, kind: kind? })?;
        let text = table.cell(duration)?.trim();
        let place = || graph.cursor.line_place(line);
        if text.is_empty() {
            let (place, task) = (place(), graph.name_of(task));
            return Err(ImportError::MissingDuration { place, task, format: Format::Csv });
        }
        let Some(nanoseconds) = parse_nanoseconds(text, Some(unit)) else {
            let (place, task, value) = (place(), graph.name_of(task), format!("{text:?} is not a time"));
            return Err(ImportError::BadDuration { place, task, value });
        };
        graph.set_duration(task, line, nanoseconds, || text.to_string())?;
    }
    Ok(())
}

/// Reads the edges between tasks that are there.
pub(super) fn read_edges(input: &mut Input<'_>, graph: &mut GraphBuilder<'_>) -> Result<(), ImportError> {
    let tasks = std::mem::replace(&mut graph.cursor, input.cursor().clone());
    read_pairs(input, graph)?;
    // What is found later is about tasks.
    graph.cursor = tasks;
    Ok(())
}

fn read_pairs(input: &mut Input<'_>, graph: &mut GraphBuilder<'_>) -> Result<(), ImportError> {
    let mut table = Table::open(input)?;
    let ends = [table.require(PRED)?, table.require(SUCC)?];
    while table.next_row()? {
        let mut tasks = [0; 2];
        for (to, at) in tasks.iter_mut().zip(ends) {
            let id = table.cell(at)?;
            *to = graph.mention(id)?;
            if !graph.is_defined(*to) {
                let place = graph.cursor.line_place(table.line);
                return Err(ImportError::UnknownTask { place, id: id.to_string() });
            }
        }
        graph.add_edge(tasks[0], tasks[1])?;
    }
    Ok(())
}

/// A table with a head. One row is in memory.
struct Table<'i, 'w> {
    input: &'i mut Input<'w>,
    columns: Vec<String>,
    text: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// The line that the row begins on.
    line: u64,
}

impl<'i, 'w> Table<'i, 'w> {
    fn open(input: &'i mut Input<'w>) -> Result<Self, ImportError> {
        let mut table = Table { input, columns: Vec::new(), text: Vec::new(), ends: Vec::new(), line: 1 };
        if !table.read_row()? {
            return Err(ImportError::EmptyGraph { file: table.input.cursor().file().to_string() });
        }
        let columns = (0..table.ends.len()).map(|at| Ok(table.cell(at)?.trim().to_ascii_lowercase()));
        table.columns = columns.collect::<Result<_, ImportError>>()?;
        Ok(table)
    }

    fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.columns.iter().position(|column| column == name))
    }

    fn require(&self, names: Names) -> Result<usize, ImportError> {
        self.find(names).ok_or_else(|| self.missing(names[0]))
    }

    fn missing(&self, name: &str) -> ImportError {
        let what = format!("there is no column `{name}`; the columns: {}", self.columns.join(", "));
        ImportError::MissingField { place: self.input.cursor().line_place(1), what }
    }

    fn cell(&self, at: usize) -> Result<&str, ImportError> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let text = &self.text[start..self.ends[at]];
        str::from_utf8(text)
            .map_err(|_| ImportError::NotUtf8 { place: self.input.cursor().line_place(self.line) })
    }

    /// Reads the next row; `false` if there is none.
    fn next_row(&mut self) -> Result<bool, ImportError> {
        if !self.read_row()? {
            return Ok(false);
        }
        let (cells, columns) = (self.ends.len(), self.columns.len());
        if cells == columns {
            return Ok(true);
        }
        let what = format!("{cells} cells, the head has {columns}");
        let place = self.input.cursor().line_place(self.line);
        match self.input.peek()? {
            None if cells < columns => Err(ImportError::CutOff { place, what }),
            _ => Err(ImportError::BadSyntax { place, format: Format::Csv, what }),
        }
    }

    /// Reads a row of any number of cells; empty lines are skipped.
    fn read_row(&mut self) -> Result<bool, ImportError> {
        self.text.clear();
        self.ends.clear();
        while let Some(b'\n' | b'\r') = self.input.peek()? {
            self.input.next()?;
        }
        if self.input.peek()?.is_none() {
            return Ok(false);
        }
        self.line = self.input.cursor().line();
        while self.read_cell()? {}
        Ok(true)
    }

    /// Reads a cell; `false` if it is the last of its row.
    fn read_cell(&mut self) -> Result<bool, ImportError> {
        // A cell without text takes room for its end.
        if self.text.len() + self.ends.len() * size_of::<usize>() > TEXT_BYTES_MAX {
            return Err(ImportError::TextTooLong { place: self.input.cursor().place() });
        }
        let is_quoted = self.input.peek()? == Some(b'"');
        if is_quoted {
            self.input.next()?;
            self.read_quoted()?;
        }
        loop {
            match self.input.next()? {
                Some(b',') => {
                    self.ends.push(self.text.len());
                    return Ok(true);
                }
                None | Some(b'\n') => {
                    self.ends.push(self.text.len());
                    return Ok(false);
                }
                Some(b'\r') if matches!(self.input.peek()?, None | Some(b'\n')) => {}
                Some(byte) if is_quoted || byte == b'"' => {
                    let what = match is_quoted {
                        true => format!("{:?} after a closing quote", char::from(byte)),
                        false => "a quote within a cell without quotes".to_string(),
                    };
                    return Err(ImportError::BadSyntax {
                        place: self.input.cursor().place(),
                        format: Format::Csv,
                        what,
                    });
                }
                Some(byte) => self.push(byte)?,
            }
        }
    }

    /// Reads up to the closing quote; two quotes are one.
    fn read_quoted(&mut self) -> Result<(), ImportError> {
        let start = self.input.cursor().place();
        loop {
            match self.input.next()? {
                None => {
                    let what = "a cell has no closing quote".to_string();
                    return Err(ImportError::CutOff { place: start, what });
                }
                Some(b'"') if self.input.peek()? == Some(b'"') => {
                    self.input.next()?;
                    self.push(b'"')?;
                }
                Some(b'"') => return Ok(()),
                Some(byte) => self.push(byte)?,
            }
        }
    }

    fn push(&mut self, byte: u8) -> Result<(), ImportError> {
        if self.text.len() == TEXT_BYTES_MAX {
            return Err(ImportError::TextTooLong { place: self.input.cursor().place() });
        }
        self.text.push(byte);
        Ok(())
    }
}
