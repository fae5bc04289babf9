//! Writing the swimlane, array by array in the order of the file.

use std::convert::Infallible;
use std::io::{self, Write};

use super::sections::{ChipKind, HeadRow, SECTIONS, SectionRow, openings};
use super::{CopyRow, LaunchRow, SwimlaneCounts, SwimlaneDropped, SwimlaneLevel, SwimlaneMeta};
use crate::rows::RowCounts;
use crate::rows::field::Field;
use crate::rows::sections::Sections;
use crate::text::Text;

/// Rows that come before all others, of chips that have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadRows<'r> {
    /// All copies between host and device, where the chip copies.
    pub copies: Option<&'r [CopyRow]>,
    /// All launches, where the chip takes tasks in batches.
    pub launches: Option<&'r [LaunchRow]>,
}

/// Writes `l2_perf_records.json`: all blocks, then all tasks, edges, phases and submits, as far as the level has them.
///
/// A row of a section that is closed already, or of a level above, is an error of kind `InvalidInput`.
///
/// ```
/// use ringlane_trace::swimlane::*;
/// let mut text = Vec::new();
/// let mut writer = SwimlaneWriter::new(&mut text, SwimlaneLevel::Tasks, &SwimlaneMeta::default());
/// writer.row(&BlockRow::default())?;
/// writer.row(&TaskRow::default())?;
/// assert!(writer.row(&BlockRow::default()).is_err());
/// let counts = writer.finish(&SwimlaneDropped { blocks: 2, ..Default::default() })?;
/// assert_eq!((counts.blocks.total(), counts.tasks.total()), (3, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SwimlaneWriter<W> {
    level: SwimlaneLevel,
    /// How many copies and launches there are, where the chip has them.
    in_head: [Option<u64>; 2],
    chip: ChipKind,
    sections: Sections<W>,
}

impl<W: Write> SwimlaneWriter<W> {
    /// Starts the file.
    pub fn new(out: W, level: SwimlaneLevel, meta: &SwimlaneMeta) -> Self {
        Self::with_head(out, level, meta, HeadRows::default())
    }

    /// Starts the file of a modelled chip, whose blocks have the columns of its cost model.
    pub fn of_model(out: W, level: SwimlaneLevel, meta: &SwimlaneMeta, head: HeadRows<'_>) -> Self {
        Self::start(out, level, meta, head, ChipKind::Modelled)
    }

    /// Starts the file of a chip whose memory and tasks may be apart from the host's.
    pub fn with_head(out: W, level: SwimlaneLevel, meta: &SwimlaneMeta, head: HeadRows<'_>) -> Self {
        Self::start(out, level, meta, head, ChipKind::Real)
    }

    fn start(out: W, level: SwimlaneLevel, meta: &SwimlaneMeta, rows: HeadRows<'_>, chip: ChipKind) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(level.version());
        head.raw(",\"chip_swimlane_level\":").number(level.number()).raw(",\n\"metadata\":");
        meta.write(&mut head);
        let in_head = [write_rows(&mut head, rows.copies), write_rows(&mut head, rows.launches)];
        SwimlaneWriter { level, in_head, chip, sections: Sections::new(out, head, openings(level, chip)) }
    }

    /// Writes one row: a block, a task, an edge, a phase or a submit. All of one kind come before those of the next.
    #[inline]
    #[allow(private_bounds)] // Only rows of this file are meant.
    pub fn row<R: SectionRow>(&mut self, row: &R) -> io::Result<()> {
        row.write_values(self.sections.row(R::PLACE)?, R::columns_of(self.level, self.chip));
        Ok(())
    }

    /// Ends the file with the counts. Arrays above the level have none.
    pub fn finish(mut self, dropped: &SwimlaneDropped) -> io::Result<SwimlaneCounts> {
        // Rows of the head have no sections: they are counted after all others.
        let in_head = self.in_head.map(Option::unwrap_or_default);
        let mut rows = (0..SECTIONS).map(|section| self.sections.rows(section)).chain(in_head);
        let counts = dropped.try_map(|_, dropped| {
            Ok::<_, Infallible>(RowCounts { collected: rows.next().unwrap_or(0), dropped })
        });
        let Ok(counts) = counts;
        let sections = self.sections.len();
        let mut kept =
            (0..SECTIONS).map(|section| section < sections).chain(self.in_head.map(|rows| rows.is_some()));
        let text = self.sections.close()?;
        let mut before = ",\n\"counts\":{";
        let Ok(_) = counts.try_map(|name, counts: RowCounts| {
            if kept.next() == Some(true) {
                text.raw(before).raw("\"").raw(name).raw("\":{");
                counts.write(text);
                text.raw("}");
                before = ",";
            }
            Ok::<_, Infallible>(())
        });
        text.raw("}}\n");
        self.sections.finish()?;
        Ok(counts)
    }
}

/// Writes an array of the head, if the chip has it; gives the number of its rows.
fn write_rows<R: HeadRow>(head: &mut Text, rows: Option<&[R]>) -> Option<u64> {
    let rows = rows?;
    head.raw(&R::opening()).list(rows, |text, row| row.write_values(text, R::COLUMNS.len()));
    Some(rows.len() as u64)
}
