//! The way through a run: one track after the other, each in time order.

use std::io;

use ringlane_insight::CoreKind;
use ringlane_insight::timeline::{TaskIndex, Timeline};
use ringlane_task::{CoreId, Ticks};
use ringlane_trace::swimlane::{BlockRow, CopyDirection, Phase, SubmitRow, SwimlaneLevel};

use super::clock::Clock;
use super::counters::counters;
use super::flows::Arrows;
use super::lanes::lanes;
use super::names::Names;
use super::node;
use super::sink::{Arg, Group, Sink, Slice, Track, TrackKind};
use super::{TraceCounts, TraceSource};

/// Writes a whole trace into the sink that `make` makes.
pub(super) fn walk<S: Sink>(
    source: TraceSource<'_>,
    make: impl FnOnce(&Names) -> io::Result<S>,
) -> io::Result<TraceCounts> {
    let names = Names::new(source);
    let sink = make(&names)?;
    let ns = Clock::nanoseconds(source.timeline.clock_freq_hz);
    let mut walk =
        Walk { source, timeline: source.timeline, names, ns, sink, counts: TraceCounts::default() };
    walk.submits()?;
    walk.scopes()?;
    walk.phases()?;
    let arrows = Arrows::new(source.timeline);
    walk.cores(&arrows)?;
    walk.tasks_without_blocks(&arrows)?;
    drop(arrows);
    walk.copies()?;
    walk.counters()?;
    if let Some(node) = source.node {
        let first_arrow = source.timeline.edges.len() as u64 + 1;
        let counts = node::write(node, first_arrow, &walk.names, &mut walk.sink)?;
        walk.counts.slices += counts.slices;
        walk.counts.call_arrows = counts.call_arrows;
    }
    walk.sink.finish()?;
    Ok(walk.counts)
}

struct Walk<'a, S> {
    source: TraceSource<'a>,
    timeline: &'a Timeline,
    names: Names,
    ns: Clock,
    sink: S,
    counts: TraceCounts,
}

