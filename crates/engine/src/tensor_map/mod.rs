//! Which tasks last wrote, and which have read since, every byte of every live tensor.
//!
//! Each tensor has a *root*; each tensor argument of a task that is not reclaimed has an *access* on its root. An
//! access is looked up against the earlier ones it conflicts with: a read against writes, a write against both. A
//! write that covers an earlier access makes it *superseded*: later accesses find the newer write, which is
//! ordered after the older access, so the older one is taken off the lists.
//!
//! Reads and writes are kept apart (a thousand readers of one tensor do not slow down the next reader). Accesses to whole
//! tensors, by far the most, are kept as *stamps* in the root itself (see `whole.rs`). Accesses to *parts* are filed by
//! where they are in the tensor, in cells or a tree (see `parts.rs`), so that a lookup meets its neighbours and few others
//! however many are live.
//!
//! Both roots of tensors made in the run and accesses count against the map's capacity, from submit until their task
//! is reclaimed.

mod axes;
mod buckets;
mod grid;
mod lists;
mod parts;
mod pool;
mod reach;
mod root;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
mod tree;
mod unforgetting;
mod whole;
#[cfg(all(test, not(any(loom, shuttle))))]
mod whole_tests;

pub use axes::Bounds;
use buckets::Buckets;
use parts::Parts;
use pool::{Beside, Pool};
use reach::Reach;
use ringlane_task::Resource;
pub use root::Root;
use tree::Trees;
use whole::Reader;

use crate::api::buffers::Permission;
use crate::api::tensor::{TensorRef, TensorTag};
use crate::fault::{Fault, Result};
use crate::live_runs::RunNumber;
use crate::overlap::{Region, Relation, relation};
use crate::slot::SlotIndex;

/// No entry.
pub(crate) const NONE: u32 = u32::MAX;

/// Which accesses a lookup must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// A read: earlier writes.
    Read,
    /// A write: earlier writes and reads; those it covers are superseded.
    Write,
}

/// Gives the region of an access from where its view is kept.
pub trait Regions {
    /// The region of the record at `at` of `task`.
    fn region(&self, task: SlotIndex, at: u32) -> Region<'_>;
}

/// A task, named so that its slot shows whether it is still there: the slot's stamp changes when the task is
/// reclaimed. So a stamp never has to be taken off when its task goes.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub(crate) slot: SlotIndex,
    /// The mark of its submit; of nobody a number that no slot ever carries.
    pub(crate) number: u32,
}

impl Stamp {
    /// No submit's mark.
    pub(crate) const NO_NUMBER: u32 = u32::MAX;
    pub(super) const NOBODY: Stamp = Stamp { slot: SlotIndex(0), number: Self::NO_NUMBER };
}

/// An access of a task that is not reclaimed: what a lookup reads of it, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Access {
    /// Of a part, along its tensor's axes.
    bounds: Bounds,
    root: u32,
    bucket_next: u32,
    task: SlotIndex,
    /// Where its record is kept.
    at: u32,
    list: u8,
    filed: Filed,
    whole: bool,
    linked: bool,
}

const _: () = assert!(size_of::<Access>() == 64);

/// The other links of an access, at the same index: for inserting it and taking it out.
#[derive(Clone, Copy, Debug)]
struct Links {
    /// The next access of the same task.
    next_of_task: u32,
    /// Its neighbours on its tensor's list.
    prev: u32,
    next: u32,
    /// The hash of its cell, or its node of a tree.
    home: u32,
    bucket_prev: u32,
    /// From its cell's corner.
    reach: Reach,
}

impl Access {
    /// `WRITE` or `READ`.
    #[inline]
    fn kind(&self) -> usize {
        self.list as usize & READ
    }

    #[inline]
    fn hazard(&self) -> Hazard {
        if self.kind() == WRITE { Hazard::Write } else { Hazard::Read }
    }
}

/// Where an access is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filed {
    /// On its tensor's list and nowhere else.
    List,
    /// In a cell, too.
    Cell,
    /// In a tree, too.
    Tree,
}

/// An access that a lookup met.
#[derive(Clone, Copy, Debug)]
pub struct MetAccess {
    /// Whose it is.
    pub task: SlotIndex,
    /// Where its record is kept.
    pub at: u32,
    /// Read or write.
    pub hazard: Hazard,
    /// How it relates to the new one.
    pub how: Relation,
}

/// A task that a lookup met.
#[derive(Clone, Copy, Debug)]
pub enum Met {
    /// It is not reclaimed.
    Alive(MetAccess),
    /// It may be: its slot's stamp decides.
    Stamped(Stamp),
}

const WRITE: usize = 0;
const READ: usize = 1;
const PART: usize = 2;

