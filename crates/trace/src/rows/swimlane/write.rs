//! Writing the swimlane, section by section in the order of the file.

use std::io::{self, Write};

use super::{
    BlockRow, CopyRow, EdgeRow, PhaseRow, SubmitRow, SwimlaneCounts, SwimlaneDropped, SwimlaneLevel,
    SwimlaneMeta, TaskRow, copies,
};
use crate::rows::RowCounts;
use crate::rows::sections::Sections;
use crate::text::Text;

/// What stands before the rows of level 1.
const OPENINGS_1: &[&str] = &[
    ",\n\"block_columns\":[\"core\",\"task_id\",\"func_id\",\"lane\",\"block\",\"start\",\"end\"],\n\"blocks\":[\n",
];

/// What stands before the rows of each section of level 3; level 2 has the first three.
const OPENINGS_3: &[&str] = &[
    concat!(
        ",\n\"block_columns\":[\"core\",\"task_id\",\"func_id\",\"lane\",\"block\",\"start\",\"end\",",
        "\"dispatch\",\"finish\"],\n\"blocks\":[\n"
    ),
    ",\n\"task_columns\":[\"task_id\",\"seq\",\"ready\",\"reclaim\"],\n\"tasks\":[\n",
    ",\n\"edge_columns\":[\"pred\",\"succ\"],\n\"edges\":[\n",
    concat!(
        ",\n\"phase_columns\":[\"thread\",\"phase\",\"start\",\"end\",\"loop\",\"tasks\"],\n",
        "\"scheduler_phases\":[\n"
    ),
    concat!(
        ",\n\"submit_columns\":[\"task_id\",\"start\",\"end\",\"stall\",\"alloc\",\"lookup\",\"insert\",\"wire\",",
        "\"heap_bytes\",\"read\",\"read_end\"],\n\"orchestrator_phases\":[\n"
    ),
];

const BLOCKS: usize = 0;
const TASKS: usize = 1;
const EDGES: usize = 2;
const PHASES: usize = 3;
const SUBMITS: usize = 4;

/// Writes `l2_perf_records.json`: all blocks, then all tasks, edges, phases and submits, as far as the level has them.
///
/// A row of a section that is closed already, or of a level above, is an error of kind `InvalidInput`.
///
/// ```
/// use ringlane_trace::swimlane::*;
/// let mut text = Vec::new();
/// let mut writer = SwimlaneWriter::new(&mut text, SwimlaneLevel::Tasks, &SwimlaneMeta::default());
/// writer.block(&BlockRow::default())?;
/// writer.task(&TaskRow::default())?;
/// assert!(writer.block(&BlockRow::default()).is_err());
/// let counts = writer.finish(&SwimlaneDropped { blocks: 2, ..Default::default() })?;
/// assert_eq!((counts.blocks.total(), counts.tasks.total()), (3, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SwimlaneWriter<W> {
    level: SwimlaneLevel,
    /// How many there are, where the chip copies.
    copies: Option<u64>,
    sections: Sections<W>,
}

impl<W: Write> SwimlaneWriter<W> {
    /// Starts the file.
    pub fn new(out: W, level: SwimlaneLevel, meta: &SwimlaneMeta) -> Self {
        Self::with_copies(out, level, meta, None)
    }

