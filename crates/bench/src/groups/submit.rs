//! `ringlane bench submit`: the cost of a submit alone.
//!
//! On a chip that runs nothing before the scope has ended, the duration of the loop is that of the submits, including
//! checks, inference and wiring.

use std::time::{Duration, Instant};

use crate::deferred::DeferredRuntime;
use crate::error::BenchError;
use crate::graph::Graph;
use crate::kernels::Plain;
use crate::measure::Samples;
use crate::rows::Row;
use crate::submit::{self, Data};
use crate::{Bench, Session};

/// Measures the submits of one scope of every workload.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let time = bench.time_of_each(bench.workloads.len());
    let mut runtime = DeferredRuntime::new()?;
    for &workload in &bench.workloads {
        let name = format!("submit/{}", workload.as_str());
        let graph = workload.graph(workload.size_of_one_scope());
        let mut data = Data::of(&graph)?;
        session.begin(&name, 1);
        let samples = Samples::take(time, || once(&mut runtime, &mut data, &graph))?;
        session.done(Row::new(name, 1, 0, graph.tasks.len() as u64, &samples));
    }
    Ok(())
}

fn once(runtime: &mut DeferredRuntime, data: &mut Data, graph: &Graph) -> Result<Duration, BenchError> {
    let (buffers, ids) = data.parts();
    let took = runtime.run(buffers, |o| {
        let handles = ids.handles(o)?;
        o.scope(|o| {
            let kernels = Plain::current();
            let start = Instant::now();
            graph.tasks.iter().try_for_each(|task| submit::submit(o, kernels, task, &handles))?;
            Ok(start.elapsed())
        })
    });
    Ok(took?)
}
