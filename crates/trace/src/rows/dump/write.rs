//! Writing the records of captured arguments.

use std::io::{self, Write};

use super::record::RecordRow;
use super::{BIN_FILE, DumpCounts, DumpKernel, DumpRecord, DumpTask, VERSION};
use crate::rows::field::Field;
use crate::rows::row::{ArrayRow, Row};
use crate::rows::sections::Sections;
use crate::text::Text;

const TASKS: usize = 0;
const RECORDS: usize = 1;

/// Writes `tensor_dump.json`: all tasks, then all records.
///
/// ```
/// use ringlane_task::{Scalar, TaskId};
/// use ringlane_trace::dump::{DumpData, DumpRecord, DumpWriter, Role, Stage};
/// let mut text = Vec::new();
/// let mut writer = DumpWriter::new(&mut text, None, &[]);
/// let data = DumpData::Scalar(Scalar::new(1.0f32));
/// let (role, stage) = (Role::Input, Stage::BeforeDispatch);
/// writer.record(&DumpRecord { task_id: TaskId(0), arg_index: 2, role, stage, data })?;
/// assert_eq!(writer.finish(0)?.scalars, 1);
/// assert!(String::from_utf8(text).unwrap().contains(r#""scalar_value":"0x000000003f800000","value":1.0"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct DumpWriter<W> {
    sections: Sections<W>,
    counts: DumpCounts,
}

impl<W: Write> DumpWriter<W> {
    /// Starts the file. `selection` is what the user chose to capture, `None` for everything.
    pub fn new(out: W, selection: Option<&str>, kernels: &[DumpKernel]) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(VERSION).raw(",\"bin_file\":").string(BIN_FILE);
        head.raw(",\"bin_format\":{\"layout\":\"logical_contiguous\",\"byte_order\":\"little_endian\"},\n");
        head.raw("\"selection\":");
        selection.map(str::to_string).write(&mut head);
        kernels.to_vec().write(head.raw(",\"kernels\":"));
        let openings = ["tasks", "records"].map(|key| format!(",\n\"{key}\":[\n"));
        DumpWriter { sections: Sections::new(out, head, openings.to_vec()), counts: DumpCounts::default() }
    }

    /// Writes one task.
    pub fn task(&mut self, row: &DumpTask<'_>) -> io::Result<()> {
        row.write_values(self.sections.row(TASKS)?, DumpTask::COLUMNS.len());
        Ok(())
    }

    /// Writes one record.
    pub fn record(&mut self, record: &DumpRecord) -> io::Result<()> {
        RecordRow::from(record).write(self.sections.row(RECORDS)?);
        self.counts.add(record);
        Ok(())
    }

    /// Ends the file with the counts; `dropped` is how many records were lost.
    pub fn finish(mut self, dropped: u64) -> io::Result<DumpCounts> {
        self.counts.records.dropped = dropped;
        let counts = self.counts;
        let text = self.sections.close()?.raw(",\n");
        counts.records.write(text);
        for (name, count) in [
            (",\"tensors\":", counts.tensors),
            (",\"scalars\":", counts.scalars),
            (",\"truncated\":", counts.truncated),
            (",\"before_dispatch\":", counts.before_dispatch),
            (",\"after_completion\":", counts.after_completion),
        ] {
            text.raw(name).number(count);
        }
        text.raw("}\n");
        self.sections.finish()?;
        Ok(counts)
    }
}
