//! Recorded runs: their tables as columns, and insight's answers.

mod answers;
mod columns;
mod experiments;
mod rows;

pub use answers::{answer, checked, manifest, write_report};
pub use experiments::{first_difference, what_if};
pub use rows::tables;
