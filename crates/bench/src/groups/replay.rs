//! `ringlane bench replay`: the six workloads as captured graphs.
//!
//! The graph is captured once, outside the measurement; a repetition is one replay, from the call to its return. The first
//! replay does not count: it measures how long tasks take, which decides how the next ones run.

use std::time::{Duration, Instant};

use ringlane::Runtime;
use ringlane_engine::graph::Graph as Captured;

use crate::error::BenchError;
use crate::measure::Samples;
use crate::rows::Row;
use crate::spin::{self, Calibration};
use crate::submit::{self, Data};
use crate::workload::Spin;
use crate::{Bench, Session};

/// Measures every workload with every spin at every number of threads.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let works = bench.spins.iter().any(|&spin| spin != Spin::Empty);
    let calibration = works.then(Calibration::measure);
    session.results.calibration = calibration;
    let time = bench.time_of_each(bench.workloads.len() * bench.spins.len() * bench.threads.len());
    for &workload in &bench.workloads {
        for &spin in &bench.spins {
            let graph = workload.graph(workload.size(spin));
            let mut data = Data::of(&graph)?;
            spin::set(spin, calibration);
            for &threads in &bench.threads {
                let runtime = session.runtime(workload.as_str(), threads)?;
                let (buffers, ids) = data.parts();
                let mut captured = runtime.capture(buffers, |o| {
                    let handles = ids.handles(o)?;
                    submit::plain(o, &graph.tasks, &handles)
                })?;
                let samples = Samples::take(time, || once(runtime, &mut data, &mut captured))?;
                let tasks = graph.tasks.len() as u64;
                let mut row = Row::new(workload.as_str(), threads, spin.us(), tasks, &samples);
                row.extra.runtime = Some(ringlane::GraphRuntime::HostBuildGraph.as_str());
                session.done(row);
            }
        }
    }
    Ok(())
}

/// One replay.
fn once(runtime: &mut Runtime, data: &mut Data, graph: &mut Captured) -> Result<Duration, BenchError> {
    let start = Instant::now();
    runtime.replay(graph, &mut data.buffers).result?;
    Ok(start.elapsed())
}
