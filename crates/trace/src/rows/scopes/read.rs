//! Reading the scopes, one by one or whole.

use std::borrow::Cow;
use std::path::Path;

use ringlane_task::{RINGS, Resource, RingIndex, ScopeId, Ticks};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{FILE_NAME, Peak, RowCounts, ScopeFatal, ScopeNeed, ScopeRow, ScopeStall, quick};
use crate::error::TraceError;
use crate::rows::document::{Document, RowReader, Value, counts_of, named, read_document};
use crate::rows::quick::Quick;
use crate::rows::scan::ReadError;

/// Everything but the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopesHead {
    /// Which scope exhausted what, if that ended the run.
    pub fatal: Option<ScopeFatal<'static>>,
    /// How many scopes the file says it has.
    pub counts: RowCounts,
}

/// The whole file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// Everything but the rows.
    pub head: ScopesHead,
    /// Scopes, in the order of the file.
    pub scopes: Vec<ScopeRow<'static>>,
}

impl Scopes {
    /// Reads the scopes of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let mut scopes = Vec::new();
        let head = read_scopes(path, |row| scopes.push(row))?;
        Ok(Scopes { head, scopes })
    }
}

/// Reads the scopes of a run one by one, with memory that does not grow with them.
pub fn read_scopes(
    path: impl AsRef<Path>,
    each: impl FnMut(ScopeRow<'static>),
) -> Result<ScopesHead, TraceError> {
    Ok(read_document(path.as_ref(), Reader::new(each))?.head)
}

pub(super) struct Reader<F> {
    each: F,
    head: ScopesHead,
    total: u64,
    rows: u64,
}

impl<F: FnMut(ScopeRow<'static>)> Reader<F> {
    pub(super) fn new(each: F) -> Self {
        Reader { each, head: ScopesHead::default(), total: 0, rows: 0 }
    }
}

impl<F: FnMut(ScopeRow<'static>)> Document for Reader<F> {
    const FILE_NAME: &'static str = FILE_NAME;

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        match key {
            "fatal" => self.head.fatal = value.read::<Option<RawFatal>>()?.map(fatal_of),
            "scopes" => value.read_rows_with(&Rows, "scopes", |row| {
                (self.each)(row);
                self.rows += 1;
                Ok(())
            })?,
            "total" => self.total = value.read()?,
            "collected" => self.head.counts.collected = value.read()?,
            "dropped" => self.head.counts.dropped = value.read()?,
            _ => value.skip()?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        &["fatal", "scopes", "total", "collected", "dropped"]
    }

    fn check(&self) -> Result<(), String> {
        let (counts, rows) = (self.head.counts, self.rows);
        counts_of(self.total, counts.collected, counts.dropped)?;
        if rows != counts.collected {
            return Err(format!("scopes has {rows} rows, collected says {}", counts.collected));
        }
        Ok(())
    }
}

pub(super) struct Rows;

impl RowReader for Rows {
    type Row = ScopeRow<'static>;

    fn quick(&self, text: &mut Quick<'_>) -> Option<ScopeRow<'static>> {
        quick::scope(text)
    }

    fn whole(&self, text: &[u8]) -> Result<ScopeRow<'static>, ReadError> {
        Ok(scope_of(serde_json::from_slice(text)?)?)
    }
}

#[derive(Deserialize)]
struct RawScope {
    scope: u32,
    parent: Option<u32>,
    site: String,
    depth: u32,
    ring: u8,
    tasks: u64,
    open: bool,
    enter: u64,
    exit: Option<u64>,
    task_window: [RawPeak; RINGS],
    heap: [RawPeak; RINGS],
    dep_pool: [RawPeak; RINGS],
    args: [RawPeak; RINGS],
    tensormap: RawPeak,
    fanin: RawPeak,
    need: RawNeed,
    stalls: Vec<RawStall>,
}

fn scope_of(raw: RawScope) -> Result<ScopeRow<'static>, String> {
    let exit = match (raw.open, raw.exit) {
        (true, _) => None,
        (false, Some(exit)) => Some(Ticks(exit)),
        (false, None) => return Err("a scope that ended has no exit".to_string()),
    };
    if usize::from(raw.ring) >= RINGS {
        return Err(format!("ring {} of {RINGS}", raw.ring));
    }
    let peaks = |raw: [RawPeak; RINGS]| raw.map(|peak| peak.0);
    Ok(ScopeRow {
        scope: ScopeId(raw.scope),
        parent: raw.parent.map(ScopeId),
        site: Cow::Owned(raw.site),
        depth: raw.depth,
        ring: RingIndex(raw.ring),
        tasks: raw.tasks,
        enter: Ticks(raw.enter),
        exit,
        task_window: peaks(raw.task_window),
        heap: peaks(raw.heap),
        dep_pool: peaks(raw.dep_pool),
        args: peaks(raw.args),
        tensormap: raw.tensormap.0,
        fanin: raw.fanin.0,
        need: raw.need.into(),
        stalls: raw.stalls.into_iter().map(ScopeStall::from).collect(),
    })
}

/// `"peak/capacity"`.
struct RawPeak(Peak);

impl<'de> Deserialize<'de> for RawPeak {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(from)?;
        let number = |text: &str| text.parse::<u64>().ok();
        let numbers = text.split_once('/').and_then(|(peak, capacity)| number(peak).zip(number(capacity)));
        let (peak, capacity) =
            numbers.ok_or_else(|| D::Error::custom(format!("{text:?} is not peak/capacity")))?;
        Ok(RawPeak(Peak { peak, capacity }))
    }
}

#[derive(Deserialize)]
struct RawNeed {
    task_window: u64,
    heap: u64,
    dep_pool: u64,
    args: u64,
    #[serde(default)]
    heap_piece: u64,
    #[serde(default)]
    args_piece: u64,
}

impl From<RawNeed> for ScopeNeed {
    fn from(raw: RawNeed) -> Self {
        let RawNeed { task_window, heap, dep_pool, args, heap_piece, args_piece } = raw;
        ScopeNeed { task_window, heap, dep_pool, args, heap_piece, args_piece }
    }
}

#[derive(Deserialize)]
struct RawStall {
    ring: Option<u8>,
    #[serde(deserialize_with = "resource")]
    resource: Resource,
    count: u64,
    ticks: u64,
}

impl From<RawStall> for ScopeStall {
    fn from(raw: RawStall) -> Self {
        let (ring, ticks) = (raw.ring.map(RingIndex), Ticks(raw.ticks));
        ScopeStall { ring, resource: raw.resource, count: raw.count, ticks }
    }
}

fn resource<'de, D: Deserializer<'de>>(from: D) -> Result<Resource, D::Error> {
    named(from, "resource", &Resource::ALL, Resource::as_str)
}

#[derive(Deserialize)]
struct RawFatal {
    scope: u32,
    site: String,
    ring: Option<u8>,
    #[serde(deserialize_with = "resource")]
    resource: Resource,
    used: u64,
    capacity: u64,
    need: u64,
}

fn fatal_of(raw: RawFatal) -> ScopeFatal<'static> {
    ScopeFatal {
        scope: ScopeId(raw.scope),
        site: Cow::Owned(raw.site),
        ring: raw.ring.map(RingIndex),
        resource: raw.resource,
        used: raw.used,
        capacity: raw.capacity,
        need: raw.need,
    }
}
