//! What the recorder does with what it is told: one line for each instrument that wants it.

use core::sync::atomic::Ordering;

use ringlane_engine::observed::{
    EndedScope, Fill, ObservedTask, PlacedBlock, Submission, ThreadPhase, WiredEdge,
};
use ringlane_engine::seams::{Clock, Probe, RecordBytes, Step};
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_task::{CoreId, Resource, RingIndex, TaskId, Ticks};

use crate::recorder::Recorder;
use crate::records::Edge;

impl<C: Clock> Probe for Recorder<C> {
    #[inline]
    fn sees_tasks(&self) -> bool {
        self.times_tasks
    }

    #[inline]
    fn sees_submits(&self) -> bool {
        self.sees_submits
    }

    #[inline]
    fn sees_scopes(&self) -> bool {
        self.sees_scopes
    }

    fn record_bytes(&self) -> RecordBytes {
        self.bytes_on_the_chip()
    }

    fn enter(&self, core: CoreId) {
        self.core(core).enter(&self.clock, &self.refusal);
    }

    fn leave(&self, core: CoreId) {
        self.core(core).leave(&self.clock);
    }

    fn idle(&self, core: CoreId) {
        self.core(core).idle(&self.clock);
    }

    fn stole(&self, core: CoreId) {
        self.core(core).stole(&self.clock);
    }

    #[inline]
    fn take(&self, core: CoreId, task: SlotIndex) {
        if self.times_tasks {
            let ready = self.ready[task.0 as usize].load(Ordering::Relaxed);
            self.core(core).take(&self.clock, ready);
        }
    }

    #[inline]
    fn dispatch(&self, core: CoreId, task: &ObservedTask<'_>) {
        if self.captures {
            self.capture_before(core, task);
        }
    }

    #[inline]
    fn start(&self, core: CoreId, record: &TaskRecord, kernel: u16, lane: u8, block: u32) {
        if self.times_blocks {
            self.core(core).start(&self.clock, core, record, kernel, lane, block);
        }
    }

    #[inline]
    fn end(&self, core: CoreId) {
        if self.times_blocks {
            self.core(core).end(&self.clock);
        }
    }

    #[inline]
    fn hand_in(&self, core: CoreId) {
        if self.times_tasks {
            self.core(core).hand_in(&self.clock);
        }
    }

    #[inline]
    fn complete(&self, core: CoreId, task: &ObservedTask<'_>) {
        if self.captures {
            self.capture_after(core, task);
        }
        if self.times_tasks {
            self.core(core).complete(&self.clock);
        }
    }

    #[inline]
    fn ready(&self, core: CoreId, task: SlotIndex) {
        if self.times_tasks {
            let now = self.core(core).ready(&self.clock);
            self.ready[task.0 as usize].store(now, Ordering::Relaxed);
        }
    }

    #[inline]
    fn finish(&self, core: CoreId) {
        if self.times_tasks {
            self.core(core).finish(&self.clock);
        }
    }

    fn block(&self, block: &PlacedBlock<'_>) {
        self.model().block(block);
    }

    fn phase(&self, phase: &ThreadPhase) {
        self.model().phase(phase);
    }

    #[inline]
    fn step(&self, step: Step) {
        if !self.times_tasks {
            return;
        }
        if matches!(step, Step::Begin | Step::Wait | Step::Waited) {
            self.core(CoreId(0)).interrupt();
        }
        if let Some(submits) = &mut self.submitter().submits {
            submits.step(step, self.clock.now().0);
        }
    }

    #[inline]
    fn edge(&self, edge: &WiredEdge<'_>) {
        if let Some(edges) = &mut self.submitter().edges {
            edges.push(&Edge { pred: edge.predecessor().0, succ: edge.successor().0 });
        }
    }

    #[inline]
    fn submit(&self, submission: &Submission<'_>) {
        if self.captures {
            self.select(submission);
        }
        if self.times_tasks {
            self.core(CoreId(0)).interrupt();
        }
        self.submitter().submit(&self.clock, submission);
    }

    #[inline]
    fn fill(&self, fill: &Fill) {
        if let Some(scopes) = &mut self.submitter().scopes {
            scopes.fill(fill);
        }
    }

    #[inline]
    fn reclaim_begin(&self) {
        if self.level >= 3 {
            self.core(CoreId(0)).interrupt();
        }
        if let Some(tasks) = &mut self.submitter().tasks {
            tasks.reclaim_begin(self.clock.now_ordered().0);
        }
    }

    #[inline]
    fn reclaim(&self, task: TaskId, slot: SlotIndex) {
        if let Some(tasks) = &mut self.submitter().tasks {
            tasks.reclaim(task, slot, self.ready[slot.0 as usize].load(Ordering::Relaxed));
        }
    }

    #[inline]
    fn reclaim_end(&self) {
        if let Some(tasks) = &mut self.submitter().tasks {
            tasks.reclaim_end(self.clock.now().0);
        }
    }

    #[inline]
    fn scope_enter(&self) {
        if let Some(scopes) = &mut self.submitter().scopes {
            scopes.enter(self.clock.now().0);
        }
    }

    #[inline]
    fn scope_exit(&self, scope: &EndedScope<'_>) {
        if let Some(scopes) = &mut self.submitter().scopes {
            scopes.exit(scope, self.clock.now().0);
        }
    }

    fn stall_begin(&self) {
        self.submitter().stalled = self.clock.now().0;
    }

    fn stall_end(&self, ring: RingIndex, resource: Resource, submit: u64) {
        let Ticks(now) = self.clock.now();
        self.submitter().stall(now, ring, resource, submit);
    }

    fn scope_stopped(&self, scope: &EndedScope<'_>) {
        if let Some(scopes) = &mut self.submitter().scopes {
            scopes.stop(scope, self.clock.now().0);
        }
    }
}
