//! How long threads without work took to find some: the delays of their polls, steals and wake-ups, and times without a core.
//!
//! Delays are measured on a clock that runs only while a task waits in a queue, where another thread can take it:
//!
//! ```text
//! a task waits   ░░░░░░░░████░░░░░░░░░░██████░░░░     █ the clock runs
//! thread 2 idle     ├──────────────────────┤          its delay: 4 + 4
//! ```
//! An idle thread of the model takes a task once the same delay has passed on the model's clock. So a task that another thread
//! takes first counts for both, and time without any task for none.

use std::collections::HashMap;

use ringlane_task::TaskId;
use ringlane_trace::swimlane::{BlockRow, Phase, PhaseRow, Swimlane};

/// What a thread without a task meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meets {
    /// Tasks that wait elsewhere: it takes one as soon as it can.
    Tasks = 0,
    /// Nothing: it polls, and may sleep.
    Nothing = 1,
}

/// Delays where none was recorded, in nanoseconds: a steal, and half the longest time between two polls with a steal.
const DEFAULT_NS: [u64; 2] = [500, 1_500];

/// The delays of the threads of one run, in ticks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delays {
    /// By thread, by what it met, in order.
    of_threads: Vec<[Vec<u64>; 2]>,
    /// The usual delay, by what a thread met.
    usual: [u64; 2],
}

impl Delays {
    /// Those of a run in which nothing was ever waited for.
    pub(super) fn usual(clock_freq_hz: u64) -> Self {
        let ticks = |ns: u64| (u128::from(ns) * u128::from(clock_freq_hz) / 1_000_000_000) as u64;
        Delays { of_threads: Vec::new(), usual: DEFAULT_NS.map(ticks) }
    }

    /// Those of a recorded run.
    pub(super) fn read(recorded: &Swimlane) -> Self {
        let clock = WaitingClock::of(recorded);
        let threads = recorded.head.meta.core_types.len();
        let mut delays = Delays::usual(recorded.head.meta.clock_freq_hz);
        delays.of_threads = vec![Default::default(); threads];
        let last = last_taken(recorded, threads);
        // Before its first submit the submitting thread does not wait for tasks.
        let first = recorded.submits.iter().map(|submit| submit.start.0).min().unwrap_or(0);
        let waits =
            |phase: &&PhaseRow| phase.phase == Phase::Idle && (phase.thread > 0 || phase.end.0 > first);
        let mut idle: Vec<_> = recorded.phases.iter().filter(waits).collect();
        idle.sort_by_key(|phase| (phase.thread, phase.start));
        for phase in idle {
            let Some(lists) = delays.of_threads.get_mut(phase.thread as usize) else { continue };
            let meets = if clock.runs_at(phase.start.0) { Meets::Tasks } else { Meets::Nothing };
            let took_none = last[phase.thread as usize] < phase.end.0;
            // A thread that took no task any more would have taken the last one later than the thread that did.
            lists[meets as usize].push(clock.between(phase.start.0, phase.end.0) + u64::from(took_none));
        }
        for meets in [Meets::Tasks, Meets::Nothing] {
            let all = delays.of_threads.iter().flat_map(|lists| &lists[meets as usize]).copied();
            delays.usual[meets as usize] = median(all.collect()).unwrap_or(delays.usual[meets as usize]);
        }
        delays
    }

    /// The delay of a thread when it is idle for the `number`th time in this way. Threads that were not there are like those
    /// that were, except the submitting one.
    pub(super) fn of(&self, thread: usize, meets: Meets, number: usize) -> u64 {
        let helpers = self.of_threads.len().saturating_sub(1);
        let like = match (thread, helpers) {
            (0, _) => 0,
            (_, 0) => return self.usual[meets as usize],
            _ => 1 + (thread - 1) % helpers,
        };
        let recorded = self.of_threads.get(like).and_then(|lists| lists[meets as usize].get(number));
        recorded.copied().unwrap_or(self.usual[meets as usize])
    }
}

