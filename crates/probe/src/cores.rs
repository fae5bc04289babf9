//! What one core records: its blocks, its phases, its counters, the arguments it captures.
//!
//! Only the thread that is the core touches its state, so a record is a plain store. Stamps are shared between
//! neighbours where that is exact: a core that goes on with its next task at once was free since the last stamp.

use ringlane_engine::seams::Clock;
use ringlane_engine::slot::TaskRecord;
use ringlane_engine::table::task_id;
use ringlane_task::{CoreId, DfxFlags};
use ringlane_trace::swimlane::Phase;
use zerocopy::transmute;

use crate::core_pmu::{CorePmu, Refusal};
use crate::dump::Capture;
use crate::lane::Writer;
use crate::records::{BlockLife, BlockName, BlockPhases, BlockTime, PhaseTime, TaskLife};
use crate::watching::On;

/// The state of one core.
#[derive(Default)]
pub(crate) struct CoreState {
    /// Which core it is; it is its own thread.
    thread: u16,
    /// The block that runs or ran last, as far as its stamps are known. Below level 2 `dispatch` is a time before which it cannot
    /// have been ready.
    now: BlockPhases,
    /// Whether there is one that is not written yet.
    pending: bool,
    /// When the block was handed in, if it is not the last of its task.
    handed_in: Option<u64>,
    /// When the core last made a task ready since it took its own: what it does after that is of no length.
    made_ready: Option<u64>,
    /// When the thread submitted a task that it has not published yet.
    submitted: Option<u64>,
    /// Since when the core is free, if that is known and no other thread could have given it work since.
    free_since: Option<u64>,
    /// Since when, and until when at least, the core found nothing to do.
    idle: Option<(u64, u64)>,
    blocks: Option<Writer>,
    phases: Option<Writer>,
    pub(crate) tasks: Option<Writer>,
    pub(crate) pmu: Option<CorePmu>,
    pub(crate) capture: Option<Capture>,
}

impl CoreState {
    pub(crate) fn timeline(&mut self, core: CoreId, blocks: Writer, phases: Option<Writer>) {
        (self.thread, self.blocks, self.phases) = (core.0 as u16, Some(blocks), phases);
    }

    /// The core joins the run: it polls for work from now on.
    pub(crate) fn enter(&mut self, clock: &impl Clock, on: On, refusal: &Refusal) {
        if let Some(pmu) = &mut self.pmu {
            pmu.open(refusal);
        }
        if on.has(DfxFlags::SWIMLANE_PHASES) {
            let now = clock.now().0;
            self.idle = Some((now, now));
        }
    }

    /// The core has done its last.
    pub(crate) fn leave(&mut self, clock: &impl Clock, on: On) {
        if on.has(DfxFlags::SWIMLANE_PHASES) {
            self.extend_idle(clock.now().0);
            self.close_idle(None);
        }
    }

    /// The core has polled for work: the task it finds may have become ready at any time since the core was free.
    pub(crate) fn lost_track(&mut self, clock: &impl Clock, on: On) {
        if on.has(DfxFlags::SWIMLANE_PHASES) {
            self.extend_idle(clock.now().0);
        }
        self.free_since = None;
    }

    fn extend_idle(&mut self, now: u64) {
        let since = self.free_since.unwrap_or(now);
        self.idle.get_or_insert((since, now)).1 = now;
    }

    /// Ends the time without work: now, or when the core was last seen without any.
    fn close_idle(&mut self, now: Option<u64>) {
        if let (Some((start, end)), Some(phases)) = (self.idle.take(), &mut self.phases) {
            let (end, thread) = (now.unwrap_or(end), self.thread);
            phases.push(&PhaseTime { start, end, phase: Phase::Idle as u16, thread, tasks: 0 });
        }
    }

    /// When the block that the core ran last ended.
    #[inline(always)]
    pub(crate) fn last_end(&self) -> u64 {
        self.now.life.time.end
    }

