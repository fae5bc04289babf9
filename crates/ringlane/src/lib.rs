//! Ringlane: a task-graph runtime for many-core accelerators that can see itself.
//!
//! This crate is the library. A program gives a runtime buffers and an orchestration, and may record what happens:
//!
//! ```text
//! Runtime::on(platform).with(&config)? ──▶ .run(&mut buffers, |o| …) ──▶ results
//!                        .record(dir)? ──▶ .run(…) ──▶ .recording() ──▶ verdict, critical path, page
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
//! A program with cases and a known answer is a scene: [`scene!`] registers it, and `ringlane_cli::main()` gives a crate with
//! scenes the whole command.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod costs;
pub mod manifest;
pub mod memory;
pub mod observe;
mod panicked;
mod platform;
mod recording;
mod register;
mod remote;
mod runtime;
mod setup_error;

pub use costs::{recorded_costs, recorded_costs_of};
pub use observe::ObservedRun;
pub use panicked::Panicked;
pub use recording::{REPORT_FILE, REPORTED, Recording};
pub use remote::{Remote, Thread};
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
pub use runtime::{Model, ModelError, OnPlatform, Platform, Runtime, check};
pub use setup_error::SetupError;

/// What a program that uses Ringlane imports: the engine's words, those of scenes, and the runtime.
pub mod prelude {
    pub use crate::recording::Recording;
    pub use crate::remote::Remote;
    pub use crate::runtime::{Platform, Runtime};
    pub use crate::scene;
    pub use crate::setup_error::SetupError;
    pub use ringlane_engine::prelude::*;
    pub use ringlane_engine::report::{Run, RunReport};
    pub use ringlane_scenes::{
        Case, Check, Golden, Param, Program, Rng, Scene, SceneError, SceneResult, Settings, Tolerance,
    };
    pub use ringlane_task::{CallConfig, DfxFlags, Overflow};
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
