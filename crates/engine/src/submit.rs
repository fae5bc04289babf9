//! The way of one task from the user's call to the ready queue.

use ringlane_task::{Access, Resource, TensorView};

use crate::api::arg::{ArgKind, NO_SPLIT};
use crate::api::args::{scalar_words, tensor_words};
use crate::api::backend::{Call, Site};
use crate::api::buffers::Permission;
use crate::api::kernel::ParamKind;
use crate::api::tensor::{TaskHandle, TensorRef};
use crate::check::{check_call, writes};
use crate::fanin::Wired;
use crate::fault::{Fault, Result};
use crate::limits::{ALIGNMENT, SUBMITS_PER_LOOK};
use crate::orchestrator::{Meta, Orchestrator, ring_index};
use crate::overlap::Region;
use crate::place::Place;
use crate::scope::Usage;
use crate::seams::{Chip, Probe, Step, Work};
use crate::slot::{LaneShape, SlotIndex, TaskFlags, TaskRecord, lap_tag};
use crate::sync::{Ordering, prefetch};
use crate::table::Table;
use crate::tensor_map::{Owned, Regions};

/// The regions of accesses, read from the argument records of their tasks.
pub(crate) struct RecordRegions<'a>(pub(crate) &'a Table);

/// Where an access's record is: its ring in the two highest bits, the word below.
pub(crate) const RING_BITS: u32 = 30;

impl Regions for RecordRegions<'_> {
    #[inline]
    fn region(&self, task: SlotIndex, at: u32) -> Region<'_> {
        self.region_of(task, at)
    }
}

impl<'a> RecordRegions<'a> {
    /// As `region`, for as long as the table lives.
    #[inline]
    pub(crate) fn region_of(&self, _task: SlotIndex, at: u32) -> Region<'a> {
        let (ring, word) = ((at >> RING_BITS) as usize, at & ((1 << RING_BITS) - 1));
        let base = self.0.args[ring].base().cast::<u64>();
        // SAFETY: an access stays in the map only while its task is not reclaimed, so the submitter (which is who
        // walks the map) finds there the record it wrote; three words and the rank's worth of dimensions.
        unsafe {
            let record = base.add(word as usize);
            let rank = *record as u8 as usize;
            let dtype = ringlane_task::DType::from_code((*record >> 8) as u8).expect("written from a DType");
            Region {
                offset: *record.add(2),
                element: dtype.size_bytes() as u32,
                dims: core::slice::from_raw_parts(record.add(tensor_words(0)).cast(), rank),
            }
        }
    }
}

/// How far ahead the line of a slot to come is asked for: another core wrote it last.
const SLOTS_AHEAD: u64 = 2;

/// Arguments that the quick check looks at; a task with more goes through the full one.
const PLAIN_ARGS_MAX: usize = 64;

/// Rounds up to the alignment of tensors.
fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT)
}

/// A task about to be published, by what it is for.
pub(crate) enum Committed<'a> {
    /// To run kernels.
    Kernels(&'a Call<'a>),
    /// To follow every task from this one on.
    Barrier { since: u64 },
    /// To hold a tensor.
    Alloc { base: u64, view: &'a TensorView },
}

/// What a submit will take, before it takes anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measure {
    /// Words of argument memory.
    pub(crate) words: usize,
    /// Those of them that the annotations behind the arguments take.
    pub(crate) annotation_words: usize,
    pub(crate) heap: u64,
    pub(crate) heap_piece: u64,
    pub(crate) entries: u64,
    pub(crate) flags: TaskFlags,
}

impl Measure {
    pub(crate) fn output(&mut self, view: &TensorView) {
        let bytes = aligned(view.bytes());
        self.words += tensor_words(view.rank());
        self.heap += bytes;
        self.heap_piece = self.heap_piece.max(bytes);
        self.entries += 2;
        self.flags |= TaskFlags::OUTPUTS;
    }

    /// Adds what the annotations of a launch take, if it has any.
    #[inline]
    pub(crate) fn annotations(&mut self, call: &Call<'_>) {
        if !call.launch.annotations.is_empty() {
            self.annotation_words = call.launch.annotations.words();
            self.words += self.annotation_words;
            self.flags |= TaskFlags::ANNOTATED;
        }
    }