    /// When the task that the core has completed ended. 0 where the core does not record its blocks itself.
    #[inline(always)]
    pub(crate) fn ended(&mut self, clock: &impl Clock, task: &TaskRecord) -> u64 {
        // What becomes ready next does so because of this task.
        self.submitted = None;
        // One that ran no block ended when it was taken.
        let own = self.last_end().max(self.now.life.dispatch);
        // Blocks on other cores may have ended later: they have been seen.
        if task.total_blocks() > 1 { clock.now_ordered().0.max(own) } else { own }
    }

    /// A task became ready, not before `floor`. A reading may be a little early.
    #[inline(always)]
    pub(crate) fn ready(&mut self, clock: &impl Clock, floor: u64) -> u64 {
        let now = self.submitted.take().unwrap_or_else(|| clock.now().0).max(floor);
        self.made_ready = Some(now);
        now
    }

    /// The thread does something else now: it submits. What it makes ready was not when the core became free, also where a
    /// submit that waits for a ring has run tasks meanwhile.
    #[inline]
    pub(crate) fn interrupt(&mut self) {
        self.free_since = None;
        if self.idle.is_some() {
            self.close_idle(None);
        }
    }

    /// The thread submitted a task then, and publishes it next if it is ready.
    #[inline]
    pub(crate) fn submitted(&mut self, ended: Option<u64>) {
        self.submitted = ended;
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, clock: &impl Clock, on: On, ready: u64) {
        // A reading may be a little early, but the task was not taken before it was ready, nor before the core's last block ended.
        let ready = ready.max(self.last_end());
        if !on.has(DfxFlags::SWIMLANE_TASKS) {
            self.now.life.dispatch = ready;
            return;
        }
        let now = self.free_since.take().unwrap_or_else(|| clock.now().0).max(ready);
        self.made_ready = None;
        if self.idle.is_some() {
            self.close_idle(Some(now));
        }
        self.now.life.dispatch = now;
    }

    #[inline(always)]
    pub(crate) fn start(&mut self, clock: &impl Clock, on: On, name: BlockName) {
        self.now.life.time.name = name;
        if on.has(DfxFlags::PMU)
            && let Some(pmu) = &mut self.pmu
        {
            pmu.begin();
        }
        self.now.life.time.start = clock.now().0.max(self.now.life.dispatch);
    }

    #[inline(always)]
    pub(crate) fn end(&mut self, clock: &impl Clock, on: On) {
        // The two readings are not ordered against each other by the processor.
        let end = clock.now().0.max(self.now.life.time.start);
        let time = BlockTime { end, ..self.now.life.time };
        // What follows the task, and what the core does next, is not before it.
        self.now.life.time.end = end;
        if on.has(DfxFlags::PMU)
            && let Some(pmu) = &mut self.pmu
        {
            pmu.end(&time);
        }
        if on.has(DfxFlags::SWIMLANE_TASKS) {
            // Written when its task's successors know of it.
            (self.pending, self.now.resolve) = (true, u64::MAX);
        } else if let Some(blocks) = &mut self.blocks {
            blocks.push_words::<4>(transmute!(time));
        }
    }

    /// The block is done; unless it was the last, others go on with its task from here.
    #[inline(always)]
    pub(crate) fn hand_in(&mut self, clock: &impl Clock) {
        self.handed_in = Some(clock.now().0);
    }

    /// The task is complete: its successors come next.
    #[inline(always)]
    pub(crate) fn complete(&mut self, clock: &impl Clock, on: On, task: &TaskRecord) {
        self.handed_in = None;
        if on.has(DfxFlags::SWIMLANE_PHASES) {
            // Of a task with one block, which nothing is captured of, it was complete when the block ended.
            let at_once = task.total_blocks() == 1 && !on.has(DfxFlags::DUMP);
            self.now.resolve = if at_once { self.last_end() } else { clock.now().0 };
        }
    }

