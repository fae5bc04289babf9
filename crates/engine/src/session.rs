//! A run from begin to end: the root scope, the orchestration, the drain, the verdict.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::api::backend::{Backend, Inference, Site};
use crate::api::buffers::Buffers;
use crate::api::orch::Orch;
use crate::completion::task_failure;
use crate::fault::Result;
use crate::live_runs::LiveRun;
use crate::orchestrator::{Orchestrator, State};
use crate::report::{Run, RunReport};
use crate::seams::{Chip, Probe};
use crate::submitter::IdleTable;
use crate::table::{Stop, Table};
use crate::unwind::{AbortOnUnwind, drop_panic};

/// Runs an orchestration on a table with a chip that is ready to run tasks. Returns (or unwinds) only when no task is
/// left; the table and state can be used again, whatever happened. `site` is where the root scope is said to be.
///
/// # Safety
/// No task exists on the table, nobody else submits to it, and the chip runs each published task once. The table's heap rings
/// are in the chip's memory, and that memory and [`Chip::external`] do what they say.
pub unsafe fn run<'e, R, C: Chip, P: Probe>(
    table: &Table,
    state: &mut State,
    chip: C,
    probe: &P,
    site: Site,
    buffers: &'e mut Buffers<'_>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> Run<R> {
    crate::panics::note_panics();
    buffers.begin_run();
    let live = match LiveRun::begin() {
        Ok(live) => live,
        Err(error) => return Run { result: Err(error), report: RunReport::default() },
    };
    // SAFETY: the caller's promise.
    let idle = unsafe { IdleTable::new(table) };
    let mut orchestrator = Orchestrator::begin(live, idle, state, chip, probe, buffers);
    let started = orchestrator.chip().now();
    orchestrator.chip().begin();
    let mut result = orchestrator.enter_scope(site, Inference::Inherit);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        result.clone()?;
        Orch::on(&mut orchestrator, f)
    }));
    let tasks_run = AbortOnUnwind::new();
    if outcome.is_err() {
        table.stop(Stop::Fatal);
        if probe.sees_scopes() {
            orchestrator.observe_fatal();
        }
    }
    while !orchestrator.state.scopes.is_empty() {
        let ended = orchestrator.exit_scope();
        result = result.and(ended);
    }
    orchestrator.drain();
    orchestrator.copy_out();
    orchestrator.chip().end();
    tasks_run.disarm();
    let ended = orchestrator.chip().now();
    let totals = table.board.totals();
    let report = RunReport {
        tasks: orchestrator.tasks(),
        blocks: totals.blocks,
        scopes: orchestrator.scopes(),
        failed: totals.failed,
        skipped: totals.skipped,
        peak_heap_bytes: orchestrator.peak_heap(),
        makespan_ticks: ended.0 - started.0,
        started_ticks: started.0,
        ..RunReport::default()
    };
    let fatal = orchestrator.take_fatal();
    orchestrator.state.last = report.clone();
    let result = match (fatal, outcome) {
        // A panic after the runtime stopped the run follows from that: nothing ran any more.
        (Some(error), outcome) => {
            outcome.map_or_else(drop_panic, drop);
            Err(error.beside(task_failure(table)))
        }
        (None, Err(panic)) => resume_unwind(panic),
        // The task failed first, and what the orchestration met after it may follow from that, or not.
        (None, Ok(value)) => match task_failure(table) {
            Some(failure) => Err(failure.beside(value.err())),
            None => value,
        },
    };
    Run { result, report }
}
