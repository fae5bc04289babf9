//! The list of captured arguments.

use std::collections::BTreeMap;

use ringlane_insight::dump::{ArgKind, Captured, Catalog, Value, describe_shape};
use ringlane_trace::dump::{DumpData, Stage, Truncated};
use serde::Serialize;

use crate::output::{self, printable};
use ringlane_insight::text_table::{Side, Table};

/// Rows that are printed; the rest is counted. More than a person reads, and a text of a few megabytes at most.
const SHOWN_MAX: usize = 10_000;

/// A record, as programs read it; fields may be added, never renamed.
#[derive(Serialize)]
pub struct Row<'a> {
    pub(super) index: u64,
    pub(super) task_id: u64,
    pub(super) seq: u64,
    pub(super) kernel: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<&'a str>,
    pub(super) arg: u32,
    pub(super) tensor: Option<u32>,
    pub(super) byte_range: Option<[u64; 2]>,
    pub(super) kind: &'static str,
    pub(super) role: &'static str,
    pub(super) stage: &'static str,
    pub(super) dtype: &'static str,
    pub(super) shape: Vec<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) truncated: bool,
    pub(super) value: Option<String>,
}

impl<'a> Row<'a> {
    /// What is shown of a record.
    pub fn of(captured: &Captured<'a>) -> Self {
        let record = captured.record;
        let (dtype, bytes, truncated, value) = match &record.data {
            DumpData::Tensor(tensor) => {
                (tensor.view.dtype, Some(tensor.bin_size), tensor.truncated == Truncated::Yes, None)
            }
            DumpData::Scalar(scalar) => {
                (scalar.dtype(), None, false, Some(Value::of_scalar(*scalar).to_string()))
            }
        };
        Row {
            index: captured.index,
            task_id: record.task_id.0,
            seq: captured.seq().0,
            kernel: captured.kernel,
            label: captured.label,
            arg: record.arg_index,
            tensor: captured.tensor().map(|tensor| tensor.0),
            byte_range: captured.byte_range().map(|range| [range.start, range.end]),
            kind: ArgKind::of(&record.data).as_str(),
            role: record.role.as_str(),
            stage: record.stage.as_str(),
            dtype: dtype.as_str(),
            shape: captured.shape(),
            bytes,
            truncated,
            value,
        }
    }

    /// The bytes of its tensor that it touches, as people write them: `0..64`; `-` for a scalar.
    pub(super) fn range(&self) -> String {
        self.byte_range.map_or("-".to_string(), |[start, end]| format!("{start}..{end}"))
    }

    /// Its size, or its value if it is a scalar.
    fn content(&self) -> String {
        match (&self.value, self.bytes) {
            (Some(value), _) => format!("= {value}"),
            (None, bytes) => {
                let cut = if self.truncated { " B, truncated" } else { " B" };
                format!("{}{cut}", bytes.unwrap_or(0))
            }
        }
    }
}

/// The stage in one word.
pub fn stage_word(stage: Stage) -> &'static str {
    match stage {
        Stage::BeforeDispatch => "before",
        Stage::AfterCompletion => "after",
    }
}

/// The list as a table.
pub fn text(selected: &[Captured<'_>], catalog: &Catalog) -> String {
    let mut table = Table::new(vec![
        ("index", Side::Right),
        ("task", Side::Left),
        ("seq", Side::Right),
        ("kernel", Side::Left),
        ("arg", Side::Right),
        ("kind", Side::Left),
        ("role", Side::Left),
        ("stage", Side::Left),
        ("dtype", Side::Left),
        ("shape", Side::Left),
        ("tensor", Side::Right),
        ("bytes", Side::Left),
        ("content", Side::Left),
    ]);
    for captured in selected.iter().take(SHOWN_MAX) {
        let row = Row::of(captured);
        table.push(vec![
            row.index.to_string(),
            captured.task_name(),
            row.seq.to_string(),
            printable(&captured.title()),
            row.arg.to_string(),
            row.kind.to_string(),
            row.role.to_string(),
            stage_word(captured.record.stage).to_string(),
            row.dtype.to_string(),
            describe_shape(&row.shape),
            row.tensor.map_or("-".to_string(), |tensor| tensor.to_string()),
            row.range(),
            row.content(),
        ]);
    }
    let mut text = table.render();
    if selected.len() > SHOWN_MAX {
        text += &format!("and {} more: use filters, or --json\n", selected.len() - SHOWN_MAX);
    }
    text += &format!("{} of {} records", selected.len(), catalog.len());
    if let Some(selection) = &catalog.selection {
        text += &format!(", of what --dump-tensor={} selected", printable(selection));
    }
    match catalog.counts.records.dropped {
        0 => text + "\n",
        lost => text + &format!("; {lost} were lost\n"),
    }
}

/// The list for programs.
pub fn json(selected: &[Captured<'_>]) -> String {
    let rows: Vec<_> = selected.iter().map(Row::of).collect();
    output::json(&BTreeMap::from([("records", rows)]))
}
