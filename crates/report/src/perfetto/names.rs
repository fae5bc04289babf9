//! The names of slices, each stored once.

use std::collections::HashMap;

use ringlane_insight::timeline::{TaskIndex, Timeline};
use ringlane_trace::swimlane::Phase;

use super::TraceSource;
use super::sink::Arg;

/// A name, as a place in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameId(pub(super) u32);

/// All names of a trace.
#[derive(Debug)]
pub(super) struct Names {
    all: Vec<String>,
    kernels: u32,
    sites: u32,
    copies: u32,
    node: u32,
    /// Of tasks whose submits gave them one.
    labels: HashMap<TaskIndex, NameId>,
}

/// Names that do not come from the run.
const FIXED: [&str; 11] = [
    "complete",
    "resolve",
    "dispatch",
    "reclaim",
    "idle",
    "submit",
    "ring full",
    "task without a block",
    "in the mailbox",
    "accepted, not started",
    "until the node noticed the end",
];

impl Names {
    pub(super) fn new(source: TraceSource<'_>) -> Self {
        let Timeline { kernels, copies, .. } = source.timeline;
        let mut all: Vec<String> = FIXED.map(str::to_string).to_vec();
        let kernels_at = all.len() as u32;
        all.extend(kernels.iter().map(|kernel| kernel.name.clone()));
        all.push("?".to_string());
        all.extend(kernels.iter().map(|kernel| format!("submit {}", kernel.name)));
        all.push("submit ?".to_string());
        let sites_at = all.len() as u32;
        all.extend(source.scopes.iter().flat_map(|scopes| scopes.sites()).cloned());
        let copies_at = all.len() as u32;
        all.extend(copies.iter().map(|copy| copy.what.clone()));
        let node_at = all.len() as u32;
        all.extend(source.node.iter().flat_map(|node| node.names()).cloned());
        let labels = labels(source.timeline, &mut all);
        Names { all, kernels: kernels_at, sites: sites_at, copies: copies_at, node: node_at, labels }
    }

    pub(super) fn all(&self) -> &[String] {
        &self.all
    }

    pub(super) const fn phase(phase: Phase) -> NameId {
        NameId(match phase {
            Phase::Complete => 0,
            Phase::Resolve => 1,
            Phase::Dispatch => 2,
            Phase::Reclaim => 3,
            Phase::Idle => 4,
        })
    }

    pub(super) const SUBMIT: NameId = NameId(5);
    pub(super) const RING_FULL: NameId = NameId(6);
    pub(super) const NO_BLOCK: NameId = NameId(7);
    pub(super) const MAILBOX: NameId = NameId(8);
    pub(super) const TAKEN: NameId = NameId(9);
    pub(super) const SEEN: NameId = NameId(10);

    /// How many kernels have names, and one for those that have none.
    const fn kernel_names(&self) -> u32 {
        (self.sites - self.kernels) / 2
    }

    /// The name of a kernel, by its place in the timeline's list.
    pub(super) fn kernel(&self, place: Option<usize>) -> NameId {
        let last = self.kernel_names() - 1;
        NameId(self.kernels + place.map_or(last, |place| place as u32))
    }

    /// The name of the submit of a task with that kernel.
    pub(super) fn submit_of(&self, place: Option<usize>) -> NameId {
        NameId(self.kernel(place).0 + self.kernel_names())
    }

    pub(super) const fn site(&self, site: u32) -> NameId {
        NameId(self.sites + site)
    }

    /// A name of the workers' own, by its place there.
    pub(super) const fn of_node(&self, place: usize) -> NameId {
        NameId(self.node + place as u32)
    }

    pub(super) const fn copy(&self, copy: usize) -> NameId {
        NameId(self.copies + copy as u32)
    }

    /// What a task's submit called it, as an argument of a slice.
    pub(super) fn label(&self, task: TaskIndex) -> Option<(Arg, u64)> {
        self.labels.get(&task).map(|name| (Arg::Label, u64::from(name.0)))
    }
}

/// Adds the labels of tasks to the names, each once.
fn labels(timeline: &Timeline, all: &mut Vec<String>) -> HashMap<TaskIndex, NameId> {
    let mut known: HashMap<&str, NameId> = HashMap::new();
    let mut place = |label| {
        *known.entry(label).or_insert_with(|| {
            all.push(label.to_string());
            NameId(all.len() as u32 - 1)
        })
    };
    timeline.labels().into_iter().map(|(task, label)| (task, place(label))).collect()
}
