//! A run over many processes on one clock: the workers of a node, what each was called for, and where in the node's time
//! the run of each call is.
//!
//! ```text
//! Run (level 4) ──▶ calls of node0, node1
//!   └─ Run node0/1 (level 3) ──▶ calls of node0/chip0, …      each placed on the clock of the run at the top
//!        └─ Run chip0/1 ──▶ blocks on cores
//! ```
//!
//! A worker on this machine has the same kind of clock as its node: its run is placed where it was. A modelled chip
//! counts a time of its own, which has nothing to do with how long the model took: its makespan is stretched over the
//! time that its call ran, and the factor is reported.

mod blocks;
mod clock;

use std::collections::HashMap;
use std::ops::Range;

use ringlane_task::{Explain, Ticks};
use ringlane_trace::dist::{CallRow, CallStatus, DistWorker, WorkerKind};
use serde::Serialize;

use crate::{InsightError, Run};
pub use blocks::ChipBlocks;
pub use clock::ClockMap;

/// Levels of nodes that are followed; directories that lead deeper are not a node's.
const LEVELS_MAX: usize = 8;

/// Everything that the workers of a node did, on the node's clock.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its level: 3 over chips.
    pub level: u8,
    /// Workers, each node followed by its own.
    pub workers: Vec<Worker>,
    /// The names of what was called.
    pub callables: Vec<String>,
    /// Runs of the workers, in the order of workers and of their calls.
    pub runs: Vec<PlacedRun>,
    /// Calls that were lost when they were recorded.
    pub lost: u64,
}

/// A worker process.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Its name and those of the nodes above it: `node0/chip1`.
    pub path: String,
    /// What its node says of it.
    pub facts: DistWorker,
    /// The length, in ticks of the node's clock, of a tick of the clock that its offset is given in.
    pub tick: f64,
    /// How many nodes are between it and the node at the top.
    pub depth: usize,
    /// What it was called for, in the order of time, on the clock of the node at the top.
    pub calls: Vec<Call>,
}

/// A worker and its calls in numbers; times in ticks of the node at the top.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerSummary {
    /// Its name and those of the nodes above it.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: WorkerKind,
    /// Its process.
    pub pid: u32,
    /// How many nodes are between it and the node at the top.
    pub depth: usize,
    /// How often it was started again.
    pub restarts: u32,
    /// What is added to its clock to get its node's.
    pub offset: f64,
    /// How far that may be off; `None` if it was not measured.
    pub error: Option<f64>,
    /// Calls.
    pub calls: usize,
    /// Calls that did not end well.
    pub bad: usize,
    /// How long its callables ran, all together.
    pub busy: u64,
    /// How long a call waited in its mailbox: the median; `None` if none was taken.
    pub waited: Option<u64>,
}

impl Worker {
    /// What it did, in numbers.
    pub fn summary(&self) -> WorkerSummary {
        let facts = &self.facts;
        let span = |from: Option<Ticks>, to: Option<Ticks>| Some(to?.0.saturating_sub(from?.0));
        let rows = || self.calls.iter().map(|call| &call.row);
        let mut waits: Vec<u64> = rows().filter_map(|row| span(row.sent, row.accepted)).collect();
        waits.sort_unstable();
        WorkerSummary {
            path: self.path.clone(),
            name: facts.name.clone(),
            kind: facts.kind,
            pid: facts.pid,
            depth: self.depth,
            restarts: facts.restarts,
            offset: facts.clock_offset_ticks as f64 * self.tick,
            error: facts.clock_error_ticks.map(|ticks| ticks as f64 * self.tick),
            calls: self.calls.len(),
            bad: rows().filter(|row| row.status != CallStatus::Ok).count(),
            busy: rows().filter_map(|row| span(row.run, row.end)).fold(0, u64::saturating_add),
            waited: waits.get(waits.len() / 2).copied(),
        }
    }
}

