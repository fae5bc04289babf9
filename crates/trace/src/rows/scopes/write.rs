//! Writing the scopes.

use std::io::{self, Write};

use super::{RowCounts, ScopeFatal, ScopeRow, VERSION};
use crate::rows::field::Field;
use crate::rows::sections::Sections;
use crate::text::Text;

/// Writes `scope_stats.json`, one record a scope.
pub struct ScopesWriter<W> {
    scopes: Sections<W>,
}

impl<W: Write> ScopesWriter<W> {
    /// Starts the file; `fatal` is why the runtime stopped the run, if a scope exhausted something.
    pub fn new(out: W, fatal: Option<&ScopeFatal<'_>>) -> Self {
        let mut head = Text::default();
        fatal.cloned().write(head.raw("{\"version\":").number(VERSION).raw(",\"fatal\":"));
        ScopesWriter { scopes: Sections::new(out, head, vec![",\n\"scopes\":[\n".to_string()]) }
    }

    /// Writes one scope.
    pub fn scope(&mut self, row: &ScopeRow<'_>) -> io::Result<()> {
        row.write(self.scopes.row(0)?);
        Ok(())
    }

    /// Ends the file with the counts; `dropped` is how many scopes were lost.
    pub fn finish(self, dropped: u64) -> io::Result<RowCounts> {
        self.scopes.finish_counted(dropped)
    }
}