    /// A task that became ready then was completed here.
    #[inline(always)]
    pub(crate) fn done(&mut self, task: &TaskRecord, ready: u64) {
        if let Some(tasks) = &mut self.tasks {
            let life = TaskLife { task_id: task_id(task).0, seq: task.seq, ready };
            tasks.push_words::<3>(transmute!(life));
        }
    }

    #[inline(always)]
    pub(crate) fn finish(&mut self, clock: &impl Clock, on: On) {
        let stamped = self.handed_in.take().or(self.made_ready.take());
        let now = stamped.unwrap_or_else(|| clock.now().0);
        self.free_since = Some(now);
        if core::mem::take(&mut self.pending) {
            self.write_life(now, on);
        } else if let Some(phases) = &mut self.phases {
            // A task without a block, or one that was skipped: all the time went to those that follow it.
            let (start, phase) = (self.now.life.dispatch, Phase::Resolve as u16);
            phases.push(&PhaseTime { start, end: now, phase, thread: self.thread, tasks: 1 });
        }
    }

    #[inline(always)]
    fn write_life(&mut self, now: u64, on: On) {
        let Some(blocks) = &mut self.blocks else { return };
        let (end, finish) = (self.now.life.time.end, now.max(self.now.life.time.end));
        let life = BlockLife { finish, ..self.now.life };
        if on.has(DfxFlags::SWIMLANE_PHASES) {
            let resolve = self.now.resolve.clamp(end, finish);
            blocks.push_words::<7>(transmute!(BlockPhases { life, resolve }));
        } else {
            blocks.push_words::<6>(transmute!(life));
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU64, Ordering};
    use ringlane_engine::slot::LaneShape;
    use ringlane_task::Ticks;

    /// Each reading is ten ticks later.
    struct Ticking(AtomicU64);

    impl Clock for Ticking {
        fn now(&self) -> Ticks {
            Ticks(self.0.fetch_add(10, Ordering::Relaxed) + 10)
        }
    }

    #[test]
    fn no_stamp_of_a_task_is_earlier_than_the_end_of_what_it_follows() {
        for flags in [DfxFlags::SWIMLANE_CORES, DfxFlags::SWIMLANE_TASKS] {
            // Read much too early.
            let (clock, mut core, on) = (Ticking(AtomicU64::new(0)), CoreState::default(), On::new(flags));
            let one_block = TaskRecord { blocks: 1, shape: LaneShape::SINGLE, ..TaskRecord::default() };
            core.take(&clock, on, 500);
            core.start(&clock, on, BlockName::default());
            assert_eq!(core.now.life.time.start, 500);
            assert_eq!(core.ended(&clock, &TaskRecord::default()), 500, "a task without a block");
            clock.0.store(590, Ordering::Relaxed);
            core.end(&clock, on);
            assert_eq!(core.ended(&clock, &one_block), 600);
            clock.0.store(0, Ordering::Relaxed);
            core.take(&clock, on, 0);
            core.start(&clock, on, BlockName::default());
            assert_eq!(core.now.life.time.start, 600, "one block after the other");
            clock.0.store(690, Ordering::Relaxed);
            assert_eq!(
                core.ended(&clock, &TaskRecord { blocks: 2, ..one_block }),
                700,
                "others may have ended last"
            );
            assert_eq!([core.ready(&clock, 800), core.ready(&clock, 0)], [800, 720]);
        }
    }

    #[test]
    fn a_core_that_goes_on_at_once_was_free_since_its_last_task_unless_it_submitted_since() {
        let (clock, mut core) = (Ticking(AtomicU64::new(0)), CoreState::default());
        let on = On::new(DfxFlags::SWIMLANE_TASKS);
        core.finish(&clock, on);
        core.take(&clock, on, 0);
        assert_eq!(core.now.life.dispatch, 10);
        core.finish(&clock, on);
        core.interrupt();
        core.take(&clock, on, 0);
        assert_eq!(core.now.life.dispatch, 30);
    }
}
