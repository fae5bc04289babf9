//! Ringlane: a task-graph runtime for many-core accelerators that can see itself.
//!
//! This crate is the facade. It holds two doors:
//!
//! ```text
//! Runtime::on(platform).with(&config)? ──▶ .run(&mut buffers, |o| …)      from a program of your own
//! ringlane::main()                     ──▶ list · run · …                 the whole command, for your scenes
//! ```
//!
//! Kernels are functions over tensors; an orchestration is plain code that submits them:
//!
//! ```
//! use ringlane::prelude::*;
//!
//! kernel! {
//!     /// y = a·x + y
//!     static AXPY = aiv fn(x: &[f32], y: &mut [f32], a: f32) {
//!         y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
//!     }
//! }
//!
//! let mut data = Buffers::new();
//! let x = data.add(&[3], &[1.0f32, 2.0, 3.0])?;
//! let y = data.add(&[3], &[10.0f32, 10.0, 10.0])?;
//!
//! let config = CallConfig::default().with_workers(2);
//! let mut runtime = Runtime::on(Platform::Cpu).with(&config)?;
//! let run = runtime.run(&mut data, |o| {
//!     let (x, y) = (o.external(x)?, o.external(y)?);
//!     o.submit(&AXPY, [x.read(), y.inout(), scalar(2.0f32)])?; // these two are ordered,
//!     o.submit(&AXPY, [x.read(), y.inout(), scalar(1.0f32)])?; // because both write y
//!     Ok(())
//! });
//! run.result?;
//! assert_eq!(data.get::<f32>(y)?, [13.0, 16.0, 19.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! A program with cases and a known answer is a scene: [`scene!`] registers it, and [`main`] runs it.
// Six files are allowed some: `allocations.rs` is an allocator, `bench/patient.rs` a chip, in `bench/spin.rs` the work of
// a measured task is a few instructions, `watched.rs` puts a recorder on a chip, and `signals.rs` and `crash.rs` install
// signal handlers.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod allocations;
mod bench;
mod cmd;
mod costs;
mod crash;
mod diagnostics;
mod errors;
mod execute;
mod interrupted;
mod jobs;
mod limits;
mod log;
mod machine;
mod manifest;
mod memory;
mod monitor;
mod options;
mod output;
mod output_path;
mod panics;
mod platform;
mod pmu;
mod progress;
mod recorded;
mod recording;
mod register;
mod rounds;
mod run_arg;
mod runtime;
mod select;
mod selection;
mod signals;
mod suggest;
mod summary;
mod table;
mod told;
mod usage;
mod watchdog;
mod watched;
mod workers;

use std::process::ExitCode;

pub use allocations::CountingAllocator;
pub use costs::recorded_costs;
pub use recording::Recording;
pub use ringlane_chip_sim as chip_sim;
pub use ringlane_chip_sim::cost::CostTable;
pub use ringlane_chip_sim::policy::PolicyName;
pub use ringlane_chip_sim::{SimOptions, Totals};
pub use ringlane_engine as engine;
pub use ringlane_engine::report::{Run, RunReport, Status};
pub use ringlane_engine::{inventory, kernel};
pub use ringlane_insight as insight;
pub use ringlane_node as node;
pub use ringlane_probe as probe;
pub use ringlane_probe::{DumpSelection, SelectedKernel};
pub use ringlane_report as report;
pub use ringlane_scenes as scenes;
pub use ringlane_task as task;
pub use ringlane_task::CallConfig;
pub use ringlane_trace as trace;
pub use runtime::{Model, ModelError, OnPlatform, Platform, Remote, Runtime, SetupError};

/// What a program that uses Ringlane imports: the engine's words, those of scenes, and the runtime.
pub mod prelude {
    pub use crate::recording::Recording;
    pub use crate::runtime::{Platform, Remote, Runtime, SetupError};
    pub use crate::scene;
    pub use ringlane_engine::prelude::*;
    pub use ringlane_engine::report::{Run, RunReport};
    pub use ringlane_scenes::{
        Case, Check, Golden, Param, Program, Rng, Scene, SceneError, SceneResult, Settings, Tolerance,
    };
    pub use ringlane_task::{CallConfig, DfxFlags, Overflow};
}

/// The whole command: reads the process's arguments, does what they say, and gives the exit status.
///
/// Kernels and scenes registered anywhere in the program are found, so this is all of a program's `main`:
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     ringlane::main()
/// }
/// ```
pub fn main() -> ExitCode {
    panics::install();
    ringlane_task::Reader::Command.make_current();
    let command = || cmd::run_from(std::env::args_os());
    // The hook has told what happened.
    std::panic::catch_unwind(command).unwrap_or(errors::Exit::Failed).into()
}

/// The samples of the README and of the pages in `docs/`, so that `cargo test` runs them.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/programming.md")]
    struct Programming;
    #[doc = include_str!("../../../docs/diagnostics/README.md")]
    struct Diagnostics;
}
