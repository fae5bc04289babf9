//! `scope_stats.json`: how full each ring was while a scope was open, what the scope needs, and who waited.

mod quick;
mod read;
mod write;

use std::borrow::Cow;

use ringlane_task::{RINGS, Resource, RingIndex, ScopeId, Ticks};

pub use super::RowCounts;
pub use read::{Scopes, ScopesHead, read_scopes};
pub use write::ScopesWriter;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "scope_stats.json";

/// The version of the file.
pub const VERSION: u64 = 1;

/// The most of something that was in use at once, and how much of it there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Most in use.
    pub peak: u64,
    /// How much there is.
    pub capacity: u64,
}

/// One scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeRow<'a> {
    /// The scope.
    pub scope: ScopeId,
    /// The scope around it; the root has none.
    pub parent: Option<ScopeId>,
    /// Where in the source, `file:line`.
    pub site: Cow<'a, str>,
    /// How deep it stands; the root has depth 0.
    pub depth: u32,
    /// The ring its tasks live on.
    pub ring: RingIndex,
    /// Submits made directly in it.
    pub tasks: u64,
    /// When it was entered.
    pub enter: Ticks,
    /// When it ended; `None` if the run stopped while it was open.
    pub exit: Option<Ticks>,
    /// Slots in use, ring by ring.
    pub task_window: [Peak; RINGS],
    /// Bytes of outputs in use.
    pub heap: [Peak; RINGS],
    /// Dependency entries in use.
    pub dep_pool: [Peak; RINGS],
    /// Bytes of arguments in use.
    pub args: [Peak; RINGS],
    /// Entries of the tensor map in use.
    pub tensormap: Peak,
    /// The widest fan-in of a task, against its limit.
    pub fanin: Peak,
    /// The capacities that suffice for it.
    pub need: ScopeNeed,
    /// What its submits waited for.
    pub stalls: Cow<'a, [ScopeStall]>,
}

/// The capacities that suffice for a scope, counted from the program alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeNeed {
    /// Slots.
    pub task_window: u64,
    /// Bytes of outputs.
    pub heap: u64,
    /// Dependency entries.
    pub dep_pool: u64,
    /// Bytes of arguments.
    pub args: u64,
    /// The largest single piece of output bytes: a ring that wraps may leave that much unused.
    pub heap_piece: u64,
    /// The largest single piece of argument bytes.
    pub args_piece: u64,
}

/// Waits of one scope's submits for one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeStall {
    /// The ring; `None` for what all rings share.
    pub ring: Option<RingIndex>,
    /// What was waited for.
    pub resource: Resource,
    /// How often.
    pub count: u64,
    /// How long in all.
    pub ticks: Ticks,
}

/// Which scope, on which ring, exhausted which resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeFatal<'a> {
    /// The scope.
    pub scope: ScopeId,
    /// Where in the source, `file:line`.
    pub site: Cow<'a, str>,
    /// The ring; `None` for what all rings share.
    pub ring: Option<RingIndex>,
    /// What there was too little of.
    pub resource: Resource,
    /// How much was in use.
    pub used: u64,
    /// How much there is.
    pub capacity: u64,
    /// How much suffices.
    pub need: u64,
}
