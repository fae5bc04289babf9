//! What each scheduler thread did with its time.

use ringlane_task::Ticks;
use ringlane_trace::swimlane::{Phase, PhaseRow};

use crate::timeline::Timeline;

/// The time of one scheduler thread, by phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadBudget {
    /// The thread; on `cpu` the worker.
    pub thread: u32,
    /// Time in each phase, in the order of [`Phase::ALL`].
    pub phases: Vec<(Phase, Ticks)>,
    /// How many tasks it handed out.
    pub dispatched: u64,
    /// Time in none of them: on `cpu` the worker's own blocks.
    pub elsewhere: Ticks,
}

/// One for each thread that has phases.
pub(super) fn budgets(timeline: &Timeline) -> Vec<ThreadBudget> {
    let threads = timeline.phases.chunk_by(|a, b| a.thread == b.thread);
    threads.map(|rows| budget(rows, timeline.makespan)).collect()
}

fn budget(rows: &[PhaseRow], makespan: Ticks) -> ThreadBudget {
    let total = |phase: Phase| {
        let times =
            rows.iter().filter(|row| row.phase == phase).map(|row| row.end.0.saturating_sub(row.start.0));
        Ticks(times.fold(0, u64::saturating_add))
    };
    let phases: Vec<_> = Phase::ALL.iter().map(|&phase| (phase, total(phase))).collect();
    let told = phases.iter().fold(0u64, |sum, (_, ticks)| sum.saturating_add(ticks.0));
    let handed_out = rows.iter().filter(|row| row.phase == Phase::Dispatch).map(|row| row.tasks);
    ThreadBudget {
        thread: rows[0].thread,
        dispatched: handed_out.fold(0, u64::saturating_add),
        elsewhere: Ticks(makespan.0.saturating_sub(told)),
        phases,
    }
}
