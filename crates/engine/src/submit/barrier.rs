//! Barriers: a task that follows everything submitted in a scope.

use ringlane_task::Resource;

use super::admit::Measure;
use super::publish::Committed;
use crate::api::backend::Site;
use crate::api::tensor::TaskHandle;
use crate::fault::Result;
use crate::limits::FANIN_MAX;
use crate::orchestrator::Orchestrator;
use crate::seams::{Chip, Probe, Step, Work};
use crate::tensor_map::Owned;

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// A task that follows everything submitted in the scope since its last barrier.
    pub(crate) fn submit_barrier(&mut self, site: Site) -> Result<TaskHandle> {
        if self.table.stopped() {
            return self.barrier_stopped();
        }
        self.probe.step(Step::Begin);
        let ring = self.scope().ring;
        while self.state.rings[ring].used() == self.state.rings[ring].window {
            self.wait_for(ring, Resource::TaskWindow, 1, site)?;
        }
        self.work(Work::Admit);
        self.probe.step(Step::Admitted);
        self.state.predecessors.clear();
        self.follow_barrier();
        self.follow_scope(ring);
        if C::CAPTURES {
            self.reserve_captured_edges(ring, site)?;
        } else {
            self.reserve_barrier_edges(ring);
        }
        // Tasks that were found done are not among its predecessors.
        self.note_seen();
        let slot = self.table.slot_of(ring, self.state.rings[ring].head);
        self.probe.step(Step::Placed);
        let record = self.no_op_record(ring, site);
        let what = Committed::Barrier { since: self.scope().since_seq };
        self.commit(slot, record, Owned::NOTHING, &Measure::default(), &what);
        let (heads, seq) = (core::array::from_fn(|r| self.state.rings[r].head), self.seq);
        let scope = self.scope();
        (scope.barrier, scope.since, scope.since_seq) = (Some(slot), heads, seq);
        self.set_current();
        Ok(self.current.handles.numbered(record.local))
    }

    /// Adds every unfinished task of the scope since its last barrier; waits for those beyond the fan-in limit.
    fn follow_scope(&mut self, own: usize) {
        let since = self.scope().since;
        for (ring, since) in since.into_iter().enumerate().skip(own) {
            let from = since.max(self.state.rings[ring].tail);
            for position in from..self.state.rings[ring].head {
                let slot = self.table.slot_of(ring, position);
                if self.state.predecessors.len() >= FANIN_MAX && !C::CAPTURES {
                    self.wait_until_closed(slot, own);
                }
                if !self.table.slots[slot.0 as usize].is_closed() {
                    self.follow().0.add(slot);
                }
            }
        }
    }
}
