//! What a node's run leaves beside what any run does: `dist_swimlane.json`, and the list of the runs of its workers.

use std::time::Instant;

use ringlane_engine::report::RunReport;
use ringlane_node::{CallRecord, CallStatus, HasRunDir, Journal, Node, WorkerKind, WorkerRecord};
use ringlane_probe::{Exported, RecordingProblem};
use ringlane_task::{Explain, Ticks};
use ringlane_trace::dist::{
    self, CallRow, CallSeq, CallableIndex, ChipSpan, DistMeta, DistWorker, DistWriter, WorkerIndex,
};
use ringlane_trace::{ChildRun, FileEntry, RunDir, TraceError};

use ringlane::Platform;

/// Of which node and run.
pub(super) struct RunFacts<'n> {
    pub(super) node: &'n Node,
    pub(super) platform: Platform,
    pub(super) level: u8,
    pub(super) report: &'n RunReport,
}

/// Writes `dist_swimlane.json` into a run's directory, and adds it to what was recorded.
pub(super) fn export(facts: &RunFacts<'_>, dir: &RunDir, exported: &mut Exported) {
    let begun = Instant::now();
    match write(facts, dir) {
        Ok(entry) => exported.files.push(entry),
        Err(error) => {
            let what = format!("{}: {}", error, error.detail());
            exported.problems.push(RecordingProblem::Incomplete { what });
        }
    }
    exported.cost.export_us += begun.elapsed().as_micros() as u64;
}

fn write(facts: &RunFacts<'_>, dir: &RunDir) -> Result<FileEntry, TraceError> {
    let (workers, journal) = (facts.node.worker_records(), facts.node.journal());
    let callables = names(journal);
    let meta = DistMeta {
        platform: facts.platform.as_str().to_string(),
        clock_freq_hz: facts.report.clock_freq_hz,
        makespan: Ticks(facts.report.makespan_ticks),
        level: facts.level,
        workers: workers.iter().map(worker_row).collect(),
        callables: callables.iter().map(|name| name.to_string()).collect(),
    };
    let mut file = dir.create_file(dist::FILE_NAME)?;
    let written = (|| {
        let mut writer = DistWriter::new(&mut file, &meta);
        for call in &journal.calls {
            writer.call(&row(call, &workers[call.worker as usize], &callables, facts.report))?;
        }
        writer.finish(journal.dropped)
    })();
    let counts = written.map_err(|error| file.error(error))?;
    let bytes = file.commit()?;
    Ok(FileEntry::with_rows(dist::FILE_NAME, bytes, counts.collected, counts.dropped))
}

/// The callables that were called, each once.
fn names(journal: &Journal) -> Vec<&'static str> {
    let mut names: Vec<_> = journal.calls.iter().map(|call| call.callable).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn worker_row(worker: &WorkerRecord) -> DistWorker {
    DistWorker {
        name: worker.name.clone(),
        kind: match worker.kind {
            WorkerKind::Chip => dist::WorkerKind::Chip,
            WorkerKind::Function => dist::WorkerKind::Function,
            WorkerKind::Node => dist::WorkerKind::Node,
        },
        pid: worker.pid,
        clock_offset_ticks: worker.clock.offset_ns,
        clock_error_ticks: worker.clock.error_ns,
        restarts: worker.restarts,
    }
}

fn row<'c>(
    call: &'c CallRecord,
    worker: &WorkerRecord,
    callables: &[&str],
    report: &RunReport,
) -> CallRow<'c> {
    let since_start = |at_ns: u64| Ticks(at_ns.saturating_sub(report.started_ticks));
    // A worker's own stamp, on the node's clock and no later than what the node saw of it.
    let stamp = |at_ns: u64| {
        (at_ns != 0)
            .then(|| since_start(at_ns.saturating_add_signed(worker.clock.offset_ns).min(call.done_ns)))
    };
    let callable = callables.binary_search(&call.callable).unwrap_or_default();
    let mut row = CallRow {
        member: call.member,
        callable: CallableIndex(callable as u32),
        sent: Some(since_start(call.sent_ns)),
        accepted: stamp(call.accepted_ns),
        run: stamp(call.run_ns),
        end: stamp(call.end_ns),
        done: Some(since_start(call.done_ns)),
        status: status(call.status),
        dir: call.dir.as_deref().map(Into::into),
        ..CallRow::submitted(
            WorkerIndex(call.worker),
            CallSeq(call.seq),
            call.task,
            since_start(call.submit_ns),
        )
    };
    let recorded = call.chip.filter(|chip| chip.recorded == HasRunDir::Yes);
    if let Some((chip, start)) = recorded.and_then(|chip| Some((chip, stamp(chip.start_ns)?))) {
        row.set_chip(ChipSpan { start, ticks: chip.ticks, freq_hz: chip.freq_hz });
    }
    row
}

fn status(status: CallStatus) -> dist::CallStatus {
    match status {
        CallStatus::Ok => dist::CallStatus::Ok,
        CallStatus::Failed => dist::CallStatus::Failed,
        CallStatus::Died => dist::CallStatus::Died,
        CallStatus::Late => dist::CallStatus::Late,
    }
}

/// The runs of its workers that left directories.
pub(super) fn children(node: &Node) -> Vec<ChildRun> {
    let workers = node.worker_records();
    let child = |call: &CallRecord| {
        let worker = workers[call.worker as usize].name.clone();
        let dir = call.dir.clone()?;
        Some(ChildRun { worker, seq: call.seq, dir, task_id: call.task, status: status(call.status) })
    };
    node.journal().calls.iter().filter_map(child).collect()
}
