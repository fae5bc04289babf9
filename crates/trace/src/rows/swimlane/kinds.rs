//! The kinds of rows of the swimlane: how each stands in the file and how it is made of its values.

use ringlane_task::{BlockIndex, CoreId, KernelId, Seq, TaskId, Ticks};

use super::columns::{Columns, Values};
use super::{BlockRow, EdgeRow, PhaseRow, SubmitRow, SwimlaneLevel, SwimlaneRow, TaskRow, quick};
use crate::rows::document::RowReader;
use crate::rows::quick::Quick;
use crate::rows::scan::ReadError;

/// A kind of row: how it stands in the file and how it is made of its values.
pub(super) struct Kind {
    pub(super) columns_key: &'static str,
    pub(super) rows_key: &'static str,
    /// The first level that has it.
    pub(super) level: SwimlaneLevel,
    pub(super) columns: &'static [&'static str],
    /// Reads a row with all these columns in this order, in the writer's form.
    quick: fn(&mut Quick<'_>) -> Option<SwimlaneRow>,
    make: fn(&Values) -> Result<SwimlaneRow, String>,
}

pub(super) const KINDS: [Kind; 5] = [
    Kind {
        columns_key: "block_columns",
        rows_key: "blocks",
        level: SwimlaneLevel::Blocks,
        columns: &["core", "task_id", "func_id", "lane", "block", "start", "end", "dispatch", "finish"],
        quick: quick::block,
        make: block,
    },
    Kind {
        columns_key: "task_columns",
        rows_key: "tasks",
        level: SwimlaneLevel::Tasks,
        columns: &["task_id", "seq", "ready", "reclaim"],
        quick: quick::task,
        make: task,
    },
    Kind {
        columns_key: "edge_columns",
        rows_key: "edges",
        level: SwimlaneLevel::Tasks,
        columns: &["pred", "succ"],
        quick: quick::edge,
        make: edge,
    },
    Kind {
        columns_key: "phase_columns",
        rows_key: "scheduler_phases",
        level: SwimlaneLevel::Phases,
        columns: &["thread", "phase", "start", "end", "loop", "tasks"],
        quick: quick::phase,
        make: phase,
    },
    Kind {
        columns_key: "submit_columns",
        rows_key: "orchestrator_phases",
        level: SwimlaneLevel::Phases,
        columns: &[
            "task_id",
            "start",
            "end",
            "stall",
            "alloc",
            "lookup",
            "insert",
            "wire",
            "heap_bytes",
            "read",
            "read_end",
        ],
        quick: quick::submit,
        make: submit,
    },
];

/// Columns of a block at level 1: the scheduler's stamps are missing.
const LEVEL_1_COLUMNS: usize = 7;

/// Columns of a submit in a file that does not tell of reads.
const COLUMNS_WITHOUT_READS: usize = 9;

impl Kind {
    /// Where its columns stand among these, at this level.
    pub(super) fn find(&self, level: SwimlaneLevel, names: &[String]) -> Result<Columns, String> {
        let level_1_blocks = self.rows_key == "blocks" && level == SwimlaneLevel::Blocks;
        let tells_reads = self.rows_key != "orchestrator_phases" || names.iter().any(|name| name == "read");
        if !tells_reads {
            return Columns::find(names, &self.columns[..COLUMNS_WITHOUT_READS]);
        }
        if !level_1_blocks {
            return Columns::find(names, self.columns);
        }
        let (wanted, above) = self.columns.split_at(LEVEL_1_COLUMNS);
        match names.iter().find(|name| above.contains(&name.as_str())) {
            Some(name) => Err(format!("level 1 has the column {name:?}")),
            None => Columns::find(names, wanted),
        }
    }
}

/// Rows of one kind, whose columns have been found.
pub(super) struct KindRows<'a> {
    kind: &'a Kind,
    columns: Columns,
    order: ColumnOrder,
}

/// How the columns of a file stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnOrder {
    /// As the writer has them.
    Usual,
    /// In another order, with others among them, or without those of a higher level.
    Other,
}

impl<'a> KindRows<'a> {
    pub(super) fn new(kind: &'a Kind, columns: Columns) -> Self {
        let order = if columns.are(kind.columns) { ColumnOrder::Usual } else { ColumnOrder::Other };
        KindRows { kind, columns, order }
    }
}

impl RowReader for KindRows<'_> {
    type Row = SwimlaneRow;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<SwimlaneRow> {
        match self.order {
            ColumnOrder::Usual => (self.kind.quick)(text),
            ColumnOrder::Other => (self.kind.make)(&self.columns.quick(text)?).ok(),
        }
    }

    fn whole(&self, text: &[u8]) -> Result<SwimlaneRow, ReadError> {
        Ok((self.kind.make)(&self.columns.whole(text)?)?)
    }
}

fn block(values: &Values) -> Result<SwimlaneRow, String> {
    Ok(SwimlaneRow::Block(BlockRow {
        core: CoreId(values.small(0)?),
        task_id: TaskId(values.number(1)?),
        func_id: KernelId(values.small(2)?),
        lane: values.small(3)?,
        block: BlockIndex(values.small(4)?),
        start: Ticks(values.number(5)?),
        end: Ticks(values.number(6)?),
        // Not there at level 1.
        dispatch: ticks_or_0(values, 7)?,
        finish: ticks_or_0(values, 8)?,
    }))
}

fn task(values: &Values) -> Result<SwimlaneRow, String> {
    Ok(SwimlaneRow::Task(TaskRow {
        task_id: TaskId(values.number(0)?),
        seq: Seq(values.number(1)?),
        ready: Ticks(values.number(2)?),
        reclaim: values.number_or_null(3)?.map(Ticks),
    }))
}

fn edge(values: &Values) -> Result<SwimlaneRow, String> {
    Ok(SwimlaneRow::Edge(EdgeRow { pred: TaskId(values.number(0)?), succ: TaskId(values.number(1)?) }))
}

fn phase(values: &Values) -> Result<SwimlaneRow, String> {
    Ok(SwimlaneRow::Phase(PhaseRow {
        thread: values.small(0)?,
        phase: values.phase(1)?,
        start: Ticks(values.number(2)?),
        end: Ticks(values.number(3)?),
        loop_: values.number(4)?,
        tasks: values.number(5)?,
    }))
}

fn submit(values: &Values) -> Result<SwimlaneRow, String> {
    let ticks = |column| values.number(column).map(Ticks);
    Ok(SwimlaneRow::Submit(SubmitRow {
        task_id: TaskId(values.number(0)?),
        start: ticks(1)?,
        end: ticks(2)?,
        stall: ticks(3)?,
        alloc: ticks(4)?,
        lookup: ticks(5)?,
        insert: ticks(6)?,
        wire: ticks(7)?,
        heap_bytes: values.number(8)?,
        read: ticks_or_0(values, 9)?,
        read_end: ticks_or_0(values, 10)?,
    }))
}

/// A column that may not be there.
fn ticks_or_0(values: &Values, column: usize) -> Result<Ticks, String> {
    if values.has(column) { values.number(column).map(Ticks) } else { Ok(Ticks(0)) }
}
