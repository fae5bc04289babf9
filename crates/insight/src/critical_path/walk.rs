//! Walking back from the end of a run to its beginning, always to what was waited for last.

use std::collections::HashMap;

use ringlane_task::{CoreId, Ticks};
use ringlane_trace::swimlane::BlockRow;

use super::fullness::{Fullness, IsFull};
use super::off_path::OffPath;
use super::{Cause, CriticalPath, Segment};
use crate::timeline::{TaskIndex, Timeline};
use crate::waits::{Wait, waits};

/// The state of the walk: everything from `now` on is explained.
pub(super) struct Walk<'t> {
    timeline: &'t Timeline,
    waits: Vec<Wait>,
    fullness: Fullness,
    off_path: OffPath,
    /// For each core the ends of its blocks, in order.
    ends: HashMap<CoreId, Vec<Ticks>>,
    /// The ends of all blocks, in order, and of which task each is; empty if the orchestration read no values.
    by_end: Vec<(Ticks, TaskIndex)>,
    /// When blocks were dispatched and when they began, in order, by their places in the timeline.
    begins: Vec<(Ticks, u32)>,
    now: Ticks,
    /// What is explained so far, the latest first.
    segments: Vec<Segment>,
}

/// What the walk explains next, going back in time.
enum Next {
    /// A task that was done at `now`.
    Task(TaskIndex),
    /// A block that was dispatched at `now`.
    Block(TaskIndex, BlockRow),
    /// The orchestrator, which came to the submit of this task at `now`.
    Before(TaskIndex),
    /// The start of the run.
    Begin,
}

impl<'t> Walk<'t> {
    pub(super) fn new(timeline: &'t Timeline) -> Self {
        let mut ends = HashMap::<CoreId, Vec<Ticks>>::new();
        for block in &timeline.blocks {
            ends.entry(block.core).or_default().push(block.end);
        }
        ends.values_mut().for_each(|ends| ends.sort_unstable());
        Walk {
            timeline,
            waits: waits(timeline),
            fullness: Fullness::of(timeline),
            off_path: OffPath::of(timeline),
            ends,
            by_end: ends_in_order(timeline),
            begins: begins_in_order(timeline),
            now: timeline.makespan,
            segments: Vec::new(),
        }
    }

    pub(super) fn path(mut self) -> CriticalPath {
        let mut next = self.end();
        loop {
            next = match next {
                Next::Task(task) => self.task(task),
                Next::Block(task, block) => self.dispatched(task, &block),
                Next::Before(task) => self.orchestrator(task),
                Next::Begin => break,
            };
        }
        self.on_the_way(Ticks(0), Cause::Submit, None);
        self.segments.reverse();
        CriticalPath { segments: self.segments }
    }

    /// What came last: a block, or a submit after all blocks.
    fn end(&mut self) -> Next {
        let last_block = self.timeline.blocks.iter().max_by_key(|block| block.end);
        let last_end = last_block.map(|block| block.end).unwrap_or_default();
        let last = self.timeline.indices().next_back();
        let submit = last.and_then(|last| Some((last, self.timeline.task(last).submit?)));
        match (last_block, submit) {
            (_, Some((task, submit))) if submit.end > last_end => {
                self.on_the_way(submit.end, Cause::Submit, None);
                self.submit(task)
            }
            (Some(block), _) => {
                self.on_the_way(block.end, Cause::Scheduler, None);
                self.timeline.find(block.task_id).map_or(Next::Begin, Next::Task)
            }
            (None, _) => Next::Begin,
        }
    }

    /// Explains a task that was done at `now`, back to what made it ready.
    fn task(&mut self, task: TaskIndex) -> Next {
        let Some(&block) = self.timeline.last_block(task) else { return self.ready(task) };
        let start = block.start.min(self.now);
        let (core, kernel) = (Some(block.core), Some(block.func_id));
        self.push(Segment { start, end: self.now, cause: Cause::Compute, task: Some(task), core, kernel });
        self.dispatched(task, &block)
    }

