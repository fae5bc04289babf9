//! A JSON object whose last fields are long arrays, written in the order of the file.

use std::io::{self, ErrorKind, Write};

use super::RowCounts;
use crate::text::Text;

/// Writes arrays one after the other, each opened and closed when it is its turn.
///
/// Every array of the list is in the file, also one without rows.
pub(crate) struct Sections<W> {
    out: W,
    text: Text,
    /// The text before the rows of each array: `,"tasks":[`.
    openings: Vec<String>,
    /// How many arrays have been opened; the last of them is open.
    opened: usize,
    /// Rows of each array.
    rows: Vec<u64>,
}

impl<W: Write> Sections<W> {
    /// Starts after `head`, the fields before the arrays.
    pub(crate) fn new(out: W, head: Text, openings: Vec<String>) -> Self {
        let rows = vec![0; openings.len()];
        Sections { out, text: head, openings, opened: 0, rows }
    }

    /// Where the next row of array `section` is to be written; the text that must precede it is written first.
    ///
    /// Arrays are written in order: going back to one that is closed is an error, and a mistake of the caller.
    pub(crate) fn row(&mut self, section: usize) -> io::Result<&mut Text> {
        self.text.spill(&mut self.out)?;
        if self.opened != section + 1 {
            self.open(section)?;
        } else if self.rows[section] > 0 {
            self.text.raw(",\n");
        }
        self.rows[section] += 1;
        Ok(&mut self.text)
    }

    fn open(&mut self, section: usize) -> io::Result<()> {
        if section < self.opened || section >= self.openings.len() {
            let what = "rows are not in the order of the file, or of a level that is off";
            return Err(io::Error::new(ErrorKind::InvalidInput, what));
        }
        while self.opened <= section {
            if self.opened > 0 {
                self.text.raw("]");
            }
            self.text.raw(&self.openings[self.opened]);
            self.opened += 1;
        }
        Ok(())
    }

    /// The number of arrays.
    pub(crate) const fn len(&self) -> usize {
        self.openings.len()
    }

    /// Rows written into an array.
    pub(crate) fn rows(&self, section: usize) -> u64 {
        self.rows.get(section).copied().unwrap_or(0)
    }

    /// Closes the last array; what comes after it is written into the result.
    pub(crate) fn close(&mut self) -> io::Result<&mut Text> {
        if self.opened < self.openings.len() {
            self.open(self.openings.len() - 1)?;
        }
        Ok(self.text.raw("]"))
    }

    /// Ends a file of one array with the counts of its rows, of which `dropped` were lost.
    pub(crate) fn finish_counted(mut self, dropped: u64) -> io::Result<RowCounts> {
        let counts = RowCounts { collected: self.rows(0), dropped };
        let text = self.close()?.raw(",\n");
        counts.write(text);
        text.raw("}\n");
        self.finish()?;
        Ok(counts)
    }

    /// Gives everything to the file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.text.give(&mut self.out)?;
        self.out.flush()
    }

    /// The file itself; [`Sections::flush`] comes first.
    pub(crate) const fn out(&mut self) -> &mut W {
        &mut self.out
    }
}
