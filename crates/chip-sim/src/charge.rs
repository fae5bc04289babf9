//! What the cost model is asked: of a block that is dispatched, and of a task whose rank is wanted.

use ringlane_engine::seams::Probe;
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::task_id;

use crate::core::CoreKind;
use crate::cost::{BlockCost, WhichBlock};
use crate::machine::Machine;
use crate::policy::Class;
use crate::time::Ps;

/// The kernel that a block of a task belongs to, counted from 0.
fn kernel_of(record: &TaskRecord, index: u32) -> u32 {
    if record.lanes() == 1 { 0 } else { index / record.blocks }
}

impl<P: Probe> Machine<'_, P> {
    /// What a block of a task takes on a core of this kind.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter.
    pub(crate) unsafe fn cost_of(&self, record: &TaskRecord, index: u32, kind: CoreKind) -> BlockCost {
        let (executor, model) = (self.executor(0), self.model);
        // SAFETY: the caller's promise.
        let duration = unsafe { executor.annotations(record) }.duration_ps();
        let (kernel, _, block) = executor.place_of(record, index);
        let before = &record.kernels[..kernel_of(record, index) as usize];
        let same = before.iter().filter(|&&other| other == kernel).count() as u32;
        let which = WhichBlock { task: task_id(record), index: same * record.blocks + block, duration };
        // SAFETY: the caller's promise.
        unsafe { executor.with_args(record, index, |kernel, args| model.block(kernel, kind, args, which)) }
    }

    /// How long a task takes, as far as that is known before it runs: the longest of its kernels. What was recorded of this
    /// very task goes before what its submit says, and that before its kernels' cost models.
    pub(crate) fn takes(&self, task: SlotIndex) -> Ps {
        // SAFETY: the task is being submitted, or is ready and has blocks to give out: its record stays.
        let record = unsafe { self.executor(0).record(task) };
        let longest = |lane: u32| {
            let kernel = record.kernels[lane as usize];
            let known = self.table.kernel(kernel);
            if let Some(recorded) =
                known.and_then(|kernel| self.model.longest_recorded(kernel, task_id(&record)))
            {
                return recorded;
            }
            let kind = match self.class_of_kernel(kernel) {
                Class::Aic => CoreKind::Aic,
                _ => CoreKind::Aiv,
            };
            // SAFETY: as above.
            unsafe { self.cost_of(&record, lane * record.blocks, kind) }.picoseconds
        };
        if record.blocks == 0 { 0 } else { (0..record.lanes()).map(longest).max().unwrap_or(0) }
    }
}
