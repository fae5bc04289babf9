//! `ringlane bench cuda`: the six workloads on a GPU.
//!
//! ```text
//! streamed     submitted while they run: from the first submit to the end of the run
//! lists        captured and replayed: from the call to its return
//! cuda-graph   the same captured graph as a CUDA graph, the same bodies and arguments; alternating with `lists`
//! ```
//! The tensor that tasks access is made in the run, and stays on the GPU: no copies are measured. Then come single tasks, values
//! and copies (`latency`), instruments (`instruments`), products of matrices (`matmul`) and the compilation of the scenes'
//! kernels (`compile`).

mod compile;
mod instruments;
mod latency;
mod matmul;

use std::time::{Duration, Instant};

use ringlane::Runtime;
use ringlane_engine::Result;
use ringlane_engine::chip_runtime::ChipOptions;
use ringlane_engine::graph::Graph as Captured;
use ringlane_engine::prelude::{Buffers, DType, Orch};
use ringlane_task::CallConfig;

use crate::error::BenchError;
use crate::graph::{Edges, Graph};
use crate::measure::{Effort, Interleaved, Samples};
use crate::rows::{Ratio, Row, Target};
use crate::spin;
use crate::submit;
use crate::workload::{Spin, Workload};
use crate::{Bench, Session};

/// The ways to run a captured graph that are compared, the first with the others.
const POLICIES: [&str; 2] = ["lists", "cuda-graph"];
/// The minimum number of rounds of a comparison.
const ROUNDS_MIN: usize = 7;

/// Tasks of a replayed graph: fewer than of a streamed one, because a CUDA graph takes up to 50 µs for each to build.
const fn replayed_size(workload: Workload) -> u32 {
    match workload {
        Workload::Independent | Workload::Chain => 20_000,
        Workload::Forkjoin => 300,
        Workload::Wavefront => 256,
        Workload::Cholesky => 40,
        Workload::Random => 100_000,
    }
}

/// The targets in nanoseconds for each empty task: replayed, and streamed.
const fn targets(workload: Workload) -> (f64, f64) {
    match workload {
        Workload::Independent => (2.0, 25.0),
        Workload::Chain => (200.0, 700.0),
        Workload::Forkjoin => (60.0, 150.0),
        Workload::Wavefront => (10.0, 30.0),
        Workload::Cholesky => (12.0, 30.0),
        Workload::Random => (60.0, 190.0),
    }
}

/// The largest time of a replay compared with the ideal, with tasks of 1 µs and of 10 µs.
const fn ideal_targets(workload: Workload) -> (f64, f64) {
    match workload {
        Workload::Independent | Workload::Chain => (1.25, 1.05),
        Workload::Forkjoin => (2.7, 1.2),
        Workload::Wavefront => (2.0, 1.35),
        Workload::Cholesky => (2.0, 1.15),
        Workload::Random => (1.6, 1.05),
    }
}

/// Measures every workload with every spin, and what one task takes.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> core::result::Result<(), BenchError> {
    let time = bench.time_of_each(2 * bench.workloads.len() * bench.spins.len());
    for &workload in &bench.workloads {
        for &spin in &bench.spins {
            spin::set(spin, None);
            streamed(bench, session, workload, spin, time)?;
            replayed(bench, session, workload, spin, time)?;
        }
    }
    if bench.spins.contains(&Spin::Us1) {
        instruments::measure(bench, session)?;
    }
    spin::set_iterations(0);
    latency::measure(bench, session)?;
    matmul::measure(bench, session)?;
    compile::measure(bench, session)
}

fn runtime(bench: &Bench, policy: &'static str) -> core::result::Result<Runtime, BenchError> {
    let options = ChipOptions { policy: Some(policy), ..ChipOptions::default() };
    Ok(Runtime::on(bench.device).options(options).with(&CallConfig::default())?)
}

/// Submits a workload whose buffers are elements of one tensor; gives the time of the first submit.
fn program(o: &mut Orch<'_, '_>, graph: &Graph) -> Result<Instant> {
    let all = o.alloc(DType::Float32, [graph.buffers.max(1)])?;
    let handles = (0..graph.buffers).map(|i| all.tile(&[i], &[1])).collect::<Result<Vec<_>>>()?;
    let start = Instant::now();
    submit::plain(o, &graph.tasks, &handles)?;
    Ok(start)
}

fn streamed(
    bench: &Bench,
    session: &mut Session<'_>,
    workload: Workload,
    spin: Spin,
    time: Duration,
) -> core::result::Result<(), BenchError> {
    session.begin(&format!("{}, streamed, {} µs", workload.as_str(), spin.us()), 1);
    let graph = workload.graph(workload.size(spin));
    let mut runtime = runtime(bench, POLICIES[0])?;
    let samples = Samples::take(time, || {
        let run = runtime.run(&mut Buffers::new(), |o| program(o, &graph));
        let end = Instant::now();
        Ok(end - run.result?)
    })?;
    let mut row = Row::new(workload.as_str(), 1, spin.us(), graph.tasks.len() as u64, &samples);
    row.extra.policy = Some("streamed");
    let median = row.ns_per_task_median;
    session.done(row.on(bench.device));
    if spin == Spin::Empty {
        let what = format!("cuda: {} streamed, ns a task", workload.as_str());
        session.judge(Target::at_most(what, median, targets(workload).1), 1);
    }
    Ok(())
}

