//! Reading the swimlane, row by row or whole.

use std::path::Path;

use serde::Deserialize;

use super::sections::{HeadRow, ROWS_KEYS, SECTIONS, SectionRow, SwimlaneRow, sections_of};
use super::{
    BlockRow, CopyRow, EdgeRow, FILE_NAME, LaunchRow, PerKind, PhaseRow, SubmitRow, SwimlaneCounts,
    SwimlaneLevel, SwimlaneMeta, TaskRow,
};
use crate::error::TraceError;
use crate::rows::RowCounts;
use crate::rows::document::{Document, Value, counts_of, read_document};
use crate::rows::row::ArrayRows;
use crate::rows::scan::ReadError;

/// Everything but the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwimlaneHead {
    /// The level it was recorded at.
    pub level: SwimlaneLevel,
    /// What does not change during a run.
    pub meta: SwimlaneMeta,
    /// How many rows there are, and how many were lost.
    pub counts: SwimlaneCounts,
    /// Copies between host and device, where the chip has them.
    pub copies: Option<Vec<CopyRow>>,
    /// Launches of batches of tasks, where the chip has them.
    pub launches: Option<Vec<LaunchRow>>,
}

/// The whole file in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swimlane {
    /// Everything but the rows.
    pub head: SwimlaneHead,
    /// Blocks, in the order of the file.
    pub blocks: Vec<BlockRow>,
    /// Tasks.
    pub tasks: Vec<TaskRow>,
    /// Edges.
    pub edges: Vec<EdgeRow>,
    /// Phases of scheduler threads.
    pub phases: Vec<PhaseRow>,
    /// Submits.
    pub submits: Vec<SubmitRow>,
}

impl Swimlane {
    /// Reads the swimlane of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let (mut blocks, mut tasks, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let (mut phases, mut submits) = (Vec::new(), Vec::new());
        let head = read_swimlane(path, |row| match row {
            SwimlaneRow::Block(row) => blocks.push(row),
            SwimlaneRow::Task(row) => tasks.push(row),
            SwimlaneRow::Edge(row) => edges.push(row),
            SwimlaneRow::Phase(row) => phases.push(row),
            SwimlaneRow::Submit(row) => submits.push(row),
        })?;
        Ok(Swimlane { head, blocks, tasks, edges, phases, submits })
    }
}

/// Reads the swimlane of a run row by row, with memory that does not grow with the rows.
pub fn read_swimlane(
    path: impl AsRef<Path>,
    each: impl FnMut(SwimlaneRow),
) -> Result<SwimlaneHead, TraceError> {
    let reader = read_document(path.as_ref(), Reader::new(each))?;
    let Reader { level, meta, counts, copies, launches, .. } = reader;
    Ok(SwimlaneHead { level, meta, counts, copies: copies.rows, launches: launches.rows })
}

pub(super) struct Reader<F> {
    each: F,
    level: SwimlaneLevel,
    /// The columns of each array, until its rows are read.
    columns: [Option<Vec<String>>; SECTIONS],
    meta: SwimlaneMeta,
    counts: SwimlaneCounts,
    /// Rows read, by array.
    rows: [u64; SECTIONS],
    copies: HeadTable<CopyRow>,
    launches: HeadTable<LaunchRow>,
}

/// An array of the head, as far as it is read.
struct HeadTable<R> {
    columns: Option<Vec<String>>,
    rows: Option<Vec<R>>,
}

impl<R: HeadRow> HeadTable<R> {
    const EMPTY: Self = HeadTable { columns: None, rows: None };

    /// The name of the array, and how many rows were read.
    fn count(&self) -> (&'static str, u64) {
        (R::KEYS[1], self.rows.as_ref().map_or(0, Vec::len) as u64)
    }

    fn read(&mut self, value: Value<'_, '_>) -> Result<(), ReadError> {
        let [columns, rows] = R::KEYS;
        let Some(names) = self.columns.take() else {
            return Err(format!("{columns} comes after {rows}").into());
        };
        let (reader, mut read) = (ArrayRows::<R>::find(names, R::REQUIRED)?, Vec::new());
        value.read_rows_with(&reader, rows, |row| {
            read.push(row);
            Ok(())
        })?;
        self.rows = Some(read);
        Ok(())
    }
}

impl<F: FnMut(SwimlaneRow)> Document for Reader<F> {
    const FILE_NAME: &'static str = FILE_NAME;
    const KNOWN: &'static str = "0, 1 and 2";
    const VERSIONS: std::ops::RangeInclusive<u64> = 0..=2;

