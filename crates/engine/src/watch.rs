//! What the submitter tells a probe. Nothing here is called with the probe `()`.

use ringlane_task::{SiteId, TaskId};

use crate::api::backend::Inference;
use crate::fault::{Fault, Result};
use crate::limits::RINGS;
use crate::observed::{After, Fill, Held, Submission, Submitted, WiredEdge};
use crate::orchestrator::{Orchestrator, Predecessor, ring_index};
use crate::seams::{Chip, Probe};
use crate::slot::{SlotIndex, TaskRecord};
use crate::submit::{Committed, Measure};

/// What only a probe needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchedCounts {
    /// The first mark since a scope last began or ended.
    inside_since: u32,
    /// For each ring, edges from tasks of scopes that were open.
    edges: [u64; RINGS],
    fan_in: u64,
}

impl Default for WatchedCounts {
    fn default() -> Self {
        WatchedCounts { inside_since: 1, edges: [0; RINGS], fan_in: 0 }
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// How full a ring and the tensor map are.
    pub(crate) fn fill_of(&self, ring: usize) -> Fill {
        let state = &self.state.rings[ring];
        let used = [state.used(), state.heap.used(), state.edges_used(), state.args.used()];
        Fill { ring, used, tensormap: self.state.map.used() }
    }

    /// Tells how full everything is.
    pub(crate) fn observe_fill(&self) {
        (0..self.state.rings.len()).for_each(|ring| self.probe.fill(&self.fill_of(ring)));
    }

    #[inline]
    pub(crate) fn observe_edge(&self, predecessor: SlotIndex, successor: SlotIndex) {
        let metas = &self.state.metas;
        self.probe.edge(&WiredEdge { table: self.table, metas, predecessor, successor });
    }

    /// Tells of a task whose edges are wired.
    #[inline]
    pub(crate) fn observe_submit(
        &mut self,
        slot: SlotIndex,
        record: &TaskRecord,
        what: &Committed<'_>,
        measure: &Measure,
    ) {
        let table = self.table;
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

    /// Counts the edges of the task being submitted, for the need of its scope.
    #[inline]
    pub(crate) fn count_edges(&mut self, ring: usize) {
        let predecessors = &self.state.predecessors;
        self.watched.fan_in = self.watched.fan_in.max(predecessors.len() as u64);
        let (metas, since) = (&self.state.metas, self.watched.inside_since);
        // Marks count submits: whoever has a later one than the last change of scopes is of the scope that is open now.
        let recent = |p: &&Predecessor| metas[p.slot.0 as usize].stamp.wrapping_sub(since) as i32 >= 0;
        let inside = predecessors.iter().filter(recent).count();
        let older = predecessors.len() - inside;
        self.watched.edges[ring] += inside as u64;
        if older > 0 {
            self.watched.edges[ring] += self.older_edges_inside();
        }
    }

    /// As `count_edges`, of predecessors from before the last change of scopes: those that cannot be reclaimed now, because
    /// they or an older task of their ring are of a scope that is open.
    #[cold]
    fn older_edges_inside(&self) -> u64 {
        let (since, open) = (self.watched.inside_since, self.open_from());
        let inside = |predecessor: &&Predecessor| {
            let slot = predecessor.slot;
            let older = (self.state.metas[slot.0 as usize].stamp.wrapping_sub(since) as i32) < 0;
            older && self.position_of(slot) >= open[self.table.ring_of(slot)]
        };
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
        let Some(scope) = self.state.scopes.last().copied() else { return };
        self.probe.scope_enter(scope.id, SiteId(scope.site_id), &self.held(scope.ring));
        (self.watched.fan_in, self.watched.inside_since) = (0, self.mark);
    }

    /// A scope ended: it is off the stack already.
    pub(crate) fn observe_exit(&mut self, depth: usize) {
        self.observe_fill();
        self.probe.scope_exit(&self.held(depth.min(RINGS - 1)));
        (self.watched.fan_in, self.watched.inside_since) = (0, self.mark);
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
