//! The verdict on a run names the part that, made free, really makes the run shorter.
//!
//! Each graph runs on `a2a3sim`, gets its verdict, and then runs again on chips on which one part costs nothing: submits,
//! scheduling, waiting for a core, kernels, memory. The verdict is right if the part that it names gains a twentieth of the
//! makespan at least, and nearly as much as any other overhead would.

mod common;
mod graphs;

use std::collections::BTreeMap;

use common::Sandbox;
use graphs::{Draw, Grain, Graph, Kinds, Remedy, makespan};
use ringlane::prelude::*;
use ringlane_insight::bound::Placement;
use ringlane_insight::critical_path::{Cause, observed};
use ringlane_insight::overhead::overhead;
use ringlane_insight::units::percent_text;
use ringlane_insight::verdict::{self, Limit, Verdict};
use ringlane_scenes::scenes;

/// A part is worth naming if, made free, it gains this much of the makespan,
const GAIN_MIN: f64 = 0.05;
/// and this much of what the best of all gains.
const NEARLY: f64 = 0.8;
/// The part of all graphs on which the verdict is right, at least. A verdict
/// that ranks instants of the clock by what some block waited for reaches 0.60.
const RIGHT_MIN: f64 = 0.75;

/// Runs with a part free, recorded as the configuration says, and gives the ticks that it took.
type TimedRun = dyn Fn(Remedy, &CallConfig) -> u64;

/// Something to run.
struct Workload {
    name: String,
    run: Box<TimedRun>,
}

/// Graphs of every shape, with tasks of every length on every kind of core.
fn drawn() -> Vec<Graph> {
    let grains = [Grain::Even(3), Grain::Even(20), Grain::Even(150), Grain::Uneven(400)];
    let mut graphs = Vec::new();
    for kinds in Kinds::TIMED {
        for grain in grains {
            let draw = |shape| Draw::new(10 * graphs.len() as u64 + shape, kinds, grain);
            graphs.extend([
                draw(0).chains(1, 60),
                draw(1).chains(16, 20),
                draw(2).chains(400, 1),
                draw(3).chains(120, 4),
                draw(4).fork_join(150, 3),
                draw(5).layers(30, 12, 3),
                draw(6).layers(120, 5, 3),
                draw(7).wavefront(14),
            ]);
        }
    }
    graphs
}

impl Workload {
    fn of(graph: Graph) -> Self {
        let name = graph.name.clone();
        let run = move |remedy, config: &CallConfig| {
            makespan(remedy, config, &mut Buffers::new(), |o| graph.orchestrate(o))
        };
        Workload { name, run: Box::new(run) }
    }

    /// The part of a run's time that a remedy saves.
    fn gain(&self, remedy: Remedy, took: u64) -> f64 {
        1.0 - (self.run)(remedy, &CallConfig::default()) as f64 / took as f64
    }
}

fn workloads() -> Vec<Workload> {
    let cases = scenes().into_iter().flat_map(|scene| scene.usual_cases().map(move |case| (scene, case)));
    let quick = cases
        .filter(|(scene, case)| ["small", "few", "ragged"].contains(&case.name) && scene.name != "stream");
    let played = quick.map(|(scene, case)| Workload {
        name: format!("scene {} {}", scene.name, case.name),
        run: Box::new(move |remedy, config| {
            let mut program = (scene.build)(&scene.settings(case, &[], 7).unwrap()).unwrap();
            let mut buffers = program.buffers().unwrap();
            makespan(remedy, config, &mut buffers, |o| program.orchestrate(o))
        }),
    });
    drawn().into_iter().map(Workload::of).chain(played).collect()
}

/// The verdict on a recorded run, after a check that it is the largest part of the path, and how long the run took.
fn judged(sandbox: &Sandbox, number: usize, workload: &Workload) -> (Verdict, u64) {
    let flags = DfxFlags::DEPS.with(DfxFlags::PMU);
    let dir = sandbox.path().join(format!("run{number}"));
    let mut config = CallConfig::default().with_dfx_flags(flags.with_swimlane_level(3).unwrap());
    config.set_output_prefix(dir.to_str().unwrap()).unwrap();
    let took = (workload.run)(Remedy::None, &config);
    let run = ringlane_insight::Run::open(&dir).unwrap();
    let timeline = run.timeline().unwrap();
    let path = observed(&timeline).unwrap();
    let counters = run.recorded_counters().unwrap();
    let verdict = verdict::of(&timeline, &path, counters.as_ref()).expect("something ran");
    let largest = Cause::ALL.into_iter().map(|cause| path.total(cause)).max().unwrap();
    assert_eq!(verdict.share, largest.0 as f64 / took as f64, "{}: {}", workload.name, verdict.sentence);
    (verdict, took)
}