/// A captured graph, with the runtime that replays it and what it reads.
struct Replayed {
    runtime: Runtime,
    graph: Captured,
    data: Buffers<'static>,
    /// Of the GPU, after the first replay.
    processors: u32,
}

impl Replayed {
    fn new(bench: &Bench, policy: &'static str, graph: &Graph) -> core::result::Result<Self, BenchError> {
        Self::of(bench, policy, Buffers::new(), |o| program(o, graph).map(drop))
    }

    fn of(
        bench: &Bench,
        policy: &'static str,
        data: Buffers<'static>,
        orchestrate: impl FnOnce(&mut Orch<'_, '_>) -> Result<()>,
    ) -> core::result::Result<Self, BenchError> {
        let mut runtime = runtime(bench, policy)?;
        let graph = runtime.capture(&data, |o| orchestrate(o))?;
        Ok(Replayed { runtime, graph, data, processors: 1 })
    }

    fn once(&mut self) -> core::result::Result<Duration, BenchError> {
        let start = Instant::now();
        let run = self.runtime.replay(&mut self.graph, &mut self.data);
        let took = start.elapsed();
        run.result?;
        self.processors = run.report.cores;
        Ok(took)
    }
}

fn replayed(
    bench: &Bench,
    session: &mut Session<'_>,
    workload: Workload,
    spin: Spin,
    time: Duration,
) -> core::result::Result<(), BenchError> {
    session.begin(&format!("{}, replayed, {} µs", workload.as_str(), spin.us()), 1);
    let graph = workload.graph(replayed_size(workload));
    let tasks = graph.tasks.len() as u64;
    let mut variants = Vec::new();
    let mut first = Vec::new();
    for policy in POLICIES {
        // The program is compiled, and then in the cache: that is another matter.
        Replayed::new(bench, policy, &workload.graph(2))?.once()?;
        let mut replayed = Replayed::new(bench, policy, &graph)?;
        first.push(replayed.once()?);
        variants.push(replayed);
    }
    let effort = Effort { time, rounds_min: ROUNDS_MIN };
    let measured = Interleaved::take(effort, &[tasks; POLICIES.len()], |variant| variants[variant].once())?;
    let ideal_us = ideal_us(&graph, spin, variants[0].processors);
    for (variant, policy) in POLICIES.into_iter().enumerate() {
        let mut row = Row::new(workload.as_str(), 1, spin.us(), tasks, &measured.samples[variant]);
        row.extra.policy = Some(policy);
        row.extra.runtime = Some(ringlane::GraphRuntime::HostBuildGraph.as_str());
        row.extra.first_ns_per_task = Some((first[variant].as_nanos() as f64 / tasks as f64).round());
        row.extra.ratio = (variant > 0).then(|| Ratio::of(&measured, variant));
        let median = row.ns_per_task_median;
        if spin != Spin::Empty {
            row.extra.efficiency = Some(ideal_us * 1000.0 / (median * tasks as f64));
        }
        session.done(row.on(bench.device));
        judge(session, workload, spin, (variant, median), ideal_us * 1000.0 / tasks as f64);
    }
    let what = format!("cuda: {} replayed, {} µs, compared with a CUDA graph", workload.as_str(), spin.us());
    session.judge(Target::at_most(what, 1.0 / measured.ratio(1, 0.5), 1.0), POLICIES.len());
    Ok(())
}

fn judge(
    session: &mut Session<'_>,
    workload: Workload,
    spin: Spin,
    (variant, ns): (usize, f64),
    ideal_ns: f64,
) {
    let name = workload.as_str();
    let target = match (variant, spin) {
        (0, Spin::Empty) => {
            Target::at_most(format!("cuda: {name} replayed, ns a task"), ns, targets(workload).0)
        }
        (0, Spin::Us1) => {
            let what = format!("cuda: {name} replayed, 1 µs, compared with the ideal");
            Target::at_most(what, ns / ideal_ns, ideal_targets(workload).0)
        }
        (0, Spin::Us10) => {
            let what = format!("cuda: {name} replayed, 10 µs, compared with the ideal");
            Target::at_most(what, ns / ideal_ns, ideal_targets(workload).1)
        }
        _ => return,
    };
    session.judge(target, 1);
}

/// The longest path, or all tasks on all processors, whichever takes longer.
fn ideal_us(graph: &Graph, spin: Spin, processors: u32) -> f64 {
    let critical = f64::from(Edges::of(graph).critical_tasks);
    critical.max(graph.tasks.len() as f64 / f64::from(processors)) * f64::from(spin.us())
}
