//! `ringlane bench scaling`: whether a task costs the same in a run of ten thousand and of ten million tasks.
//!
//! The stream has the shape of `random`; its buffers are reused cyclically, so that only the number of tasks grows.

use std::time::{Duration, Instant};

use ringlane_engine::Result;
use ringlane_engine::prelude::{Orch, Tensor};

use crate::error::BenchError;
use crate::graph::Graph;
use crate::limits::{REPETITIONS_MIN, SCOPE_TASKS};
use crate::measure::{Effort, Interleaved};
use crate::rows::{Ratio, Row, Target};
use crate::submit::{self, Data};
use crate::workload::random;
use crate::{Bench, Session};
use ringlane::Runtime;

/// Tasks of the runs.
const TASKS: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Buffers, reused cyclically.
const BUFFERS: u32 = 4096;
/// Tasks after which the stream repeats itself.
const PERIOD: u32 = 65_536;
/// A task of a longer run may cost at most this multiple of one of the shortest.
const GROWTH_MAX: f64 = 1.2;

const _: () = assert!(PERIOD.is_multiple_of(BUFFERS) && (PERIOD as usize).is_multiple_of(SCOPE_TASKS));

/// Measures runs of increasing length alternately: growth is the time per task of the longest divided by that of the
/// shortest in the same round.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let time = bench.time_of_each(bench.threads.len() * TASKS.len()) * TASKS.len() as u32;
    let effort = Effort { time, rounds_min: REPETITIONS_MIN };
    let graph = random(PERIOD, BUFFERS);
    let mut data = Data::of(&graph)?;
    for &threads in &bench.threads {
        let runtime = session.runtime("scaling", threads)?;
        let run = |length: usize| once(runtime, &mut data, &graph, TASKS[length] as usize);
        let measured = Interleaved::take(effort, &TASKS, run)?;
        for (length, (tasks, samples)) in TASKS.into_iter().zip(&measured.samples).enumerate() {
            let mut row = Row::new(format!("scaling/{tasks}"), threads, 0, tasks, samples);
            row.extra.ratio = (length > 0).then(|| Ratio::of(&measured, length));
            session.done(row);
        }
        let growth = measured.ratio(TASKS.len() - 1, 0.5);
        let what = format!("scaling: growth of ns per task from 10^4 to 10^7 tasks, --threads {threads}");
        session.judge(Target::at_most(what, growth, GROWTH_MAX), TASKS.len());
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