    /// Explains a block that was dispatched at `now`, back to what made its task ready, or to what kept all cores from it.
    fn dispatched(&mut self, task: TaskIndex, block: &BlockRow) -> Next {
        self.wait(task, block);
        self.crowd(task, block).unwrap_or_else(|| self.ready(task))
    }

    /// Explains a task that had all it needed at `now`, back to what it waited for last.
    fn ready(&mut self, task: TaskIndex) -> Next {
        let wait = self.waits[task.at()];
        let submit = self.timeline.task(task).submit;
        match (wait.producer, submit) {
            (_, Some(submit)) if self.waits_for_submit(task) => {
                self.back_to(submit.end, Cause::Scheduler, Some(task));
                self.submit(task)
            }
            (_, None) if self.waits_for_submit(task) => Next::Begin,
            (Some(producer), submit) => {
                // A producer that ended within the submit: what is left of that is the orchestrator's.
                let submitted = submit.map_or(wait.data, |submit| submit.end.max(wait.data));
                self.back_to(submitted, Cause::Scheduler, Some(task));
                self.back_to(wait.data, Cause::Submit, Some(task));
                Next::Task(producer)
            }
            (None, _) => Next::Begin,
        }
    }

    /// Whether everything a task waits for had ended before it was submitted: it waited for its submit. Where submits are not
    /// recorded, that is so if the engine did not make it wait.
    fn waits_for_submit(&self, task: TaskIndex) -> bool {
        let life = self.timeline.task(task);
        life.submit.map_or(!life.is_wired, |submit| self.waits[task.at()].data <= submit.start)
    }

    /// Explains what a block waited for after it had all it needs and until it had its core.
    fn wait(&mut self, task: TaskIndex, block: &BlockRow) {
        // Dispatched ahead, it waited for the block before it on its core.
        let ends = self.ends.get(&block.core).map_or(&[][..], Vec::as_slice);
        let before = ends[..ends.partition_point(|&end| end <= block.start)].last().copied();
        let free = before.unwrap_or_default().max(block.dispatch);
        self.back_to(free, Cause::Scheduler, Some(task));
        // Before that it waited for a core, if it could not have run on another one.
        let runnable = self.waits[task.at()].runnable().min(self.now);
        let placement = self.timeline.placement(block.func_id);
        let mut parts = Vec::new();
        self.fullness.backwards(placement, runnable, self.now, |start, end, is_full| {
            parts.push((start, end, if is_full == IsFull::Yes { Cause::Core } else { Cause::Scheduler }));
        });
        for (start, end, cause) in parts {
            self.push(Segment { start, end, cause, task: Some(task), core: None, kernel: None });
        }
    }

    /// Explains a block that was submitted at `now` to cores that were full, and stayed so until it had its own: submitted
    /// earlier, it would have waited for the same blocks before it. So it is cores that were short ever since they became
    /// full, and the path goes on with the block that filled them. A block that waited for another task's end is none
    /// of these: ready earlier, it would have been before others.
    fn crowd(&mut self, task: TaskIndex, block: &BlockRow) -> Option<Next> {
        let waited =
            self.segments.last().is_some_and(|last| (last.cause, last.task) == (Cause::Core, Some(task)));
        if !waited || !self.waits_for_submit(task) {
            return None;
        }
        let placement = self.timeline.placement(block.func_id);
        let full_since = self.fullness.since(placement, self.now).filter(|&since| since < self.now)?;
        let first = self.begins.partition_point(|&(at, _)| at < full_since);
        let at_once = self.begins[first..].iter().take_while(|&&(at, _)| at == full_since);
        let filled = at_once.map(|&(_, block)| self.timeline.blocks[block as usize]);
        let filled = filled.filter(|block| placement.admits(self.timeline.kind_of(block)));
        let known = filled.filter_map(|block| Some((self.timeline.find(block.task_id)?, block)));
        let (filler, block) = known.max_by_key(|&(task, _)| (self.waits[task.at()].runnable(), task))?;
        self.back_to(full_since, Cause::Core, Some(task));
        Some(Next::Block(filler, block))
    }

