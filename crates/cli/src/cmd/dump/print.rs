//! Statistics and first elements of captured arguments.

use std::collections::BTreeMap;

use ringlane_insight::dump::{Captured, Stats, Value, describe_shape, stats};
use ringlane_insight::task_name;
use ringlane_insight::units::counted;
use ringlane_task::{Seq, TaskId};
use ringlane_trace::dump::Payloads;
use serde::Serialize;

use super::list::{Row, stage_word};
use crate::errors::CliError;
use crate::output::{self, printable};

/// Elements shown of each record.
const FIRST: usize = 8;

#[derive(Serialize)]
struct PrintedRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    #[serde(flatten)]
    stats: Stats,
}

/// A number with the digits that are worth reading.
pub fn seven_digits(number: f64) -> String {
    match number as f32 {
        // Too large or too small for it.
        short if short.is_infinite() || (short == 0.0 && number != 0.0) => format!("{number:.6e}"),
        short => format!("{short:?}"),
    }
}

/// A task in a sentence: its name, when it was submitted, and what it runs.
pub fn task_line(task: TaskId, seq: Seq, kernel: &str) -> String {
    format!("task {} (seq {seq}) {}", task_name(task), printable(kernel))
}

/// What the elements are like, in one line.
pub fn stats_line(stats: &Stats) -> String {
    let value = |value: Option<Value>| value.map_or("-".to_string(), |value| value.to_string());
    let mean = stats.mean.map_or("-".to_string(), seven_digits);
    format!(
        "{}, min {}, max {}, mean {mean}, {} NaN, {} infinite",
        counted(stats.elements, "element"),
        value(stats.min),
        value(stats.max),
        stats.nan,
        stats.infinite
    )
}

/// Each record with its statistics and first elements.
pub fn text(selected: &[Captured<'_>], payloads: &Payloads) -> Result<String, CliError> {
    let mut text = String::new();
    for captured in selected {
        let stats = stats(captured.record, payloads, FIRST)?;
        let first: Vec<_> = stats.first.iter().map(Value::to_string).collect();
        let more = if stats.elements > FIRST as u64 { " …" } else { "" };
        text += &format!("{}\n  {}\n  {}{more}\n", heading(captured), stats_line(&stats), first.join(" "));
    }
    Ok(text)
}

/// The same for programs.
pub fn json(selected: &[Captured<'_>], payloads: &Payloads) -> Result<String, CliError> {
    let mut records = Vec::with_capacity(selected.len());
    for captured in selected {
        let stats = stats(captured.record, payloads, FIRST)?;
        records.push(PrintedRow { row: Row::of(captured), stats });
    }
    Ok(output::json(&BTreeMap::from([("records", records)])))
}

fn heading(captured: &Captured<'_>) -> String {
    let row = Row::of(captured);
    let of =
        row.tensor.map(|tensor| format!(", bytes {} of tensor {tensor}", row.range())).unwrap_or_default();
    let Row { index, arg, kind, role, dtype, shape, truncated, .. } = row;
    let (task, stage) = (
        task_line(captured.task.task_id, captured.seq(), &captured.title()),
        stage_word(captured.record.stage),
    );
    let (shape, cut) = (describe_shape(&shape), if truncated { ", truncated" } else { "" });
    format!("#{index} {task} arg {arg}: {role} {kind}, {stage}, {dtype} {shape}{of}{cut}")
}
