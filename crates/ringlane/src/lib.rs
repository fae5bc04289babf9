//! Ringlane: a task-graph runtime for many-core accelerators with built-in observability.
//!
//! This crate is the library. A program passes buffers and an orchestration to a runtime, and can record the run:
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
//! let config = CallConfig::default().with_threads(2);
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
//! A program with cases and a golden is a scene: [`scene!`] registers it, and `ringlane_cli::main()` gives a crate
//! with scenes the whole command.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod chips;
#[cfg(all(feature = "sim", feature = "record"))]
mod costs;
mod graph;
#[cfg(feature = "graph")]
mod keep;
#[cfg(feature = "record")]
pub mod manifest;
pub mod memory;
#[cfg(feature = "sim")]
mod model;
#[cfg(feature = "record")]
pub mod observe;
#[cfg(feature = "record")]
mod panicked;
mod platform;
#[cfg(feature = "record")]
mod record;
#[cfg(feature = "record")]
mod recording;
mod register;
mod request;
mod runtime;
mod setup_error;

pub use chips::Registration;
#[cfg(all(feature = "sim", feature = "record"))]
pub use costs::{recorded_costs, recorded_costs_of};
pub use graph::{Graph, GraphRuntime, MemoryPlan};
#[cfg(feature = "graph")]
pub use keep::keep_experiment;
#[cfg(feature = "sim")]
pub use model::{Model, ModelError};
#[cfg(feature = "record")]
pub use observe::ObservedRun;
#[cfg(feature = "record")]
pub use panicked::Panicked;
pub use platform::Platform;
#[cfg(feature = "record")]
pub use recording::{REPORT_FILE, REPORTED, Recording};
pub use request::RunRequest;
#[cfg(feature = "node")]
pub use request::{REQUEST_VERSION, RequestError};
#[cfg(feature = "sim")]
pub use ringlane_chip_sim as chip_sim;
#[cfg(feature = "sim")]
pub use ringlane_chip_sim::{SimOptions, Totals, cost::CostTable, policy::PolicyName};
pub use ringlane_engine as engine;
pub use ringlane_engine::api::dynamic;
pub use ringlane_engine::chip_runtime::{ChipOptions, Costs};
pub use ringlane_engine::remote::{Remote, Thread};
pub use ringlane_engine::report::{Run, RunReport, Status};
pub use ringlane_engine::{inventory, kernel};
#[cfg(feature = "graph")]
pub use ringlane_graph as replays;
#[cfg(feature = "report")]
pub use ringlane_insight as insight;
#[cfg(feature = "node")]
pub use ringlane_node as node;
#[cfg(feature = "record")]
pub use ringlane_probe as probe;
#[cfg(feature = "record")]
pub use ringlane_probe::{DumpSelection, SelectedKernel};
#[cfg(feature = "report")]
pub use ringlane_report as report;
pub use ringlane_scenes as scenes;
pub use ringlane_task as task;
pub use ringlane_task::CallConfig;
#[cfg(feature = "record")]
pub use ringlane_trace as trace;
pub use runtime::{OnPlatform, Runtime, check};
pub use setup_error::SetupError;

/// The imports of a program that uses Ringlane: items of the engine, of scenes, and the runtime.
pub mod prelude {
    pub use crate::graph::Graph;
    pub use crate::platform::Platform;
    #[cfg(feature = "record")]
    pub use crate::recording::Recording;
    pub use crate::runtime::Runtime;
    pub use crate::scene;
    pub use crate::setup_error::SetupError;
    pub use ringlane_engine::prelude::*;
    pub use ringlane_engine::remote::Remote;
    pub use ringlane_engine::report::{Run, RunReport};
    pub use ringlane_scenes::{
        Case, Check, Golden, Param, Program, Rng, Scene, SceneError, SceneResult, Settings, Tolerance,
    };
    pub use ringlane_task::{CallConfig, DfxFlags, Overflow};
}

/// The samples of the README and of the pages in `docs/`, as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/programming.md")]
    struct Programming;
    #[doc = include_str!("../../../docs/graphs.md")]
    struct Graphs;
    #[doc = include_str!("../../../docs/diagnostics/README.md")]
    struct Diagnostics;
}
