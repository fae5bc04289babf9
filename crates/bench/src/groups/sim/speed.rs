//! The speed of the model: host time per task of a long stream of tiny tasks, on one thread, without recording.

use std::time::{Duration, Instant};

use ringlane_scenes::{Program, Scene};
use ringlane_task::CallConfig;

use crate::error::BenchError;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::{Bench, Session};
use ringlane::memory;
use ringlane::{Platform, Runtime};

const SCENE: &str = "stream";
const TASKS: u64 = 1_000_000;
const PLATFORM: Platform = Platform::A2a3sim;
/// 500,000 tasks per second.
const NS_PER_TASK_MAX: f64 = 2000.0;

/// Measures time and memory.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let name = format!("sim/{SCENE}");
    session.begin(&name, 1);
    let scene = Scene::find(SCENE).map_err(BenchError::Scene)?;
    let tasks = [("tasks".to_string(), TASKS.to_string())];
    let settings = scene.settings(scene.default_case(), &tasks, 0).map_err(BenchError::Scene)?;
    let mut program = (scene.build)(&settings).map_err(BenchError::Scene)?;
    let mut runtime = Runtime::on(PLATFORM).with(&CallConfig::default())?;
    memory::reset_peak();
    let samples = Samples::take(bench.time_of_each(1), || once(&mut runtime, &mut *program))?;
    let mut row = Row::new(name, 1, 0, TASKS, &samples).on(PLATFORM);
    row.extra.peak_memory_bytes = Some(memory::peak_rss_bytes());
    let ns_per_task = row.ns_per_task_median;
    session.done(row);
    let what = format!("sim: ns of host time for each task of {SCENE}, 10^6 tasks on {PLATFORM}");
    session.judge(Target::at_most(what, ns_per_task, NS_PER_TASK_MAX), 1);
    Ok(())
}

fn once(runtime: &mut Runtime, program: &mut dyn Program) -> Result<Duration, BenchError> {
    let mut buffers = program.buffers()?;
    let start = Instant::now();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    let took = start.elapsed();
    run.result?;
    Ok(took)
}
