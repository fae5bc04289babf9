//! The workers of a node, a process each: the steps of its calls, and below them the cores of its chip.

use std::collections::{BTreeMap, HashMap};
use std::io;

use ringlane_insight::node::{Call, ChipBlocks, Node};
use ringlane_insight::{CoreKind, InsightError, Instrument, Run};
use ringlane_task::{Explain, TaskId, Ticks};
use ringlane_trace::dist::WorkerKind;

use super::TraceCounts;
use super::names::Names;
use super::sink::{Arg, Group, Sink, Slice, Track, TrackKind};

/// What a node's workers did, read and placed on the node's clock.
#[derive(Clone, Debug, Default)]
pub struct NodeTrace {
    node: Node,
    /// Blocks by worker and core, in the order of time.
    cores: BTreeMap<(usize, u32), CoreLane>,
    /// Names of callables, then of kernels.
    names: Vec<String>,
    /// Whether an arrow can lead to each run: it has a block, and its call was taken.
    linked: Vec<bool>,
    /// What cannot be shown, and why.
    missing: Vec<String>,
}

#[derive(Clone, Debug)]
struct CoreLane {
    kind: CoreKind,
    blocks: Vec<Block>,
}

/// A block of a chip.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: Ticks,
    end: Ticks,
    name: usize,
    task: TaskId,
    /// The run that it is the first block of.
    first_of: Option<usize>,
}

impl NodeTrace {
    /// Reads what the workers of a run did; `None` if it has none.
    pub fn read(run: &Run) -> Result<Option<Self>, InsightError> {
        if !run.has(Instrument::Dist) {
            return Ok(None);
        }
        let node = run.node()?;
        let (names, linked) = (node.callables.clone(), vec![false; node.runs.len()]);
        let mut trace = NodeTrace { names, linked, node, ..NodeTrace::default() };
        let mut places = HashMap::new();
        for at in 0..trace.node.runs.len() {
            let placed = &trace.node.runs[at];
            if let Err(why) = &placed.run {
                trace.missing.push(format!("{}: {why}", placed.dir));
            }
            if trace.node.workers[placed.worker].facts.kind == WorkerKind::Node {
                continue;
            }
            match placed.blocks() {
                Ok(chip) => trace.add(at, &chip, &mut places),
                Err(InsightError::NotRecorded { .. }) => {
                    trace.missing.push(format!("{}: no swimlane was recorded", placed.dir));
                }
                Err(error) => trace.missing.push(format!("{}: {}", placed.dir, error.detail())),
            }
        }
        for call in trace.node.workers.iter().flat_map(|worker| &worker.calls) {
            if let (Some(run), None) = (call.run, call.row.accepted) {
                trace.linked[run] = false;
            }
        }
        for lane in trace.cores.values_mut() {
            lane.blocks.sort_by_key(|block| (block.start, block.end));
        }
        Ok(Some(trace))
    }

    /// How many workers there are.
    pub const fn workers(&self) -> usize {
        self.node.workers.len()
    }

    /// How many calls they had.
    pub fn calls(&self) -> usize {
        self.node.workers.iter().map(|worker| worker.calls.len()).sum()
    }

    /// What of the workers is not in the trace, and why.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    fn add(&mut self, run: usize, chip: &ChipBlocks, places: &mut HashMap<String, usize>) {
        let worker = self.node.runs[run].worker;
        for (core, &kind) in (0..).zip(&chip.cores) {
            let lane = || CoreLane { kind, blocks: Vec::new() };
            self.cores.entry((worker, core)).or_insert_with(lane);
        }
        let first = chip.blocks.iter().enumerate().min_by_key(|(_, block)| block.start).map(|(at, _)| at);
        self.linked[run] = first.is_some();
        for (at, block) in chip.blocks.iter().enumerate() {
            let name = chip.kernels.get(&block.func_id).map_or("?", String::as_str);
            let name = self.name(name, places);
            let Some(lane) = self.cores.get_mut(&(worker, block.core.0)) else { continue };
            let first_of = (first == Some(at)).then_some(run);
            let (start, end, task) = (block.start, block.end, block.task_id);
            lane.blocks.push(Block { start, end, name, task, first_of });
        }
    }

    fn name(&mut self, name: &str, places: &mut HashMap<String, usize>) -> usize {
        if let Some(&place) = places.get(name) {
            return place;
        }
        places.insert(name.to_string(), self.names.len());
        self.names.push(name.to_string());
        self.names.len() - 1
    }
}

