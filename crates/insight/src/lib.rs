//! What a run's tables mean: pure functions over what was kept of it.
//!
//! ```text
//! run directory ──▶ ringlane-trace's readers ──▶ insight ──▶ numbers that people and programs can use
//!                                                 bound: how short a schedule could be at best
//! ```
//!
//! Each module has two halves: a function over plain tables, which knows no files, and `of_run`, which reads the tables
//! of a run directory and calls it.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod bound;
mod cores;
mod error;

pub use cores::{CoreKind, Cores};
pub use error::InsightError;
