//! Policies: the order in which cores get ready tasks.
//!
//! A policy decides with the knowledge of a control thread: the tasks submitted so far, never the future.

mod critical_path;
mod fifo;
mod locality;

use core::fmt;

use ringlane_engine::slot::SlotIndex;

use crate::core::CoreKind;
use crate::time::Ps;

/// The cores that a task requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A matrix core.
    Aic,
    /// A vector core.
    Aiv,
    /// Any core.
    Any,
    /// A whole cluster.
    Mixed,
}

impl Class {
    pub(crate) const COUNT: usize = 4;

    /// The class of single tasks for a core of this kind.
    pub(crate) fn of(kind: CoreKind) -> Class {
        match kind {
            CoreKind::Aic => Class::Aic,
            CoreKind::Aiv => Class::Aiv,
        }
    }
}

/// A task that became ready.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// The task.
    pub task: SlotIndex,
    /// The cores that it requires.
    pub class: Class,
    /// The number of blocks to dispatch.
    pub blocks: u32,
    /// The cluster on which its last producer ran.
    pub home: Option<u32>,
}

/// A block to dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextBlock {
    /// Its task.
    pub task: SlotIndex,
    /// Its number.
    pub block: u32,
}

/// The next task of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Urgent {
    /// A smaller value goes first.
    pub urgency: u64,
    /// The task.
    pub task: SlotIndex,
}

/// An order among ready tasks.
pub trait Policy: fmt::Debug {
    /// Whether the policy uses durations and edges. If not, `submitted` and `wired` are not called.
    fn uses_graph(&self) -> bool {
        false
    }
    /// A task with this duration was submitted.
    fn submitted(&mut self, _task: SlotIndex, _takes: Ps) {}
    /// An edge between two submitted tasks was added.
    fn wired(&mut self, _predecessor: SlotIndex, _successor: SlotIndex) {}
    /// A task is complete.
    fn complete(&mut self, _task: SlotIndex) {}
    /// A task is ready.
    fn ready(&mut self, ready: Ready);
    /// Whether a task of this class waits for a core.
    fn waits(&self, class: Class) -> bool;
    /// The next task for a core of this cluster.
    fn peek(&mut self, class: Class, cluster: u32) -> Option<Urgent>;
    /// Takes the next block for a core of this cluster.
    fn take(&mut self, class: Class, cluster: u32) -> Option<NextBlock>;
    /// Drops the remaining blocks of the task whose first block was taken last.
    fn cancel(&mut self, class: Class, task: SlotIndex);
}

/// The policies by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// First ready, first run.
    #[default]
    Fifo,
    /// The longest remaining path first, as far as it is known.
    CriticalPath,
    /// A consumer on the cluster of its producer.
    Locality,
}

impl PolicyName {
    /// All policies.
    pub const ALL: [PolicyName; 3] = [PolicyName::Fifo, PolicyName::CriticalPath, PolicyName::Locality];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            PolicyName::Fifo => "fifo",
            PolicyName::CriticalPath => "critical-path",
            PolicyName::Locality => "locality",
        }
    }

    /// The policy with this name.
    pub fn from_name(name: &str) -> Option<PolicyName> {
        PolicyName::ALL.into_iter().find(|policy| policy.as_str() == name)
    }

    /// Creates the policy for a table with `slots` slots and a chip with `clusters` clusters.
    pub(crate) fn make(self, slots: usize, clusters: u32) -> Box<dyn Policy> {
        match self {
            PolicyName::Fifo => Box::new(fifo::Fifo::default()),
            PolicyName::CriticalPath => Box::new(critical_path::CriticalPath::new(slots)),
            PolicyName::Locality => Box::new(locality::Locality::new(slots, clusters)),
        }
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