/// Writes the tracks of all workers; arrows are numbered from `first_arrow` on.
pub(super) fn write<S: Sink>(
    trace: &NodeTrace,
    first_arrow: u64,
    names: &Names,
    sink: &mut S,
) -> io::Result<TraceCounts> {
    let mut writer = Writer { trace, first_arrow, names, sink, counts: TraceCounts::default() };
    for (place, worker) in (0..).zip(&trace.node.workers) {
        let group = Group::Worker(place);
        let family = format!("{} (pid {})", worker.path, worker.facts.pid);
        writer.track(group, &family, "calls".to_string())?;
        worker.calls.iter().try_for_each(|call| writer.call(call))?;
        writer.cores(group, &family, place as usize)?;
    }
    Ok(writer.counts)
}

struct Writer<'a, S> {
    trace: &'a NodeTrace,
    first_arrow: u64,
    names: &'a Names,
    sink: &'a mut S,
    counts: TraceCounts,
}

impl<S: Sink> Writer<'_, S> {
    fn track(&mut self, group: Group, family: &str, name: String) -> io::Result<()> {
        let family = family.to_string().into();
        self.sink.track(&Track { group, family, name, kind: TrackKind::Slices })
    }

    /// The steps of a call, one after the other; the last that is known reaches to the last that was seen of it.
    fn call(&mut self, call: &Call) -> io::Result<()> {
        let row = &call.row;
        let stretch = call.run.and_then(|run| self.trace.node.runs[run].stretch);
        let stretch = stretch.map(|factor| (Arg::StretchThousandths, (factor * 1e3).round() as u64));
        let mut args = vec![(Arg::Task, row.task_id.0), (Arg::Call, row.seq.0)];
        args.extend(stretch);
        let arrow = call.run.and_then(|run| self.arrow_to(run));
        let callable = self.names.of_node(call.callable);
        let steps = [
            (row.sent, row.accepted, Names::MAILBOX, None),
            (row.accepted, row.run, Names::TAKEN, arrow),
            (row.run, row.end, callable, None),
            (row.end, row.done, Names::SEEN, None),
        ];
        for (start, end, name, arrow) in steps {
            let Some(start) = start else { continue };
            let end = end.unwrap_or_else(|| call.until());
            self.counts.slices += 1;
            let arrows_out = arrow.as_slice();
            self.sink.slice(Slice { name, start, end, args: &args, arrows_out, arrows_in: &[] })?;
        }
        Ok(())
    }

    /// The number of the arrow from the call of a run to its first block.
    fn arrow_to(&self, run: usize) -> Option<u64> {
        self.trace.linked[run].then_some(self.first_arrow + run as u64)
    }

    fn cores(&mut self, group: Group, family: &str, place: usize) -> io::Result<()> {
        let trace = self.trace;
        for ((_, core), lane) in trace.cores.range((place, 0)..(place + 1, 0)) {
            self.track(group, family, format!("{} {core}", lane.kind.as_str()))?;
            for block in &lane.blocks {
                let arrow = block.first_of.and_then(|run| self.arrow_to(run));
                self.counts.slices += 1;
                self.counts.call_arrows += u64::from(arrow.is_some());
                let (name, args) = (self.names.of_node(block.name), [(Arg::Task, block.task.0)]);
                let (start, end, arrows_in) = (block.start, block.end, arrow.as_slice());
                self.sink.slice(Slice { name, start, end, args: &args, arrows_out: &[], arrows_in })?;
            }
        }
        Ok(())
    }
}
