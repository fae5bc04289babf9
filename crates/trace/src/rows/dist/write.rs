//! Writing the calls.

use std::io::{self, Write};

use super::{CallRow, DistMeta, RowCounts, VERSION};
use crate::rows::field::Field;
use crate::rows::row::{ArrayRow, Row, opening};
use crate::rows::sections::Sections;
use crate::text::Text;

/// Writes `dist_swimlane.json`, one row a call.
///
/// ```
/// use ringlane_task::{TaskId, Ticks};
/// use ringlane_trace::dist::{CallRow, CallSeq, DistMeta, DistWorker, DistWriter, WorkerIndex, WorkerKind};
/// let worker = DistWorker {
///     name: "chip0".to_string(),
///     kind: WorkerKind::Chip,
///     pid: 4711,
///     clock_offset_ticks: -12,
///     clock_error_ticks: Some(900),
///     restarts: 0,
/// };
/// let meta = DistMeta { level: 3, workers: vec![worker], callables: vec!["decode".into()], ..DistMeta::default() };
/// let mut text = Vec::new();
/// let mut writer = DistWriter::new(&mut text, &meta);
/// let mut call = CallRow::submitted(WorkerIndex(0), CallSeq(1), TaskId(0), Ticks(10));
/// (call.sent, call.dir) = (Some(Ticks(20)), Some("chip0/1".into()));
/// writer.call(&call)?;
/// assert_eq!(writer.finish(0)?.collected, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct DistWriter<W> {
    calls: Sections<W>,
}

impl<W: Write> DistWriter<W> {
    /// Starts the file.
    pub fn new(out: W, meta: &DistMeta) -> Self {
        let mut head = Text::default();
        meta.write(head.raw("{\"version\":").number(VERSION).raw(",\n\"metadata\":"));
        let columns = CallRow::COLUMNS.len();
        let calls = opening::<CallRow<'_>>("call_columns", "calls", columns);
        DistWriter { calls: Sections::new(out, head, vec![calls]) }
    }

    /// Writes one call. Calls may be in any order.
    pub fn call(&mut self, row: &CallRow<'_>) -> io::Result<()> {
        row.write_values(self.calls.row(0)?, CallRow::COLUMNS.len());
        Ok(())
    }

    /// Ends the file with the counts; `dropped` is how many calls were lost.
    pub fn finish(self, dropped: u64) -> io::Result<RowCounts> {
        self.calls.finish_counted(dropped)
    }
}