/// Accesses and roots that a task owns, freed together when it is reclaimed.
#[derive(Clone, Copy, Debug)]
pub struct Owned {
    first_access: u32,
    first_root: u32,
}

impl Owned {
    /// Nothing.
    pub const NOTHING: Owned = Owned { first_access: NONE, first_root: NONE };
}

/// An access about to be looked up and inserted.
#[derive(Clone, Copy, Debug)]
pub struct NewAccess<'a> {
    /// The tensor.
    pub root: u32,
    /// The bytes.
    pub region: Region<'a>,
    /// Whether these are all the tensor's bytes.
    pub whole: bool,
    /// Read or write.
    pub hazard: Hazard,
}

/// What becomes of accesses that a later write covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Superseded {
    /// They stay their task's until it is reclaimed.
    Kept,
    /// They are freed at once: their task is never reclaimed.
    Freed,
}

/// The map.
#[derive(Debug)]
pub struct TensorMap {
    /// What a record carries that this run uses for the first time.
    first_tag: TensorTag,
    roots: Pool<Root>,
    accesses: Pool<Access>,
    links: Beside<Links>,
    readers: Pool<Reader>,
    parts: Pool<Parts>,
    buckets: Buckets,
    trees: Trees,
    /// What a search of a tree met; empty between lookups.
    met: Vec<u32>,
    used: u64,
    capacity: u64,
    superseded: Superseded,
}

impl TensorMap {
    /// A map for `capacity` roots and accesses.
    pub fn new(capacity: u32) -> Self {
        TensorMap {
            first_tag: TensorTag::default(),
            roots: Pool::with_capacity(0),
            accesses: Pool::with_capacity(capacity as usize),
            links: Beside::with_capacity(capacity as usize),
            readers: Pool::with_capacity(capacity as usize),
            parts: Pool::with_capacity(0),
            buckets: Buckets::new(capacity as usize),
            trees: Trees::new(),
            met: Vec::new(),
            used: 0,
            capacity: capacity as u64,
            superseded: Superseded::Kept,
        }
    }

    /// Forgets everything and starts over with this capacity and these external tensors, ids `0..`.
    pub fn reset(
        &mut self,
        run: RunNumber,
        capacity: u32,
        externals: impl Iterator<Item = (u32, Permission)>,
    ) {
        self.first_tag = TensorTag::first(run);
        self.capacity = capacity as u64;
        self.roots.clear();
        self.accesses.clear();
        self.links.clear();
        self.readers.clear();
        self.parts.clear();
        self.buckets.clear();
        self.trees.clear();
        self.used = 0;
        for (space, permission) in externals {
            self.roots.take(Root::new(self.first_tag, space, 0, permission, NONE));
        }
    }

    /// Roots and accesses in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// How many there may be.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Lifts the capacity: for counting what a program would have needed.
    pub(crate) fn lift_capacity(&mut self) {
        self.capacity = u64::MAX;
    }

    /// The root a handle names; an error if the handle is stale.
    #[inline]
    pub fn root(&self, tensor: TensorRef) -> Result<&Root> {
        match self.roots.get(tensor.id) {
            Some(root) if root.tag == tensor.tag => Ok(root),
            other => Err(bad_handle(tensor, self.first_tag.run(), other)),
        }
    }

    /// Checks the handle of an argument of the submit with this mark, and gives two words of its record, if it is whole;
    /// `None` if it is stale, if the same submit may have the tensor twice, or if it is only lent for reading and `writes`.
    #[inline]
    pub(crate) fn admits(&mut self, tensor: TensorRef, writes: bool, mark: u32) -> Option<[u64; 2]> {
        let root = self.roots.get_mut(tensor.id)?;
        let again = core::mem::replace(&mut root.submit, mark) == mark;
        let admitted = root.tag == tensor.tag && !again && (root.permission != Permission::Read || !writes);
        admitted.then_some(root.place)
    }

    /// The root with this id, of a handle that was checked.
    #[inline]
    pub(crate) fn root_at(&self, id: u32) -> &Root {
        &self.roots[id]
    }

    /// Where a tensor starts in its space.
    pub(crate) fn base_of(&self, root: u32) -> u64 {
        self.roots[root].base()
    }

    /// Counts roots and accesses of a task against the capacity, until `release`.
    #[inline]
    pub fn hold(&mut self, entries: u64) {
        debug_assert!(self.used + entries <= self.capacity, "{} is checked before", Resource::TensorMap);
        self.used += entries;
    }

