//! What only the submitter may do with the table and with the chip's memory, as safe operations.
//!
//! One thread at a time submits to a table: the one that has its [`SubmitterTable`], which [`session::run`] makes of the promise
//! of its own caller. What that thread may touch follows from how it counts, in [`State::rings`](crate::orchestrator::State):
//!
//! - What the rings count as free is used by no task. A slot, edges, words and heap bytes become free only in `reclaim`, after
//!   the task's done tag was seen (acquire), hence after the last access of any core.
//! - What a submit has counted as its own (`admit`, `take_heap`, `reserve_edges`) is its own: other threads see it only after
//!   `release` has published the task. This is all that is written here.
//! - The records of a published task do not change until it is reclaimed. So the submitter may read them, as the cores do.
//! - Nobody writes the bytes of a view that the submitter reads: it has seen its writers closed (acquire), and it alone could
//!   submit another.
//!
//! [`session::run`]: crate::session::run

use core::ops::Deref;

use ringlane_task::TensorView;

use crate::fault::Result;
use crate::memory::{Memory, RunMemory, Space, Spaces};
use crate::orchestrator::{Meta, Orchestrator};
use crate::seams::{Chip, Probe, Threading};
use crate::slot::{EdgeKind, Linked, Slot, SlotIndex, TaskRecord};
use crate::table::{HeldTask, Table};

/// A table without tasks, to which one thread is about to submit.
pub(crate) struct IdleTable<'t>(&'t Table);

/// The table as the thread sees it that submits to it.
#[derive(Clone, Copy)]
pub(crate) struct SubmitterTable<'t>(&'t Table);

impl<'t> IdleTable<'t> {
    /// The table of a run that is about to begin.
    ///
    /// # Safety
    /// As for [`session::run`](crate::session::run), from now until the run has ended.
    pub(crate) unsafe fn new(table: &'t Table) -> Self {
        IdleTable(table)
    }

    /// Begins the run, with these external spaces.
    pub(crate) fn begin(self, externals: impl Iterator<Item = Space>) -> SubmitterTable<'t> {
        // SAFETY: no task exists, and nobody else can make one.
        unsafe { self.0.begin(externals) };
        SubmitterTable(self.0)
    }
}

impl Deref for IdleTable<'_> {
    type Target = Table;
    fn deref(&self) -> &Table {
        self.0
    }
}

impl Deref for SubmitterTable<'_> {
    type Target = Table;
    #[inline(always)]
    fn deref(&self) -> &Table {
        self.0
    }
}

impl<'t> SubmitterTable<'t> {
    /// The argument records, written before, of a task that is not reclaimed.
    #[inline]
    pub(crate) fn words(self, ring: usize, at: u32, count: usize) -> &'t [u64] {
        // SAFETY: see the module: they do not change before the task is reclaimed, which only the submitter does.
        unsafe { self.0.args_words(ring, at, count) }
    }

    /// What cores know of a task that is not reclaimed.
    #[inline]
    pub(crate) fn record(self, task: SlotIndex) -> TaskRecord {
        // SAFETY: the caller is the submitter.
        unsafe { self.0.slots[task.0 as usize].record() }
    }

    /// The slot of a task, or of the task that is being submitted.
    #[inline(always)]
    pub(crate) fn slot(self, task: SlotIndex) -> &'t Slot {
        &self.0.slots[task.0 as usize]
    }

    /// Fills the slot at the head of a ring, which `admit` found free, for the task that is being submitted.
    #[inline(always)]
    pub(crate) fn prepare(self, slot: &Slot, record: TaskRecord) {
        // SAFETY: the slot's last task was reclaimed, so its done tag was seen.
        unsafe { slot.prepare(record) };
    }

    /// The task with this record, which is not reclaimed.
    #[inline]
    pub(crate) fn task(self, record: &'t TaskRecord) -> HeldTask<'t> {
        // SAFETY: the caller is the submitter.
        unsafe { self.0.held(record) }
    }

    /// Words that `admit` gave to the task that is being submitted.
    #[inline]
    pub(crate) fn unpublished_words(&mut self, ring: usize, at: u32, count: usize) -> &mut [u64] {
        debug_assert!((u64::from(at) + count as u64) * 8 <= self.0.args[ring].bytes());
        let base = self.0.args[ring].base().cast::<u64>();
        // SAFETY: no task that others can see uses them, and `&mut self` makes the borrow of the submitter's own table the only one.
        unsafe { core::slice::from_raw_parts_mut(base.add(at as usize), count) }
    }

    #[inline]
    fn spaces(self) -> &'t Spaces {
        // SAFETY: the caller is the submitter.
        unsafe { self.0.spaces() }
    }

    /// Links the task that is being submitted into the fan-out of a predecessor, through an entry that it has reserved.
    #[inline(always)]
    pub(crate) fn link(
        self,
        predecessor: &Slot,
        edge: u32,
        (task, kind): (SlotIndex, EdgeKind),
        threading: Threading,
    ) -> Linked {
        match threading {
            // SAFETY: the caller is the submitter; the entry was free and is the task's own.
            Threading::Multi => unsafe { predecessor.link(&self.0.edges, edge, task, kind) },
            // SAFETY: as above, and no other thread runs tasks.
            Threading::Single => unsafe { predecessor.link_alone(&self.0.edges, edge, task, kind) },
        }
    }
}

