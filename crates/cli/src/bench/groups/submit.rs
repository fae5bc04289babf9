//! `ringlane bench submit`: what a submit costs alone.
//!
//! With one thread nothing runs while a scope that fits its ring is being submitted, so the time of the loop is the
//! time of the submits: checks, inference, wiring and all.

use std::time::{Duration, Instant};

use crate::bench::error::BenchError;
use crate::bench::graph::Graph;
use crate::bench::measure::Samples;
use crate::bench::rows::Row;
use crate::bench::submit::{self, Data};
use crate::bench::{Bench, Lab};
use crate::runtime::Runtime;

/// Measures the submits of one scope of every workload.
pub fn measure(bench: &Bench, lab: &mut Lab) -> Result<(), BenchError> {
    let time = bench.time_of_each(bench.workloads.len());
    for &workload in &bench.workloads {
        let name = format!("submit/{}", workload.as_str());
        let graph = workload.graph(workload.size_of_one_scope());
        let mut data = Data::of(&graph)?;
        let runtime = lab.begin(&name, 1)?;
        let samples = Samples::take(time, || once(runtime, &mut data, &graph))?;
        lab.done(Row::new(name, 1, 0, graph.tasks.len() as u64, &samples));
    }
    Ok(())
}

fn once(runtime: &mut Runtime, data: &mut Data, graph: &Graph) -> Result<Duration, BenchError> {
    let (buffers, ids) = data.parts();
    let run = runtime.run(buffers, |o| {
        let handles = ids.handles(o)?;
        o.scope(|o| {
            let start = Instant::now();
            graph.tasks.iter().try_for_each(|task| submit::submit(o, task, &handles))?;
            Ok(start.elapsed())
        })
    });
    Ok(run.result?)
}