/// What making free is the verdict's remedy.
fn remedy(limit: Limit) -> Remedy {
    match limit {
        Limit::Cores => Remedy::Cores,
        Limit::Memory => Remedy::Memory,
        Limit::Scheduler => Remedy::Scheduling,
        Limit::Orchestrator => Remedy::Submits,
        Limit::Dependencies => Remedy::Kernels,
        Limit::Rings | Limit::Transfers => panic!("no ring is full, and nothing is copied: {limit}"),
    }
}

#[test]
fn what_the_verdict_names_made_free_makes_the_run_shorter() {
    let sandbox = Sandbox::new();
    let (mut right, mut wrong) = (0, Vec::new());
    let mut limits = BTreeMap::<&str, u32>::new();
    for (number, workload) in workloads().iter().enumerate() {
        let (verdict, took) = judged(&sandbox, number, workload);
        let gain = |remedy| workload.gain(remedy, took);
        let overheads =
            [Remedy::Submits, Remedy::Scheduling, Remedy::Cores].map(|remedy| (remedy, gain(remedy)));
        let best = overheads.iter().map(|&(_, gain)| gain).fold(0.0, f64::max);
        let remedy = remedy(verdict.limit);
        let known = overheads.iter().find(|&&(overhead, _)| overhead == remedy);
        let named = known.map_or_else(|| gain(remedy), |&(_, gain)| gain);
        // Where nothing helps by itself, there is nothing to name.
        if best.max(named) < GAIN_MIN {
            continue;
        }
        *limits.entry(verdict.limit.as_str()).or_default() += 1;
        if named >= GAIN_MIN && named >= NEARLY * best {
            right += 1;
        } else {
            wrong.push(format!(
                "{}: {} gains {named:.3}, of {overheads:.3?}",
                workload.name, verdict.sentence
            ));
        }
    }
    let rate = f64::from(right) / (f64::from(right) + wrong.len() as f64);
    println!("right on {right}, wrong on {}; verdicts: {limits:?}", wrong.len());
    assert!(rate >= RIGHT_MIN, "right on {rate:.3} only: {wrong:#?}");
    assert!(limits.len() >= 4, "graphs for every verdict: {limits:?}");
}

#[test]
fn memory_is_named_where_faster_memory_helps_and_nowhere_else() {
    let sandbox = Sandbox::new();
    let mut number = 0;
    for kinds in [Kinds::Moving, Kinds::Computing] {
        let draw = || Draw::new(7, kinds, Grain::Even(150));
        for graph in [draw().chains(1, 20), draw().chains(120, 4), draw().wavefront(8)] {
            let workload = Workload::of(graph);
            number += 1;
            let (verdict, took) = judged(&sandbox, number, &workload);
            let [memory, kernels] =
                [Remedy::Memory, Remedy::Kernels].map(|remedy| workload.gain(remedy, took));
            let (name, sentence) = (&workload.name, &verdict.sentence);
            match kinds {
                Kinds::Moving => assert!(
                    verdict.limit == Limit::Memory && memory >= NEARLY * kernels && memory > GAIN_MIN,
                    "{name}: {sentence} {memory:.3} of {kernels:.3}"
                ),
                _ => assert!(
                    verdict.limit != Limit::Memory && verdict.memory_share.is_some_and(|moving| moving < 0.2),
                    "{name}: {sentence} {memory:.3} of {kernels:.3}"
                ),
            }
        }
    }
}

#[test]
fn tasks_that_run_anywhere_are_judged_over_all_cores() {
    let sandbox = Sandbox::new();
    let workload = Workload::of(Draw::new(3, Kinds::Any, Grain::Even(2000)).chains(400, 1));
    let (verdict, took) = judged(&sandbox, 0, &workload);
    let timeline = ringlane_insight::Run::open(sandbox.path().join("run0")).unwrap().timeline().unwrap();
    assert_eq!((verdict.limit, verdict.kind), (Limit::Cores, "any"), "{}", verdict.sentence);
    let all = *overhead(&timeline).unwrap().kinds.last().unwrap();
    assert_eq!((all.kind, all.cores), (Placement::Anywhere, 72));
    let busy: u64 = timeline.blocks.iter().map(|block| block.end.0 - block.start.0).sum();
    assert_eq!(all.core_time.busy, u128::from(busy));
    let share = percent_text(busy as f64 / (72 * took) as f64);
    assert!(verdict.sentence.contains(&format!("all kinds were busy {share}")), "{}", verdict.sentence);
}
