//! Giving slots and memory back, oldest first, once the scopes that could use them have ended and are done.

use ringlane_task::{TaskId, TensorView, Ticks};

use crate::api::backend::Reading;
use crate::api::tensor::TensorRef;
use crate::fault::{Fault, Result, TaskFailure};
use crate::limits::RINGS;
use crate::memory::Memory;
use crate::orchestrator::{Orchestrator, Predecessor, ring_index};
use crate::overlap::Region;
use crate::planted::{Bug, planted};
use crate::seams::{Chip, Probe, Step, Work};
use crate::slot::EdgeKind;
use crate::submit::RecordRegions;
use crate::table::{Table, task_id};
use crate::tensor_map::{Hazard, Met, NewAccess, Stamp};

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Moves the ring's done mark as far as `target`, if the tasks are done; true if it got there.
    #[inline]
    pub(crate) fn advance_done(&mut self, ring: usize, target: u64) -> bool {
        let table = self.table;
        let done = &mut self.state.rings[ring].done;
        while *done < target && table.is_done(ring, *done) {
            *done += 1;
        }
        *done >= target
    }

    /// For each ring, the position of the oldest task whose scope is open; its head if there is none.
    pub(crate) fn open_from(&self) -> [u64; RINGS] {
        let mut open: [u64; RINGS] = core::array::from_fn(|ring| self.state.rings[ring].head);
        for scope in &self.state.scopes {
            if let Some(first) = scope.first {
                open[scope.ring] = open[scope.ring].min(first);
            }
        }
        open
    }

    /// Reclaims what can be reclaimed of a ring; true if anything was.
    pub(crate) fn reclaim(&mut self, ring: usize) -> bool {
        let mut freed = false;
        let open = self.open_from()[ring];
        while let Some(segment) = self.state.rings[ring].ended.front().copied() {
            let ours = ring..if planted(Bug::SlotReusedEarly) { ring + 1 } else { RINGS };
            let done =
                segment.end <= open && ours.into_iter().all(|r| self.advance_done(r, segment.waits[r]));
            if !done && !planted(Bug::ScopeEndedEarly) {
                break;
            }
            // Accesses of deeper rings' tasks hang on tensors of this ring: they go first. They are done, as was seen.
            for deeper in ring + 1..RINGS {
                self.reclaim(deeper);
            }
            // From here on the ring is less full than it was.
            if self.probe.sees_scopes() && !freed {
                self.probe.fill(&self.fill_of(ring));
            }
            self.free_segment(ring, &segment);
            freed = true;
        }
        freed
    }

    fn free_segment(&mut self, ring: usize, segment: &crate::scope::Segment) {
        self.note_seen();
        self.probe.reclaim_begin(Ticks(self.floor));
        let state = &mut *self.state;
        let tail = state.rings[ring].tail;
        self.probe.reclaim(TaskId::new(ring_index(ring), tail as u32), segment.end - tail);
        for position in tail..segment.end {
            let slot = self.table.slot_of(ring, position);
            let meta = &mut state.metas[slot.0 as usize];
            meta.stamp = 0;
            state.map.release(meta.owned, meta.entries as u64);
        }
        let rings = &mut state.rings[ring];
        rings.tail = segment.end;
        rings.heap.free_to(segment.end_marks.heap);
        rings.args.free_to(segment.end_marks.args);
        rings.edges_tail = segment.end_marks.edges;
        rings.ended.pop_front();
        self.probe.reclaim_end();
    }

    /// Waits for the writers of a view submitted so far, then hands its bytes to `sink`.
    pub(crate) fn read_back(
        &mut self,
        tensor: TensorRef,
        view: &TensorView,
        how: Reading,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        if self.table.stopped() {
            return Err(self.read_stopped());
        }
        self.probe.step(Step::Wait);
        let root = *self.state.map.root(tensor)?;
        let view = view.shifted(root.base);
        let (region, whole) = (Region::of(&view), view.is_whole());
        let new = NewAccess { root: tensor.id, region, whole, hazard: Hazard::Read };
        let state = &mut *self.state;
        state.predecessors.clear();
        let (map, writers) = (&mut state.map, &mut state.predecessors);
        let tile = map.locate(&new);
        map.look_up(&new, tile.as_ref(), &RecordRegions(self.table), |met| {
            let alive = |s: Stamp| s.number != 0 && state.metas[s.slot.0 as usize].stamp == s.number;
            let slot = match met {
                Met::Alive(access) => access.task,
                Met::Stamped(stamp) if alive(stamp) => stamp.slot,
                Met::Stamped(_) => return,
            };
            writers.push(Predecessor { slot, kind: EdgeKind::Data });
        });
        for i in 0..self.state.predecessors.len() {
            let writer = self.state.predecessors[i].slot;
            while !self.table.slots[writer.0 as usize].is_closed() {
                self.chip.relax();
            }
        }
        self.note_seen();
        if self.table.stopped() {
            return Err(self.read_stopped());
        }
        if self.table.poison.any() && self.table.poison.touches(root.space, &view) {
            return Err(task_failure(self.table).unwrap_or_else(|| self.over()));
        }
        if how == Reading::InPlace {
            self.probe.step(Step::Waited);
            return self.look_at(root.space, &view, sink);
        }
        self.work(Work::CopyOut(view.bytes()));
        self.probe.step(Step::Waited);
        // SAFETY: the view was checked against its tensor, which is inside this space; the writers are done and acquired, so
        // only readers of these bytes can run now.
        let read = unsafe { self.memory().read(root.space, &view, sink) };
        read.map_err(|error| self.doom(error))
    }

    /// Shows the bytes of a view whose writers are done where they are.
    fn look_at(&mut self, space: u32, view: &TensorView, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let (offset, bytes) = (view.offset_bytes(), view.bytes());
        if !self.chip.memory().host_sees() {
            return Err(Fault::NotMapped { space, offset, bytes }.into());
        }
        if !view.is_contiguous() {
            return Err(Fault::NotInOnePiece { bytes }.into());
        }
        // SAFETY: the view was checked against its tensor, which is inside this space; only readers of these bytes can run now.
        unsafe { self.memory().read(space, view, sink) }
    }
}

/// The error for the first task that failed, if one did.
pub fn task_failure(table: &Table) -> Option<crate::Error> {
    let first = table.failure.lock().expect("no panic while a failure is noted").clone()?;
    let totals = table.board.totals();
    Some(
        Fault::TaskFailed(TaskFailure {
            task: task_id(&first.record),
            kernel: table.kernel_name(first.kernel).to_string(),
            label: first.label,
            site: table.site(first.record.site),
            scope_site: table.site(first.record.scope_site),
            cause: first.cause,
            failed: totals.failed.max(1),
            skipped: totals.skipped,
        })
        .into(),
    )
}
