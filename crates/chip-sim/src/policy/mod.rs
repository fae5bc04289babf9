//! Who runs next: the tasks that are ready, in the order in which cores get them.
//!
//! A policy decides only what a control thread could: it knows what was submitted so far, never the future.

mod critical_path;
mod fifo;
mod locality;

use core::fmt;

use ringlane_engine::slot::SlotIndex;

use crate::core::CoreKind;
use crate::time::Ps;

/// What a task needs to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A matrix core.
    Aic,
    /// A vector core.
    Aiv,
    /// Either.
    Any,
    /// A whole cluster.
    Mixed,
}

impl Class {
    pub(crate) const COUNT: usize = 4;

    /// What a core of this kind can run by itself.
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
    /// What it needs.
    pub class: Class,
    /// How many blocks there are to give out.
    pub blocks: u32,
    /// The cluster where its last producer ran.
    pub home: Option<u32>,
}

/// A block to give to a core.
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
    /// The smaller goes first.
    pub urgency: u64,
    /// The task.
    pub task: SlotIndex,
}

/// An order among ready tasks.
pub trait Policy: fmt::Debug {
    /// Whether it looks at what tasks take and at whom they wait for: it is not told otherwise.
    fn looks_ahead(&self) -> bool {
        false
    }
    /// A task was submitted that takes so long.
    fn submitted(&mut self, _task: SlotIndex, _takes: Ps) {}
    /// A submitted task waits for another.
    fn wired(&mut self, _predecessor: SlotIndex, _successor: SlotIndex) {}
    /// A task is complete.
    fn complete(&mut self, _task: SlotIndex) {}
    /// A task is ready.
    fn ready(&mut self, ready: Ready);
    /// Whether one of this class waits for a core.
    fn waits(&self, class: Class) -> bool;
    /// The next one for a core of this cluster.
    fn peek(&mut self, class: Class, cluster: u32) -> Option<Urgent>;
    /// Takes the next block for a core of this cluster.
    fn take(&mut self, class: Class, cluster: u32) -> Option<NextBlock>;
    /// The blocks that are left of the task whose first one was taken last are not to be given out.
    fn cancel(&mut self, class: Class, task: SlotIndex);
}

/// The policies by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// Whoever was ready first.
    #[default]
    Fifo,
    /// Whoever has the longest path behind it, as far as that is known.
    CriticalPath,
    /// A consumer on the cluster of its producer.
    Locality,
}

impl PolicyName {
    /// All of them.
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

    /// The policy, for a table with so many slots and a chip with so many clusters.
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