impl<S: Sink> Walk<'_, S> {
    fn track(&mut self, group: Group, name: String) -> io::Result<()> {
        self.sink.track(&Track { group, family: group.name().into(), name, kind: TrackKind::Slices })
    }

    fn slice(&mut self, slice: Slice<'_>) -> io::Result<()> {
        self.counts.slices += 1;
        self.counts.arrows += slice.arrows_in.len() as u64;
        self.sink.slice(slice)
    }

    fn kernel_place(&self, block: &BlockRow) -> Option<usize> {
        self.timeline.kernels.binary_search_by_key(&block.func_id, |kernel| kernel.func_id).ok()
    }

    /// The orchestrator's submits, and below them the waits for a ring, which come first in a submit.
    fn submits(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        let mut order: Vec<(SubmitRow, TaskIndex)> =
            timeline.indices().filter_map(|task| Some((timeline.task(task).submit?, task))).collect();
        if order.is_empty() {
            return Ok(());
        }
        order.sort_by_key(|(submit, _)| (submit.start, submit.end));
        self.track(Group::Orchestrator, "submits".to_string())?;
        let mut args = Vec::new();
        for (submit, task) in &order {
            args.clear();
            args.extend(self.submit_args(submit, *task));
            args.extend(self.names.label(*task));
            let name = match timeline.blocks_of(*task).first() {
                Some(block) => self.names.submit_of(self.kernel_place(block)),
                None => Names::SUBMIT,
            };
            let SubmitRow { start, end, .. } = *submit;
            self.slice(Slice { name, start, end, args: &args, arrows_out: &[], arrows_in: &[] })?;
        }
        if order.iter().all(|(submit, _)| submit.stall.0 == 0) {
            return Ok(());
        }
        self.track(Group::Orchestrator, "waits for a ring".to_string())?;
        for (submit, task) in order.iter().filter(|(submit, _)| submit.stall.0 > 0) {
            let end = Ticks(submit.start.0.saturating_add(submit.stall.0));
            let args = [(Arg::Task, submit.task_id.0), (Arg::Seq, timeline.task(*task).seq.0)];
            let name = Names::RING_FULL;
            self.slice(Slice {
                name,
                start: submit.start,
                end,
                args: &args,
                arrows_out: &[],
                arrows_in: &[],
            })?;
        }
        Ok(())
    }

    fn submit_args(&self, submit: &SubmitRow, task: TaskIndex) -> [(Arg, u64); 8] {
        let ns = |ticks: Ticks| self.ns.units(ticks.0);
        [
            (Arg::Task, submit.task_id.0),
            (Arg::Seq, self.timeline.task(task).seq.0),
            (Arg::StallNs, ns(submit.stall)),
            (Arg::AllocNs, ns(submit.alloc)),
            (Arg::LookupNs, ns(submit.lookup)),
            (Arg::InsertNs, ns(submit.insert)),
            (Arg::WireNs, ns(submit.wire)),
            (Arg::HeapBytes, submit.heap_bytes),
        ]
    }

    /// Scopes of one depth never overlap, so each depth has a track.
    fn scopes(&mut self) -> io::Result<()> {
        let spans = self.source.scopes.map(|scopes| scopes.by_depth()).unwrap_or_default();
        for at_depth in spans.chunk_by(|a, b| a.depth == b.depth) {
            self.track(Group::Scopes, format!("depth {}", at_depth[0].depth))?;
            for span in at_depth {
                let args = [
                    (Arg::Scope, u64::from(span.scope.0)),
                    (Arg::Ring, u64::from(span.ring.0)),
                    (Arg::Tasks, span.tasks),
                    (Arg::Open, 1),
                ];
                let args = &args[..if span.exit.is_none() { 4 } else { 3 }];
                let end = span.exit.unwrap_or(self.timeline.makespan).max(span.enter);
                let (name, start) = (self.names.site(span.site), span.enter);
                self.slice(Slice { name, start, end, args, arrows_out: &[], arrows_in: &[] })?;
            }
        }
        Ok(())
    }

    /// What scheduler threads did; idle time is left out, as a gap.
    fn phases(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        for of_thread in timeline.phases.chunk_by(|a, b| a.thread == b.thread) {
            self.track(Group::Schedulers, format!("scheduler {}", of_thread[0].thread))?;
            for phase in of_thread.iter().filter(|phase| phase.phase != Phase::Idle) {
                let args = [(Arg::Tasks, phase.tasks)];
                // Nearly all are for one task.
                let args = &args[usize::from(phase.tasks == 1)..];
                let (name, start, end) = (Names::phase(phase.phase), phase.start, phase.end);
                self.slice(Slice { name, start, end, args, arrows_out: &[], arrows_in: &[] })?;
            }
        }
        Ok(())
    }

    fn cores(&mut self, arrows: &Arrows<'_>) -> io::Result<()> {
        let timeline = self.timeline;
        let mut order: Vec<u32> = (0..timeline.blocks.len() as u32).collect();
        let block_at = |place: u32| &timeline.blocks[place as usize];
        let core = |id: CoreId| (timeline.cores[id.0 as usize], id);
        order.sort_by_cached_key(|&place| {
            let block = block_at(place);
            (core(block.core), block.start, block.end)
        });
        let mut kinds: Vec<_> = (0..timeline.cores.len() as u32).map(|id| core(CoreId(id))).collect();
        kinds.sort_unstable();
        let mut rest = &order[..];
        for (kind, id) in kinds {
            // A core that ran nothing has its track too: that it was idle is what there is to see.
            self.track(group_of(kind), format!("{} {id}", kind.as_str()))?;
            let (own, others) =
                rest.split_at(rest.partition_point(|&place| core(block_at(place).core) <= (kind, id)));
            rest = others;
            self.blocks(own, arrows)?;
        }
        Ok(())
    }

    fn blocks(&mut self, places: &[u32], arrows: &Arrows<'_>) -> io::Result<()> {
        let (mut arrows_in, mut arrows_out) = (Vec::new(), Vec::new());
        let mut args = Vec::new();
        for &place in places {
            let block = &self.timeline.blocks[place as usize];
            let task = arrows.task_of(place);
            self.block_args(block, task, &mut args);
            arrows_in.clear();
            arrows_out.clear();
            if arrows.is_first(place) {
                arrows.into(task, &mut arrows_in);
            }
            if arrows.is_last(place) {
                arrows.out_of(task, &mut arrows_out);
            }
            let name = self.names.kernel(self.kernel_place(block));
            let (start, end) = (block.start, block.end);
            self.slice(Slice {
                name,
                start,
                end,
                args: &args,
                arrows_out: &arrows_out,
                arrows_in: &arrows_in,
            })?;
        }
        Ok(())
    }

    fn block_args(&self, block: &BlockRow, task: TaskIndex, args: &mut Vec<(Arg, u64)>) {
        args.clear();
        args.extend([(Arg::Task, block.task_id.0), (Arg::Seq, self.timeline.task(task).seq.0)]);
        args.extend(self.names.label(task));
        args.push((Arg::Block, u64::from(block.block.0)));
        if block.lane > 0 {
            args.push((Arg::Lane, u64::from(block.lane)));
        }
        if self.timeline.level > SwimlaneLevel::Blocks {
            args.push((Arg::HeadNs, self.ns.units(block.start.0.saturating_sub(block.dispatch.0))));
            args.push((Arg::TailNs, self.ns.units(block.finish.0.saturating_sub(block.end.0))));
        }
        if !self.ns.is_exact() {
            args.extend([(Arg::StartTicks, block.start.0), (Arg::EndTicks, block.end.0)]);
        }
    }

    /// Tasks that never ran a block, where they were ready: arrows can go through them.
    fn tasks_without_blocks(&mut self, arrows: &Arrows<'_>) -> io::Result<()> {
        let timeline = self.timeline;
        let without_blocks = timeline.indices().filter(|&task| timeline.blocks_of(task).is_empty());
        let mut order: Vec<_> =
            without_blocks.filter_map(|task| Some((timeline.task(task).ready?, task))).collect();
        if order.is_empty() {
            return Ok(());
        }
        order.sort_unstable();
        self.track(Group::NoBlock, "allocations, barriers, skipped tasks".to_string())?;
        let (mut arrows_in, mut arrows_out) = (Vec::new(), Vec::new());
        for (ready, task) in order {
            arrows.into(task, &mut arrows_in);
            arrows.out_of(task, &mut arrows_out);
            let args = [(Arg::Task, timeline.task(task).task_id.0), (Arg::Seq, timeline.task(task).seq.0)];
            let (name, start, end) = (Names::NO_BLOCK, ready, ready);
            self.slice(Slice {
                name,
                start,
                end,
                args: &args,
                arrows_out: &arrows_out,
                arrows_in: &arrows_in,
            })?;
        }
        Ok(())
    }

    /// Copies, on as many tracks for each direction as it takes to keep those apart that overlap.
    fn copies(&mut self) -> io::Result<()> {
        let copies = &self.timeline.copies;
        for direction in [CopyDirection::HostToDevice, CopyDirection::DeviceToHost] {
            let mut own: Vec<_> =
                (0..copies.len()).filter(|&copy| copies[copy].direction == direction).collect();
            own.sort_by_key(|&copy| (copies[copy].start, copies[copy].end));
            let times = own.iter().map(|&copy| (copies[copy].start, copies[copy].end));
            for (lane, places) in lanes(times).into_iter().enumerate() {
                self.track(Group::Copies, lane_name(direction, lane + 1))?;
                places.into_iter().try_for_each(|place| self.copy(own[place]))?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, place: usize) -> io::Result<()> {
        let copy = &self.timeline.copies[place];
        let (name, args) = (self.names.copy(place), [(Arg::Bytes, copy.bytes)]);
        let (start, end) = (copy.start, copy.end);
        self.slice(Slice { name, start, end, args: &args, arrows_out: &[], arrows_in: &[] })
    }

    fn counters(&mut self) -> io::Result<()> {
        for counter in counters(self.timeline) {
            let (group, name) = (Group::Counters, counter.name.clone());
            self.sink.track(&Track { group, family: group.name().into(), name, kind: TrackKind::Values })?;
            let (sink, mut samples, mut result) = (&mut self.sink, 0, Ok(()));
            counter.values(|at, value| {
                if result.is_ok() {
                    result = sink.value(at, value);
                    samples += 1;
                }
            });
            result?;
            self.counts.samples += samples;
            self.counts.thinned += u64::from(counter.is_thinned());
        }
        Ok(())
    }
}

const fn group_of(kind: CoreKind) -> Group {
    match kind {
        CoreKind::Aic => Group::Aic,
        CoreKind::Aiv => Group::Aiv,
        CoreKind::Cpu => Group::Cpu,
        CoreKind::Sm => Group::Sm,
        CoreKind::Chip | CoreKind::Function | CoreKind::Node => Group::Workers,
    }
}

fn lane_name(direction: CopyDirection, lane: usize) -> String {
    let way = match direction {
        CopyDirection::HostToDevice => "host to chip",
        CopyDirection::DeviceToHost => "chip to host",
    };
    if lane == 1 { way.to_string() } else { format!("{way}, {lane}") }
}