impl Meta {
    /// One for each slot, all without a task. The memory is reserved, not touched.
    pub(crate) fn reserve(slots: usize) -> Box<[Meta]> {
        // SAFETY: a `Meta` is integers. One of zero bits is without a task (stamp 0), and its other fields are not read.
        unsafe { Box::new_zeroed_slice(slots).assume_init() }
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Zeroes heap memory that was just taken. What was never used is zero, and its pages are left to the core that writes
    /// them first: making them is most of what zeroing costs.
    pub(crate) fn zero_heap(&mut self, ring: usize, offset: u64, bytes: u64) -> Result<()> {
        let untouched_from = self.state.rings[ring].heap.untouched_from(offset);
        let used = (untouched_from - offset).min(bytes);
        if used == 0 {
            return Ok(());
        }
        // SAFETY: the bytes were just taken from the heap ring: nobody else uses them.
        let zeroed = unsafe { self.memory().zero(ring as u32, offset, used) };
        zeroed.map_err(|error| self.abort_run(error))
    }

    /// Copies the orchestration's bytes into heap memory that was just taken, as large as they are.
    pub(crate) fn fill_heap(&mut self, ring: usize, offset: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: as many bytes were just taken from the heap ring: nobody else uses them.
        let filled = unsafe { self.memory().copy_in(bytes, ring as u32, offset) };
        filled.map_err(|error| self.abort_run(error))
    }

    /// Hands the bytes of a view whose writers are done to `sink`, in logical order. The view was checked against its tensor,
    /// which is in this space.
    pub(crate) fn read_bytes(&self, space: u32, view: &TensorView, sink: impl FnMut(&[u8])) -> Result<()> {
        // SAFETY: the bytes are inside the space, and only their readers can run now.
        unsafe { self.memory().read(space, view, sink) }
    }

    /// Copies external buffers to where the chip keeps them, unless the host sees that. No task exists yet.
    pub(crate) fn copy_in(&mut self) -> Result<()> {
        if !self.chip.memory().host_sees() {
            // SAFETY: the run borrows the buffers, and no task uses them yet.
            unsafe { self.memory().copy_buffers_in(self.buffers, &self.chip) }?;
            self.copies_out = true;
        }
        Ok(())
    }

    /// Copies back what tasks may have written. All of them are done.
    pub(crate) fn copy_out(&mut self) {
        if self.copies_out
            // SAFETY: the run borrows the buffers mutably; every task is done, and the orchestration has ended.
            && let Err(error) = unsafe { self.memory().copy_buffers_out(self.buffers, &self.chip) }
        {
            self.fatal.get_or_insert(error);
        }
    }

    /// The chip's memory, by the spaces of the run.
    #[inline]
    fn memory(&self) -> RunMemory<'_, impl Memory + use<'_, C, P>> {
        RunMemory { memory: self.chip.memory(), spaces: self.table.spaces() }
    }
}
