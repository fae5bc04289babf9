//! Tensors that the orchestration makes itself: zeroed, or with values of its own.

use ringlane_task::{Resource, TensorView};

use super::admit::Measure;
use super::publish::Committed;
use crate::api::backend::{Contents, Site};
use crate::api::tensor::TensorRef;
use crate::fault::Result;
use crate::orchestrator::Orchestrator;
use crate::seams::{Chip, Probe, Step, Work};
use crate::tensor_map::Owned;

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// A zeroed tensor, made by a task that runs no kernel and is done at once.
    pub(crate) fn submit_alloc(
        &mut self,
        view: TensorView,
        contents: Contents<'_>,
        site: Site,
    ) -> Result<TensorRef> {
        let mut measure = Measure::default();
        measure.output(&view);
        (measure.words, measure.entries) = (0, 1);
        if self.table.stopped() {
            return self.alloc_stopped(&measure);
        }
        if let Contents::Host(bytes) = contents {
            // Before the submit begins: its time is that of data on their way, not the submitter's.
            self.work(Work::CopyIn(bytes.len() as u64));
        }
        self.probe.step(Step::Begin);
        let ring = self.scope().ring;
        self.check_fits(ring, &measure, site)?;
        while self.state.rings[ring].used() == self.state.rings[ring].window {
            self.wait_for(ring, Resource::TaskWindow, 1, site)?;
        }
        while self.state.map.used() + measure.entries > self.state.map.capacity() {
            self.wait_for(ring, Resource::TensorMap, measure.entries, site)?;
        }
        self.work(Work::Admit);
        self.probe.step(Step::Admitted);
        self.work(Work::Insert(1));
        let offset = self.take_heap(ring, &view, site)?;
        match contents {
            Contents::Zeros => self.zero_heap(ring, offset, view.bytes()),
            Contents::Host(bytes) => self.fill_heap(ring, offset, bytes),
        }?;
        if self.table.poison.any() {
            self.table.poison.heal(ring as u32, &view.shifted(offset));
        }
        let slot = self.table.slot_of(ring, self.state.rings[ring].head);
        let mut owned = Owned::NOTHING;
        let tensor = self.state.map.make_root(&mut owned, ring as u32, offset, None);
        self.state.predecessors.clear();
        self.probe.step(Step::Placed);
        let record = self.no_op_record(ring, site);
        let what = Committed::Alloc { base: offset, view: &view, contents };
        self.commit(slot, record, owned, &measure, &what);
        Ok(tensor)
    }
}
