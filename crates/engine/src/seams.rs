//! The two seams of the engine: a chip decides who runs what and when; a probe sees it happen.
//!
//! Both are type parameters. With the probe `()` every observation compiles to nothing.

use ringlane_task::{CoreId, Resource, RingIndex, SiteId, Ticks};

use crate::slot::{SlotIndex, TaskRecord};

/// Whether other threads run tasks beside the submitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// The submitter's thread does everything: plain loads and stores suffice.
    Alone,
    /// Other threads complete tasks meanwhile.
    Shared,
}

/// What the submitter needs of a chip.
pub trait Chip {
    /// Takes a task that became ready while it was submitted.
    fn publish(&mut self, task: SlotIndex);
    /// Called every so many submits (`limits::SUBMITS_PER_LOOK`) with how many tasks of the current ring are not known to
    /// be done: a chip whose submitter is one of its cores may run tasks now, before so many wait that they fall out of
    /// the caches. It must not wait for anything.
    #[inline]
    fn submitted(&mut self, _outstanding: u64) {}
    /// Called in every wait loop of the submitter: helps, or lets time pass.
    fn relax(&mut self);
    /// The chip's clock.
    fn now(&self) -> Ticks;
    /// Whether other threads run tasks.
    fn company(&self) -> Company;
}

/// What can be observed. Every method has an empty default.
pub trait Probe: Sync {
    /// A task was submitted (its edges are wired, it is about to be released).
    #[inline]
    fn submit(&self, _task: SlotIndex, _record: &TaskRecord) {}
    /// A task waits for another.
    #[inline]
    fn edge(&self, _predecessor: SlotIndex, _successor: SlotIndex) {}
    /// A task became ready; called before it is published.
    #[inline]
    fn ready(&self, _task: SlotIndex) {}
    /// A core begins a block.
    #[inline]
    fn start(&self, _core: CoreId, _record: &TaskRecord, _lane: u8, _block: u32) {}
    /// A core ended a block; called before anything that depends on it is released.
    #[inline]
    fn end(&self, _core: CoreId, _record: &TaskRecord, _lane: u8, _block: u32) {}
    /// A task is complete; called before its successors are released.
    #[inline]
    fn complete(&self, _core: CoreId, _record: &TaskRecord) {}
    /// A task's slot and memory may be reused.
    #[inline]
    fn reclaim(&self, _task: SlotIndex) {}
    /// A scope was opened.
    #[inline]
    fn scope_enter(&self, _scope: u32, _site: SiteId) {}
    /// A scope ended.
    #[inline]
    fn scope_exit(&self, _scope: u32) {}
    /// The submitter waits for a resource of a ring.
    #[inline]
    fn stall(&self, _ring: RingIndex, _resource: Resource) {}
}

impl Probe for () {}
