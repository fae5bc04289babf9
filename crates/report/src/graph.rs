//! The graph of a run's tasks, in formats for people: text for grep, dot, Mermaid, and a page with pan and zoom.
//!
//! ```text
//! TaskGraph ──▶ write_text
//!          └──▶ Picture (every task, one task's neighbours, or one node for each kernel) ──▶ dot · mermaid · html
//! ```
//!
//! Names come from the run and can hold anything; each format has its own way to keep them in their place.

mod dot;
mod fold;
mod html;
mod layout;
mod mermaid;
mod picture;
mod shelves;
mod text;

pub use dot::write_dot;
pub use html::{HTML_NODES_MAX, write_html};
pub use mermaid::{MERMAID_EDGES_MAX, MERMAID_NODES_MAX, write_mermaid};
pub use picture::{Link, Node, NodeKind, Picture, Shown, Tint};
pub use text::{task_text, view_text, write_kernels, write_text};
