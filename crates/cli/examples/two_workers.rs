//! A program with workers of its own: two processes for plain functions, one with a chip, and a run over them.
//!
//! ```text
//! cargo run --release -p ringlane-cli --example two_workers
//! ```

use std::process::ExitCode;
use std::time::Duration;

use ringlane::RunRequest;
use ringlane::node::{
    CallError, ChildLaunch, Memories, NodeError, NodeOptions, On, Title, Worker, WorkerKind, WorkerSpec,
    callable,
};
use ringlane::prelude::*;

kernel! { static SQUARE = aiv fn(x: &[f32], y: &mut [f32]) { y.iter_mut().zip(x).for_each(|(y, x)| *y = x * x); } }

callable! {
    /// y = x², on the chip of a worker.
    static SQUARES = chip fn(call; tensors: 2, scalars: []) {
        call.on_chip(Title { scene: "squares", case: "example", part: None }, |o, ids| {
            let (x, y) = (o.external(ids[0])?, o.external(ids[1])?);
            o.submit(&SQUARE, [x.read(), y.write()]).map(drop)
        })
    }
}

callable! {
    /// y = a·x, in any idle worker for functions.
    static SCALE = function fn(call; tensors: 2, scalars: [Float32]) {
        let (x, y, a) = (call.slice::<f32>(0)?, call.slice_mut::<f32>(1)?, call.scalar::<f32>(0)?);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = a * x);
        Ok(())
    }
}

fn main() -> ExitCode {
    // A node starts this program again, with the command `worker`.
    if std::env::args().nth(1).is_some_and(|word| word == "worker") {
        return ringlane_cli::main();
    }
    match run() {
        Ok(values) => {
            println!("{values:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<Vec<f32>, CallError> {
    let to_call_error = |error: NodeError| CallError::of(&error);
    let failed = |error: Error| CallError::of(&error);
    let function =
        |i| WorkerSpec { kind: WorkerKind::Function, launch: ChildLaunch::new(format!("function{i}")) };
    let request = RunRequest::on(Platform::A2a3sim).encode();
    let chip =
        ChildLaunch::new("chip0").with_arguments(["worker", "--kind", "chip"]).with_run_request(request);
    let workers = [function(0), function(1), WorkerSpec { kind: WorkerKind::Chip, launch: chip }];
    let options = NodeOptions::new(workers.to_vec());
    let worker =
        Worker::start(&Memories::default(), &CallConfig::default(), &options).map_err(to_call_error)?;

    let mut data = worker.buffers(); // in memory that the workers see
    let x = data.add(&[4], &[1.0f32, 2.0, 3.0, 4.0]).map_err(failed)?;
    let submitted = worker.submit(&CallConfig::default(), data, move |o| {
        let (x, config) = (o.external(x)?, CallConfig::default());
        let squares = o.submit(&SQUARES, &[x.read(), out(f32, [4])], &config, On::Any)?.out(0);
        let halves =
            o.submit(&SCALE, &[squares.read(), out(f32, [4]), scalar(0.5f32)], &config, On::Any)?.out(0);
        o.read::<f32>(halves)
    });
    let finished = submitted.map_err(to_call_error)?.wait(Duration::from_secs(60));
    let finished = finished.map_err(|_| CallError::new("Late", "the run is not over", "wait longer"))?;
    finished.run.result.map_err(failed)
}
