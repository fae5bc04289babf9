//! Programs with known results.
//!
//! A [`Scene`] is a program with parameters, cases, seeded inputs and a golden computed by independent code. Ten
//! come with Ringlane; any crate registers more with `inventory::submit!`.
//!
//! ```
//! use ringlane_scenes::{Scene, scenes};
//! let scene = Scene::find("vector")?;
//! let settings = scene.settings(scene.default_case(), &[], 1)?;
//! let mut program = (scene.build)(&settings)?;
//! let mut buffers = program.buffers()?;
//! ringlane_engine::oracle::run(&mut buffers, |o| program.orchestrate(o))?;
//! assert!(program.golden(&buffers)?.passed());
//! assert!(scenes().len() >= 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | scene | its graph |
//! |---|---|
//! | `vector` | the five-task diamond |
//! | `matmul` | tiles of one buffer, accumulated over K through `inout` |
//! | `cholesky` | POTRF, TRSM, SYRK, GEMM on tiles of one matrix |
//! | `wavefront` | each tile depends on those to the left and above |
//! | `heat` | a stencil over time steps: each tile reads a halo around it, two buffers take turns |
//! | `paged_attention` | a scope per query block, an online softmax over scattered key blocks |
//! | `fanin` | every consumer reads every producer |
//! | `stream` | millions of tiny tasks through nested scopes |
//! | `moe` | values computed in the run determine what is submitted |
//! | `decode` | a language model generates tokens, layer by layer |
//!
//! Every task is deterministic, so every schedule produces the same bytes: `output_hash` is equal for equal seeds.
#![deny(unsafe_code)]

mod arith;
mod cholesky;
mod cost;
mod decode;
mod error;
mod fanin;
mod golden;
mod heat;
mod matmul;
mod moe;
mod paged_attention;
mod parts;
mod registry;
mod rng;
mod scene;
mod scopes;
mod settings;
mod shares;
mod stream;
mod vector;
mod wavefront;

pub use error::{SceneError, SceneResult};
pub use golden::{Check, Golden, Tolerance, Value};
pub use parts::{PartAccess, PartArgument, Parts, share_out};
pub use registry::{register_scene, scenes};
pub use rng::Rng;
pub use scene::{BuildProgram, Case, Param, Program, Scene};
pub use settings::Settings;
pub use shares::{Numbers, Share, SharedData, SharedTensor, Shares, Step};
