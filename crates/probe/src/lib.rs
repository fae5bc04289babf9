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
pub mod error;
pub mod kind;
pub mod lane;
pub mod pmu;
pub mod recording;
mod store;
mod sync;

pub use clock::Clock;
pub use collector::{KindCounts, RecordedKind};
pub use error::ProbeError;
pub use kind::{Kind, KindSpec, Sink, Storage};
pub use lane::{Counts, Writer};
pub use recording::{Recorded, Recording, Writers};
pub use store::WriteFailure;
