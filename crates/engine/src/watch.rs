//! What the submitter tells a probe. Nothing here is called with the probe `()`.

use ringlane_task::{SiteId, TaskId};

use crate::api::backend::Inference;
use crate::fault::{Fault, Result};
use crate::limits::RINGS;
use crate::observed::{After, Fill, Held, Submission, Submitted, WiredEdge};
use crate::orchestrator::{Orchestrator, Predecessor, ring_index};
use crate::seams::{Chip, Probe};
use crate::slot::SlotIndex;
use crate::submit::{Committed, Measure};

/// What only a probe needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchedCounts {
    /// The slot of the first task since a scope last began or ended.
    recent: u32,
    /// For each ring, edges from tasks of scopes that were open.
    edges: [u64; RINGS],
    fan_in: u64,
}

impl Default for WatchedCounts {
    fn default() -> Self {
        WatchedCounts { recent: 0, edges: [0; RINGS], fan_in: 0 }
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// How full a ring and the tensor map are.
    pub(crate) fn fill_of(&self, ring: usize) -> Fill {
        let state = &self.state.rings[ring];
        let used = [state.used(), state.heap.used(), state.edges_used(), state.args.used()];
        Fill { ring, used, tensormap: self.state.map.used() }
    }

    /// Tells how full everything is: of rings that were never used there is nothing to tell.
    #[inline]
    pub(crate) fn observe_fill(&self) {
        for (ring, state) in self.state.rings.iter().enumerate() {
            if state.head > 0 {
                self.probe.fill(&self.fill_of(ring));
            }
        }
    }

    #[inline]
    pub(crate) fn observe_edge(&self, predecessor: SlotIndex, successor: SlotIndex) {
        let metas = &self.state.metas;
        self.probe.edge(&WiredEdge { table: self.table, metas, predecessor, successor });
    }

    /// Tells of a task whose edges are wired.
    #[inline]
    pub(crate) fn observe_submit(&mut self, slot: SlotIndex, what: &Committed<'_>, measure: &Measure) {
        let table = self.table;
        // SAFETY: we are the submitter, and the task is not published yet. It is read back from the slot so that commit can
        // keep its own in registers.
        let record = &unsafe { table.slots[slot.0 as usize].record() };
        let kind = match *what {
            Committed::Kernels(call) => Submitted::Kernels { after: After { table, handles: call.after } },
            Committed::Barrier { since } => Submitted::Barrier { since },
            Committed::Alloc { base, view } => Submitted::Alloc { space: record.ring as u32, base, view },
        };
        let barrier = if self.current.barrier { self.scope().barrier } else { None };
        self.probe.submit(&Submission {
            slot,
            record,
            kind,
            scope: self.current.scope,
            inference: if self.current.infers { Inference::Inherit } else { Inference::Off },
            marked: &self.state.marked,
            usage: &measure.usage(0),
            table: self.table,
            metas: &self.state.metas,
            barrier,
        });
        if let Submitted::Kernels { .. } = kind {
            self.state.marked.clear();
        }
    }

    /// Counts the edges of the task that was put into `slot`, for the need of its scope.
    #[inline]
    pub(crate) fn count_edges(&mut self, ring: usize, slot: SlotIndex) {
        let predecessors = &self.state.predecessors;
        let wanted = predecessors.len() as u64;
        self.watched.fan_in = self.watched.fan_in.max(wanted);
        // What was submitted since a scope last began or ended is of the scope that is open now, and lies in the slots
        // before this one, unless the ring began anew in between.
        let first = self.watched.recent;
        let recent = slot.0.saturating_sub(first);
        let all = predecessors.iter().all(|p| p.slot.0.wrapping_sub(first) < recent);
        self.watched.edges[ring] += if all { wanted } else { self.edges_inside() };
    }

    /// How many predecessors cannot be reclaimed now, because they or an older task of their ring are of a scope that is
    /// open.
    #[cold]
    fn edges_inside(&self) -> u64 {
        let open = self.open_from();
        let inside = |p: &&Predecessor| self.position_of(p.slot) >= open[self.table.ring_of(p.slot)];
        self.state.predecessors.iter().filter(inside).count() as u64
    }

    /// What was handed out on a ring so far.
    fn held(&self, ring: usize) -> Held {
        let state = &self.state.rings[ring];
        let marks = state.marks();
        Held {
            tasks: self.seq,
            slots: marks.slots,
            heap: marks.heap,
            edges: self.watched.edges[ring],
            args: marks.args,
            heap_piece: state.heap.largest(),
            args_piece: state.args.largest(),
            fan_in: self.watched.fan_in,
        }
    }

    /// A scope began: it is on the stack already.
    pub(crate) fn observe_enter(&mut self) {
        let Some(scope) = self.state.scopes.last() else { return };
        let ring = scope.ring;
        self.probe.scope_enter(scope.id, SiteId(scope.site_id), &self.held(ring));
        self.begin_recent(ring);
    }

    /// A scope ended: it is off the stack already.
    pub(crate) fn observe_exit(&mut self, depth: usize) {
        self.observe_fill();
        self.probe.scope_exit(&self.held(depth.min(RINGS - 1)));
        // The tasks to come are of the scope around it.
        self.begin_recent(depth.saturating_sub(1).min(RINGS - 1));
    }

    /// The innermost scope is another one, on this ring.
    #[inline]
    fn begin_recent(&mut self, ring: usize) {
        self.watched.recent = self.table.slot_of(ring, self.state.rings[ring].head).0;
        self.watched.fan_in = 0;
    }

    /// The runtime stops the run.
    pub(crate) fn observe_fatal(&self) {
        self.observe_fill();
        let held: [Held; RINGS] = core::array::from_fn(|ring| self.held(ring));
        self.probe.fatal(&held);
    }

    /// What the run holds to its end is reclaimed by its end.
    pub(crate) fn observe_rest(&self) {
        self.probe.reclaim_begin();
        for (ring, state) in self.state.rings.iter().enumerate() {
            for position in state.tail..state.head {
                let slot = self.table.slot_of(ring, position);
                self.probe.reclaim(TaskId::new(ring_index(ring), position as u32), slot);
            }
        }
        self.probe.reclaim_end();
    }

    /// Refuses marks on arguments that the submit does not have.
    #[cold]
    pub(crate) fn check_marks(&mut self, args: usize) -> Result<()> {
        match self.state.marked.iter().find(|&&mark| mark as usize >= args) {
            Some(&mark) => Err(Fault::BadMark { mark, args }.into()),
            None if self.probe.sees_submits() => Ok(()),
            None => {
                self.state.marked.clear();
                Ok(())
            }
        }
    }
}
