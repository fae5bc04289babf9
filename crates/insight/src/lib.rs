//! What a run's tables mean: pure functions over what was kept of it.
//!
//! ```text
//! run directory ──▶ ringlane-trace's readers ──▶ Run ──▶ tables ──▶ numbers that people and programs can use
//!                                                         bound: how short a schedule could be at best
//! ```
//!
//! [`Run`] is the narrow waist: it opens a run directory and gives its tables. Everything else is a function of tables,
//! and knows no files. Answers are serializable: `--json` and the page show them as they are.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod bound;
pub mod compare;
mod cores;
pub mod critical_path;
pub mod deps;
pub mod dump;
mod error;
pub mod findings;
pub mod gains;
mod instrument;
pub mod kernels;
pub mod node;
pub mod overhead;
pub mod pmu;
mod pools;
mod run;
pub mod scopes;
mod serial;
mod spread;
mod sweep;
mod task_name;
pub mod text;
pub mod text_table;
pub mod timeline;
pub mod units;
pub mod verdict;
pub mod waits;

pub use cores::{CoreKind, Cores};
pub use error::InsightError;
pub use instrument::Instrument;
pub use run::Run;
pub use spread::{Spread, rank};
pub use task_name::{NotATask, parse_task, task_name};
