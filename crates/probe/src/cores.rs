//! What one core records: its blocks, its phases, its counters, the arguments it captures.
//!
//! Only the thread that is the core touches its state, so a record is a plain store. Stamps are shared between
//! neighbours where that is exact: a core that goes on with its next task at once was free since the last stamp.

use ringlane_engine::seams::Clock;
use ringlane_engine::slot::TaskRecord;
use ringlane_task::CoreId;
use ringlane_trace::swimlane::Phase;

use crate::core_pmu::{CorePmu, Refusal};
use crate::dump::Capture;
use crate::lane::Writer;
use crate::records::{BlockLife, BlockName, BlockPhases, PhaseTime};

/// The state of one core.
#[derive(Default)]
pub(crate) struct CoreState {
    /// 0 where no timeline is recorded.
    level: u8,
    /// Which core it is; it is its own thread.
    thread: u16,
    /// The block that runs or ran last, as far as its stamps are known.
    now: BlockPhases,
    /// Whether there is one that is not written yet.
    pending: bool,
    /// When the block was handed in, if it is not the last of its task.
    handed_in: Option<u64>,
    /// When the core last made a task ready since it took its own: what it does after that is of no length.
    made_ready: Option<u64>,
    /// Since when the core is free, if that is known and nobody else could have given it work since.
    free_since: Option<u64>,
    /// Since when, and until when at least, the core found nothing to do.
    idle: Option<(u64, u64)>,
    blocks: Option<Writer>,
    phases: Option<Writer>,
    pub(crate) pmu: Option<CorePmu>,
    pub(crate) capture: Option<Capture>,
}

impl CoreState {
    pub(crate) fn timeline(&mut self, core: CoreId, level: u8, blocks: Writer, phases: Option<Writer>) {
        (self.level, self.thread) = (level, core.0 as u16);
        (self.blocks, self.phases) = (Some(blocks), phases);
    }

    /// The core begins its part in the run: it looks for work from now on.
    pub(crate) fn enter(&mut self, clock: &impl Clock, refusal: &Refusal) {
        if let Some(pmu) = &mut self.pmu {
            pmu.open(refusal);
        }
        if self.level >= 3 {
            let now = clock.now().0;
            self.idle = Some((now, now));
        }
    }

    /// The core has done its last.
    pub(crate) fn leave(&mut self, clock: &impl Clock) {
        if self.level >= 3 {
            self.extend_idle(clock.now().0);
            self.close_idle(None);
        }
    }

    #[cold]
    pub(crate) fn idle(&mut self, clock: &impl Clock) {
        if self.level >= 3 {
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

    /// Another core may have made what comes next ready since this one was free.
    #[cold]
    pub(crate) fn stole(&mut self, clock: &impl Clock) {
        if self.level >= 3 {
            self.extend_idle(clock.now().0);
        }
        self.free_since = None;
    }

    /// A task became ready: not before the block that this core ran last, and after all that the thread has seen.
    #[inline]
    pub(crate) fn ready(&mut self, clock: &impl Clock) -> u64 {
        let now = clock.now_ordered().0.max(self.now.life.time.end);
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

    #[inline]
    pub(crate) fn take(&mut self, clock: &impl Clock, ready: u64) {
        // A reading may be a little early, but the task was not taken before it was ready.
        let now = self.free_since.take().unwrap_or_else(|| clock.now().0).max(ready);
        self.made_ready = None;
        if self.idle.is_some() {
            self.close_idle(Some(now));
        }
        self.now.life.dispatch = now;
    }

    #[inline]
    pub(crate) fn start(
        &mut self,
        clock: &impl Clock,
        core: CoreId,
        record: &TaskRecord,
        kernel: u16,
        lane: u8,
        block: u32,
    ) {
        let (local, ring) = (record.local, record.ring);
        self.now.life.time.name = BlockName { local, block, func: kernel, lane, ring, core: core.0 };
        if let Some(pmu) = &mut self.pmu {
            pmu.begin();
        }
        self.now.life.time.start = match self.level {
            // `take` has seen to the order.
            2.. => clock.now().0.max(self.now.life.dispatch),
            _ => clock.now_ordered().0,
        };
    }

    #[inline]
    pub(crate) fn end(&mut self, clock: &impl Clock) {
        let time = &mut self.now.life.time;
        // The two readings are not ordered against each other by the processor.
        time.end = clock.now().0.max(time.start);
        if let Some(pmu) = &mut self.pmu {
            pmu.end(time);
        }
        if self.level == 1 {
            self.blocks.as_mut().expect("a level has its writer").push(time);
        }
        (self.pending, self.now.resolve) = (true, u64::MAX);
    }

    /// The block is done; unless it was the last, others go on with its task from here.
    #[inline]
    pub(crate) fn hand_in(&mut self, clock: &impl Clock) {
        self.handed_in = Some(clock.now().0);
    }

    /// The task is complete: its successors come next.
    #[inline]
    pub(crate) fn complete(&mut self, clock: &impl Clock) {
        self.handed_in = None;
        if self.level >= 3 {
            self.now.resolve = clock.now().0;
        }
    }

    #[inline]
    pub(crate) fn finish(&mut self, clock: &impl Clock) {
        let stamped = self.handed_in.take().or(self.made_ready.take());
        let now = stamped.unwrap_or_else(|| clock.now().0);
        self.free_since = Some(now);
        if core::mem::take(&mut self.pending) {
            self.write_life(now);
        } else if let Some(phases) = &mut self.phases {
            // A task without a block, or one that was skipped: all the time went to those that follow it.
            let (start, phase) = (self.now.life.dispatch, Phase::Resolve as u16);
            phases.push(&PhaseTime { start, end: now, phase, thread: self.thread, tasks: 1 });
        }
    }

    #[inline]
    fn write_life(&mut self, now: u64) {
        let blocks = self.blocks.as_mut().expect("a level has its writer");
        let life = &mut self.now.life;
        life.finish = now.max(life.time.end);
        if self.level == 2 {
            return blocks.push::<BlockLife>(life);
        }
        self.now.resolve = self.now.resolve.clamp(life.time.end, life.finish);
        blocks.push(&self.now);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU64, Ordering};
    use ringlane_task::Ticks;

    /// Each look is ten ticks later.
    struct Ticking(AtomicU64);

    impl Clock for Ticking {
        fn now(&self) -> Ticks {
            Ticks(self.0.fetch_add(10, Ordering::Relaxed) + 10)
        }
    }

    #[test]
    fn a_core_that_goes_on_at_once_was_free_since_its_last_task_unless_it_submitted_since() {
        let (clock, mut core) = (Ticking(AtomicU64::new(0)), CoreState { level: 2, ..CoreState::default() });
        core.finish(&clock);
        core.take(&clock, 0);
        assert_eq!(core.now.life.dispatch, 10);
        core.finish(&clock);
        core.interrupt();
        core.take(&clock, 0);
        assert_eq!(core.now.life.dispatch, 30);
    }
}