/// One call of a worker. A time that is not known never came.
#[derive(Clone, Debug)]
pub struct Call {
    /// The row, with all times on the clock of the node at the top, and in order: two clocks agree only so well.
    pub row: CallRow<'static>,
    /// What was called, as a place in [`Node::callables`].
    pub callable: usize,
    /// Its own run, as a place in [`Node::runs`].
    pub run: Option<usize>,
}

impl Call {
    /// Until when the worker had it: when the node saw the end, or the last that is known of it.
    pub fn until(&self) -> Ticks {
        let row = &self.row;
        [row.done, row.end, row.run, row.accepted, row.sent].into_iter().flatten().max().unwrap_or(row.submit)
    }
}

/// The run of a call, and its place in the node's time.
#[derive(Clone, Debug)]
pub struct PlacedRun {
    /// Its directory, relative to that of the node at the top.
    pub dir: String,
    /// The worker, as a place in [`Node::workers`].
    pub worker: usize,
    /// The number of the call.
    pub seq: u64,
    /// How the call ended.
    pub status: CallStatus,
    /// The run, or why there is none.
    pub run: Result<Run, String>,
    /// From its ticks to those of the node at the top.
    pub clock: ClockMap,
    /// Seconds of the node's clock for one of its own, where its own is a model's.
    pub stretch: Option<f64>,
}

impl PlacedRun {
    /// From when to when it was, on the clock of the node at the top.
    pub fn span(&self) -> (Ticks, Ticks) {
        let took = self.run.as_ref().map_or(0, |run| run.manifest.makespan_ticks);
        (self.clock.at(Ticks(0)), self.clock.at(Ticks(took)))
    }
}

impl Run {
    /// What the workers of a node did. What cannot be read of their runs is reported in its place.
    pub fn node(&self) -> Result<Node, InsightError> {
        let mut node = Node::default();
        let mut gather = Gather { node: &mut node, names: HashMap::new() };
        gather.add(self, &Above { path: "", dir: "", clock: ClockMap::IDENTITY, depth: 0 })?;
        Ok(node)
    }
}

/// The node above, from which a node's path, directory and clock follow.
struct Above<'a> {
    path: &'a str,
    dir: &'a str,
    clock: ClockMap,
    depth: usize,
}

struct Gather<'n> {
    node: &'n mut Node,
    /// Places of callables by their names.
    names: HashMap<String, usize>,
}

