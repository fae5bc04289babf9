//! Modelled chips in deterministic virtual time.
//!
//! One host thread models the whole chip: the same program, chip and seed give the same bytes in every artifact, on
//! any host, under any load. Nothing here depends on a host clock, a hash order or thread scheduling.
//!
//! ```text
//!  engine's submitter ──▶ chip: the orchestrator's clock ──▶ machine: events in order of time
//!                                                             ├─ scheduler: rounds of a control thread
//!                                                             ├─ dispatch: blocks to cores, by a policy
//!                                                             └─ core: what it runs, until when (cost)
//! ```

mod ahead;
pub mod chaos;
mod charge;
mod chip;
pub mod core;
pub mod cost;
mod dispatch;
pub mod link;
mod machine;
mod memory;
mod platform;
pub mod pmu;
pub mod policy;
mod records;
mod runtime;
mod scheduler;
mod silence;
pub mod spec;
mod time;
mod totals;

pub use runtime::{SimOptions, SimRuntime};
pub use time::{Ps, SimClock};
pub use totals::Totals;
