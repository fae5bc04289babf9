//! Rows of `l2_perf_records.json` as [`super::SwimlaneWriter`] writes them, with all columns of their kind in its order; any
//! other form is for [`super::columns`] (see [`crate::rows::quick`]).

use ringlane_task::{BlockIndex, CoreId, KernelId, Seq, TaskId, Ticks};

use super::{BlockRow, EdgeRow, Phase, PhaseRow, SubmitRow, SwimlaneRow, TaskRow};
use crate::rows::quick::Quick;

pub(super) fn block(text: &mut Quick<'_>) -> Option<SwimlaneRow> {
    text.take(b'[')?;
    let row = BlockRow {
        core: CoreId(text.small()?),
        task_id: TaskId(next(text)?),
        func_id: KernelId(next_small(text)?),
        lane: next_small(text)?,
        block: BlockIndex(next_small(text)?),
        start: Ticks(next(text)?),
        end: Ticks(next(text)?),
        dispatch: Ticks(next(text)?),
        finish: Ticks(next(text)?),
    };
    text.take(b']')?;
    Some(SwimlaneRow::Block(row))
}

pub(super) fn task(text: &mut Quick<'_>) -> Option<SwimlaneRow> {
    text.take(b'[')?;
    let task_id = TaskId(text.number()?);
    let (seq, ready) = (Seq(next(text)?), Ticks(next(text)?));
    text.take(b',')?;
    let reclaim = text.number_or_null()?.map(Ticks);
    text.take(b']')?;
    Some(SwimlaneRow::Task(TaskRow { task_id, seq, ready, reclaim }))
}

pub(super) fn edge(text: &mut Quick<'_>) -> Option<SwimlaneRow> {
    text.take(b'[')?;
    let row = EdgeRow { pred: TaskId(text.number()?), succ: TaskId(next(text)?) };
    text.take(b']')?;
    Some(SwimlaneRow::Edge(row))
}

pub(super) fn phase(text: &mut Quick<'_>) -> Option<SwimlaneRow> {
    text.take(b'[')?;
    let thread = text.small()?;
    text.take(b',')?;
    let phase = Phase::from_name(text.string()?)?;
    let (start, end) = (Ticks(next(text)?), Ticks(next(text)?));
    let (loop_, tasks) = (next(text)?, next(text)?);
    text.take(b']')?;
    Some(SwimlaneRow::Phase(PhaseRow { thread, phase, start, end, loop_, tasks }))
}

pub(super) fn submit(text: &mut Quick<'_>) -> Option<SwimlaneRow> {
    text.take(b'[')?;
    let row = SubmitRow {
        task_id: TaskId(text.number()?),
        start: Ticks(next(text)?),
        end: Ticks(next(text)?),
        stall: Ticks(next(text)?),
        alloc: Ticks(next(text)?),
        lookup: Ticks(next(text)?),
        insert: Ticks(next(text)?),
        wire: Ticks(next(text)?),
        heap_bytes: next(text)?,
        read: Ticks(next(text)?),
        read_end: Ticks(next(text)?),
    };
    text.take(b']')?;
    Some(SwimlaneRow::Submit(row))
}

/// A number after a comma.
#[inline]
fn next(text: &mut Quick<'_>) -> Option<u64> {
    text.take(b',')?;
    text.number()
}

#[inline]
fn next_small<T: TryFrom<u64>>(text: &mut Quick<'_>) -> Option<T> {
    text.take(b',')?;
    text.small()
}

#[cfg(test)]
mod tests;
