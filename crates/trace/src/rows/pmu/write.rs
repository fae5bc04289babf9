//! Writing the counters.

use std::io::{self, ErrorKind, Write};

use super::{PmuRow, columns};
use crate::text::Text;

/// Writes `pmu.csv`, one row a block.
///
/// ```
/// use ringlane_task::{CoreId, KernelId, TaskId};
/// use ringlane_trace::pmu::{PmuRow, PmuWriter};
/// let mut text = Vec::new();
/// let mut writer = PmuWriter::new(&mut text, &["instructions"]);
/// writer.row(&PmuRow {
///     thread_id: 0, core_id: CoreId(1), task_id: TaskId(7), func_id: KernelId(2), core_type: "cpu".into(),
///     pmu_total_cycles: 900, counters: (&[1200][..]).into(), event_type: 1,
/// })?;
/// assert_eq!(writer.finish()?, 1);
/// assert_eq!(
///     String::from_utf8(text).unwrap(),
///     "thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles,instructions,event_type\n0,1,7,2,cpu,900,1200,1\n",
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct PmuWriter<W> {
    out: W,
    text: Text,
    counters: usize,
    rows: u64,
}

impl<W: Write> PmuWriter<W> {
    /// Starts the file with its line of column names.
    pub fn new(out: W, counter_columns: &[&str]) -> Self {
        let mut text = Text::default();
        for (place, name) in columns(counter_columns).iter().enumerate() {
            text.raw(if place > 0 { "," } else { "" }).csv_field(name);
        }
        text.raw("\n");
        PmuWriter { out, text, counters: counter_columns.len(), rows: 0 }
    }

    /// Writes one row. It has as many counters as the file has columns for them, else the row is refused.
    pub fn row(&mut self, row: &PmuRow<'_>) -> io::Result<()> {
        if row.counters.len() != self.counters {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "a row with other counters than the columns",
            ));
        }
        self.text.spill(&mut self.out)?;
        row.write_cells(&mut self.text);
        self.text.raw("\n");
        self.rows += 1;
        Ok(())
    }

    /// Ends the file and returns the number of its rows.
    pub fn finish(mut self) -> io::Result<u64> {
        self.text.give(&mut self.out)?;
        self.out.flush()?;
        Ok(self.rows)
    }
}
