//! What is shown of a run: a trace for Perfetto, and one self-contained page.
//!
//! ```text
//! ringlane-insight's tables and answers ──▶ report ──▶ files that a browser opens
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]