/// When each thread took its last block.
fn last_taken(recorded: &Swimlane, threads: usize) -> Vec<u64> {
    let mut last = vec![0; threads];
    for block in &recorded.blocks {
        if let Some(last) = last.get_mut(block.core.0 as usize) {
            *last = block.dispatch.0.max(*last);
        }
    }
    last
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// A clock that runs while a task waits in a queue.
struct WaitingClock {
    /// From when the clock runs, or is stopped, alternately; and what it shows then.
    changes: Vec<(u64, u64)>,
}

impl WaitingClock {
    fn of(recorded: &Swimlane) -> Self {
        let taken = taken(recorded);
        let mut changes: Vec<(u64, i64)> = Vec::new();
        for task in &recorded.tasks {
            if let Some(&taken) = taken.get(&task.task_id)
                && task.ready.0 < taken
            {
                changes.extend([(task.ready.0, 1), (taken, -1)]);
            }
        }
        // At one time, those that begin to wait first: the clock need not stop.
        changes.sort_by_key(|&(at, change)| (at, -change));
        let (mut waiting, mut shown, mut since) = (0, 0, 0);
        let mut alternating = Vec::new();
        for (at, change) in changes {
            if waiting == 0 {
                (since, _) = (at, alternating.push((at, shown)));
            }
            waiting += change;
            if waiting == 0 {
                shown += at - since;
                alternating.push((at, shown));
            }
        }
        WaitingClock { changes: alternating }
    }

    /// Whether it runs just after this time.
    fn runs_at(&self, at: u64) -> bool {
        self.changes.partition_point(|&(from, _)| from <= at) % 2 == 1
    }

    fn at(&self, at: u64) -> u64 {
        match self.changes.partition_point(|&(from, _)| from <= at) {
            0 => 0,
            passed => {
                let (from, shown) = self.changes[passed - 1];
                if passed % 2 == 1 { shown + (at - from) } else { shown }
            }
        }
    }

    fn between(&self, start: u64, end: u64) -> u64 {
        self.at(end.max(start)) - self.at(start)
    }
}

/// When the last block of each task was taken, of those that waited in a queue. A thread keeps the first task that its own one
/// makes ready; no other can take that.
fn taken(recorded: &Swimlane) -> HashMap<TaskId, u64> {
    let ready: HashMap<TaskId, u64> =
        recorded.tasks.iter().map(|task| (task.task_id, task.ready.0)).collect();
    let mut rows: Vec<&BlockRow> = recorded.blocks.iter().collect();
    rows.sort_by_key(|row| (row.core, row.dispatch));
    let mut taken = HashMap::new();
    let mut before: Option<&BlockRow> = None;
    for row in rows {
        let last = before.filter(|last| last.core == row.core);
        let ready = ready.get(&row.task_id).copied().unwrap_or(0);
        let is_kept = last
            .is_some_and(|last| (last.end.0..=last.finish.0).contains(&ready) && row.dispatch == last.finish);
        if !is_kept || taken.contains_key(&row.task_id) {
            let latest = taken.entry(row.task_id).or_insert(row.dispatch.0);
            *latest = row.dispatch.0.max(*latest);
        }
        before = Some(row);
    }
    taken
}

#[cfg(test)]
mod tests {
    use ringlane_task::{CoreId, Ticks};
    use ringlane_trace::swimlane::{PhaseRow, SubmitRow, SwimlaneHead, SwimlaneLevel, SwimlaneMeta, TaskRow};

    use super::*;

    fn block(core: u32, task: u64, dispatch: u64, end: u64) -> BlockRow {
        let [dispatch, end] = [dispatch, end].map(Ticks);
        let (start, finish) = (dispatch, end);
        BlockRow {
            core: CoreId(core),
            task_id: TaskId(task),
            dispatch,
            start,
            end,
            finish,
            ..BlockRow::default()
        }
    }

    fn ready(task: u64, at: u64) -> TaskRow {
        TaskRow { task_id: TaskId(task), ready: Ticks(at), ..TaskRow::default() }
    }

    fn idle(thread: u32, start: u64, end: u64) -> PhaseRow {
        let [start, end] = [start, end].map(Ticks);
        PhaseRow { thread, phase: Phase::Idle, start, end, loop_: 0, tasks: 0 }
    }

    fn recorded(blocks: Vec<BlockRow>, tasks: Vec<TaskRow>, phases: Vec<PhaseRow>) -> Swimlane {
        let core_types = vec!["cpu".to_string(); 2];
        let meta = SwimlaneMeta { clock_freq_hz: 1_000_000_000, core_types, ..SwimlaneMeta::default() };
        let (level, counts) = (SwimlaneLevel::Phases, Default::default());
        let head = SwimlaneHead { level, meta, counts, copies: None, launches: None };
        let submits = vec![SubmitRow { start: Ticks(5), ..SubmitRow::default() }];
        Swimlane { head, blocks, tasks, edges: Vec::new(), phases, submits }
    }

    #[test]
    fn a_delay_is_the_time_in_which_a_task_waited() {
        let blocks = vec![block(0, 1, 40, 300), block(1, 2, 100, 200)];
        let tasks = vec![ready(1, 10), ready(2, 60)];
        let phases = vec![idle(1, 20, 100), idle(1, 200, 300)];
        let delays = Delays::read(&recorded(blocks, tasks, phases));
        assert_eq!(delays.of(1, Meets::Tasks, 0), 20 + 40);
        assert_eq!(delays.of(1, Meets::Nothing, 0), 1, "it took nothing any more");
    }

    #[test]
    fn nobody_waits_for_a_task_that_its_thread_keeps() {
        // The first task makes the second one ready before its thread is free.
        let first = BlockRow { finish: Ticks(110), ..block(0, 1, 10, 100) };
        let tasks = vec![ready(1, 10), ready(2, 102)];
        let kept = vec![first, block(0, 2, 110, 200)];
        let of = |blocks| Delays::read(&recorded(blocks, tasks.clone(), vec![idle(1, 0, 200)]));
        assert_eq!(of(kept).of(1, Meets::Nothing, 0), 1);
        assert_eq!(of(vec![first, block(1, 2, 150, 200)]).of(1, Meets::Nothing, 0), 150 - 102 + 1);
    }

    #[test]
    fn the_submitting_thread_does_not_wait_before_its_first_submit() {
        let phases = vec![idle(0, 0, 4), idle(0, 20, 30)];
        let delays = Delays::read(&recorded(vec![block(0, 1, 30, 40)], vec![ready(1, 18)], phases));
        assert_eq!(delays.of(0, Meets::Tasks, 0), 10);
        assert!(delays.of_threads[0][Meets::Nothing as usize].is_empty());
    }

    #[test]
    fn a_thread_that_was_not_there_is_like_one_that_was_and_later_delays_are_usual() {
        let (blocks, tasks) = (vec![block(1, 1, 37, 50)], vec![ready(1, 30)]);
        let delays = Delays::read(&recorded(blocks, tasks, vec![idle(1, 0, 37)]));
        assert_eq!([1, 2, 3].map(|thread| delays.of(thread, Meets::Nothing, 0)), [7; 3]);
        assert_eq!(delays.of(1, Meets::Nothing, 5), 7);
        let alone = Delays::usual(1_000_000_000);
        assert_eq!([Meets::Tasks, Meets::Nothing].map(|meets| alone.of(1, meets, 0)), DEFAULT_NS);
    }
}
