//! The record of a task, and its publication: from here on other threads may see it.

use super::admit::Measure;
use super::wire::Wired;
use crate::api::backend::{Call, Site};
use crate::fault::{Fault, Result};
use crate::orchestrator::{Meta, Orchestrator};
use crate::seams::{Chip, Probe, Work};
use crate::slot::{LaneShape, SlotIndex, TaskRecord, lap_tag};
use crate::sync::{Ordering, prefetch};
use crate::tensor_map::Owned;
use ringlane_task::TensorView;

/// How far ahead the line of a slot to come is asked for: another core wrote it last.
const SLOTS_AHEAD: u64 = 2;

/// A task about to be published, by what it is for.
pub(crate) enum Committed<'a> {
    /// To run kernels.
    Kernels(&'a Call<'a>),
    /// To follow every task from this one on.
    Barrier { since: u64 },
    /// To hold a tensor.
    Alloc { base: u64, view: &'a TensorView },
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// The record that cores will see.
    #[inline]
    pub(super) fn record(
        &mut self,
        call: &Call<'_>,
        ring: usize,
        args_at: u32,
        measure: &Measure,
    ) -> Result<TaskRecord> {
        let (kernels, shape) = self.kernel_ids(call)?;
        Ok(TaskRecord {
            args_at,
            args_words: (measure.words - measure.annotation_words) as u16,
            blocks: call.launch.blocks,
            kernels,
            shape,
            flags: measure.flags,
            ..self.no_op_record(ring, call.site)
        })
    }

    /// The numbers of the launch's kernels, and the lanes they take.
    #[inline]
    fn kernel_ids(&mut self, call: &Call<'_>) -> Result<([u16; 3], LaneShape)> {
        let (interner, names) = (&mut self.state.kernels, &self.table.kernels);
        let mut number = |kernel| interner.id(names, kernel).map(|id| id as u16).ok_or_else(too_many_kernels);
        if let Some(kernel) = call.launch.single() {
            return Ok(([number(kernel)?, 0, 0], LaneShape::SINGLE));
        }
        let mut kernels = [0u16; 3];
        for (id, kernel) in kernels.iter_mut().zip(call.launch.kernels()) {
            *id = number(kernel)?;
        }
        let lanes = call.launch.lanes.iter().enumerate().filter(|(_, k)| k.is_some());
        Ok((kernels, LaneShape::new(lanes.map(|(lane, _)| lane as u8))))
    }

    /// The record of a task that runs no kernel and touches nothing.
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
    #[inline]
    pub(crate) fn commit(
        &mut self,
        slot: SlotIndex,
        record: TaskRecord,
        owned: Owned,
        measure: &Measure,
        what: &Committed<'_>,
    ) {
        let entries = measure.entries;
        let ring = record.ring as usize;
        self.state.metas[slot.0 as usize] =
            Meta { local: record.local, wired_by: 0, stamp: self.mark, entries: entries as u32, owned };
        self.state.map.hold(entries);
        self.prepare_slot(slot, record);
        let position = self.state.rings[ring].head;
        self.state.rings[ring].head += 1;
        self.scope().first.get_or_insert(position);
        prefetch(&self.table.slots[self.table.slot_of(ring, position + SLOTS_AHEAD).0 as usize]);
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
        self.release(slot, links, floor);
    }
}

#[cold]
fn too_many_kernels() -> crate::Error {
    Fault::BadLaunch { detail: format!("more than {} kernels in one run", crate::limits::KERNELS_MAX) }.into()
}
