//! Scopes: what is open, what each holds, and what may be reclaimed once it has ended.

#![forbid(unsafe_code)]

use ringlane_task::Resource;

use crate::api::backend::{Inference, Site};
use crate::limits::RINGS;
use crate::slot::SlotIndex;

/// What tasks hold of the bounded resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Slots.
    pub slots: u64,
    /// Heap bytes.
    pub heap: u64,
    /// Dependency entries, counted whether or not the producer was done.
    pub edges: u64,
    /// Argument bytes.
    pub args: u64,
    /// Tensor-map entries.
    pub entries: u64,
    /// The largest single piece of heap.
    pub heap_piece: u64,
    /// The largest single piece of arguments.
    pub args_piece: u64,
}

impl Usage {
    /// Adds what another holds.
    #[inline]
    pub fn add(&mut self, other: &Usage) {
        self.slots += other.slots;
        self.heap += other.heap;
        self.edges += other.edges;
        self.args += other.args;
        self.entries += other.entries;
        self.heap_piece = self.heap_piece.max(other.heap_piece);
        self.args_piece = self.args_piece.max(other.args_piece);
    }

    /// How much of one resource.
    pub fn of(&self, resource: Resource) -> u64 {
        match resource {
            Resource::TaskWindow => self.slots,
            Resource::Heap => self.heap,
            Resource::DepPool => self.edges,
            Resource::Args => self.args,
            Resource::TensorMap => self.entries,
        }
    }

    /// The largest single piece of one resource.
    pub fn piece(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Heap => self.heap_piece,
            Resource::Args => self.args_piece,
            _ => 0,
        }
    }
}

/// The positions of a ring's four resources. What open scopes hold is what was handed out since the
/// outermost of them began, so nothing has to be counted while a run goes well.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) slots: u64,
    pub(crate) heap: u64,
    pub(crate) edges: u64,
    pub(crate) args: u64,
}

impl Marks {
    /// What was handed out since `earlier`, of one resource.
    pub(crate) fn since(&self, earlier: &Marks, resource: Resource) -> u64 {
        match resource {
            Resource::TaskWindow => self.slots - earlier.slots,
            Resource::Heap => self.heap - earlier.heap,
            Resource::DepPool => self.edges - earlier.edges,
            Resource::Args => self.args - earlier.args,
            Resource::TensorMap => 0,
        }
    }
}

/// A scope that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) id: u32,
    pub(crate) site: Site,
    pub(crate) site_id: u32,
    pub(crate) ring: usize,
    pub(crate) inference: Inference,
    /// Position of the scope's first own task on its ring.
    pub(crate) first: Option<u64>,
    /// Where the scope's ring stood at its beginning.
    pub(crate) entry: Marks,
    /// What tasks hold that were only counted (on ring 3 also those of ended scopes inside it).
    pub(crate) counted: Usage,
    /// The barrier that new tasks follow.
    pub(crate) barrier: Option<SlotIndex>,
    /// Where each ring stood at the scope's last barrier, or at its beginning.
    pub(crate) since: [u64; RINGS],
    /// The first task after that, in submission order.
    pub(crate) since_seq: u64,
    pub(crate) watched: WatchedScope,
    /// Where its label is in `State::scope_labels`.
    pub(crate) label: Label,
}

/// A piece of the labels of open scopes; empty without a label.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Label {
    start: u32,
    bytes: u32,
}

impl Label {
    /// Adds a label to those of the open scopes.
    pub(crate) fn push(labels: &mut String, label: &str) -> Self {
        let start = labels.len() as u32;
        labels.push_str(label);
        Label { start, bytes: label.len() as u32 }
    }

    /// The text.
    pub(crate) fn of(self, labels: &str) -> &str {
        labels.get(self.start as usize..(self.start + self.bytes) as usize).unwrap_or_default()
    }

    /// Takes it back; the labels of the scopes inside have been.
    pub(crate) fn pop(self, labels: &mut String) {
        if self.bytes > 0 {
            labels.truncate(self.start as usize);
        }
    }
}

/// What only a probe that sees scopes needs to know of one, beside how far it and its ring have come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WatchedScope {
    /// Tasks submitted before it, on all rings.
    pub(crate) begun: u64,
    /// Edges of tasks on its ring that need no entry if one is scarce.
    pub(crate) spared_edges: u64,
    /// The widest fan-in of a task in it, those not counted that were submitted since a scope last began or ended.
    pub(crate) fan_in: u64,
}

/// A stretch of one ring whose scopes have ended: reclaimed as a whole once every task that could still use it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// One past its last task.
    pub(crate) end: u64,
    /// How far each ring must be done: consumers of the segment's tensors live on this ring and on deeper ones.
    pub(crate) waits: [u64; RINGS],
    /// Where the ring stood at the end.
    pub(crate) end_marks: Marks,
}
