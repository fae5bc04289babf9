//! What decides in Ringlane: which task depends on which, where it lives, and when its memory may be reused.
//!
//! The files in the order in which a task meets them:
//!
//! ```text
//! api ──▶ orchestrator, scope ──▶ submit/{survey, check, admit, place, wire, publish, alloc, barrier}
//!                                    └─▶ tensor_map (overlap) · ring/{slots, bytes} · memory
//!     ──▶ slot ──▶ the chip ──▶ completion (block) ──▶ reclaim ──▶ read ──▶ stall ──▶ fault
//! ```
//! `observe` is what a probe sees of it; `session` is a run from begin to end; `submitter` is what only the submitter may do with
//! the table.
//!
//! A user's program sees [`api`]; a chip sees [`seams`] and [`memory`]; [`oracle`] is the meaning of both.

pub mod alone;
pub mod api;
pub mod arena;
mod block;
pub mod board;
pub mod chip_runtime;
pub mod completion;
mod counting;
mod error;
pub mod fault;
pub mod graph;
pub mod intern;
pub mod limits;
pub mod lists;
mod live_runs;
#[cfg(all(test, loom))]
mod loom_tests;
pub mod memory;
pub mod observe;
pub mod oracle;
pub mod orchestrator;
pub mod overlap;
pub mod pace;
mod panics;
pub mod placed;
pub mod planted;
mod poison;
mod read;
mod reclaim;
pub mod remote;
pub mod report;
pub mod ring;
pub mod scope;
pub mod seams;
pub mod session;
pub mod slot;
pub mod slowdown;
pub mod stall;
mod submit;
mod submitter;
pub mod sync;
pub mod table;
mod task_flags;
pub mod tensor_map;
mod unwind;

pub use fault::{Error, Fault, Result};
#[doc(hidden)]
pub use inventory;
pub use panics::{describe_panic, note_panics};
pub use unwind::{AbortOnUnwind, drop_panic, panic_text};

/// What a program that uses Ringlane imports.
pub mod prelude {
    pub use crate::api::arg::dtypes::*;
    pub use crate::api::arg::{Arg, out, param, scalar};
    pub use crate::api::args::Args;
    pub use crate::api::block_view::BlockView;
    pub use crate::api::buffers::{BufferId, Buffers};
    pub use crate::api::kernel::{CoreType, Cost, Kernel, KernelError, KernelResult, ParamKind, ParamSpec};
    pub use crate::api::launch::Launch;
    pub use crate::api::orch::Orch;
    pub use crate::api::params::{Block, KernelParam};
    pub use crate::api::rest::Rest;
    pub use crate::api::submitted::{Submitted, SubmittedSlice};
    pub use crate::api::tensor::{Task, Tensor};
    pub use crate::api::views::{SharedMut, View, ViewMut};
    pub use crate::fault::{Error, Fault, Result};
    pub use crate::kernel;
    pub use ringlane_task::{DType, Element, Explain};
}
