//! Where in a file something is: for errors, and for the `site` of a task.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// A place in an input file.
///
/// ```
/// use ringlane_graph::import::Place;
/// assert_eq!(Place::new("a.dot", 3, 7).to_string(), "a.dot:3:7");
/// assert_eq!(Place::new("a.dot", 3, 0).to_string(), "a.dot:3");
/// assert_eq!(Place::new("a.dot", 0, 0).to_string(), "a.dot");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; of a file without lines the message, from 1. 0 if it is not known.
    pub line: u64,
    /// The character in the line, from 1, in bytes; 0 if it is not known.
    pub column: u64,
}

impl Place {
    /// A place; 0 for what is not known.
    pub fn new(file: &str, line: u64, column: u64) -> Self {
        Place { file: file.to_string(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match (self.line, self.column) {
            (0, _) => Ok(()),
            (line, 0) => write!(f, ":{line}"),
            (line, column) => write!(f, ":{line}:{column}"),
        }
    }
}

/// How far a file is read. The reader moves it; whatever is made of the bytes reads it.
#[derive(Clone, Debug)]
pub(super) struct Cursor(Rc<At>);

#[derive(Debug)]
struct At {
    file: String,
    line: Cell<u64>,
    column: Cell<u64>,
}

impl Cursor {
    pub(super) fn new(file: &str) -> Self {
        Cursor(Rc::new(At { file: file.to_string(), line: Cell::new(1), column: Cell::new(0) }))
    }

    /// The place of the byte that was read last.
    pub(super) fn place(&self) -> Place {
        self.place_in(self.line())
    }

    /// The line of the byte that was read last, with its column only if it is the same line.
    pub(super) fn place_in(&self, line: u64) -> Place {
        let column = if line == self.line() { self.0.column.get() } else { 0 };
        Place::new(&self.0.file, line, column)
    }

    /// The beginning of a line.
    pub(super) fn line_place(&self, line: u64) -> Place {
        Place::new(&self.0.file, line, 0)
    }

    pub(super) fn file(&self) -> &str {
        &self.0.file
    }

    pub(super) fn line(&self) -> u64 {
        self.0.line.get()
    }

    pub(super) fn column(&self) -> u64 {
        self.0.column.get()
    }

    /// Goes past a byte.
    #[inline]
    pub(super) fn pass(&self, byte: u8) {
        if byte == b'\n' {
            self.next_line();
        } else {
            self.0.column.set(self.0.column.get() + 1);
        }
    }

    /// Goes to the next line, or message.
    pub(super) fn next_line(&self) {
        self.0.line.set(self.0.line.get() + 1);
        self.0.column.set(0);
    }
}
