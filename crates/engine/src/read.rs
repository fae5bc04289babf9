//! Reading a tensor back: waits for its writers, then hands out its bytes.

#![forbid(unsafe_code)]

use ringlane_task::TensorView;

use crate::api::backend::Reading;
use crate::api::tensor::TensorRef;
use crate::completion::task_failure;
use crate::fault::{Fault, Result};
use crate::memory::Memory;
use crate::observe::ProgramStep;
use crate::orchestrator::{Orchestrator, Predecessor};
use crate::overlap::Region;
use crate::seams::{Chip, Probe, Step, Work};
use crate::slot::EdgeKind;
use crate::submit::RecordRegions;
use crate::tensor_map::{Hazard, Met, NewAccess, Stamp};

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Waits for the writers of a view submitted so far, then hands its bytes to `sink`.
    pub(crate) fn read_back(
        &mut self,
        tensor: TensorRef,
        view: &TensorView,
        how: Reading,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        if C::CAPTURES {
            return Err(Fault::ReadInCapture.into());
        }
        if self.table.stopped() {
            return Err(self.read_stopped());
        }
        self.probe.step(Step::Wait);
        let root = *self.state.map.root(tensor)?;
        if self.probe.sees_program() {
            self.observe_step(&ProgramStep::Read { space: root.space(), base: root.base(), view, how });
        }
        let view = view.shifted(root.base());
        let (region, whole) = (Region::of(&view), view.is_whole());
        let new = NewAccess { root: tensor.id, region, whole, hazard: Hazard::Read };
        let state = &mut *self.state;
        state.predecessors.clear();
        let (map, writers) = (&mut state.map, &mut state.predecessors);
        let regions = RecordRegions(self.table);
        let bounds = map.locate(&new, &regions);
        map.look_up(&new, bounds.as_ref(), &regions, |met| {
            let alive = |s: Stamp| state.metas[s.slot.0 as usize].stamp == s.number;
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
        if self.table.poison.any() && self.table.poison.touches(root.space(), &view) {
            return Err(task_failure(&self.table).unwrap_or_else(|| self.over()));
        }
        if how == Reading::InPlace {
            self.probe.step(Step::Waited);
            return self.show(root.space(), &view, sink);
        }
        self.work(Work::CopyOut(view.bytes()));
        self.probe.step(Step::Waited);
        self.read_bytes(root.space(), &view, sink).map_err(|error| self.abort_run(error))
    }

    /// Shows the bytes of a view whose writers are done where they are.
    fn show(&mut self, space: u32, view: &TensorView, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let (offset, bytes) = (view.offset_bytes(), view.bytes());
        if !self.chip.memory().host_sees() {
            return Err(Fault::NotMapped { space, offset, bytes }.into());
        }
        if !view.is_contiguous() {
            return Err(Fault::NotInOnePiece { bytes }.into());
        }
        self.read_bytes(space, view, sink)
    }
}