impl Gather<'_> {
    fn add(&mut self, run: &Run, above: &Above<'_>) -> Result<(), InsightError> {
        let dist = run.calls()?;
        if above.depth == 0 {
            self.node.level = dist.head.meta.level;
        }
        self.node.lost = self.node.lost.saturating_add(dist.head.counts.dropped);
        let mut calls: Vec<&CallRow<'static>> = dist.calls.iter().collect();
        calls.sort_by_key(|call| (call.worker, call.seq));
        for (index, facts) in dist.head.meta.workers.iter().enumerate() {
            let own = calls.iter().filter(|call| call.worker.at() == index);
            let own: Vec<(&CallRow<'static>, &str)> = own.map(|call| (*call, dist.callable(call))).collect();
            self.add_worker(run, facts, &own, above);
        }
        Ok(())
    }

    fn add_worker(
        &mut self,
        run: &Run,
        facts: &DistWorker,
        calls: &[(&CallRow<'static>, &str)],
        above: &Above<'_>,
    ) {
        let path = joined(above.path, &facts.name);
        let place = self.worker_at(&path, facts, above);
        let first = self.node.runs.len();
        for &(row, callable) in calls {
            let run = self.add_run(run, row, facts, place, above);
            let call = Call { row: in_order(row, &above.clock), callable: self.callable(callable), run };
            self.node.workers[place].calls.push(call);
        }
        if facts.kind == WorkerKind::Node && above.depth + 1 < LEVELS_MAX {
            self.add_nodes(first..self.node.runs.len(), &path, above.depth + 1);
        }
    }

    /// The place of a worker. A node's own are met again in each run of the node, and stay the same lane.
    fn worker_at(&mut self, path: &str, facts: &DistWorker, above: &Above<'_>) -> usize {
        let (tick, depth) = (above.clock.scale(), above.depth);
        if let Some(place) = self.node.workers.iter().position(|worker| worker.path == path) {
            (self.node.workers[place].facts, self.node.workers[place].tick) = (facts.clone(), tick);
            return place;
        }
        let worker = Worker { path: path.to_string(), facts: facts.clone(), tick, depth, calls: Vec::new() };
        self.node.workers.push(worker);
        self.node.workers.len() - 1
    }

    /// The workers of runs that are a node's themselves.
    fn add_nodes(&mut self, runs: Range<usize>, path: &str, depth: usize) {
        for at in runs {
            let placed = &self.node.runs[at];
            let (Ok(run), dir, clock) = (placed.run.clone(), placed.dir.clone(), placed.clock) else {
                continue;
            };
            if let Err(error) = self.add(&run, &Above { path, dir: &dir, clock, depth }) {
                self.node.runs[at].run = Err(format!("{}: {}", error.name(), error.detail()));
            }
        }
    }

    fn add_run(
        &mut self,
        run: &Run,
        row: &CallRow<'static>,
        facts: &DistWorker,
        worker: usize,
        above: &Above<'_>,
    ) -> Option<usize> {
        let dir = row.dir.as_deref()?;
        let opened = match run.manifest.children.iter().find(|child| child.dir == dir) {
            Some(child) => run.child(child).map_err(|error| error.detail()),
            None => Err(format!("run.json does not list {dir}")),
        };
        let (clock, stretch) = match &opened {
            Ok(own) => place_of(own, row, facts.kind, run.manifest.clock_freq_hz),
            Err(_) => (ClockMap::IDENTITY, None),
        };
        let clock = above.clock.after(clock);
        let (dir, seq, status) = (joined(above.dir, dir), row.seq.0, row.status);
        self.node.runs.push(PlacedRun { dir, worker, seq, status, run: opened, clock, stretch });
        Some(self.node.runs.len() - 1)
    }

    fn callable(&mut self, name: &str) -> usize {
        if let Some(&place) = self.names.get(name) {
            return place;
        }
        self.names.insert(name.to_string(), self.node.callables.len());
        self.node.callables.push(name.to_string());
        self.node.callables.len() - 1
    }
}

/// Where a run is on the clock of its node, and how much it was stretched for that.
fn place_of(own: &Run, row: &CallRow<'_>, kind: WorkerKind, node_hz: u64) -> (ClockMap, Option<f64>) {
    let (ticks, hz) = (own.manifest.makespan_ticks, own.manifest.clock_freq_hz.max(1));
    let began = row.run.or(row.accepted).or(row.sent).unwrap_or(row.submit);
    let is_model = kind != WorkerKind::Node && own.manifest.has_model_time();
    if !is_model {
        let start = row.chip_start.unwrap_or(began);
        return (ClockMap::new(start, node_hz as f64 / hz as f64), None);
    }
    let until = row.end.or(row.done).unwrap_or(began).max(began);
    let scale = (until.0 - began.0) as f64 / ticks.max(1) as f64;
    (ClockMap::new(began, scale), Some(scale * hz as f64 / node_hz.max(1) as f64))
}

/// The times of a call on another clock. Those that the error of a clock has put in the wrong order are moved together.
fn in_order(row: &CallRow<'static>, clock: &ClockMap) -> CallRow<'static> {
    let mut last = clock.at(row.submit);
    let mut row = CallRow { submit: last, ..row.clone() };
    for step in [&mut row.sent, &mut row.accepted, &mut row.run, &mut row.end, &mut row.done] {
        let Some(ticks) = step else { continue };
        last = last.max(clock.at(*ticks));
        *ticks = last;
    }
    row
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_string() } else { format!("{above}/{name}") }
}
