//! Writing the scopes.

use std::io::{self, Write};

use super::{Peak, RowCounts, ScopeFatal, ScopeNeed, ScopeRow, ScopeStall, VERSION};
use crate::rows::sections::Sections;
use crate::text::Text;

const OPENINGS: &[&str] = &[",\n\"scopes\":[\n"];

/// Writes `scope_stats.json`, one record a scope.
pub struct ScopesWriter<W> {
    scopes: Sections<W>,
}

impl<W: Write> ScopesWriter<W> {
    /// Starts the file; `fatal` is why the runtime stopped the run, if a scope exhausted something.
    pub fn new(out: W, fatal: Option<&ScopeFatal<'_>>) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(VERSION).raw(",\"fatal\":");
        match fatal {
            Some(fatal) => write_fatal(&mut head, fatal),
            None => {
                head.raw("null");
            }
        }
        ScopesWriter { scopes: Sections::new(out, head, OPENINGS) }
    }

    /// Writes one scope.
    pub fn scope(&mut self, row: &ScopeRow<'_>) -> io::Result<()> {
        let text = self.scopes.row(0)?;
        text.raw("{\"scope\":").number(row.scope.0);
        text.raw(",\"parent\":").number_or_null(row.parent.map(|scope| scope.0));
        text.raw(",\"site\":").string(&row.site).raw(",\"depth\":").number(row.depth);
        text.raw(",\"ring\":").number(row.ring.0).raw(",\"tasks\":").number(row.tasks);
        text.raw(",\"open\":").raw(Text::truth(row.exit.is_none()));
        text.raw(",\"enter\":").number(row.enter.0);
        text.raw(",\"exit\":").number_or_null(row.exit.map(|ticks| ticks.0));
        for (name, peaks) in [
            (",\n \"task_window\":", &row.task_window),
            (",\"heap\":", &row.heap),
            (",\"dep_pool\":", &row.dep_pool),
            (",\"args\":", &row.args),
        ] {
            text.raw(name).list(peaks, write_peak);
        }
        text.raw(",\"tensormap\":");
        write_peak(text, &row.tensormap);
        text.raw(",\"fanin\":");
        write_peak(text, &row.fanin);
        text.raw(",\n \"need\":");
        write_need(text, &row.need);
        text.raw(",\"stalls\":").list(&*row.stalls, write_stall).raw("}");
        Ok(())
    }

    /// Ends the file with the counts; `dropped` is how many scopes were lost.
    pub fn finish(mut self, dropped: u64) -> io::Result<RowCounts> {
        let counts = RowCounts { collected: self.scopes.rows(0), dropped };
        let text = self.scopes.close()?.raw(",\n");
        counts.write(text);
        text.raw("}\n");
        self.scopes.finish()?;
        Ok(counts)
    }
}

fn write_peak(text: &mut Text, peak: &Peak) {
    text.raw("\"").number(peak.peak).raw("/").number(peak.capacity).raw("\"");
}

fn write_need(text: &mut Text, need: &ScopeNeed) {
    text.raw("{\"task_window\":").number(need.task_window).raw(",\"heap\":").number(need.heap);
    text.raw(",\"dep_pool\":").number(need.dep_pool).raw(",\"args\":").number(need.args);
    text.raw(",\"heap_piece\":").number(need.heap_piece);
    text.raw(",\"args_piece\":").number(need.args_piece).raw("}");
}

fn write_stall(text: &mut Text, stall: &ScopeStall) {
    text.raw("{\"ring\":").number_or_null(stall.ring.map(|ring| ring.0));
    text.raw(",\"resource\":\"").raw(stall.resource.as_str()).raw("\",\"count\":").number(stall.count);
    text.raw(",\"ticks\":").number(stall.ticks.0).raw("}");
}

fn write_fatal(text: &mut Text, fatal: &ScopeFatal<'_>) {
    text.raw("{\"scope\":").number(fatal.scope.0).raw(",\"site\":").string(&fatal.site);
    text.raw(",\"ring\":").number_or_null(fatal.ring.map(|ring| ring.0));
    text.raw(",\"resource\":\"").raw(fatal.resource.as_str()).raw("\",\"used\":").number(fatal.used);
    text.raw(",\"capacity\":").number(fatal.capacity).raw(",\"need\":").number(fatal.need).raw("}");
}
