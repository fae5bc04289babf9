//! Reading the records of captured arguments, one by one or whole.

use std::path::Path;

use ringlane_task::{KernelId, Scalar, Seq, TaskId};
use serde::Deserialize;

use super::{
    BIN_FILE, DumpCounts, DumpData, DumpRecord, DumpTensor, FILE_NAME, OwnedDumpTask, Role, Stage, Truncated,
};
use crate::error::TraceError;
use crate::rows::deps::TensorIndex;
use crate::rows::document::{Document, RawKernel, Value, counts_of, read_document, view_of};
use crate::rows::scan::ReadError;
use crate::rows::{KernelRow, ViewRow};

/// One row of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpRow {
    /// A task that has records.
    Task(OwnedDumpTask),
    /// An argument at one moment.
    Record(DumpRecord),
}

/// Everything but the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpHead {
    /// What was chosen to be captured; `None` for everything.
    pub selection: Option<String>,
    /// The kernels of the run; the file does not say their kind of core.
    pub kernels: Vec<KernelRow>,
    /// How many records the file says it has.
    pub counts: DumpCounts,
}

/// The whole file in memory; the bytes of tensors stay where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// Everything but the rows.
    pub head: DumpHead,
    /// Tasks.
    pub tasks: Vec<OwnedDumpTask>,
    /// Records.
    pub records: Vec<DumpRecord>,
}

impl Dump {
    /// Reads the records of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut dump = Dump::default();
        dump.head = read_dump(path, |row| match row {
            DumpRow::Task(task) => dump.tasks.push(task),
            DumpRow::Record(record) => dump.records.push(record),
        })?;
        Ok(dump)
    }
}

/// Reads the records of a run one by one, with memory that does not grow with them.
pub fn read_dump(path: impl AsRef<Path>, each: impl FnMut(DumpRow)) -> Result<DumpHead, TraceError> {
    let reader = Reader { each, head: DumpHead::default(), total: 0, found: DumpCounts::default() };
    Ok(read_document(path.as_ref(), reader)?.head)
}

struct Reader<F> {
    each: F,
    head: DumpHead,
    total: u64,
    /// What the records themselves add up to.
    found: DumpCounts,
}

impl<F: FnMut(DumpRow)> Document for Reader<F> {
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        let counts = &mut self.head.counts;
        match key {
            "bin_file" => {
                let name: String = value.read()?;
                if name != BIN_FILE {
                    return Err(format!("bin_file {name:?} is not {BIN_FILE:?}").into());
                }
            }
            "selection" => self.head.selection = value.read()?,
            "kernels" => {
                let raw: Vec<RawKernel> = value.read()?;
                self.head.kernels = raw.into_iter().map(KernelRow::from).collect();
            }
            "tasks" => value.read_rows("tasks", |raw| {
                (self.each)(DumpRow::Task(task_of(raw)));
                Ok(())
            })?,
            "records" => value.read_rows("records", |raw: RawRecord| {
                let record = DumpRecord::try_from(raw)?;
                self.found.add(&record);
                (self.each)(DumpRow::Record(record));
                Ok(())
            })?,
            "total" => self.total = value.read()?,
            "collected" => counts.records.collected = value.read()?,
            "dropped" => counts.records.dropped = value.read()?,
            "tensors" => counts.tensors = value.read()?,
            "scalars" => counts.scalars = value.read()?,
            "truncated" => counts.truncated = value.read()?,
            "before_dispatch" => counts.before_dispatch = value.read()?,
            "after_completion" => counts.after_completion = value.read()?,
            _ => value.skip()?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &[
            "bin_file",
            "tasks",
            "records",
            "total",
            "collected",
            "dropped",
            "tensors",
            "scalars",
            "truncated",
            "before_dispatch",
            "after_completion",
        ]
    }

    fn check(&self) -> Result<(), String> {
        let (said, found) = (&self.head.counts, &self.found);
        counts_of(self.total, said.records.collected, said.records.dropped)?;
        for (name, said, found) in [
            ("collected", said.records.collected, found.records.collected),
            ("tensors", said.tensors, found.tensors),
            ("scalars", said.scalars, found.scalars),
            ("truncated", said.truncated, found.truncated),
            ("before_dispatch", said.before_dispatch, found.before_dispatch),
            ("after_completion", said.after_completion, found.after_completion),
        ] {
            if said != found {
                return Err(format!("{name} says {said}, there are {found}"));
            }
        }
        Ok(())
    }
}

fn task_of((task_id, seq, func_ids): (u64, u64, Vec<u32>)) -> OwnedDumpTask {
    let func_ids = func_ids.into_iter().map(KernelId).collect();
    OwnedDumpTask { task_id: TaskId(task_id), seq: Seq(seq), func_ids }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Tensor,
    Scalar,
}

#[derive(Deserialize)]
struct RawRecord {
    task_id: u64,
    arg_index: u32,
    kind: Kind,
    role: Role,
    stage: Stage,
    dtype: String,
    shape: Vec<u32>,
    #[serde(default)]
    strides: Vec<u32>,
    #[serde(default)]
    offset: u64,
    tensor: Option<u32>,
    byte_range: Option<[u64; 2]>,
    #[serde(default)]
    truncated: bool,
    bin_offset: u64,
    bin_size: u64,
    crc32: Option<u32>,
    scalar_value: Option<String>,
}

impl TryFrom<RawRecord> for DumpRecord {
    type Error = String;
    fn try_from(raw: RawRecord) -> Result<Self, String> {
        let data = match raw.kind {
            Kind::Tensor => DumpData::Tensor(DumpTensor {
                tensor: raw.tensor.map(TensorIndex),
                view: placed_view_of(&raw)?,
                truncated: if raw.truncated { Truncated::Yes } else { Truncated::No },
                bin_offset: raw.bin_offset,
                bin_size: raw.bin_size,
                crc32: raw.crc32,
            }),
            Kind::Scalar => DumpData::Scalar(scalar_of(&raw)?),
        };
        let (task_id, arg_index) = (TaskId(raw.task_id), raw.arg_index);
        Ok(DumpRecord { task_id, arg_index, role: raw.role, stage: raw.stage, data })
    }
}

/// The view, which touches the bytes that the record says.
fn placed_view_of(raw: &RawRecord) -> Result<ViewRow, String> {
    let view = view_of(&raw.dtype, &raw.shape, &raw.strides, raw.offset)?;
    match raw.byte_range {
        Some([start, end]) if view.byte_range() != Some(start..end) => {
            Err(format!("byte_range [{start},{end}] is not that of the view"))
        }
        _ => Ok(view),
    }
}

fn scalar_of(raw: &RawRecord) -> Result<Scalar, String> {
    if raw.bin_size != 0 || !raw.shape.is_empty() {
        return Err("a scalar has a payload or a shape".to_string());
    }
    let dtype = raw.dtype.parse().map_err(|_| format!("unknown dtype {:?}", raw.dtype))?;
    let text = raw.scalar_value.as_deref().ok_or("a scalar without scalar_value")?;
    let digits = text
        .strip_prefix("0x")
        .filter(|digits| digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let bits = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let bits = bits.ok_or_else(|| format!("scalar_value {text:?} is not 0x and 16 digits"))?;
    Scalar::from_bits(bits, dtype).ok_or_else(|| format!("scalar_value {text:?} is no {dtype}"))
}
