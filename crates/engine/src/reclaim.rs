//! Giving slots and memory back, oldest first, once the scopes that could use them have ended and are done.

#![forbid(unsafe_code)]

use ringlane_task::{TaskId, Ticks};

use crate::limits::RINGS;
use crate::orchestrator::{Orchestrator, ring_index};
use crate::planted::{Bug, planted};
use crate::seams::{Chip, Probe};

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Moves the ring's done mark as far as `target`, if the tasks are done; true if it got there.
    #[inline]
    pub(crate) fn advance_done(&mut self, ring: usize, target: u64) -> bool {
        let rings = &mut self.state.rings[ring];
        rings.done = self.table.done_up_to(ring, rings.done, target);
        rings.done >= target
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
        let (first, window) = (self.table.slot_base[ring] as usize, state.rings[ring].window as usize);
        let metas = &mut state.metas[first..first + window];
        for position in tail..segment.end {
            let meta = &mut metas[position as usize & (window - 1)];
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
}
