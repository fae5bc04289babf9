//! Programs whose tasks and edges are known, as graphs that can be run again.
//!
//! ```text
//! files of other tools ──import──▶ run directory ──recorded──▶ program ──what_if──▶ predicted run
//!                                       ├─────────portable──▶ program and durations ──▶ a run on any chip
//!                                       └─────────rerun─────▶ one task, with its captured arguments
//! ```

pub mod device;
mod error;
pub mod import;
pub mod machine;
pub mod portable;
pub mod recorded;
pub mod replay;
pub mod rerun;
pub mod what_if;

pub use error::ReplayError;
