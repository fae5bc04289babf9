//! What was captured of tasks' arguments: which, when and how large. The elements stay in the run's own files.

use ringlane_insight::{Instrument, Run};
use ringlane_trace::dump::{self, Dump, DumpRecord, Truncated};
use serde::Serialize;

use super::{NoteKind, Page};
use crate::page::limits::DUMPED_MAX;

/// What a page says of captured arguments.
#[derive(Serialize)]
pub struct DumpData {
    records: u64,
    tensors: u64,
    scalars: u64,
    truncated: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    ring: u64,
    local: u32,
    arg: u32,
    role: &'static str,
    stage: &'static str,
    dtype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    bytes: u64,
}

impl Page {
    pub(super) fn add_dump(&mut self, run: &Run) {
        let Some(dump) = self.table(Instrument::Dump, run.dump()) else { return };
        if dump.records.len() > DUMPED_MAX {
            let text = format!(
                "{} captured arguments are more than the {DUMPED_MAX} that a page lists; ringlane dump lists all.",
                dump.records.len()
            );
            self.note(Instrument::Dump, NoteKind::LeftOut, text);
        }
        self.run.dump = Some(DumpData::of(dump));
    }
}

impl DumpData {
    fn of(dump: Dump) -> Self {
        let counts = dump.head.counts;
        let bytes = |record: &DumpRecord| match record.data {
            dump::DumpData::Tensor(tensor) => tensor.bin_size,
            dump::DumpData::Scalar(_) => 0,
        };
        DumpData {
            records: counts.records.collected,
            tensors: counts.tensors,
            scalars: counts.scalars,
            truncated: counts.truncated,
            bytes: dump.records.iter().fold(0, |sum: u64, record| sum.saturating_add(bytes(record))),
            selection: dump.head.selection,
            rows: dump.records.iter().take(DUMPED_MAX).map(Row::of).collect(),
        }
    }
}

impl Row {
    fn of(record: &DumpRecord) -> Self {
        let row = Row {
            ring: record.task_id.0 >> 32,
            local: record.task_id.local(),
            arg: record.arg_index,
            role: record.role.as_str(),
            stage: record.stage.as_str(),
            dtype: "",
            shape: None,
            value: None,
            truncated: false,
            bytes: 0,
        };
        match record.data {
            dump::DumpData::Tensor(tensor) => Row {
                dtype: tensor.view.dtype.as_str(),
                shape: Some(tensor.view.shape().collect()),
                truncated: tensor.truncated == Truncated::Yes,
                bytes: tensor.bin_size,
                ..row
            },
            dump::DumpData::Scalar(scalar) => {
                Row { dtype: scalar.dtype().as_str(), value: Some(scalar.to_string()), ..row }
            }
        }
    }
}
