//! Reading the swimlane, row by row or whole.

use std::path::Path;

use serde::Deserialize;

use super::columns::Columns;
use super::copies::CopyColumns;
use super::kinds::{KINDS, KindRows};
use super::{
    BlockRow, CopyRow, EdgeRow, FILE_NAME, PhaseRow, SubmitRow, SwimlaneCounts, SwimlaneLevel, SwimlaneMeta,
    TaskRow,
};
use crate::error::TraceError;
use crate::rows::document::{Document, RawKernel, Value, counts_of, read_document};
use crate::rows::scan::ReadError;
use crate::rows::{KernelRow, RowCounts};

/// One row of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwimlaneRow {
    /// A block.
    Block(BlockRow),
    /// A task.
    Task(TaskRow),
    /// An edge.
    Edge(EdgeRow),
    /// A phase of a scheduler thread.
    Phase(PhaseRow),
    /// A submit.
    Submit(SubmitRow),
}

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
    let Reader { level, meta, counts, copies, .. } = reader;
    Ok(SwimlaneHead { level, meta, counts, copies })
}

pub(super) struct Reader<F> {
    each: F,
    level: SwimlaneLevel,
    columns: [Option<Columns>; KINDS.len()],
    meta: SwimlaneMeta,
    counts: SwimlaneCounts,
    /// Rows read, by kind.
    rows: [u64; KINDS.len()],
    copy_columns: Option<CopyColumns>,
    copies: Option<Vec<CopyRow>>,
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
        if let Some(index) = KINDS.iter().position(|kind| kind.columns_key == key) {
            let names: Vec<String> = value.read()?;
            self.columns[index] = Some(KINDS[index].find(self.level, &names)?);
            return Ok(());
        }
        if let Some(index) = KINDS.iter().position(|kind| kind.rows_key == key) {
            return self.rows(index, value);
        }
        match key {
            "chip_swimlane_level" => {
                let level: u64 = value.read()?;
                let version = self.level.version();
                if level != u64::from(self.level.number()) {
                    return Err(format!("level {level} has version {version}").into());
                }
            }
            "metadata" => {
                self.meta = value.read::<RawMeta>()?.try_into()?;
            }
            "counts" => {
                let raw: RawAllCounts = value.read()?;
                self.counts = raw.try_into()?;
            }
            "copy_columns" => {
                let names: Vec<String> = value.read()?;
                self.copy_columns = Some(CopyColumns::find(&names)?);
            }
            "copies" => {
                let Some(columns) = self.copy_columns.take() else {
                    return Err("copy_columns stands after copies".into());
                };
                let rows: Vec<Vec<serde_json::Value>> = value.read()?;
                self.copies = Some(columns.rows(&rows)?);
            }
            _ => value.skip()?,
        }
        Ok(())
    }

    fn required(&self) -> &'static [&'static str] {
        match self.level {
            SwimlaneLevel::Blocks => &["chip_swimlane_level", "metadata", "counts", "blocks"],
            SwimlaneLevel::Tasks => {
                &["chip_swimlane_level", "metadata", "counts", "blocks", "tasks", "edges"]
            }
            SwimlaneLevel::Phases => &[
                "chip_swimlane_level",
                "metadata",
                "counts",
                "blocks",
                "tasks",
                "edges",
                "scheduler_phases",
                "orchestrator_phases",
            ],
        }
    }

    fn check(&self) -> Result<(), String> {
        let SwimlaneCounts { blocks, tasks, edges, phases, submits, copies } = self.counts;
        let (rows, collected) = (self.copies.as_ref().map_or(0, Vec::len) as u64, copies.collected);
        if rows != collected {
            return Err(format!("copies has {rows} rows, collected says {collected}"));
        }
        for (index, counts) in [blocks, tasks, edges, phases, submits].into_iter().enumerate() {
            let (rows, collected) = (self.rows[index], counts.collected);
            if rows != collected {
                return Err(format!("{} has {rows} rows, collected says {collected}", KINDS[index].rows_key));
            }
        }
        Ok(())
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
            rows: [0; KINDS.len()],
            copy_columns: None,
            copies: None,
        }
    }

    fn rows(&mut self, index: usize, value: Value<'_, '_>) -> Result<(), ReadError> {
        let kind = &KINDS[index];
        let Some(columns) = self.columns[index].take() else {
            return Err(format!("{} stands after {}", kind.columns_key, kind.rows_key).into());
        };
        let level = self.level;
        let rows = &mut self.rows[index];
        value.read_rows_with(&KindRows::new(kind, columns), kind.rows_key, |row| {
            if kind.level > level {
                return Err(format!("level {} holds {}", level.number(), kind.rows_key));
            }
            (self.each)(row);
            *rows += 1;
            Ok(())
        })
    }
}

#[derive(Deserialize)]
struct RawMeta {
    platform: String,
    clock_freq_hz: u64,
    num_cores: usize,
    core_types: Vec<String>,
    num_scheduler_threads: u32,
    core_to_thread: Vec<u32>,
    kernels: Vec<RawKernel>,
}

impl TryFrom<RawMeta> for SwimlaneMeta {
    type Error = String;
    fn try_from(raw: RawMeta) -> Result<Self, String> {
        if raw.core_types.len() != raw.num_cores {
            return Err(format!(
                "core_types has {} cores, num_cores says {}",
                raw.core_types.len(),
                raw.num_cores
            ));
        }
        Ok(SwimlaneMeta {
            platform: raw.platform,
            clock_freq_hz: raw.clock_freq_hz,
            core_types: raw.core_types,
            num_scheduler_threads: raw.num_scheduler_threads,
            core_to_thread: raw.core_to_thread,
            kernels: raw.kernels.into_iter().map(KernelRow::from).collect(),
        })
    }
}

/// Counts of a section are missing, or an empty object, where the level does not have it.
#[derive(Deserialize)]
struct RawAllCounts {
    blocks: MaybeCounts,
    #[serde(default)]
    tasks: MaybeCounts,
    #[serde(default)]
    edges: MaybeCounts,
    #[serde(default)]
    phases: MaybeCounts,
    #[serde(default)]
    submits: MaybeCounts,
    #[serde(default)]
    copies: MaybeCounts,
}

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

impl TryFrom<RawAllCounts> for SwimlaneCounts {
    type Error = String;
    fn try_from(raw: RawAllCounts) -> Result<Self, String> {
        Ok(SwimlaneCounts {
            blocks: raw.blocks.check("blocks")?,
            tasks: raw.tasks.check("tasks")?,
            edges: raw.edges.check("edges")?,
            phases: raw.phases.check("phases")?,
            submits: raw.submits.check("submits")?,
            copies: raw.copies.check("copies")?,
        })
    }
}
