//! What the submitter tells a probe. Nothing here is called with the probe `()`.

use ringlane_task::TaskId;

use crate::api::backend::Inference;
use crate::fault::{Fault, Result};
use crate::observed::{Fill, ObservedTask, Submission, Submitted};
use crate::orchestrator::Orchestrator;
use crate::scope::Usage;
use crate::seams::{Chip, Probe};
use crate::slot::{SlotIndex, TaskRecord};

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

    /// A task of this submitter that is not reclaimed.
    fn task_in(&self, slot: SlotIndex) -> TaskId {
        self.table.id_of(slot, self.state.metas[slot.0 as usize].local)
    }

    #[inline]
    pub(crate) fn observe_edge(&self, predecessor: SlotIndex, successor: SlotIndex) {
        self.probe.edge(self.task_in(predecessor), self.task_in(successor));
    }

    /// Tells of a task whose edges are wired.
    #[inline]
    pub(crate) fn observe_submit(
        &mut self,
        slot: SlotIndex,
        record: &TaskRecord,
        kind: Submitted<'_>,
        usage: &Usage,
    ) {
        let barrier = if self.current.barrier { self.scope().barrier } else { None };
        // SAFETY: we are the submitter, and the task is not reclaimed.
        let words = unsafe { self.table.words(record) };
        self.probe.submit(&Submission {
            task: ObservedTask { slot, record, words, table: self.table },
            kind,
            scope: self.current.scope,
            inference: if self.current.infers { Inference::Inherit } else { Inference::Off },
            barrier: barrier.map(|slot| self.task_in(slot)),
            marked: &self.state.marked,
            usage: Usage { edges: self.edges_inside(), ..*usage },
            fan_in: self.state.predecessors.len() as u32,
        });
        if let Submitted::Kernels { .. } = kind {
            self.state.marked.clear();
        }
    }

    /// Predecessors of the task being submitted whose scopes are open.
    #[inline]
    fn edges_inside(&self) -> u64 {
        let inside = |slot: SlotIndex| {
            let from = self.open[self.table.ring_of(slot)];
            let local = self.state.metas[slot.0 as usize].local;
            from != u64::MAX && local.wrapping_sub(from as u32) as i32 >= 0
        };
        self.state.predecessors.iter().filter(|p| inside(p.slot)).count() as u64
    }

    /// What the run holds to its end is reclaimed by its end.
    pub(crate) fn observe_rest(&self) {
        self.probe.reclaim_begin();
        for (ring, state) in self.state.rings.iter().enumerate() {
            for position in state.tail..state.head {
                let slot = self.table.slot_of(ring, position);
                self.probe.reclaim(self.table.id_of(slot, position as u32), slot);
            }
        }
        self.probe.reclaim_end();
    }

    /// Refuses marks on arguments that the submit does not have.
    #[cold]
    pub(crate) fn check_marks(&mut self, args: usize) -> Result<()> {
        match self.state.marked.iter().find(|&&mark| mark as usize >= args) {
            Some(mark) => {
                let detail = format!("argument {mark} is marked for the dump, the submit has {args}");
                Err(Fault::BadLaunch { detail }.into())
            }
            None if P::WATCHES => Ok(()),
            None => {
                self.state.marked.clear();
                Ok(())
            }
        }
    }
}
