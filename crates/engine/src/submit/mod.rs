//! The way of one task from the user's call to the chip, step by step.
//!
//! ```text
//! survey (check, measure) ──▶ admit (may wait) ──▶ place ──▶ reserve and wire edges (may wait) ──▶ publish
//! ```
//! Each step is a file; [`submit_task`](Orchestrator::submit_task) is the plan. A tensor that the orchestration makes itself
//! ([`alloc`]) and a [`barrier`] are tasks without a kernel, with shorter plans of their own.

#![forbid(unsafe_code)]

mod admit;
mod alloc;
mod barrier;
pub(crate) mod check;
mod place;
mod publish;
mod regions;
mod simple;
mod survey;
mod wire;

use ringlane_task::Access;

use crate::api::arg::ArgKind;
use crate::api::backend::Call;
use crate::api::tensor::{TaskHandle, TensorRef};
use crate::fault::Result;
use crate::limits::SUBMITS_PER_POLL;
use crate::orchestrator::Orchestrator;
use crate::seams::{Chip, Probe, Step, Work};
use crate::tensor_map::Owned;

pub(crate) use admit::Measure;
use place::Place;
pub(crate) use publish::Committed;
pub(crate) use regions::RecordRegions;
pub(crate) use wire::Follow;

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    #[inline]
    pub(crate) fn submit_task(&mut self, call: &Call<'_>, outs: &mut [TensorRef]) -> Result<TaskHandle> {
        self.probe.step(Step::Begin);
        if !self.state.marked.is_empty() {
            self.check_marks(call.args.len())?;
        }
        match self.write_simple(call) {
            Some(written) => self.submit_simple(call, &written),
            None => self.submit_any(call, outs),
        }
    }

    /// Submits any task.
    // Not inlined, for the sake of the simple ones.
    #[inline(never)]
    fn submit_any(&mut self, call: &Call<'_>, outs: &mut [TensorRef]) -> Result<TaskHandle> {
        // Some tensors may be marked as this submit's already.
        self.next_mark();
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
        let kernels = self.kernel_ids(call).map_err(|error| self.abort_run(error))?;
        let record = self.record(call, kernels, ring, args_at, &measure);
        self.commit(slot, record, owned, &measure, &Committed::Kernels(call));
        Ok(self.submitted(ring, record.local))
    }

    /// The handle of the task that was submitted last; now and then the chip is asked to run some.
    #[inline(always)]
    fn submitted(&mut self, ring: usize, local: u32) -> TaskHandle {
        self.chip.submit_ended();
        self.since_poll += 1;
        if self.since_poll >= SUBMITS_PER_POLL {
            self.poll_progress(ring);
        }
        self.current.handles.numbered(local)
    }

    /// Lets the time of some work pass, where that takes any.
    #[inline]
    pub(crate) fn work(&mut self, work: Work) {
        if C::TIMED {
            self.chip.work(work);
        }
    }

    /// Lets the time pass that looking up and inserting the arguments takes.
    fn work_on_args(&mut self, call: &Call<'_>) {
        let (mut lookups, mut inserts) = (0, 0);
        for arg in call.args {
            match &arg.kind {
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

    /// Reports to the chip how many tasks are outstanding, every [`SUBMITS_PER_POLL`] submits.
    fn poll_progress(&mut self, ring: usize) {
        self.since_poll = 0;
        let head = self.state.rings[ring].head;
        self.advance_done(ring, head);
        self.chip.submitted(head - self.state.rings[ring].done);
    }
}