    /// Makes the root of a fresh tensor, owned by a task, which writes it if there is a `writer`.
    #[inline]
    pub fn make_root(
        &mut self,
        owned: &mut Owned,
        space: u32,
        base: u64,
        writer: Option<Stamp>,
    ) -> TensorRef {
        let first_tag = self.first_tag;
        let id = self.roots.take_with(|old| {
            let tag = old.map_or(first_tag, |old| old.tag);
            let root = Root::new(tag, space, base, Permission::ReadWrite, owned.first_root);
            Root { writer: writer.unwrap_or(Stamp::NOBODY), ..root }
        });
        owned.first_root = id;
        TensorRef { id, tag: self.roots[id].tag }
    }

    /// Calls `found` for each task whose access conflicts with `new`, and supersedes what a write covers.
    #[inline(never)]
    pub fn look_up(
        &mut self,
        new: &NewAccess<'_>,
        bounds: Option<&Bounds>,
        regions: &impl Regions,
        mut found: impl FnMut(Met),
    ) {
        self.meet_stamps(new, &mut found);
        let mut found = |access| found(Met::Alive(access));
        let [writes, reads, part_writes, part_reads] = self.roots[new.root].heads;
        self.walk_list(writes, new, bounds, regions, &mut found);
        if new.hazard == Hazard::Write {
            self.walk_list(reads, new, bounds, regions, &mut found);
        }
        if part_writes & part_reads != NONE {
            self.look_up_parts(new, bounds, regions, &mut found);
        }
    }

    #[inline]
    fn walk_list(
        &mut self,
        head: u32,
        new: &NewAccess<'_>,
        bounds: Option<&Bounds>,
        regions: &impl Regions,
        found: &mut impl FnMut(MetAccess),
    ) {
        let mut at = head;
        while at != NONE {
            let next = self.links[at].next;
            self.meet(at, new, bounds, regions, found);
            at = next;
        }
    }

    /// Decides about one earlier access.
    #[inline]
    fn meet(
        &mut self,
        at: u32,
        new: &NewAccess<'_>,
        bounds: Option<&Bounds>,
        regions: &impl Regions,
        found: &mut impl FnMut(MetAccess),
    ) -> Relation {
        let old = &self.accesses[at];
        let task = old.task;
        let how = match bounds {
            None => Relation::Covered,
            Some(_) if old.whole => Relation::Partial,
            Some(bounds) => bounds
                .relation(&old.bounds)
                .unwrap_or_else(|| relation(&new.region, &regions.region(task, old.at))),
        };
        if how == Relation::Disjoint {
            return how;
        }
        found(MetAccess { task, at: old.at, hazard: old.hazard(), how });
        if how == Relation::Covered && new.hazard == Hazard::Write {
            self.unlink(at);
            if self.superseded == Superseded::Freed {
                self.accesses.give(at);
            }
        }
        how
    }

    /// Adds an access of `task` whose record is at `at`.
    #[inline]
    pub fn insert(
        &mut self,
        new: &NewAccess<'_>,
        bounds: Option<&Bounds>,
        regions: &impl Regions,
        owned: &mut Owned,
        (task, at): (SlotIndex, u32),
    ) {
        let kind = if new.hazard == Hazard::Read { READ } else { WRITE };
        let list = if bounds.is_some() { kind + PART } else { kind };
        let index = self.link(new.root, list, owned, (task, at), new.whole);
        if let Some(bounds) = bounds {
            self.file_part(index, bounds, regions);
        }
    }

    /// Frees what a task owned and held.
    #[inline]
    pub fn release(&mut self, owned: Owned, entries: u64) {
        self.used -= entries;
        if owned.first_access & owned.first_root != NONE {
            self.free(owned);
        }
    }

    fn free(&mut self, owned: Owned) {
        let mut at = owned.first_access;
        while at != NONE {
            if self.accesses[at].linked {
                self.unlink(at);
            }
            self.accesses.give(at);
            at = self.links[at].next_of_task;
        }
        let mut id = owned.first_root;
        while id != NONE {
            if self.roots[id].more.is_some() {
                self.free_readers(id, |_| {});
            }
            let root = &mut self.roots[id];
            let next = root.next;
            root.tag = root.tag.next();
            if root.parts != NONE {
                self.parts.give(root.parts);
            }
            self.roots.give(id);
            id = next;
        }
    }
}

#[cold]
fn bad_handle(tensor: TensorRef, run: RunNumber, root: Option<&Root>) -> crate::Error {
    let of = tensor.tag.run();
    if of != run {
        return Fault::ForeignHandle { what: "a tensor", of, run }.into();
    }
    let (generation, current) = (tensor.tag.generation(), root.map_or(0, |r| r.tag.generation()));
    Fault::StaleHandle { what: "a tensor", generation, current }.into()
}
