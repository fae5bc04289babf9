//! A trace read back from either format, and what has to hold of it and the run's tables.
#![allow(dead_code)] // Each test file uses its part.

pub mod chrome;
pub mod perfetto;

use std::collections::{BTreeMap, HashMap};

use ringlane_insight::timeline::{TaskIndex, Timeline};
use ringlane_trace::swimlane::{BlockRow, Phase};

/// The id of a task that is shown as `ring:number`.
pub fn task_id(name: &str) -> u64 {
    assert!(name.contains(':'), "{name} is no name of a task");
    ringlane_insight::parse_task(name).unwrap().0
}

/// A slice, of either format.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The lane, and the track in it.
    pub track: (String, String),
    pub name: String,
    pub start: u64,
    pub end: u64,
    pub args: BTreeMap<String, u64>,
    pub arrows_out: Vec<u64>,
    pub arrows_in: Vec<u64>,
}

/// A value of a counter.
#[derive(Clone, Debug)]
pub struct Counter {
    pub name: String,
    pub at: u64,
    pub value: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub slices: Vec<Slice>,
    pub counters: Vec<Counter>,
}

impl Trace {
    pub fn in_lane(&self, lane: &str) -> Vec<&Slice> {
        self.slices.iter().filter(|slice| slice.track.0 == lane).collect()
    }

    /// Everything that has to hold, with times as `time` makes them of ticks.
    pub fn check(&self, timeline: &Timeline, scopes: usize, time: impl Fn(u64) -> u64) {
        self.check_blocks(timeline, &time);
        self.check_arrows(timeline);
        self.check_tracks();
        self.check_counters(timeline, &time);
        assert_eq!(self.in_lane("scopes").len(), scopes);
        let phases = timeline.phases.iter().filter(|phase| phase.phase != Phase::Idle);
        let phases: Vec<_> = phases
            .map(|p| (format!("scheduler {}", p.thread), p.phase.as_str(), time(p.start.0), time(p.end.0)))
            .collect();
        let shown = self.in_lane("schedulers").into_iter();
        let shown: Vec<_> = shown.map(|s| (s.track.1.clone(), s.name.as_str(), s.start, s.end)).collect();
        assert_eq!(shown, phases);
        let submits = timeline.tasks.iter().filter_map(|task| task.submit);
        let submits: Vec<_> =
            submits.map(|submit| (submit.task_id.0, time(submit.start.0), time(submit.end.0))).collect();
        let shown = self.in_lane("orchestrator").into_iter().filter(|slice| slice.track.1 == "submits");
        assert_eq!(shown.map(|s| (s.args["task"], s.start, s.end)).collect::<Vec<_>>(), submits);
        assert_eq!(self.in_lane("copies").len(), timeline.copies.len());
    }

    /// The slices of cores are the blocks, one for one.
    fn check_blocks(&self, timeline: &Timeline, time: &impl Fn(u64) -> u64) {
        let shown = self.slices.iter().filter(|slice| slice.track.0.ends_with(" cores"));
        let mut shown: Vec<_> = shown
            .map(|s| {
                (
                    s.track.1.clone(),
                    s.args["task"],
                    s.args["block"],
                    *s.args.get("lane").unwrap_or(&0),
                    s.name.clone(),
                    s.start,
                    s.end,
                )
            })
            .collect();
        let core = |block: &BlockRow| format!("{} {}", timeline.kind_of(block).as_str(), block.core);
        let name = |block: &BlockRow| timeline.kernel_name(block.func_id).to_string();
        let row = |b: &BlockRow| {
            (
                core(b),
                b.task_id.0,
                u64::from(b.block.0),
                u64::from(b.lane),
                name(b),
                time(b.start.0),
                time(b.end.0),
            )
        };
        let mut blocks: Vec<_> = timeline.blocks.iter().map(row).collect();
        shown.sort();
        blocks.sort();
        assert_eq!(shown, blocks);
        // If ticks are shorter than a ns, blocks also have their ticks.
        if timeline.clock_freq_hz > 1_000_000_000 {
            let slices = self.slices.iter().filter(|slice| slice.track.0.ends_with(" cores"));
            let mut stated: Vec<_> =
                slices.map(|slice| (slice.args["start_ticks"], slice.args["end_ticks"])).collect();
            let mut ticks: Vec<_> =
                timeline.blocks.iter().map(|block| (block.start.0, block.end.0)).collect();
            stated.sort_unstable();
            ticks.sort_unstable();
            assert_eq!(stated, ticks);
        }
    }

