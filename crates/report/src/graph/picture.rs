//! What a drawing of a graph shows: nodes with labels, and links.

use std::collections::{BTreeSet, HashMap};

use ringlane_insight::deps::{Reason, TaskGraph, by_kernel, neighbourhood};
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

/// What a node runs on; drawings distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A kernel for matrix cores.
    Aic,
    /// A kernel for vector cores.
    Aiv,
    /// Kernels for both.
    Mixed,
    /// A kernel for any core. Such kernels take the tints in the order of their first tasks, so that those of one graph are
    /// distinguished where the kinds of their cores are the same.
    Any(Tint),
    /// No kernel: an allocation or a barrier.
    Nothing,
}

/// One of the colours of kernels for any core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tint(u8);

/// How a drawing shows a kind: its name there, and the colours of its boxes on light ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeStyle {
    pub(super) class: &'static str,
    pub(super) fill: &'static str,
    pub(super) stroke: &'static str,
}

const fn style(class: &'static str, fill: &'static str, stroke: &'static str) -> NodeStyle {
    NodeStyle { class, fill, stroke }
}

/// Tints of kernels for any core: none is the colour of a kind. `page.css` has them again for dark ground.
const TINTS: [NodeStyle; 6] = [
    style("any0", "#e4dcfb", "#7a5fc0"),
    style("any1", "#fdf0b8", "#a68a1f"),
    style("any2", "#fbdcea", "#b85a8a"),
    style("any3", "#cdf0f0", "#2f8a96"),
    style("any4", "#e6efc0", "#7d9430"),
    style("any5", "#ecdccb", "#96704a"),
];

impl NodeKind {
    /// How drawings show it.
    pub(super) const fn style(self) -> NodeStyle {
        match self {
            NodeKind::Aic => style("aic", "#cfe2ff", "#3b6fb6"),
            NodeKind::Aiv => style("aiv", "#d9f2d9", "#3c8c3c"),
            NodeKind::Mixed => style("mixed", "#ffe8cc", "#b6793b"),
            NodeKind::Any(Tint(tint)) => TINTS[tint as usize],
            NodeKind::Nothing => style("none", "#ffffff", "#777777"),
        }
    }
}

/// Gives tasks their kinds, and kernels for any core their tints.
#[derive(Default)]
struct Kinds {
    tints: HashMap<String, Tint>,
}

impl Kinds {
    fn of(&mut self, task: &DepsTask) -> NodeKind {
        let kinds: BTreeSet<&str> = task.kernels.iter().map(|one| one.kernel.core_type.as_str()).collect();
        match kinds.into_iter().collect::<Vec<_>>().as_slice() {
            [] => NodeKind::Nothing,
            ["aic"] => NodeKind::Aic,
            ["aiv"] => NodeKind::Aiv,
            [_] => {
                let names: Vec<&str> = task.kernels.iter().map(|one| one.kernel.name.as_str()).collect();
                let next = Tint((self.tints.len() % TINTS.len()) as u8);
                NodeKind::Any(*self.tints.entry(names.join("+")).or_insert(next))
            }
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
    /// The task, unless the node represents several.
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
            Shown::Tasks => Self::of_tasks(graph, edges, &graph.indices().collect::<Vec<_>>(), shown),
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
        // In the order of submission, so that a kernel has the same tint in every part of the graph.
        let mut kinds = Kinds::default();
        let all: Vec<NodeKind> = graph.tasks.iter().map(|task| kinds.of(task)).collect();
        let node = |&index: &TaskIndex| {
            let task = graph.task(index);
            let detail = match task.block_num {
                1 => task.task_id.to_string(),
                blocks => format!("{} × {blocks}", task.task_id),
            };
            Node { label: graph.title(index), detail, kind: all[index.at()], task: Some(index) }
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
        let mut kinds = Kinds::default();
        let nodes = collapsed.nodes.iter().map(|node| Node {
            label: node.label.clone(),
            detail: counted(node.tasks, "task"),
            kind: kinds.of(graph.task(node.first)),
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
