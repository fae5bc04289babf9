//! A graph too large to show, with one node for each kernel.

use std::collections::{BTreeMap, HashMap};

use super::TaskGraph;
use crate::timeline::TaskIndex;

/// What is left of a graph when tasks of one name are one node. Nodes can wait for themselves and for each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelGraph {
    /// One for each name, in the order of first submission.
    pub nodes: Vec<KernelNode>,
    /// One for each pair of names with an edge, by nodes.
    pub links: Vec<KernelLink>,
}

/// All tasks of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelNode {
    /// The name.
    pub label: String,
    /// How many tasks have it.
    pub tasks: u64,
    /// The first of them.
    pub first: TaskIndex,
}

/// All edges from tasks of one name to tasks of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelLink {
    /// The node that comes first.
    pub from: usize,
    /// The node that waits.
    pub to: usize,
    /// How many edges there are.
    pub edges: u64,
}

/// Collapses the edges of a graph, all or those of its reduction, by the names of tasks.
pub fn by_kernel(graph: &TaskGraph, edges: impl Iterator<Item = (TaskIndex, TaskIndex)>) -> KernelGraph {
    let mut nodes: Vec<KernelNode> = Vec::new();
    let mut places = HashMap::new();
    let mut node_of = Vec::with_capacity(graph.tasks.len());
    for first in graph.indices() {
        let label = graph.label(first);
        let place = *places.entry(label.clone()).or_insert_with(|| {
            nodes.push(KernelNode { label, tasks: 0, first });
            nodes.len() - 1
        });
        nodes[place].tasks += 1;
        node_of.push(place);
    }
    let mut counts = BTreeMap::<(usize, usize), u64>::new();
    for (before, after) in edges {
        *counts.entry((node_of[before.at()], node_of[after.at()])).or_default() += 1;
    }
    let link = |((from, to), edges)| KernelLink { from, to, edges };
    KernelGraph { nodes, links: counts.into_iter().map(link).collect() }
}
