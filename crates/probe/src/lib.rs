//! What is observed of a run, without getting in its way.
//!
//! ```text
//! one writer ──▶ lane ──▶ collector thread ──▶ memory, or a spool on disk ──▶ after the run: chunks, in order
//!                  ▲              │
//!                  └─ empty buffers back
//! ```
//! A record is stored into a buffer that only its writer writes: no lock, no allocation, no formatting, no system
//! call. [`lane`] says who may touch what and when.

pub mod clock;
pub mod collector;
mod core_pmu;
mod cores;
mod deps;
mod dump;
pub mod error;
pub mod export;
mod hooks;
pub mod kind;
mod kinds;
pub mod lane;
mod logged;
mod model;
pub mod pmu;
pub mod recorder;
pub mod recording;
mod records;
mod scope_code;
mod scopes;
mod selection;
mod settings;
mod store;
mod submits;
mod sync;
mod tensors;
mod watching;

pub use clock::Clock;
pub use collector::{KindCounts, RecordedKind};
pub use error::ProbeError;
pub use export::{Copies, Exported, Launches, RecordingProblem, RunFacts};
pub use kind::{KindSpec, RecordKind, Sink, Storage};
pub use lane::{Counts, Pool, Writer};
pub use logged::{Logged, logs_submitter};
pub use recorder::{Recorder, StartError};
pub use recording::{Recorded, Recording, Writers};
pub use selection::{DumpSelection, SelectedKernel};
pub use settings::{Cores, ModelCounters, Settings};
pub use store::WriteFailure;
pub use watching::{ANY, Watching, WithProbe};
