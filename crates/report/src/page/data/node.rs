//! The workers of a node: what they were called for, and what the cores of their chips did, on the node's clock.

use ringlane_insight::node::{Call, Node, PlacedRun, Worker, WorkerSummary};
use ringlane_insight::{Instrument, Run};
use ringlane_task::Ticks;
use serde::Serialize;

use super::chips::Chips;
use super::{NoteKind, Page, exact, grouped, tick};
use crate::page::PagePlace;
use crate::page::columns::Coding::{Delta, Maybe, Plain};
use crate::page::columns::{Column, ColumnWriter};
use crate::page::limits::{CALLS_MAX, CHIP_RUNS_MAX, EXACT_MAX};

/// What a page says of a node.
#[derive(Serialize)]
pub struct NodeData {
    level: u8,
    workers: Vec<WorkerSummary>,
    callables: Vec<String>,
    runs: Vec<RunData>,
    /// The number of runs; the page lists the first of them.
    runs_total: usize,
    pub(super) lanes: Vec<LaneData>,
    pub(super) kernels: Vec<KernelData>,
    pub(super) blocks: u64,
}

#[derive(Serialize)]
struct RunData {
    dir: String,
    worker: usize,
    seq: u64,
    status: &'static str,
    start: u64,
    end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stretch: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnData>,
    /// Where its own page is, from this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// What a run says of itself.
#[derive(Serialize)]
struct OwnData {
    scene: String,
    case: String,
    platform: String,
    tasks: u64,
    blocks: u64,
    /// By its own clock.
    seconds: f64,
}

/// A core of a worker's chip.
#[derive(Serialize)]
pub struct LaneData {
    pub(super) worker: usize,
    pub(super) kind: &'static str,
    pub(super) core: u32,
}

/// A kernel that ran on a chip.
#[derive(Serialize)]
pub struct KernelData {
    pub(super) name: String,
    /// How long it ran, in ticks of the node's clock.
    pub(super) total: u64,
}

impl Page {
    /// Adds the workers, if there are any; a page outside the run's directory has no links to their pages.
    pub(super) fn add_node(&mut self, run: &Run, place: PagePlace) {
        if !run.has(Instrument::Dist) && run.manifest.children.is_empty() {
            return;
        }
        self.run.manifest.children.truncate(CHIP_RUNS_MAX);
        let Some(node) = self.table(Instrument::Dist, run.node()) else { return };
        let mut chips = Chips::default();
        let mut problems = Vec::new();
        for placed in &node.runs {
            problems.push(placed.run.clone().err().or_else(|| chips.add(placed, &node).err()));
        }
        let merged = chips.thin();
        if let Some((blocks, kept)) = merged {
            let text = format!(
                "{} blocks of the workers' chips are merged into {} stretches, each with the kernel that took most of it; \
                 the pages of their own runs show them one by one.",
                grouped(blocks),
                grouped(kept)
            );
            self.note(Instrument::Dist, NoteKind::LeftOut, text);
        }
        let runs = node.runs.iter().zip(problems).take(CHIP_RUNS_MAX);
        let runs = runs.map(|(placed, problem)| run_data(run, placed, problem, place)).collect();
        self.add_calls(&node);
        let (lanes, kernels, blocks, columns) = chips.finish();
        self.columns.extend(columns);
        self.run.node = Some(NodeData {
            level: node.level,
            workers: node.workers.iter().map(Worker::summary).collect(),
            runs,
            runs_total: node.runs.len(),
            callables: node.callables,
            lanes,
            kernels,
            blocks,
        });
    }

    /// The calls of all workers, worker by worker.
    fn add_calls(&mut self, node: &Node) {
        let all: usize = node.workers.iter().map(|worker| worker.calls.len()).sum();
        if all > CALLS_MAX {
            let text = format!(
                "The run has {} calls; the page shows at most {}, the first of each worker.",
                grouped(all),
                grouped(CALLS_MAX)
            );
            self.note(Instrument::Dist, NoteKind::LeftOut, text);
        }
        let each = (CALLS_MAX / node.workers.len().max(1)).max(1);
        let own =
            |worker: &Worker| if all > CALLS_MAX { worker.calls.len().min(each) } else { worker.calls.len() };
        let calls = || node.workers.iter().flat_map(|worker| &worker.calls[..own(worker)]);
        let counts = node.workers.iter().map(|worker| own(worker) as i64);
        let number = |name, coding, of: fn(&Call) -> i64| Column::of(name, coding, calls().map(of));
        self.columns.extend([
            Column::of("calls.count", Plain, counts),
            number("calls.seq", Delta, |call| exact(call.row.seq.0)),
            number("calls.ring", Plain, |call| (call.row.task_id.0 >> 32) as i64),
            number("calls.local", Delta, |call| i64::from(call.row.task_id.0 as u32)),
            number("calls.callable", Plain, |call| call.callable as i64),
            number("calls.status", Plain, |call| call.row.status as i64),
            number("calls.submit", Delta, |call| tick(call.row.submit)),
        ]);
        let maybe = |name, of: fn(&Call) -> Option<i64>| {
            let mut column = ColumnWriter::new(name, Maybe);
            calls().for_each(|call| column.push_maybe(of(call)));
            column.finish()
        };
        // Since the submit, which is small.
        fn since(call: &Call, step: Option<Ticks>) -> Option<i64> {
            step.map(|ticks| exact(ticks.0.saturating_sub(call.row.submit.0)))
        }
        self.columns.extend([
            maybe("calls.sent", |call| since(call, call.row.sent)),
            maybe("calls.accepted", |call| since(call, call.row.accepted)),
            maybe("calls.run", |call| since(call, call.row.run)),
            maybe("calls.end", |call| since(call, call.row.end)),
            maybe("calls.done", |call| since(call, call.row.done)),
            maybe("calls.own", |call| call.run.filter(|&run| run < CHIP_RUNS_MAX).map(|run| run as i64)),
        ]);
    }
}

fn run_data(node: &Run, placed: &PlacedRun, problem: Option<String>, place: PagePlace) -> RunData {
    let (start, end) = placed.span();
    let report = format!("{}/report.html", placed.dir);
    let linked = place == PagePlace::InRun && node.dir.join(&report).is_file();
    let own = placed.run.as_ref().ok().map(|run| &run.manifest).map(|own| OwnData {
        scene: own.scene.clone(),
        case: own.case.clone(),
        platform: own.platform.clone(),
        tasks: own.tasks,
        blocks: own.blocks,
        seconds: own.makespan_ticks as f64 / own.clock_freq_hz.max(1) as f64,
    });
    RunData {
        dir: placed.dir.clone(),
        worker: placed.worker,
        seq: placed.seq,
        status: placed.status.as_str(),
        start: start.0.min(EXACT_MAX),
        end: end.0.min(EXACT_MAX),
        stretch: placed.stretch,
        own,
        report: linked.then_some(report),
        problem,
    }
}
