//! Reading the calls, one by one or whole.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use ringlane_task::{TaskId, Ticks};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{
    COLUMNS, CallRow, CallSeq, CallStatus, CallableIndex, ChipSpan, DistMeta, DistWorker, FILE_NAME,
    RowCounts, WorkerIndex, WorkerKind, stays_below,
};
use crate::error::TraceError;
use crate::rows::document::{Document, Value, counts_of, read_document};
use crate::rows::scan::ReadError;

/// Everything but the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistHead {
    /// What does not change during a run.
    pub meta: DistMeta,
    /// How many calls there are, and how many were lost.
    pub counts: RowCounts,
}

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dist {
    /// Everything but the rows.
    pub head: DistHead,
    /// Calls, in the order of the file.
    pub calls: Vec<CallRow<'static>>,
}

impl Dist {
    /// Reads the calls of a node's run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut calls = Vec::new();
        let head = read_dist(path, |row| calls.push(row))?;
        Ok(Dist { head, calls })
    }

    /// The worker of a call.
    pub fn worker(&self, call: &CallRow<'_>) -> &DistWorker {
        &self.head.meta.workers[call.worker.at()]
    }

    /// The name of what was called.
    pub fn callable(&self, call: &CallRow<'_>) -> &str {
        &self.head.meta.callables[call.callable.at()]
    }
}

/// Reads the calls of a node's run one by one, with memory that does not grow with them.
pub fn read_dist(path: impl AsRef<Path>, each: impl FnMut(CallRow<'static>)) -> Result<DistHead, TraceError> {
    let reader =
        Reader { each, head: DistHead::default(), total: 0, rows: 0, columns: None, has_meta: false };
    Ok(read_document(path.as_ref(), reader)?.head)
}

struct Reader<F> {
    each: F,
    head: DistHead,
    total: u64,
    rows: u64,
    columns: Option<Columns>,
    has_meta: bool,
}

impl<F: FnMut(CallRow<'static>)> Document for Reader<F> {
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        match key {
            "metadata" => {
                self.head.meta = value.read::<RawMeta>()?.try_into()?;
                self.has_meta = true;
            }
            "call_columns" => self.columns = Some(Columns::find(&value.read::<Vec<String>>()?)?),
            "calls" => self.calls(value)?,
            "total" => self.total = value.read()?,
            "collected" => self.head.counts.collected = value.read()?,
            "dropped" => self.head.counts.dropped = value.read()?,
            _ => value.skip()?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &["metadata", "call_columns", "calls", "total", "collected", "dropped"]
    }

    fn check(&self) -> Result<(), String> {
        let (counts, rows) = (self.head.counts, self.rows);
        counts_of(self.total, counts.collected, counts.dropped)?;
        if rows != counts.collected {
            return Err(format!("calls has {rows} rows, collected says {}", counts.collected));
        }
        Ok(())
    }
}

impl<F: FnMut(CallRow<'static>)> Reader<F> {
    fn calls(&mut self, value: Value<'_, '_>) -> Result<(), ReadError> {
        let Some(columns) = self.columns.take() else {
            return Err("call_columns stands after calls".into());
        };
        if !self.has_meta {
            return Err("metadata stands after calls".into());
        }
        value.read_rows::<Vec<Json>>("calls", |values| {
            let row = columns.row(&values)?;
            check_row(&row, &self.head.meta)?;
            (self.each)(row);
            self.rows += 1;
            Ok(())
        })
    }
}

/// What a row refers to is there, and its directory is below the node's.
fn check_row(row: &CallRow<'_>, meta: &DistMeta) -> Result<(), String> {
    if row.worker.at() >= meta.workers.len() {
        return Err(format!("worker {} of {}", row.worker.0, meta.workers.len()));
    }
    if row.callable.at() >= meta.callables.len() {
        return Err(format!("callable {} of {}", row.callable.0, meta.callables.len()));
    }
    match &row.dir {
        Some(dir) if !stays_below(dir) => Err(format!("directory {dir:?} is not inside the run directory")),
        _ => Ok(()),
    }
}

/// Where each of the wanted columns stands.
struct Columns {
    places: [usize; COLUMNS.len()],
    count: usize,
}

impl Columns {
    fn find(names: &[String]) -> Result<Self, String> {
        let mut places = [0; COLUMNS.len()];
        for (place, wanted) in places.iter_mut().zip(COLUMNS) {
            let found = names.iter().position(|name| name == wanted);
            *place = found.ok_or_else(|| format!("there is no column {wanted:?} among {names:?}"))?;
        }
        Ok(Columns { places, count: names.len() })
    }

    fn row(&self, row: &[Json]) -> Result<CallRow<'static>, String> {
        if row.len() != self.count {
            return Err(format!("{} values for {} columns", row.len(), self.count));
        }
        let values = Values { row, places: &self.places };
        let ticks = |column| values.get::<Option<u64>>(column).map(|ticks| ticks.map(Ticks));
        let chip = (values.get("chip_start")?, values.get("chip_ticks")?, values.get("chip_freq_hz")?);
        Ok(CallRow {
            worker: WorkerIndex(values.get("worker")?),
            seq: CallSeq(values.get("seq")?),
            task_id: TaskId(values.get("task_id")?),
            member: values.get("member")?,
            callable: CallableIndex(values.get("callable")?),
            submit: Ticks(values.get("submit")?),
            sent: ticks("sent")?,
            accepted: ticks("accepted")?,
            run: ticks("run")?,
            end: ticks("end")?,
            done: ticks("done")?,
            status: values.get::<CallStatus>("status")?,
            dir: values.get::<Option<String>>("dir")?.map(Cow::Owned),
            chip: chip_of(chip)?,
        })
    }
}

