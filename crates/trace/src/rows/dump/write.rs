//! Writing the records of captured arguments.

use std::io::{self, Write};

use super::{BIN_FILE, DumpCounts, DumpData, DumpRecord, DumpTask, DumpTensor, Truncated, VERSION, scalar};
use crate::rows::KernelRow;
use crate::rows::sections::Sections;
use crate::text::Text;

const OPENINGS: &[&str] = &[",\n\"tasks\":[\n", ",\n\"records\":[\n"];
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
    pub fn new(out: W, selection: Option<&str>, kernels: &[KernelRow]) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(VERSION).raw(",\"bin_file\":").string(BIN_FILE);
        head.raw(",\"bin_format\":{\"layout\":\"logical_contiguous\",\"byte_order\":\"little_endian\"},\n");
        head.raw("\"selection\":");
        match selection {
            Some(text) => head.string(text),
            None => head.raw("null"),
        };
        head.raw(",\"kernels\":").list(kernels, |text, kernel| {
            text.raw("{\"func_id\":")
                .number(kernel.func_id.0)
                .raw(",\"name\":")
                .string(&kernel.name)
                .raw("}");
        });
        DumpWriter { sections: Sections::new(out, head, OPENINGS), counts: DumpCounts::default() }
    }

    /// Writes one task.
    pub fn task(&mut self, row: &DumpTask<'_>) -> io::Result<()> {
        let text = self.sections.row(TASKS)?;
        text.raw("[").number(row.task_id.0).raw(",").number(row.seq.0).raw(",");
        text.numbers(row.func_ids.iter().map(|id| u64::from(id.0))).raw("]");
        Ok(())
    }

    /// Writes one record.
    pub fn record(&mut self, record: &DumpRecord) -> io::Result<()> {
        let text = self.sections.row(RECORDS)?;
        let kind = match record.data {
            DumpData::Tensor(_) => "tensor",
            DumpData::Scalar(_) => "scalar",
        };
        text.raw("{\"task_id\":").number(record.task_id.0).raw(",\"arg_index\":").number(record.arg_index);
        text.raw(",\"kind\":\"").raw(kind).raw("\",\"role\":\"").raw(record.role.as_str());
        text.raw("\",\"stage\":\"").raw(record.stage.as_str()).raw("\",");
        match record.data {
            DumpData::Tensor(tensor) => write_tensor(text, &tensor),
            DumpData::Scalar(value) => {
                text.raw("\"dtype\":\"").raw(value.dtype().as_str()).raw("\",\"shape\":[],\"scalar_value\":");
                scalar::write_bits(text, value);
                text.raw(",\"value\":");
                scalar::write_value(text, value);
                text.raw(",\"bin_offset\":0,\"bin_size\":0}");
            }
        }
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

fn write_tensor(text: &mut Text, tensor: &DumpTensor) {
    tensor.view.write(text);
    if let Some((index, range)) = tensor.tensor.zip(tensor.view.byte_range()) {
        text.raw(",\"tensor\":").number(index.0).raw(",\"byte_range\":").numbers([range.start, range.end]);
    }
    text.raw(",\"is_contiguous\":").raw(Text::truth(tensor.view.is_contiguous()));
    text.raw(",\"truncated\":").raw(Text::truth(tensor.truncated == Truncated::Yes));
    text.raw(",\"bin_offset\":").number(tensor.bin_offset);
    text.raw(",\"bin_size\":").number(tensor.bin_size);
    if let Some(crc32) = tensor.crc32 {
        text.raw(",\"crc32\":").number(crc32);
    }
    text.raw("}");
}
