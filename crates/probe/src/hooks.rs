//! What the recorder does with each event: one line for each instrument that wants it.

use ringlane_engine::observe::{
    EndedScope, Fill, ObservedTask, PlacedBlock, ProgramStep, Submission, ThreadPhase,
};
use ringlane_engine::seams::{Clock, Probe, RecordBytes, Step};
use ringlane_engine::slot::TaskRecord;
use ringlane_task::{CoreId, DfxFlags, Resource, RingIndex, TaskId, Ticks};

use crate::records::{BlockName, Edge};
use crate::watching::{ANY, OF_CORES, Watching};

impl<C: Clock, const FLAGS: u64> Probe for Watching<'_, C, FLAGS> {
    const WATCHES_CORES: bool = FLAGS == ANY || FLAGS & OF_CORES != 0;

    #[inline]
    fn sees_times(&self) -> bool {
        self.on().times_blocks()
    }

    #[inline]
    fn sees_tasks(&self) -> bool {
        self.on().has(DfxFlags::SWIMLANE_TASKS)
    }

    #[inline]
    fn sees_submits(&self) -> bool {
        let on = self.on();
        on.has(DfxFlags::SWIMLANE_TASKS) || on.has(DfxFlags::DUMP) || on.has(DfxFlags::DEPS)
    }

    #[inline]
    fn sees_values(&self) -> bool {
        self.on().has(DfxFlags::DUMP)
    }

    #[inline]
    fn sees_scopes(&self) -> bool {
        self.on().has(DfxFlags::SCOPES)
    }

    #[inline]
    fn sees_program(&self) -> bool {
        self.on().has(DfxFlags::DEPS)
    }

    #[inline]
    fn program(&self, submits: u64, step: &ProgramStep<'_>) {
        self.0.submitter().program(submits, step);
    }

    fn record_bytes(&self) -> RecordBytes {
        self.0.bytes_on_the_chip()
    }

    fn captured_bytes(&self, core: CoreId) -> u64 {
        if self.on().has(DfxFlags::DUMP) { self.0.captured_bytes(core) } else { 0 }
    }

    fn enter(&self, core: CoreId) {
        self.0.core(core).enter(&self.0.clock, self.on(), &self.0.refusal);
    }

    fn leave(&self, core: CoreId) {
        self.0.core(core).leave(&self.0.clock, self.on());
    }

    #[cold]
    fn idle(&self, core: CoreId) {
        self.0.core(core).lost_track(&self.0.clock, self.on());
    }

    /// Another core may have made what comes next ready since this one was free.
    #[cold]
    fn stole(&self, core: CoreId) {
        self.0.core(core).lost_track(&self.0.clock, self.on());
    }

    #[inline]
    fn take(&self, core: CoreId, ready: Ticks) {
        let clock = &self.0.clock;
        self.0.core(core).take(clock, self.on(), clock.time(ready));
    }

    #[inline]
    fn dispatch(&self, core: CoreId, task: &ObservedTask<'_>) {
        if self.on().has(DfxFlags::DUMP) {
            self.0.capture_before(core, task);
        }
    }

    #[inline]
    fn start(&self, core: CoreId, record: &TaskRecord, kernel: u16, lane: u8, block: u32) {
        if self.on().times_blocks() {
            let (local, ring) = (record.local, record.ring);
            let name = BlockName { local, block, func: kernel, lane, ring, core: core.0 };
            self.0.core(core).start(&self.0.clock, self.on(), name);
        }
    }

    #[inline]
    fn end(&self, core: CoreId) {
        if self.on().times_blocks() {
            self.0.core(core).end(&self.0.clock, self.on());
        }
    }

    #[inline]
    fn hand_in(&self, core: CoreId) {
        if self.on().has(DfxFlags::SWIMLANE_TASKS) {
            self.0.core(core).hand_in(&self.0.clock);
        }
    }

    #[inline]
    fn complete(&self, core: CoreId, task: &ObservedTask<'_>) {
        if self.on().has(DfxFlags::DUMP) {
            self.0.capture_after(core, task);
        }
        if self.on().has(DfxFlags::SWIMLANE_TASKS) {
            self.0.core(core).complete(&self.0.clock, self.on(), task.record());
        }
    }

    #[inline]
    fn ended(&self, core: CoreId, record: &TaskRecord) -> Ticks {
        self.0.clock.floor(self.0.core(core).ended(&self.0.clock, record))
    }

    #[inline]
    fn ready(&self, core: CoreId, floor: Ticks) -> Ticks {
        if !self.on().has(DfxFlags::SWIMLANE_TASKS) {
            return floor;
        }
        let clock = &self.0.clock;
        clock.floor(self.0.core(core).ready(clock, clock.time(floor)))
    }

    #[inline]
    fn done(&self, core: CoreId, record: &TaskRecord, ready: Ticks) {
        if self.on().has(DfxFlags::SWIMLANE_TASKS) {
            self.0.recording_core(core).done(record, self.0.clock.time(ready));
        }
    }

    #[inline(always)]
    fn finish(&self, core: CoreId) {
        if self.on().has(DfxFlags::SWIMLANE_TASKS) {
            self.0.core(core).finish(&self.0.clock, self.on());
        }
    }

    fn block(&self, block: &PlacedBlock<'_>) {
        self.0.model().block(block);
    }

    fn phase(&self, phase: &ThreadPhase) {
        self.0.model().phase(phase);
    }

    #[inline]
    fn step(&self, step: Step) {
        if !self.on().has(DfxFlags::SWIMLANE_TASKS) {
            return;
        }
        if matches!(step, Step::Begin | Step::Wait | Step::Waited) {
            self.0.core(CoreId(0)).interrupt();
        }
        if self.on().has(DfxFlags::SWIMLANE_PHASES)
            && let Some(submits) = &mut self.0.submitter().submits
        {
            submits.step(step, self.0.clock.now().0);
        }
    }

    #[inline]
    fn edge(&self, predecessor: TaskId, successor: TaskId) {
        if let Some(edges) = &mut self.0.submitter().edges {
            edges.push(&Edge { pred: predecessor.0, succ: successor.0 });
        }
    }

    #[inline]
    fn submit(&self, submission: &Submission<'_>) {
        let on = self.on();
        if on.has(DfxFlags::DUMP) {
            self.0.select(submission);
        }
        let ended = self.0.submitter().submit(&self.0.clock, on, submission);
        if on.has(DfxFlags::SWIMLANE_TASKS) {
            let core = self.0.core(CoreId(0));
            core.interrupt();
            core.submitted(ended);
        }
    }

    #[inline]
    fn fill(&self, fill: &Fill) {
        if let Some(scopes) = &mut self.0.submitter().scopes {
            scopes.fill(fill);
        }
    }

    #[inline]
    fn seen(&self) -> Ticks {
        // A thread that is alone reads without order, but has ended all blocks itself.
        self.0.clock.floor(self.0.clock.now_ordered().0.max(self.0.core(CoreId(0)).last_end()))
    }

    #[inline]
    fn reclaim_begin(&self, now: Ticks) {
        if self.on().has(DfxFlags::SWIMLANE_PHASES) {
            self.0.core(CoreId(0)).interrupt();
        }
        if self.on().has(DfxFlags::SWIMLANE_TASKS)
            && let Some(reclaims) = &mut self.0.submitter().reclaims
        {
            reclaims.begin(self.0.clock.time(now));
        }
    }

    #[inline]
    fn reclaim(&self, first: TaskId, count: u64) {
        if self.on().has(DfxFlags::SWIMLANE_TASKS)
            && let Some(reclaims) = &mut self.0.submitter().reclaims
        {
            reclaims.reclaim(first, count);
        }
    }

    #[inline]
    fn reclaim_end(&self) {
        if self.on().has(DfxFlags::SWIMLANE_PHASES)
            && let Some(reclaims) = &mut self.0.submitter().reclaims
        {
            reclaims.end(self.0.clock.now().0);
        }
    }

    #[inline]
    fn scope_enter(&self) {
        if let Some(scopes) = &mut self.0.submitter().scopes {
            scopes.enter(self.0.clock.now().0);
        }
    }

    #[inline(always)]
    fn scope_exit(&self, scope: &EndedScope<'_>) {
        if let Some(scopes) = &mut self.0.submitter().scopes {
            scopes.exit(scope, self.0.clock.now().0);
        }
    }

    fn stall_begin(&self) {
        self.0.submitter().stalled = self.0.clock.now().0;
    }

    fn stall_end(&self, ring: RingIndex, resource: Resource, submit: u64) {
        let Ticks(now) = self.0.clock.now();
        self.0.submitter().stall(now, ring, resource, submit);
    }

    fn scope_stopped(&self, scope: &EndedScope<'_>) {
        if let Some(scopes) = &mut self.0.submitter().scopes {
            scopes.stop(scope, self.0.clock.now().0);
        }
    }
}