    /// Starts the file of a chip that may copy between host and device: where it does, `copies` are all of them.
    ///
    /// ```
    /// use ringlane_trace::swimlane::*;
    /// use ringlane_task::Ticks;
    /// let copy = CopyRow {
    ///     direction: CopyDirection::HostToDevice, what: "buffer 0".into(), bytes: 4096, start: Ticks(0), end: Ticks(260),
    /// };
    /// let (mut text, meta) = (Vec::new(), SwimlaneMeta::default());
    /// let writer = SwimlaneWriter::with_copies(&mut text, SwimlaneLevel::Blocks, &meta, Some(&[copy]));
    /// assert_eq!(writer.finish(&SwimlaneDropped::default())?.copies.total(), 1);
    /// assert!(String::from_utf8(text).unwrap().contains(r#""copies":[["h2d","buffer 0",4096,0,260]]"#));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn with_copies(
        out: W,
        level: SwimlaneLevel,
        meta: &SwimlaneMeta,
        copies: Option<&[CopyRow]>,
    ) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(level.version());
        head.raw(",\"chip_swimlane_level\":").number(level.number()).raw(",\n\"metadata\":");
        write_meta(&mut head, meta);
        if let Some(copies) = copies {
            copies::write(&mut head, copies);
        }
        let openings = match level {
            SwimlaneLevel::Blocks => OPENINGS_1,
            SwimlaneLevel::Tasks => &OPENINGS_3[..=EDGES],
            SwimlaneLevel::Phases => OPENINGS_3,
        };
        let copies = copies.map(|copies| copies.len() as u64);
        SwimlaneWriter { level, copies, sections: Sections::new(out, head, openings) }
    }

    /// Writes one block.
    pub fn block(&mut self, row: &BlockRow) -> io::Result<()> {
        let text = self.sections.row(BLOCKS)?;
        text.raw("[").number(row.core.0).raw(",").number(row.task_id.0).raw(",").number(row.func_id.0);
        text.raw(",").number(row.lane).raw(",").number(row.block.0);
        text.raw(",").number(row.start.0).raw(",").number(row.end.0);
        if self.level >= SwimlaneLevel::Tasks {
            text.raw(",").number(row.dispatch.0).raw(",").number(row.finish.0);
        }
        text.raw("]");
        Ok(())
    }

    /// Writes one task.
    pub fn task(&mut self, row: &TaskRow) -> io::Result<()> {
        let text = self.sections.row(TASKS)?;
        text.raw("[").number(row.task_id.0).raw(",").number(row.seq.0).raw(",").number(row.ready.0);
        text.raw(",").number_or_null(row.reclaim.map(|ticks| ticks.0)).raw("]");
        Ok(())
    }

    /// Writes one edge.
    pub fn edge(&mut self, row: &EdgeRow) -> io::Result<()> {
        let text = self.sections.row(EDGES)?;
        text.raw("[").number(row.pred.0).raw(",").number(row.succ.0).raw("]");
        Ok(())
    }

    /// Writes one phase of a scheduler thread.
    pub fn phase(&mut self, row: &PhaseRow) -> io::Result<()> {
        let text = self.sections.row(PHASES)?;
        text.raw("[").number(row.thread).raw(",\"").raw(row.phase.as_str()).raw("\",").number(row.start.0);
        text.raw(",").number(row.end.0).raw(",").number(row.loop_).raw(",").number(row.tasks).raw("]");
        Ok(())
    }

    /// Writes one submit.
    pub fn submit(&mut self, row: &SubmitRow) -> io::Result<()> {
        let parts = [row.start, row.end, row.stall, row.alloc, row.lookup, row.insert, row.wire];
        let text = self.sections.row(SUBMITS)?;
        text.raw("[").number(row.task_id.0);
        for ticks in parts {
            text.raw(",").number(ticks.0);
        }
        text.raw(",").number(row.heap_bytes);
        text.raw(",").number(row.read.0).raw(",").number(row.read_end.0).raw("]");
        Ok(())
    }

    /// Ends the file with the counts. Sections above the level have none.
    pub fn finish(mut self, dropped: &SwimlaneDropped) -> io::Result<SwimlaneCounts> {
        let count = |section, dropped| RowCounts { collected: self.sections.rows(section), dropped };
        let all = [
            ("blocks", count(BLOCKS, dropped.blocks)),
            ("tasks", count(TASKS, dropped.tasks)),
            ("edges", count(EDGES, dropped.edges)),
            ("phases", count(PHASES, dropped.phases)),
            ("submits", count(SUBMITS, dropped.submits)),
        ];
        let kept = match self.level {
            SwimlaneLevel::Blocks => 1,
            SwimlaneLevel::Tasks => 3,
            SwimlaneLevel::Phases => 5,
        };
        let copies = RowCounts { collected: self.copies.unwrap_or(0), dropped: dropped.copies };
        let copied = self.copies.map(|_| ("copies", copies));
        let text = self.sections.close()?;
        text.raw(",\n\"counts\":");
        for (index, (name, counts)) in all[..kept].iter().copied().chain(copied).enumerate() {
            text.raw(if index == 0 { "{\"" } else { ",\"" }).raw(name).raw("\":{");
            counts.write(text);
            text.raw("}");
        }
        text.raw("}}\n");
        self.sections.finish()?;
        let [blocks, tasks, edges, phases, submits] = all.map(|(_, counts)| counts);
        Ok(SwimlaneCounts { blocks, tasks, edges, phases, submits, copies })
    }
}

fn write_meta(head: &mut Text, meta: &SwimlaneMeta) {
    head.raw("{\"platform\":").string(&meta.platform).raw(",\"clock_freq_hz\":").number(meta.clock_freq_hz);
    head.raw(",\"num_cores\":").number(meta.core_types.len()).raw(",\"core_types\":");
    head.list(&meta.core_types, |text, core| {
        text.string(core);
    });
    head.raw(",\"num_scheduler_threads\":").number(meta.num_scheduler_threads).raw(",\"core_to_thread\":");
    head.numbers(meta.core_to_thread.iter().map(|&thread| u64::from(thread))).raw(",\"kernels\":");
    head.list(&meta.kernels, |text, kernel| {
        kernel.write(text.raw("{")).raw("}");
    });
    head.raw("}");
}
