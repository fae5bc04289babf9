//! The short way of a submit, which nearly every task takes: one kernel, one block, and only tensors that are whole, contiguous
//! and of at most two dimensions, on rings that have room.
//!
//! ```text
//! write (check, encode) ──▶ file ──▶ reserve and wire edges ──▶ publish
//! ```
//! The first step goes over the arguments once: it checks each and writes its record behind what the argument ring holds, where
//! nobody sees it yet. If an argument is not simple, or the ring has no room, nothing has happened, and the task takes the way
//! of all others. The steps do what those of that way do; they only need not ask what a simple task does not have.

use ringlane_task::Access;

use super::admit::Measure;
use super::publish::Committed;
use super::survey::PLAIN_ARGS_MAX;
use crate::api::arg::{ArgKind, NO_SPLIT};
use crate::api::args::{SIMPLE_WORDS, encode_simple};
use crate::api::backend::Call;
use crate::api::kernel::Kernel;
use crate::api::tensor::TaskHandle;
use crate::fault::Result;
use crate::orchestrator::Orchestrator;
use crate::seams::{Chip, Probe, Step};
use crate::tensor_map::{Hazard, Owned, Stamp};

/// A task whose arguments are checked and written.
pub(super) struct Written {
    kernel: &'static Kernel,
    args_at: u32,
    words: usize,
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Checks a simple task and writes its argument records. `None`: it is not one, or has to wait.
    #[inline(always)]
    pub(super) fn write_simple(&mut self, call: &Call<'_>) -> Option<Written> {
        let kernel = call.launch.plain()?;
        let (params, count) = (kernel.params(), call.args.len());
        if C::TIMED
            || !self.current.is_plain
            || params.len() != count
            || count > PLAIN_ARGS_MAX
            || !call.after.is_empty()
        {
            return None;
        }
        let (ring, mark, state) = (self.current.ring, self.mark, &mut *self.state);
        let (rings, map) = (&mut state.rings[ring], &mut state.map);
        if rings.used() == rings.window || map.used() + count as u64 > map.capacity() {
            return None;
        }
        let at = rings.args.room_for((count * SIMPLE_WORDS * 8) as u64)?;
        let free = self.table.unpublished_words(ring, (at / 8) as u32, count * SIMPLE_WORDS);
        let mut words = 0;
        for (arg, param) in call.args.iter().zip(params) {
            let ArgKind::Tensor { tensor, view, access, split } = &arg.kind else { return None };
            if *split != NO_SPLIT || !param.takes_simple(view.signature(), *access) {
                return None;
            }
            let place = map.admits(*tensor, *access != Access::Input, mark)?;
            words += encode_simple(free[words..].first_chunk_mut()?, view, *access, place);
        }
        rings.args.take(words as u64 * 8);
        Some(Written { kernel, args_at: (at / 8) as u32, words })
    }

    /// Submits a task that was written.
    #[inline(always)]
    pub(super) fn submit_simple(&mut self, call: &Call<'_>, written: &Written) -> Result<TaskHandle> {
        self.probe.step(Step::Admitted);
        let (ring, &Written { kernel, args_at, words }) = (self.current.ring, written);
        let slot = self.table.slot_of(ring, self.state.rings[ring].head);
        self.state.predecessors.clear();
        let me = Stamp { slot, number: self.mark };
        let (mut follow, map) = self.follow();
        for arg in call.args {
            if let ArgKind::Tensor { tensor, access, .. } = &arg.kind {
                let hazard = if access.writes() { Hazard::Write } else { Hazard::Read };
                map.file_whole(tensor.id, hazard, me, &mut follow);
            }
        }
        self.probe.step(Step::Placed);
        self.reserve_edges(ring, call.site)?;
        let kernels = self.single_kernel(kernel).map_err(|error| self.abort_run(error))?;
        let measure = Measure { words, entries: call.args.len() as u64, ..Measure::default() };
        let record = self.record(call, kernels, ring, args_at, &measure);
        self.commit(slot, record, Owned::NOTHING, &measure, &Committed::Kernels(call));
        Ok(self.submitted(ring, record.local))
    }
}
