//! What a drawing of a graph shows: nodes with labels, and links.

use std::collections::BTreeSet;

use ringlane_insight::deps::{Reason, TaskGraph, by_kernel, label, neighbourhood};
use ringlane_insight::timeline::TaskIndex;
use ringlane_insight::units::counted;
use ringlane_trace::deps::DepsTask;

/// Which part of a graph a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Every task.
    Tasks,
    /// One node for all tasks of a name.
    Kernels,
    /// One task, those it waits for and those that wait for it.
    Around(TaskIndex),
}

/// What a node runs on; drawings tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A kernel for matrix cores.
    Aic,
    /// A kernel for vector cores.
    Aiv,
    /// Kernels for both.
    Mixed,
    /// A kernel for any core.
    Any,
    /// No kernel: an allocation or a barrier.
    Nothing,
}

impl NodeKind {
    /// The name of the kind, as drawings use it.
    pub const fn as_str(self) -> &'static str {
        match self {
            NodeKind::Aic => "aic",
            NodeKind::Aiv => "aiv",
            NodeKind::Mixed => "mixed",
            NodeKind::Any => "any",
            NodeKind::Nothing => "none",
        }
    }

    fn of(task: &DepsTask) -> Self {
        let kinds: BTreeSet<&str> =
            task.kernels.iter().map(|(kernel, _)| kernel.core_type.as_str()).collect();
        match kinds.into_iter().collect::<Vec<_>>().as_slice() {
            [] => NodeKind::Nothing,
            ["aic"] => NodeKind::Aic,
            ["aiv"] => NodeKind::Aiv,
            [_] => NodeKind::Any,
            _ => NodeKind::Mixed,
        }
    }
}

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its first line: the kernel.
    pub label: String,
    /// Its second line: which task, or how many.
    pub detail: String,
    /// What it runs on.
    pub kind: NodeKind,
    /// The task, unless the node stands for several.
    pub task: Option<TaskIndex>,
}

/// An arrow between boxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The box it leaves.
    pub from: usize,
    /// The box it leads to.
    pub to: usize,
    /// Why, or how many.
    pub label: String,
}

/// Boxes and arrows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The boxes, in the order of submission.
    pub nodes: Vec<Node>,
    /// The arrows, by the box that they lead to.
    pub links: Vec<Link>,
    /// Which part of the graph it is.
    pub shown: Shown,
}

impl Picture {
    /// The picture of the part `shown`, with these of the graph's edges: all, or those of its reduction.
    pub fn new(graph: &TaskGraph, edges: &[(TaskIndex, TaskIndex)], shown: Shown) -> Self {
        match shown {
            Shown::Tasks => Self::of_tasks(
                graph,
                edges,
                &(0..graph.tasks.len() as u32).map(TaskIndex).collect::<Vec<_>>(),
                shown,
            ),
            Shown::Around(task) => {
                let around = neighbourhood(graph, task);
                let before = around.producers.iter().map(|tie| tie.reason.before);
                let after = around.consumers.iter().map(|tie| tie.reason.after);
                let tasks: BTreeSet<_> = before.chain([task]).chain(after).collect();
                let edges: Vec<_> = edges.iter().copied().filter(|&(a, b)| a == task || b == task).collect();
                Self::of_tasks(graph, &edges, &tasks.into_iter().collect::<Vec<_>>(), shown)
            }
            Shown::Kernels => Self::of_kernels(graph, edges),
        }
    }

    fn of_tasks(
        graph: &TaskGraph,
        edges: &[(TaskIndex, TaskIndex)],
        tasks: &[TaskIndex],
        shown: Shown,
    ) -> Self {
        let node = |&index: &TaskIndex| {
            let task = graph.task(index);
            let detail = match task.block_num {
                1 => format!("#{}", task.seq),
                blocks => format!("#{} × {blocks}", task.seq),
            };
            Node { label: label(task), detail, kind: NodeKind::of(task), task: Some(index) }
        };
        let place = |task: TaskIndex| tasks.binary_search(&task).ok();
        let link = |&(before, after): &(TaskIndex, TaskIndex)| {
            let label = reasons_text(graph.reasons_between(before, after));
            Some(Link { from: place(before)?, to: place(after)?, label })
        };
        Picture {
            nodes: tasks.iter().map(node).collect(),
            links: edges.iter().filter_map(link).collect(),
            shown,
        }
    }

    fn of_kernels(graph: &TaskGraph, edges: &[(TaskIndex, TaskIndex)]) -> Self {
        let collapsed = by_kernel(graph, edges.iter().copied());
        let nodes = collapsed.nodes.iter().map(|node| Node {
            label: node.label.clone(),
            detail: counted(node.tasks, "task"),
            kind: NodeKind::of(graph.task(node.first)),
            task: None,
        });
        let links = collapsed.links.iter();
        let links = links.map(|link| Link { from: link.from, to: link.to, label: format!("{}", link.edges) });
        Picture { nodes: nodes.collect(), links: links.collect(), shown: Shown::Kernels }
    }
}

/// The hazards between two tasks, each once: `raw+war`.
fn reasons_text(reasons: &[Reason]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for reason in reasons {
        let word = reason.edge.cause.map_or("explicit", |cause| cause.hazard.as_str());
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join("+")
}
