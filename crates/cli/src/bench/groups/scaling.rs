//! `ringlane bench scaling`: whether a task costs the same in a run of ten thousand and of ten million.
//!
//! The stream has the shape of `random`; its buffers are used in a circle, so that only the number of tasks grows.

use std::time::{Duration, Instant};

use ringlane_engine::Result;
use ringlane_engine::prelude::{Orch, Tensor};

use crate::bench::error::BenchError;
use crate::bench::graph::Graph;
use crate::bench::limits::SCOPE_TASKS;
use crate::bench::measure::Samples;
use crate::bench::rows::{Bar, Row};
use crate::bench::submit::{self, Data};
use crate::bench::workload::random;
use crate::bench::{Bench, Lab};
use crate::runtime::Runtime;

/// Tasks of the runs.
const TASKS: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Buffers, used in a circle.
const BUFFERS: u32 = 4096;
/// Tasks after which the stream repeats itself.
const PERIOD: u32 = 65_536;
/// A task of a longer run costs at most so many times one of the shortest.
const GROWTH_MAX: f64 = 1.2;

const _: () = assert!(PERIOD.is_multiple_of(BUFFERS) && (PERIOD as usize).is_multiple_of(SCOPE_TASKS));

/// Measures runs of growing length.
pub fn measure(bench: &Bench, lab: &mut Lab) -> Result<(), BenchError> {
    let time = bench.time_of_each(TASKS.len() * bench.threads.len());
    let graph = random(PERIOD, BUFFERS);
    let mut data = Data::of(&graph)?;
    for &threads in &bench.threads {
        let mut medians = Vec::new();
        for tasks in TASKS {
            let name = format!("scaling/{tasks}");
            let runtime = lab.runtime(&name, threads)?;
            let samples = Samples::take(time, || once(runtime, &mut data, &graph, tasks))?;
            let row = Row::new(name, threads, 0, tasks as u64, &samples);
            medians.push(row.ns_per_task_median);
            lab.done(row);
        }
        let most = medians[1..].iter().copied().fold(0.0, f64::max);
        let what = format!("scaling: growth of ns per task from 10^4 tasks on, --threads {threads}");
        lab.judge(Bar::at_most(what, most / medians[0], GROWTH_MAX), TASKS.len());
    }
    Ok(())
}

fn once(runtime: &mut Runtime, data: &mut Data, graph: &Graph, tasks: usize) -> Result<Duration, BenchError> {
    let (buffers, ids) = data.parts();
    let run = runtime.run(buffers, |o| {
        let handles = ids.handles(o)?;
        let start = Instant::now();
        submit_cyclic(o, graph, &handles, tasks)?;
        Ok(start)
    });
    let end = Instant::now();
    Ok(end - run.result?)
}

fn submit_cyclic<'s>(
    o: &mut Orch<'s, '_>,
    graph: &Graph,
    handles: &[Tensor<'s>],
    tasks: usize,
) -> Result<()> {
    for first in (0..tasks).step_by(SCOPE_TASKS) {
        let scope = &graph.tasks[first % graph.tasks.len()..];
        submit::plain(o, &scope[..SCOPE_TASKS.min(tasks - first)], handles)?;
    }
    Ok(())
}