    pub(crate) fn usage(&self, edges: u64) -> Usage {
        let args = self.words as u64 * 8;
        let (heap, heap_piece, entries) = (self.heap, self.heap_piece, self.entries);
        Usage { slots: 1, heap, edges, args, entries, heap_piece, args_piece: args }
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    #[inline]
    pub(crate) fn submit_task(&mut self, call: &Call<'_>, outs: &mut [TensorRef]) -> Result<TaskHandle> {
        self.probe.step(Step::Begin);
        if !self.state.marked.is_empty() {
            self.check_marks(call.args.len())?;
        }
        let mut measure = match self.survey(call) {
            Some(measure) => measure,
            None => self.survey_fully(call)?,
        };
        measure.annotations(call);
        let ring = self.current.ring;
        let args_at = match self.admit_now(ring, &measure) {
            Some(at) => at,
            None => self.admit(ring, measure, call.site)?,
        };
        self.work(Work::Admit);
        self.probe.step(Step::Admitted);
        let slot = self.table.slot_of(ring, self.state.rings[ring].head);
        let mut owned = Owned::NOTHING;
        if C::TIMED {
            self.work_on_args(call);
        }
        self.collect_explicit(call)?;
        let place = Place { ring, slot, args_at };
        self.place_args(call, &place, &mut owned, outs)?;
        if measure.flags.is_annotated() {
            self.place_annotations(call, &place, measure);
        }
        self.probe.step(Step::Placed);
        self.reserve_edges(ring, call.site)?;
        let record = self.record(call, ring, args_at, &measure).map_err(|error| self.doom(error))?;
        self.commit(slot, record, owned, &measure, &Committed::Kernels(call));
        self.since_look += 1;
        if self.since_look >= SUBMITS_PER_LOOK {
            self.look_around(ring);
        }
        Ok(self.current.handles.numbered(record.local))
    }

    /// Lets the time of some work pass, where that takes any.
    #[inline]
    pub(crate) fn work(&mut self, work: Work) {
        if C::TIMED {
            self.chip.work(work);
        }
    }

    /// Lets the time pass that looking up and filing the arguments takes.
    fn work_on_args(&mut self, call: &Call<'_>) {
        let (mut lookups, mut inserts) = (0, 0);
        for arg in call.args {
            match arg {
                ArgKind::Tensor { access, .. } if *access != Access::NoDep => {
                    (lookups, inserts) = (lookups + 1, inserts + 1);
                }
                ArgKind::Output { .. } => inserts += 1,
                _ => {}
            }
        }
        self.work(Work::LookUp(lookups));
        self.probe.step(Step::LookedUp);
        self.work(Work::Insert(inserts));
    }

    /// Tells the chip how much waits, now and then.
    fn look_around(&mut self, ring: usize) {
        self.since_look = 0;
        let head = self.state.rings[ring].head;
        self.advance_done(ring, head);
        self.chip.submitted(head - self.state.rings[ring].done);
    }

    /// Checks a submit and measures what it will take. Plain arguments (contiguous tensors and scalars of the right
    /// types, no tensor twice, one kernel, one block) are seen to be right in one pass; all others, and all that is
    /// wrong, are left to the full check.
    #[inline(always)]
    fn survey(&self, call: &Call<'_>) -> Option<Measure> {
        let params = match call.launch.single() {
            Some(kernel) if call.launch.blocks == 1 => kernel.params(),
            _ => return None,
        };
        let (mut measure, mut seen, mut again) = (Measure::default(), 0u64, 0);
        if params.len() != call.args.len() || params.len() > PLAIN_ARGS_MAX {
            return None;
        }
        let mut plain = true;
        for (i, arg) in call.args.iter().enumerate() {
            let param = &params[i];
            plain &= match arg {
                ArgKind::Tensor { tensor, view, access, split } => {
                    let root = self.state.map.root(*tensor).ok()?;
                    again |= seen >> (tensor.id & 63) & 1;
                    seen |= 1 << (tensor.id & 63);
                    measure.words += tensor_words(view.rank());
                    measure.entries += (*access != Access::NoDep) as u64;
                    // What is not followed may be written: that is for the full check.
                    let locked = (*access != Access::Input) & (root.permission == Permission::Read);
                    param.takes(view, *access) & (*split == NO_SPLIT) & !locked
                }
                ArgKind::Output { view, split } => {
                    measure.output(view);
                    param.takes(view, Access::Output) & (*split == NO_SPLIT)
                }
                ArgKind::Scalar(scalar) => {
                    measure.words += scalar_words();
                    (param.kind == ParamKind::Scalar) & (param.dtype == scalar.dtype())
                }
                ArgKind::Bad(_) => false,
            };
        }
        (plain && (again == 0 || all_differ(call.args))).then_some(measure)
    }

    #[cold]
    fn survey_fully(&self, call: &Call<'_>) -> Result<Measure> {
        check_call(call)?;
        self.measure(call)
    }

    /// What the arguments take; refuses stale handles and writes to what is only lent for reading.
    pub(crate) fn measure(&self, call: &Call<'_>) -> Result<Measure> {
        let mut measure = Measure::default();
        for (arg, kind) in call.args.iter().enumerate() {
            match kind {
                ArgKind::Tensor { tensor, view, access, .. } => {
                    let root = self.state.map.root(*tensor)?;
                    if root.permission == Permission::Read && writes(call, arg, *access) {
                        let kernel = call.launch.first_name().to_string();
                        return Err(Fault::ReadOnly { kernel, arg }.into());
                    }
                    measure.words += tensor_words(view.rank());
                    measure.entries += (*access != Access::NoDep) as u64;
                }
                ArgKind::Output { view, .. } => measure.output(view),
                ArgKind::Bad(bad) => return Err(bad.refused(call.launch.first_name(), arg)),
                ArgKind::Scalar(_) => measure.words += scalar_words(),
            }
        }
        Ok(measure)
    }

    /// Refuses a task that could never fit its ring.
    #[inline]
    pub(crate) fn check_fits(&self, ring: usize, measure: &Measure, site: Site) -> Result<()> {
        let rings = &self.state.rings[ring];
        let too_large = if measure.heap > rings.heap.capacity() {
            Some((Resource::Heap, measure.heap))
        } else if measure.words as u64 * 8 > rings.args.capacity() {
            Some((Resource::Args, measure.words as u64 * 8))
        } else if measure.entries > self.state.map.capacity() {
            Some((Resource::TensorMap, measure.entries))
        } else {
            None
        };
        match too_large {
            None => Ok(()),
            Some((resource, needs)) => Err(self.too_large(resource, ring, needs, site)),
        }
    }

    /// Takes argument memory if that, a slot and map entries are there at once and no heap is needed.
    #[inline]
    fn admit_now(&mut self, ring: usize, measure: &Measure) -> Option<u32> {
        let (rings, map) = (&mut self.state.rings[ring], &self.state.map);
        let there = rings.used() < rings.window && map.used() + measure.entries <= map.capacity();
        if !there || measure.flags.has_outputs() {
            return None;
        }
        rings.args.allocate_soft(measure.words as u64 * 8).map(|at| (at / 8) as u32)
    }

    /// Waits until a slot, map entries and argument memory are there; gives the first argument word.
    // It takes a copy, so that the caller need not keep the original in memory.
    fn admit(&mut self, ring: usize, measure: Measure, site: Site) -> Result<u32> {
        self.state.predecessors.clear();
        self.check_fits(ring, &measure, site)?;
        while self.state.rings[ring].used() == self.state.rings[ring].window {
            self.wait_for(ring, Resource::TaskWindow, 1, site)?;
        }
        while self.state.map.used() + measure.entries > self.state.map.capacity() {
            self.wait_for(ring, Resource::TensorMap, measure.entries, site)?;
        }
        let bytes = measure.words as u64 * 8;
        loop {
            if let Some(at) = self.allocate(ring, Resource::Args, bytes) {
                return Ok((at / 8) as u32);
            }
            self.wait_for(ring, Resource::Args, bytes, site)?;
        }
    }

    /// Takes bytes of a ring: below its soft size if reclaiming helps, else by letting it grow.
    #[inline]
    fn allocate(&mut self, ring: usize, resource: Resource, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        if let Some(at) = self.state.rings[ring].bytes_of(resource).allocate_soft(bytes) {
            return Some(at);
        }
        self.reclaim(ring);
        let piece = self.state.rings[ring].bytes_of(resource);
        let before = piece.soft();
        let at = piece.allocate(bytes);
        if P::WATCHES && piece.soft() != before {
            self.probe.ring_grew(ring_index(ring), resource, piece.soft(), piece.capacity());
        }
        at
    }

    /// Takes heap memory for a fresh tensor, waiting for it if need be.
    pub(crate) fn take_heap(&mut self, ring: usize, view: &TensorView, site: Site) -> Result<u64> {
        let bytes = aligned(view.bytes());
        loop {
            if let Some(offset) = self.allocate(ring, Resource::Heap, bytes) {
                let used: u64 = self.state.rings.iter().map(|r| r.heap.used()).sum();
                self.peak_heap = self.peak_heap.max(used);
                return Ok(offset);
            }
            self.wait_for(ring, Resource::Heap, bytes, site)?;
        }
    }

    /// The record that cores will see.
    #[inline]
    fn record(
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
            ..self.bare_record(ring, call.site)
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
    pub(crate) fn bare_record(&mut self, ring: usize, site: Site) -> TaskRecord {
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
        // SAFETY: the slot's last task was reclaimed, so its done tag was seen.
        unsafe { self.table.slots[slot.0 as usize].prepare(record) };
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

/// Whether no two arguments are the same tensor.
#[cold]
fn all_differ(args: &[ArgKind]) -> bool {
    let id = |arg: &ArgKind| if let ArgKind::Tensor { tensor, .. } = arg { Some(tensor.id) } else { None };
    let is_new = |(i, arg)| id(arg).is_none_or(|wanted| !args[..i].iter().any(|arg| id(arg) == Some(wanted)));
    args.iter().enumerate().all(is_new)
}

#[cold]
fn too_many_kernels() -> crate::Error {
    Fault::BadLaunch { detail: format!("more than {} kernels in one run", crate::limits::KERNELS_MAX) }.into()
}
