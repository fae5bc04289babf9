//! `ringlane bench memory`: bytes of memory per task in flight.
//!
//! All memory that becomes resident from before a runtime is created until its only thread has submitted nearly as
//! many tasks as its ring holds, none of which has run: slots, edges, entries of the tensor map, queues, arguments,
//! and everything that the runtime allocates once, divided by the number of tasks.

use std::time::{Duration, Instant};

use ringlane_task::CallConfig;

use crate::error::BenchError;
use crate::graph::{Graph, Task};
use crate::kernels::Plain;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::submit::{self, Data};
use crate::workload::Workload;
use crate::{Bench, Session};
use ringlane::memory::resident_bytes;
use ringlane::{Platform, Runtime};

/// Tasks in flight: nearly the default task window.
const TASKS: usize = 16_000;
/// Bytes of a task without its arguments.
const BYTES_MAX: f64 = 512.0;
/// Bytes of a one-dimensional tensor argument.
const ARG_BYTES: f64 = 32.0;

const _: () = assert!(TASKS as u64 <= ringlane_task::Resource::TaskWindow.range().default);

/// Measures the memory of tasks of every workload.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let mut most_bytes: f64 = 0.0;
    // Measured runtimes are kept: a later one that reused the memory of an earlier one would seem to need less.
    let mut kept = Vec::new();
    for &workload in &bench.workloads {
        let name = format!("memory/{}", workload.as_str());
        let graph = cut(workload);
        let tasks = graph.tasks.len();
        let mut data = Data::of(&graph)?;
        session.begin(&name, 1);
        let before = resident_bytes();
        let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(1))?;
        let (took, bytes) = once(&mut runtime, &mut data, &graph)?;
        let bytes = bytes.saturating_sub(before) as f64 / tasks as f64;
        let mut row = Row::new(name, 1, 0, tasks as u64, &Samples::one(took));
        row.extra.bytes_per_task = Some(bytes.round());
        session.done(row);
        let args = graph.tasks.iter().map(tensors).sum::<usize>() as f64 / tasks as f64;
        most_bytes = most_bytes.max(bytes - args * ARG_BYTES);
        kept.push((runtime, data, graph));
    }
    session.judge(
        Target::at_most("memory: most bytes per task in flight, without arguments", most_bytes, BYTES_MAX),
        0,
    );
    Ok(())
}

/// The first tasks of a workload, as many as are to be in flight.
fn cut(workload: Workload) -> Graph {
    let size = match workload {
        Workload::Independent | Workload::Chain | Workload::Random => TASKS as u32,
        Workload::Forkjoin => 250,
        Workload::Wavefront => 128,
        Workload::Cholesky => 46,
    };
    let mut graph = workload.graph(size);
    graph.tasks.truncate(TASKS);
    graph
}

fn tensors(task: &Task) -> usize {
    task.reads().len() + usize::from(task.updates().is_some())
}

/// The duration of the submits, and the process's memory when all tasks are in flight.
fn once(runtime: &mut Runtime, data: &mut Data, graph: &Graph) -> Result<(Duration, u64), BenchError> {
    let (buffers, ids) = data.parts();
    let run = runtime.run(buffers, |o| {
        let not_counted = resident_bytes();
        // Kept as well, for the same reason.
        let handles = &*ids.handles(o)?.leak();
        let not_counted = resident_bytes() - not_counted;
        o.scope(|o| {
            let kernels = Plain::current();
            let start = Instant::now();
            graph.tasks.iter().try_for_each(|task| submit::submit(o, kernels, task, handles))?;
            Ok((start.elapsed(), resident_bytes().saturating_sub(not_counted)))
        })
    });
    Ok(run.result?)
}
