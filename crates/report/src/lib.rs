//! What is shown of a run: a trace for Perfetto, the graph of its tasks, and one self-contained page.
//!
//! ```text
//! ringlane-insight's tables and answers ──▶ report ──▶ files that a browser opens
//!                                            perfetto: a trace · graph: text, dot, Mermaid, a page
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod graph;
pub mod page;
pub mod perfetto;