    /// Explains a submit that ended at `now`, or in which a task became ready at `now`.
    fn submit(&mut self, task: TaskIndex) -> Next {
        if let Some(submit) = self.timeline.task(task).submit {
            let stalled = Ticks(submit.start.0.saturating_add(submit.stall.0)).min(submit.end);
            self.back_to(stalled, Cause::Submit, Some(task));
            self.back_to(submit.start, Cause::RingFull, Some(task));
        }
        Next::Before(task)
    }

    /// The orchestrator before a submit: what it did since the submit before, and that one.
    fn orchestrator(&mut self, task: TaskIndex) -> Next {
        if let Some(awaited) = self.read(task) {
            return Next::Task(awaited);
        }
        let mut earlier = (0..task.0).rev().map(TaskIndex);
        let before = earlier.find_map(|before| Some((before, self.timeline.task(before).submit?)));
        match before {
            Some((before, submit)) => {
                self.on_the_way(submit.end, Cause::Submit, None);
                self.submit(before)
            }
            None => Next::Begin,
        }
    }

    /// Before this submit the orchestration waited for a value: explains the time since, and that between the end of the
    /// task that was waited for and the end of the wait. Gives that task: the last to end within the wait.
    fn read(&mut self, task: TaskIndex) -> Option<TaskIndex> {
        let submit = self.timeline.task(task).submit.filter(|submit| submit.read > Ticks(0))?;
        self.on_the_way(submit.read_end, Cause::Submit, None);
        let began = Ticks(submit.read_end.0.saturating_sub(submit.read.0));
        let before = &self.by_end[..self.by_end.partition_point(|&(end, _)| end <= self.now)];
        let awaited = before.last().filter(|&&(end, awaited)| end > began && awaited < task).copied();
        let (end, awaited) = awaited.map_or((began, None), |(end, awaited)| (end, Some(awaited)));
        self.back_to(end, Cause::Data, None);
        awaited
    }

    /// Explains everything since `start`.
    fn back_to(&mut self, start: Ticks, cause: Cause, task: Option<TaskIndex>) {
        self.push(Segment {
            start: start.min(self.now),
            end: self.now,
            cause,
            task,
            core: None,
            kernel: None,
        });
    }

    /// The same for time of the orchestrator, or of no thread, except known off-path intervals.
    fn on_the_way(&mut self, start: Ticks, cause: Cause, task: Option<TaskIndex>) {
        while let Some(interval) =
            self.off_path.before(self.now).filter(|interval| interval.end > start && start < self.now)
        {
            self.back_to(interval.end, cause, task);
            self.push(Segment { start: interval.start.max(start), end: self.now, ..interval });
        }
        self.back_to(start, cause, task);
    }

    fn push(&mut self, segment: Segment) {
        debug_assert_eq!(segment.end, self.now, "segments touch");
        if segment.start >= segment.end {
            return;
        }
        self.now = segment.start;
        match self.segments.last_mut() {
            // One cause goes on.
            Some(later)
                if (later.cause, later.task, later.kernel)
                    == (segment.cause, segment.task, segment.kernel) =>
            {
                later.start = segment.start;
            }
            _ => self.segments.push(segment),
        }
    }
}

/// When blocks ended, in order; empty unless the orchestration waited for values.
fn ends_in_order(timeline: &Timeline) -> Vec<(Ticks, TaskIndex)> {
    if timeline.tasks.iter().all(|task| task.submit.is_none_or(|submit| submit.read == Ticks(0))) {
        return Vec::new();
    }
    let of_task = |task: TaskIndex| timeline.blocks_of(task).iter().map(move |block| (block.end, task));
    let mut ends: Vec<_> = timeline.indices().flat_map(of_task).collect();
    ends.sort_unstable();
    ends
}

/// When blocks were dispatched and when they began, in order.
fn begins_in_order(timeline: &Timeline) -> Vec<(Ticks, u32)> {
    let both = |(block, place): (&BlockRow, u32)| [(block.dispatch, place), (block.start, place)];
    let mut begins: Vec<_> = timeline.blocks.iter().zip(0..).flat_map(both).collect();
    begins.sort_unstable();
    begins
}