fn chip_of(values: (Option<u64>, Option<u64>, Option<u64>)) -> Result<Option<ChipSpan>, String> {
    match values {
        (None, None, None) => Ok(None),
        (Some(_), Some(_), Some(0)) => Err("chip_freq_hz is 0".to_string()),
        (Some(start), Some(ticks), Some(freq_hz)) => {
            Ok(Some(ChipSpan { start: Ticks(start), ticks, freq_hz }))
        }
        _ => Err("chip_start, chip_ticks and chip_freq_hz belong together".to_string()),
    }
}

struct Values<'r> {
    row: &'r [Json],
    places: &'r [usize; COLUMNS.len()],
}

impl Values<'_> {
    fn get<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, String> {
        let place = COLUMNS.iter().position(|name| *name == column).map(|at| self.places[at]);
        let value = place.and_then(|place| self.row.get(place)).unwrap_or(&Json::Null);
        T::deserialize(value).map_err(|error| format!("{column}: {error}"))
    }
}

#[derive(Deserialize)]
struct RawMeta {
    platform: String,
    clock_freq_hz: u64,
    makespan_ticks: u64,
    level: u8,
    workers: Vec<RawWorker>,
    callables: Vec<String>,
}

#[derive(Deserialize)]
struct RawWorker {
    name: String,
    kind: WorkerKind,
    pid: u32,
    clock_offset_ticks: i64,
    clock_error_ticks: Option<u64>,
    restarts: u32,
}

impl TryFrom<RawMeta> for DistMeta {
    type Error = String;

    fn try_from(raw: RawMeta) -> Result<Self, String> {
        let mut names = HashSet::new();
        for RawWorker { name, .. } in &raw.workers {
            if name.contains('/') || !stays_below(name) {
                return Err(format!("worker {name:?} cannot name a directory"));
            }
            if !names.insert(name) {
                return Err(format!("two workers are called {name:?}"));
            }
        }
        let RawMeta { platform, clock_freq_hz, makespan_ticks, level, workers, callables } = raw;
        let workers = workers.into_iter().map(DistWorker::from).collect();
        Ok(DistMeta { platform, clock_freq_hz, makespan: Ticks(makespan_ticks), level, workers, callables })
    }
}

impl From<RawWorker> for DistWorker {
    fn from(raw: RawWorker) -> Self {
        let RawWorker { name, kind, pid, clock_offset_ticks, clock_error_ticks, restarts } = raw;
        DistWorker { name, kind, pid, clock_offset_ticks, clock_error_ticks, restarts }
    }
}
