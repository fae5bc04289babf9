//! `ringlane bench`: the six workloads, measured or verified.
//!
//! ```text
//! handles │ first submit ………… last submit ……… last completion │ run() returns
//!         └──────────────── this is measured ──────────────────┘
//! ```
//! The clock starts inside the orchestration, after the handles of the buffers have been created, and stops when the
//! run has ended (right after its last task): submission, inference and scopes are included, creating the buffers is
//! not. Dropping the handles is included as well; after the first repetition it takes about a microsecond.

use std::time::{Duration, Instant};

use crate::check::Checker;
use crate::error::BenchError;
use crate::graph::{Edges, Graph};
use crate::measure::Samples;
use crate::rows::{Extra, Row};
use crate::spin::{self, Calibration};
use crate::submit::{self, Data};
use crate::workload::Spin;
use crate::{Bench, Session};
use ringlane::Runtime;

/// Measures every workload with every spin at every number of threads.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let works = bench.spins.iter().any(|&spin| spin != Spin::Empty);
    let calibration = works.then(Calibration::measure);
    session.results.calibration = calibration;
    let time = bench.time_of_each(bench.workloads.len() * bench.spins.len() * bench.threads.len());
    for &workload in &bench.workloads {
        for &spin in &bench.spins {
            let graph = workload.graph(workload.size(spin));
            let critical_tasks = if works { Edges::of(&graph).critical_tasks } else { 0 };
            let mut data = Data::of(&graph)?;
            spin::set(spin, calibration);
            for &threads in &bench.threads {
                let runtime = session.runtime(workload.as_str(), threads)?;
                let tasks = graph.tasks.len();
                let samples = Samples::take(time, || once(runtime, &mut data, &graph))?;
                let mut row = Row::new(workload.as_str(), threads, spin.us(), tasks as u64, &samples);
                if spin != Spin::Empty {
                    let ideal = workload.ideal_task_lengths(tasks, critical_tasks, threads);
                    let ideal_ns = ideal * f64::from(spin.us()) * 1000.0;
                    row.extra.efficiency = Some(ideal_ns / samples.quantile_ns(0.0));
                }
                session.done(row);
            }
        }
    }
    Ok(())
}

/// Runs every workload, at a small size, with tasks that check their order.
pub fn verify(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let time = bench.time_of_each(bench.workloads.len() * bench.threads.len());
    for &workload in &bench.workloads {
        let graph = workload.graph(workload.size_to_verify());
        let mut data = Data::of(&graph)?;
        for &threads in &bench.threads {
            let runtime = session.runtime(workload.as_str(), threads)?;
            let checker = Checker::install(&graph);
            let samples = Samples::take(time, || {
                checker.begin();
                let took = once_checked(runtime, &mut data, &graph);
                checker.end();
                took
            });
            Checker::remove();
            let mut row = Row::new(workload.as_str(), threads, 0, graph.tasks.len() as u64, &samples?);
            let (edges, violations) = (Some(checker.edges()), Some(checker.violations()));
            row.extra = Extra { edges, violations, ..Extra::default() };
            session.done(row);
        }
    }
    Ok(())
}

/// One run of a workload: from the first submit to the end of the last task.
pub fn once(runtime: &mut Runtime, data: &mut Data, graph: &Graph) -> Result<Duration, BenchError> {
    let (buffers, ids) = data.parts();
    let run = runtime.run(buffers, |o| {
        let handles = ids.handles(o)?;
        let start = Instant::now();
        submit::plain(o, &graph.tasks, &handles)?;
        Ok(start)
    });
    let end = Instant::now();
    Ok(end - run.result?)
}

fn once_checked(runtime: &mut Runtime, data: &mut Data, graph: &Graph) -> Result<Duration, BenchError> {
    let (buffers, ids) = data.parts();
    let run = runtime.run(buffers, |o| {
        let handles = ids.handles(o)?;
        let start = Instant::now();
        submit::checked(o, &graph.tasks, &handles)?;
        Ok(start)
    });
    let end = Instant::now();
    Ok(end - run.result?)
}
