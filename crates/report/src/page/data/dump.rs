//! What was captured of tasks' arguments: which, when and how large. The elements stay in the run's own files.

use std::collections::HashMap;

use ringlane_insight::{Instrument, Run};
use ringlane_trace::dump::{self, Dump, DumpRecord, Role, Stage, Truncated};
use serde::Serialize;

use super::{NoteKind, Page, grouped};
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
    roles: [&'static str; 3],
    stages: [&'static str; 2],
    /// Types and shapes that rows refer to by their places.
    forms: Vec<String>,
    rows: Vec<Row>,
}

/// A captured argument: ring, number, argument, place of the role, place of the stage, place of the form, bytes, whether
/// it is cut short, and the value of a scalar. A list, because there are many.
#[derive(Serialize)]
struct Row(
    u64,
    u32,
    u32,
    u8,
    u8,
    usize,
    u64,
    u8,
    #[serde(skip_serializing_if = "Option::is_none")] Option<String>,
);

impl Page {
    pub(super) fn add_dump(&mut self, run: &Run) {
        let Some(dump) = self.table(Instrument::Dump, run.dump()) else { return };
        if dump.records.len() > DUMPED_MAX {
            let text = format!(
                "The run has {} captured arguments; the page lists only {}. ringlane dump lists all of them.",
                grouped(dump.records.len()),
                grouped(DUMPED_MAX)
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
        let mut forms = Forms::default();
        let rows = dump.records.iter().take(DUMPED_MAX).map(|record| Row::of(record, &mut forms)).collect();
        DumpData {
            records: counts.records.collected,
            tensors: counts.tensors,
            scalars: counts.scalars,
            truncated: counts.truncated,
            bytes: dump.records.iter().fold(0, |sum: u64, record| sum.saturating_add(bytes(record))),
            selection: dump.head.selection,
            roles: [Role::Input, Role::Output, Role::InOut].map(Role::as_str),
            stages: [Stage::BeforeDispatch, Stage::AfterCompletion].map(Stage::as_str),
            forms: forms.names,
            rows,
        }
    }
}

/// Types and shapes, each once.
#[derive(Default)]
struct Forms {
    places: HashMap<String, usize>,
    names: Vec<String>,
}

impl Forms {
    fn place(&mut self, name: String) -> usize {
        let Forms { places, names } = self;
        *places.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() - 1
        })
    }
}

impl Row {
    fn of(record: &DumpRecord, forms: &mut Forms) -> Self {
        let (form, bytes, truncated, value) = match record.data {
            dump::DumpData::Tensor(tensor) => {
                let shape: Vec<String> = tensor.view.shape().map(|len| len.to_string()).collect();
                let form = format!("{}[{}]", tensor.view.dtype.as_str(), shape.join("×"));
                (form, tensor.bin_size, tensor.truncated == Truncated::Yes, None)
            }
            dump::DumpData::Scalar(scalar) => {
                (scalar.dtype().as_str().to_string(), 0, false, Some(scalar.to_string()))
            }
        };
        let task = record.task_id;
        let (role, stage) = (record.role as u8, record.stage as u8);
        let (ring, form) = (task.0 >> 32, forms.place(form));
        Row(ring, task.local(), record.arg_index, role, stage, form, bytes, u8::from(truncated), value)
    }
}
