//! The record of a task, and its publication: from here on other threads may see it.

use super::admit::Measure;
use super::wire::Wired;
use crate::api::backend::{Call, Contents, Site};
use crate::api::kernel::Kernel;
use crate::api::launch::MAX_LANES;
use crate::fault::{Fault, Result};
use crate::orchestrator::{Meta, Orchestrator};
use crate::seams::{Chip, Probe, Work};
use crate::slot::{LaneShape, SlotIndex, TaskRecord, lap_tag};
use crate::sync::{Ordering, prefetch};
use crate::tensor_map::Owned;
use ringlane_task::TensorView;

/// How far ahead the line of a slot to come is asked for: another core wrote it last.
const SLOTS_AHEAD: usize = 2;

/// A task about to be published, by what it is for.
pub(crate) enum Committed<'a> {
    /// To run kernels.
    Kernels(&'a Call<'a>),
    /// To follow every task from this one on.
    Barrier { since: u64 },
    /// To hold a tensor.
    Alloc { base: u64, view: &'a TensorView, contents: Contents<'a> },
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// The record that cores will see.
    #[inline(always)]
    pub(super) fn record(
        &mut self,
        call: &Call<'_>,
        (kernels, shape): ([u16; MAX_LANES], LaneShape),
        ring: usize,
        args_at: u32,
        measure: &Measure,
    ) -> TaskRecord {
        TaskRecord {
            args_at,
            args_words: (measure.words - measure.annotation_words) as u16,
            blocks: call.launch.blocks,
            kernels,
            shape,
            flags: measure.flags,
            ..self.no_op_record(ring, call.site)
        }
    }

    /// The numbers of the launch's kernels, and the lanes they take.
    #[inline]
    pub(super) fn kernel_ids(&mut self, call: &Call<'_>) -> Result<([u16; MAX_LANES], LaneShape)> {
        if let Some(kernel) = call.launch.single() {
            return self.single_kernel(kernel);
        }
        let mut kernels = [0u16; MAX_LANES];
        for (id, kernel) in kernels.iter_mut().zip(call.launch.kernels()) {
            *id = self.kernel_id(kernel)?;
        }
        let lanes = call.launch.lanes.iter().enumerate().filter(|(_, k)| k.is_some());
        Ok((kernels, LaneShape::new(lanes.map(|(lane, _)| lane as u8))))
    }

    /// As `kernel_ids`, of a launch with one kernel.
    #[inline(always)]
    pub(super) fn single_kernel(&mut self, kernel: &'static Kernel) -> Result<([u16; MAX_LANES], LaneShape)> {
        Ok(([self.kernel_id(kernel)?, 0, 0], LaneShape::SINGLE))
    }

    #[inline(always)]
    fn kernel_id(&mut self, kernel: &'static Kernel) -> Result<u16> {
        let id = self.state.kernels.id(&self.table.kernels, kernel);
        id.map(|id| id as u16).ok_or_else(too_many_kernels)
    }

    /// The record of a task that runs no kernel and touches nothing.
    #[inline(always)]
    pub(crate) fn no_op_record(&mut self, ring: usize, site: Site) -> TaskRecord {
        let position = self.state.rings[ring].head;
        let site = self.site_id(site);
        TaskRecord {
            seq: self.seq,
            local: position as u32,
            site,
            scope_site: self.current.site_id,
            ring: ring as u8,
            tag: lap_tag(position, self.table.slot_shift[ring]),
            ..TaskRecord::default()
        }
    }

    /// Publishes the task: from here on other threads see it.
    #[inline(always)]
    pub(crate) fn commit(
        &mut self,
        slot: SlotIndex,
        record: TaskRecord,
        owned: Owned,
        measure: &Measure,
        what: &Committed<'_>,
    ) {
        let (entries, ring, stamp) = (measure.entries, self.current.ring, self.mark);
        debug_assert_eq!(ring, record.ring as usize);
        let state = &mut *self.state;
        state.metas[slot.0 as usize] =
            Meta { local: record.local, wired_by: 0, stamp, entries: entries as u32, owned };
        state.map.hold(entries);
        let rings = &mut state.rings[ring];
        let (task, position) = (self.table.slot(slot), rings.head);
        debug_assert!(slot == self.table.slot_of(ring, position) && rings.used() < rings.window);
        rings.head += 1;
        self.table.prepare(task, record);
        if !self.current.has_tasks {
            self.current.has_tasks = true;
            self.scope().first = Some(position);
        }
        // Past the end of the ring it is of no use, and does no harm.
        prefetch(core::ptr::from_ref(task).wrapping_add(SLOTS_AHEAD));
        // Wired first, so that what it takes is known; the task's guard holds it until the time has passed.
        let Wired { links, floor } = self.wire(slot, ring);
        self.work(Work::Wire(links));
        self.seq += 1;
        self.next_mark();
        self.table.board.fill.submitted.store(self.seq, Ordering::Relaxed);
        if self.probe.sees_scopes() {
            match what {
                // Where entries are scarce a barrier waits instead: it needs none.
                Committed::Barrier { .. } => self.spare(self.state.predecessors.len()),
                _ => self.watch_edges(slot),
            }
        }
        if self.probe.sees_submits() {
            self.observe_submit(slot, what, measure);
        }
        self.release(slot, task, links, floor);
    }
}

#[cold]
fn too_many_kernels() -> crate::Error {
    Fault::BadLaunch { detail: format!("more than {} kernels in one run", crate::limits::KERNELS_MAX) }.into()
}
