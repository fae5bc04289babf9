//! Dispatching ahead does not make a run longer than waiting for a free core would.
//!
//! No rule can guarantee that for every graph: a block that begins a little sooner changes the order of the following
//! ones, which can make a list schedule longer (Graham's anomalies). These tests check the rule with all scenes and a
//! fixed sample of random graphs.

use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::{SimOptions, SimRuntime, spec};
use ringlane_engine::prelude::*;
use ringlane_scenes::scenes;
use ringlane_task::{CallConfig, ChipSpec};

/// Ticks per byte that a block writes, on the chips of these tests: 100 ns.
const TICKS_PER_BYTE: u64 = 5;
/// The largest allowed loss by dispatching ahead.
const LOSS_MAX: f64 = 0.02;
/// Random graphs, each on both chips with every policy.
const GRAPHS: u64 = 200;

fn by_size(args: &Args<'_>) -> u64 {
    args.tensors().last().map_or(0, |written| written.bytes()) * TICKS_PER_BYTE
}

kernel! { static ON_AIC = aic fn(x: &mut [u8]) { let _ = x; } cost Cost::Ticks(by_size) }
kernel! { static ON_AIV = aiv fn(x: &mut [u8]) { let _ = x; } cost Cost::Ticks(by_size) }
kernel! { static ON_ANY = any fn(x: &mut [u8]) { let _ = x; } cost Cost::Ticks(by_size) }

/// A chip with a counter of 50 MHz, so that durations are the same on each.
fn chip(name: &str, dispatch_ahead: u32) -> ChipSpec {
    ChipSpec { counter_hz: 50_000_000, dispatch_ahead, ..spec::builtin(name).unwrap() }
}

fn runtime(spec: &ChipSpec, policy: PolicyName) -> SimRuntime {
    let options = SimOptions { policy, ..SimOptions::default() };
    SimRuntime::new(spec, &CallConfig::default(), options).unwrap()
}

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[derive(Clone, Copy, PartialEq)]
enum NodeKind {
    Aic,
    Aiv,
    Any,
    Mixed,
}

struct Task {
    kind: NodeKind,
    bytes: u32,
    after: Vec<usize>,
}

/// Up to 800 tasks of up to 300 µs, independent or after up to three others, near or far, on some kinds of cores or
/// all.
fn random_graph(seed: u64) -> Vec<Task> {
    let mut rng = Rng(seed);
    let tasks = 40 + rng.below(760) as usize;
    let (shortest, spread) = (rng.one_of(&[10.0, 20.0, 100.0]), rng.one_of(&[3.0f64, 10.0, 30.0]));
    let (fan_in, window) = (rng.below(4), rng.one_of(&[8, 50, 1000]));
    let kinds: &[NodeKind] = rng.one_of(&[
        &[NodeKind::Any],
        &[NodeKind::Aiv],
        &[NodeKind::Aic, NodeKind::Aiv],
        &[NodeKind::Aic, NodeKind::Aiv, NodeKind::Any],
    ]);
    let mixed = rng.below(3) == 0;
    let task = |i: usize| {
        let kind = if mixed && rng.below(10) == 0 { NodeKind::Mixed } else { rng.one_of(kinds) };
        let bytes = (shortest * spread.powf(rng.unit())) as u32;
        let count = rng.below(fan_in + 1);
        let mut after: Vec<_> =
            (0..count).filter_map(|_| i.checked_sub(1 + rng.below(window) as usize)).collect();
        after.sort_unstable();
        after.dedup();
        Task { kind, bytes, after }
    };
    (0..tasks).map(task).collect()
}

fn makespan(spec: &ChipSpec, policy: PolicyName, graph: &[Task]) -> u64 {
    let mut runtime = runtime(spec, policy);
    let run = runtime.run(&mut Buffers::new(), |o| {
        let mut tasks = Vec::with_capacity(graph.len());
        for Task { kind, bytes, after } in graph {
            let after: Vec<_> = after.iter().map(|&before| tasks[before]).collect();
            let made = || out(u8, [*bytes]);
            tasks.push(match kind {
                NodeKind::Aic => o.submit_after(&after, &ON_AIC, [made()])?.task(),
                NodeKind::Aiv => o.submit_after(&after, &ON_AIV, [made()])?.task(),
                NodeKind::Any => o.submit_after(&after, &ON_ANY, [made()])?.task(),
                NodeKind::Mixed => o.submit_after(&after, ON_AIC.mixed(&[&ON_AIV]), [made(), made()])?.task(),
            });
        }
        Ok(())
    });
    run.result.unwrap();
    runtime.totals().makespan
}

/// How much longer the second makespan is.
fn loss([waiting, ahead]: [u64; 2]) -> f64 {
    ahead as f64 / waiting as f64 - 1.0
}

#[test]
fn tasks_for_any_core_take_no_longer_than_tasks_for_vector_cores() {
    let of = |kind| (0..48).map(|_| Task { kind, bytes: 10_000, after: vec![] }).collect::<Vec<_>>();
    for policy in PolicyName::ALL {
        let [any, aiv] =
            [NodeKind::Any, NodeKind::Aiv].map(|kind| makespan(&chip("a2a3sim", 1), policy, &of(kind)));
        assert!(any as f64 <= 1.01 * aiv as f64, "{policy}: {any} ps against {aiv} ps");
    }
}

#[test]
fn no_random_graph_loses_more_than_two_percent_by_dispatching_ahead() {
    let mut losses = Vec::new();
    for seed in 0..GRAPHS {
        let graph = random_graph(seed);
        for name in ["a2a3sim", "a5sim"] {
            for policy in PolicyName::ALL {
                let spans = [0, 1].map(|ahead| makespan(&chip(name, ahead), policy, &graph));
                losses.push((loss(spans), format!("graph {seed} on {name}, {policy}: {spans:?}")));
            }
        }
    }
    losses.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (worst, best) = (losses.last().unwrap(), &losses[0]);
    let mean = losses.iter().map(|(loss, _)| loss).sum::<f64>() / losses.len() as f64;
    assert!(worst.0 <= LOSS_MAX, "{:.2} %: {}", 100.0 * worst.0, worst.1);
    assert!(best.0 < -0.05 && mean < 0.0, "it is worth doing: {best:?}, {mean} on average");
}

#[test]
fn no_scene_loses_more_than_two_percent_by_dispatching_ahead() {
    for scene in scenes() {
        for case in scene.cases.iter().filter(|case| case.name == "small") {
            for name in ["a2a3sim", "a5sim"] {
                for policy in PolicyName::ALL {
                    let spans = [0, 1].map(|ahead| {
                        let settings = scene.settings(case, &[], 7).unwrap();
                        let mut program = (scene.build)(&settings).unwrap();
                        let mut buffers = program.buffers().unwrap();
                        let mut runtime = runtime(&chip(name, ahead), policy);
                        runtime.run(&mut buffers, |o| program.orchestrate(o)).result.unwrap();
                        runtime.totals().makespan
                    });
                    let loss = loss(spans);
                    assert!(loss <= LOSS_MAX, "{} on {name}, {policy}: {spans:?}", scene.name);
                }
            }
        }
    }
}
