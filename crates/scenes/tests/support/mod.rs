//! Runs a scene's case on the in-order oracle.

use std::time::{Duration, Instant};

use ringlane_engine::oracle;
use ringlane_engine::prelude::*;
use ringlane_scenes::{Case, Golden, Program, Scene};

/// A finished run: the program, its buffers and the golden.
pub struct Run {
    pub program: Box<dyn Program>,
    pub buffers: Buffers<'static>,
    pub golden: Golden,
    pub elapsed: Duration,
}

/// Runs a case; `stream` with few tasks, since the oracle never frees a tensor.
pub fn run(scene: &Scene, case: &Case, seed: u64) -> Run {
    let few = [("tasks", "10007")];
    run_with(scene, case, if scene.name == "stream" { &few[..] } else { &[] }, seed)
}

/// Runs a case with some parameters set.
pub fn run_with(scene: &Scene, case: &Case, params: &[(&str, &str)], seed: u64) -> Run {
    let user: Vec<_> = params.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let settings = scene.settings(case, &user, seed).unwrap();
    let mut program = (scene.build)(&settings).unwrap();
    let mut buffers = program.buffers().unwrap();
    let start = Instant::now();
    oracle::run(&mut buffers, |o| program.orchestrate(o)).unwrap();
    let elapsed = start.elapsed();
    let golden = program.golden(&buffers).unwrap();
    Run { program, buffers, golden, elapsed }
}
