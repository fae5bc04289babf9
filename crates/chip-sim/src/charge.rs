//! Costs from the cost model: of a block when it is dispatched, and of a task when its rank is computed.

use ringlane_engine::seams::Probe;
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::task_id;

use crate::core::CoreKind;
use crate::cost::{BlockCost, WhichBlock};
use crate::machine::Machine;
use crate::policy::Class;
use crate::time::Ps;

/// The index of the kernel that a block of a task belongs to.
fn kernel_of(record: &TaskRecord, index: u32) -> u32 {
    if record.lanes() == 1 { 0 } else { index / record.blocks }
}

impl<P: Probe> Machine<'_, P> {
    /// The cost of a block of a task on a core of this kind.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter.
    pub(crate) unsafe fn cost_of(&self, record: &TaskRecord, index: u32, kind: CoreKind) -> BlockCost {
        let (executor, model) = (self.executor(0), self.model);
        if let Some(cost) = model.replayed(record.seq, index, kind) {
            return cost;
        }
        // SAFETY: the caller's promise.
        let duration = unsafe { executor.annotations(record) }.duration_ps();
        let (kernel, _, block) = executor.place_of(record, index);
        let before = &record.kernels[..kernel_of(record, index) as usize];
        let same = before.iter().filter(|&&other| other == kernel).count() as u32;
        let which = WhichBlock { task: task_id(record), index: same * record.blocks + block, duration };
        // SAFETY: the caller's promise.
        unsafe { executor.with_args(record, index, |kernel, args| model.block(kernel, kind, args, which)) }
    }

    /// The duration of a task, as far as it is known before it runs: the longest of its kernels. A recorded duration
    /// of this task comes first, then the duration of its submit, then the cost models of its kernels.
    pub(crate) fn takes(&self, task: SlotIndex) -> Ps {
        // SAFETY: the task is being submitted, or is ready and has blocks to dispatch: its record stays.
        let record = unsafe { self.executor(0).record(task) };
        let kinds = record.kernels.map(|kernel| match self.class_of_kernel(kernel) {
            Class::Aic => CoreKind::Aic,
            _ => CoreKind::Aiv,
        });
        let lanes = record.lanes() as usize;
        if let Some(takes) = self.model.replayed_task(record.seq, record.blocks, &kinds[..lanes]) {
            return takes;
        }
        let longest = |lane: u32| {
            let kernel = record.kernels[lane as usize];
            let known = self.table.kernel(kernel);
            if let Some(recorded) =
                known.and_then(|kernel| self.model.longest_recorded(kernel, task_id(&record)))
            {
                return recorded;
            }
            // SAFETY: as above.
            unsafe { self.cost_of(&record, lane * record.blocks, kinds[lane as usize]) }.picoseconds
        };
        if record.blocks == 0 { 0 } else { (0..record.lanes()).map(longest).max().unwrap_or(0) }
    }
}
