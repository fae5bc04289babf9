//! What went into and came out of tasks: which arguments were captured, what their elements are, which task made a wrong
//! one.
//!
//! ```text
//! records by core ──▶ Catalog: by submission ──▶ select   those that a filter lets through
//!                                            ──▶ stats    smallest, largest, mean, NaN and infinity
//!                                            ──▶ diff     two runs: whose inputs agree and outputs differ
//!                                            ──▶ bad      who made a NaN or an infinity out of finite inputs
//!                                            ──▶ export   as text or for NumPy
//! ```
//!
//! Submission order is a dependency order: a task waits only for tasks that were submitted before it. Elements are read
//! piece by piece, so that nothing here takes more memory for a larger tensor.

mod bad;
mod catalog;
mod compare;
mod diff;
mod export;
mod filter;
mod provenance;
mod stats;
mod value;

pub use bad::{Bad, BadArgument, BadTask, InputRange, find_bad};
pub use catalog::{Captured, Catalog, describe_shape, place_in};
pub use compare::{ArgumentDiff, Tolerance, Worst};
pub use diff::{Diff, DumpComparison, Extent, Mismatch, Side, TaskDiff, diff};
pub use export::{write_npy, write_txt};
pub use filter::{ArgKind, Filter, parse_stage};
pub use provenance::{Producer, Provenance, Sources};
pub use stats::{Stats, stats};
pub use value::Value;

/// Bytes of a payload that are in memory at once. A multiple of every element's size.
const PIECE_BYTES: usize = 1 << 18;