    /// Every edge has one arrow, from the block that ended last to the one that started first.
    fn check_arrows(&self, timeline: &Timeline) {
        let mut from = HashMap::new();
        let mut to = HashMap::new();
        for slice in &self.slices {
            let end = (slice.args.get("task").copied(), slice.args.get("block").copied());
            for (numbers, ends) in [(&slice.arrows_out, &mut from), (&slice.arrows_in, &mut to)] {
                for number in numbers {
                    assert!(ends.insert(*number, end).is_none(), "arrow {number} has one end here");
                }
            }
        }
        let is_shown =
            |task: TaskIndex| !timeline.blocks_of(task).is_empty() || timeline.task(task).ready.is_some();
        let edges = timeline.edges.pairs().filter(|&(before, after)| is_shown(before) && is_shown(after));
        let block = |block: Option<&BlockRow>| block.map(|block| u64::from(block.block.0));
        let mut expected: Vec<_> = edges
            .map(|(before, after)| {
                let name = |task: TaskIndex| Some(timeline.task(task).task_id.0);
                let first = block(timeline.blocks_of(after).first());
                ((name(before), block(timeline.last_block(before))), (name(after), first))
            })
            .collect();
        assert_eq!(from.len(), to.len());
        let mut arrows: Vec<_> = from.iter().map(|(number, end)| (*end, to[number])).collect();
        arrows.sort();
        expected.sort();
        assert_eq!(arrows, expected);
    }

    /// On a track, slices follow each other or are nested.
    fn check_tracks(&self) {
        let mut tracks: HashMap<_, Vec<_>> = HashMap::new();
        for slice in &self.slices {
            tracks.entry(&slice.track).or_default().push((slice.start, u64::MAX - slice.end));
        }
        for (track, mut slices) in tracks {
            slices.sort_unstable();
            let mut open: Vec<u64> = Vec::new();
            for (start, end) in slices.into_iter().map(|(start, end)| (start, u64::MAX - end)) {
                open.retain(|&until| until > start);
                assert!(open.iter().all(|&until| end <= until), "{track:?}: {start}..{end} in {open:?}");
                open.push(end);
            }
        }
    }

    /// A counter is never negative, ends at 0, and busy cores sum up to the time of the blocks.
    fn check_counters(&self, timeline: &Timeline, time: &impl Fn(u64) -> u64) {
        let mut counters: HashMap<&str, Vec<&Counter>> = HashMap::new();
        self.counters.iter().for_each(|counter| counters.entry(&counter.name).or_default().push(counter));
        for (name, values) in &counters {
            assert!(values.iter().all(|counter| counter.value >= 0.0), "{name}");
            assert!(values.windows(2).all(|pair| pair[0].at <= pair[1].at), "{name}");
            assert_eq!(values.last().unwrap().value, 0.0, "{name}");
            let area: f64 =
                values.windows(2).map(|pair| pair[0].value * (pair[1].at - pair[0].at) as f64).sum();
            let Some(kind) = name.strip_prefix("busy ").and_then(|name| name.strip_suffix(" cores")) else {
                continue;
            };
            let blocks = timeline.blocks.iter().filter(|block| timeline.kind_of(block).as_str() == kind);
            assert_eq!(
                area,
                blocks.map(|block| time(block.end.0) - time(block.start.0)).sum::<u64>() as f64,
                "{name}"
            );
        }
        let has = |part: &str| counters.keys().any(|name| name.contains(part));
        let level = timeline.level.number();
        assert_eq!((has("busy"), has("ready"), has("in flight")), (true, level >= 2, level >= 3));
    }
}
