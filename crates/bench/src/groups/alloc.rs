//! `ringlane bench alloc`: allocations per task after start-up. There must be none.
//!
//! All allocations of all threads count, from the end of a run's first scope until the run has returned.

use std::time::{Duration, Instant};

use crate::allocations;
use crate::error::BenchError;
use crate::graph::Graph;
use crate::limits::SCOPE_TASKS;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::submit::{self, Data};
use crate::workload::Spin;
use crate::{Bench, Session};
use ringlane::Runtime;

/// Counts the allocations of every workload at every number of threads.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    if !allocations::are_counted() {
        return Err(BenchError::NotCounted);
    }
    let time = bench.time_of_each(bench.workloads.len() * bench.threads.len());
    let mut most_per_task: f64 = 0.0;
    for &workload in &bench.workloads {
        let name = format!("alloc/{}", workload.as_str());
        let graph = workload.graph(workload.size(Spin::Empty));
        let mut data = Data::of(&graph)?;
        for &threads in &bench.threads {
            let runtime = session.runtime(&name, threads)?;
            let mut counts = Vec::new();
            let samples = Samples::take(time, || {
                let (took, allocations) = once(runtime, &mut data, &graph)?;
                counts.push(allocations);
                Ok(took)
            })?;
            // The first repetition is a warm-up, also for threads.
            let counted: u64 = counts[1..].iter().sum();
            let watched = graph.tasks.len() - SCOPE_TASKS;
            let mut row = Row::new(name.clone(), threads, 0, watched as u64, &samples);
            row.extra.allocations = Some(counted);
            session.done(row);
            most_per_task = most_per_task.max(counted as f64 / (watched * (counts.len() - 1)) as f64);
        }
    }
    session.judge(Target::at_most("alloc: most allocations per task after start-up", most_per_task, 0.0), 0);
    Ok(())
}

/// One run: its duration, and the allocations after its first scope.
fn once(runtime: &mut Runtime, data: &mut Data, graph: &Graph) -> Result<(Duration, u64), BenchError> {
    let (buffers, ids) = data.parts();
    let (first, rest) = graph.tasks.split_at(SCOPE_TASKS);
    let run = runtime.run(buffers, |o| {
        let handles = ids.handles(o)?;
        submit::plain(o, first, &handles)?;
        allocations::start();
        let start = Instant::now();
        submit::plain(o, rest, &handles)?;
        Ok(start)
    });
    let (end, counted) = (Instant::now(), allocations::stop());
    Ok((end - run.result?, counted))
}
