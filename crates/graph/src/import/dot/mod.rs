//! Graphs in the dot language of Graphviz: nodes are tasks, arrows are edges.
//!
//! ```text
//! digraph g {
//!   node [weight=1]                             the duration of every node after it that has none of its own, in µs
//!   a [label="load 1", kind=load, weight=2.5]   or duration=2.5ms
//!   a -> b -> {c d}                             all edges of a chain, and to all nodes of a subgraph
//! }
//! ```
//!
//! Subgraphs and clusters only group nodes, and scope defaults. All other attributes are for drawing, and skipped.

mod attributes;
mod lexer;
mod parser;

use super::builder::GraphBuilder;
use super::input::Input;
use super::{ImportError, ImportedGraph};
use lexer::Lexer;
use parser::Parser;

/// Reads a graph.
pub(super) fn read(input: &mut Input<'_>, graph: GraphBuilder<'_>) -> Result<ImportedGraph, ImportError> {
    let mut parser = Parser::new(Lexer::new(input), graph);
    parser.graph()?;
    parser.finish()
}
