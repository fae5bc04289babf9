//! Chakra execution traces of MLCommons: nodes with control and data dependencies, as protobuf or as JSON.
//!
//! A node's type is its kind. Numbers that a node does not have are 0, as protobuf says: ids and durations too.

mod json;
mod protobuf;

use super::builder::{GraphBuilder, TaskText};
use super::input::Input;
use super::scale::Unit;
use super::{ImportError, ImportedGraph};
pub(super) use protobuf::is_protobuf;

/// Reads a trace in either form.
pub(super) fn read(mut input: Input<'_>, graph: GraphBuilder<'_>) -> Result<ImportedGraph, ImportError> {
    let start = input.start()?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    match start.trim_ascii_start().first() {
        // As a length, a message of 91 or 123 bytes: what follows is text only in JSON.
        Some(b'{' | b'[') if !is_protobuf(start) => json::read(&mut input.into_text()?, graph),
        _ => protobuf::read(&mut input, graph),
    }
}

/// A node, in the form that both have in common.
#[derive(Debug, Default)]
struct Node {
    id: u64,
    name: String,
    kind: String,
    preds: Vec<u64>,
    micros: Option<f64>,
    line: u64,
}

/// Numbers of node types, in the order of the schema.
const TYPES: [&str; 11] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
    "STORAGE_NODE",
    "BATCH_NODE",
    "CHECKPOINT_NODE",
];

/// The name of a node type.
fn type_name(number: u64) -> String {
    let known = usize::try_from(number).ok().and_then(|number| TYPES.get(number));
    known.map_or_else(|| format!("NODE_TYPE_{number}"), |name| name.to_string())
}

/// Adds a node; `id` is room for text.
fn add_node(graph: &mut GraphBuilder<'_>, node: &Node, id: &mut String) -> Result<(), ImportError> {
    use std::fmt::Write;
    let mut mention = |graph: &mut GraphBuilder<'_>, number: u64| {
        id.clear();
        let _ = write!(id, "{number}");
        graph.mention(id)
    };
    let task = mention(graph, node.id)?;
    let label = Some(node.name.as_str()).filter(|name| !name.is_empty());
    graph.define(task, node.line, TaskText { label, name: None, kind: Some(&node.kind) })?;
    let micros = node.micros.unwrap_or_default();
    let nanoseconds = micros * Unit::Microseconds.nanoseconds();
    graph.set_duration(task, node.line, nanoseconds, || format!("{micros} us"))?;
    for &pred in &node.preds {
        let pred = mention(graph, pred)?;
        graph.add_edge(pred, task)?;
    }
    Ok(())
}