    fn version(&mut self, version: u64) {
        self.level = match version {
            0 => SwimlaneLevel::Blocks,
            1 => SwimlaneLevel::Tasks,
            _ => SwimlaneLevel::Phases,
        };
    }

    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        self.take(key, value)
    }

    fn required(&self) -> &'static [&'static str] {
        const HEAD: [&str; 3] = ["chip_swimlane_level", "metadata", "counts"];
        const ALL: [&str; HEAD.len() + SECTIONS] = {
            let (mut all, mut at) = ([""; HEAD.len() + SECTIONS], 0);
            while at < all.len() {
                all[at] = if at < HEAD.len() { HEAD[at] } else { ROWS_KEYS[at - HEAD.len()] };
                at += 1;
            }
            all
        };
        &ALL[..HEAD.len() + sections_of(self.level)]
    }

    fn check(&self) -> Result<(), String> {
        let in_head = [self.copies.count(), self.launches.count()];
        let mut rows = ROWS_KEYS.into_iter().zip(self.rows).chain(in_head);
        let compared = self.counts.try_map(|_, counts| match rows.next() {
            Some((key, rows)) if rows != counts.collected => {
                Err(format!("{key} has {rows} rows, collected says {}", counts.collected))
            }
            _ => Ok(()),
        });
        compared.map(drop)
    }
}

impl<F: FnMut(SwimlaneRow)> Reader<F> {
    pub(super) fn new(each: F) -> Self {
        Reader {
            each,
            level: SwimlaneLevel::Blocks,
            columns: Default::default(),
            meta: SwimlaneMeta::default(),
            counts: SwimlaneCounts::default(),
            rows: [0; SECTIONS],
            copies: HeadTable::EMPTY,
            launches: HeadTable::EMPTY,
        }
    }

    pub(super) fn head_field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        match key {
            "chip_swimlane_level" => {
                let level: u64 = value.read()?;
                let version = self.level.version();
                if level != u64::from(self.level.number()) {
                    return Err(format!("level {level} has version {version}").into());
                }
            }
            "metadata" => self.meta = value.read()?,
            "counts" => {
                let counts: PerKind<MaybeCounts> = value.read()?;
                self.counts = counts.try_map(|name, counts| counts.check(name))?;
            }
            _ if key == CopyRow::KEYS[0] => self.copies.columns = Some(value.read()?),
            _ if key == CopyRow::KEYS[1] => self.copies.read(value)?,
            _ if key == LaunchRow::KEYS[0] => self.launches.columns = Some(value.read()?),
            _ if key == LaunchRow::KEYS[1] => self.launches.read(value)?,
            _ => value.skip()?,
        }
        Ok(())
    }

    /// Takes the columns of an array.
    pub(super) fn find<R: SectionRow>(&mut self, value: Value<'_, '_>) -> Result<(), ReadError> {
        let names: Vec<String> = value.read()?;
        let above = match self.level < R::FULL_LEVEL {
            true => &R::COLUMNS[R::columns(self.level)..],
            false => &[],
        };
        if let Some(name) = names.iter().find(|name| above.contains(&name.as_str())) {
            return Err(format!("level {} has the column {name:?}", self.level.number()).into());
        }
        self.columns[R::PLACE] = Some(names);
        Ok(())
    }

    /// Reads the rows of an array.
    pub(super) fn rows<R: SectionRow>(&mut self, value: Value<'_, '_>) -> Result<(), ReadError> {
        let Some(names) = self.columns[R::PLACE].take() else {
            return Err(format!("{} comes after {}", R::COLUMNS_KEY, R::ROWS_KEY).into());
        };
        let level = self.level;
        // Blocks have all columns from level 2 on; other columns that may be missing were added later.
        let required = if R::FULL_LEVEL > R::LEVEL { R::columns(level) } else { R::REQUIRED };
        let (rows, mut count) = (ArrayRows::<R>::find(names, required)?, 0);
        value.read_rows_with(&rows, R::ROWS_KEY, |row| {
            if R::LEVEL > level {
                return Err(format!("level {} holds {}", level.number(), R::ROWS_KEY));
            }
            (self.each)(row.wrap());
            count += 1;
            Ok(())
        })?;
        self.rows[R::PLACE] = count;
        Ok(())
    }
}

/// Counts are missing, or an empty object, where the level does not have the array.
#[derive(Deserialize, Default)]
struct MaybeCounts {
    total: Option<u64>,
    collected: Option<u64>,
    dropped: Option<u64>,
}

impl MaybeCounts {
    fn check(&self, name: &str) -> Result<RowCounts, String> {
        let counts = match (self.total, self.collected, self.dropped) {
            (None, None, None) => Ok(RowCounts::default()),
            (Some(total), Some(collected), Some(dropped)) => counts_of(total, collected, dropped),
            _ => Err("total, collected and dropped belong together".to_string()),
        };
        counts.map_err(|what| format!("{name}: {what}"))
    }
}
