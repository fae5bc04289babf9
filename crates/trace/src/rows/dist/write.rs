//! Writing the calls.

use std::io::{self, Write};

use super::{CallRow, DistMeta, DistWorker, RowCounts, VERSION};
use crate::rows::sections::Sections;
use crate::text::Text;

const OPENINGS: &[&str] = &[concat!(
    ",\n\"call_columns\":[\"worker\",\"seq\",\"task_id\",\"member\",\"callable\",\"submit\",\"sent\",\"accepted\",",
    "\"run\",\"end\",\"done\",\"status\",\"dir\",\"chip_start\",\"chip_ticks\",\"chip_freq_hz\"],\n\"calls\":[\n"
)];

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
        head.raw("{\"version\":")
            .number(VERSION)
            .raw(",\n\"metadata\":{\"platform\":")
            .string(&meta.platform);
        head.raw(",\"clock_freq_hz\":").number(meta.clock_freq_hz);
        head.raw(",\"makespan_ticks\":").number(meta.makespan.0).raw(",\"level\":").number(meta.level);
        head.raw(",\n \"workers\":").list(&meta.workers, write_worker);
        head.raw(",\n \"callables\":").list(&meta.callables, |text, name| {
            text.string(name);
        });
        head.raw("}");
        DistWriter { calls: Sections::new(out, head, OPENINGS) }
    }

    /// Writes one call. Calls may stand in any order.
    pub fn call(&mut self, row: &CallRow<'_>) -> io::Result<()> {
        let text = self.calls.row(0)?;
        text.raw("[").number(row.worker.0).raw(",").number(row.seq.0).raw(",").number(row.task_id.0);
        text.raw(",").number(row.member).raw(",").number(row.callable.0).raw(",").number(row.submit.0);
        for (_, step) in row.steps() {
            text.raw(",").number_or_null(step.map(|ticks| ticks.0));
        }
        text.raw(",\"").raw(row.status.as_str()).raw("\",");
        match &row.dir {
            Some(dir) => text.string(dir),
            None => text.raw("null"),
        };
        let chip = row.chip.map(|chip| [chip.start.0, chip.ticks, chip.freq_hz]);
        for place in 0..3 {
            text.raw(",").number_or_null(chip.map(|chip| chip[place]));
        }
        text.raw("]");
        Ok(())
    }

    /// Ends the file with the counts; `dropped` is how many calls were lost.
    pub fn finish(mut self, dropped: u64) -> io::Result<RowCounts> {
        let counts = RowCounts { collected: self.calls.rows(0), dropped };
        let text = self.calls.close()?.raw(",\n");
        counts.write(text);
        text.raw("}\n");
        self.calls.finish()?;
        Ok(counts)
    }
}

fn write_worker(text: &mut Text, worker: &DistWorker) {
    text.raw("\n  {\"name\":").string(&worker.name).raw(",\"kind\":\"").raw(worker.kind.as_str());
    text.raw("\",\"pid\":").number(worker.pid);
    text.raw(",\"clock_offset_ticks\":").number(worker.clock_offset_ticks);
    text.raw(",\"clock_error_ticks\":").number_or_null(worker.clock_error_ticks);
    text.raw(",\"restarts\":").number(worker.restarts).raw("}");
}

#[cfg(test)]
mod tests {
    use super::super::COLUMNS;
    use super::*;

    #[test]
    fn the_columns_that_are_written_are_those_that_are_read() {
        let named: Vec<_> = COLUMNS.iter().map(|name| format!("\"{name}\"")).collect();
        assert!(OPENINGS[0].contains(&format!("[{}]", named.join(","))));
    }
}
