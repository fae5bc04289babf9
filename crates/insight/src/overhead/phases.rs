//! What each scheduler thread did with its time.

use std::collections::BTreeMap;

use ringlane_task::Ticks;
use ringlane_trace::swimlane::{Phase, PhaseRow};
use serde::Serialize;

use crate::timeline::Timeline;

/// The time of one scheduler thread, by phase, µs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadBudget {
    /// The thread; on `cpu` the worker.
    pub thread: u32,
    /// Time in each phase.
    pub phases_us: BTreeMap<Phase, f64>,
    /// Time in none of them: on `cpu` the worker's own blocks.
    pub elsewhere_us: f64,
    /// The number of tasks that it dispatched.
    pub dispatched: u64,
}

/// One for each thread that has phases.
pub(super) fn budgets(timeline: &Timeline) -> Vec<ThreadBudget> {
    let threads = timeline.phases.chunk_by(|a, b| a.thread == b.thread);
    threads.map(|rows| budget(rows, timeline)).collect()
}

fn budget(rows: &[PhaseRow], timeline: &Timeline) -> ThreadBudget {
    let total = |phase: Phase| {
        let times =
            rows.iter().filter(|row| row.phase == phase).map(|row| row.end.0.saturating_sub(row.start.0));
        Ticks(times.fold(0, u64::saturating_add))
    };
    let phases: Vec<_> = Phase::ALL.iter().map(|&phase| (phase, total(phase))).collect();
    let recorded = phases.iter().fold(0u64, |sum, (_, ticks)| sum.saturating_add(ticks.0));
    let dispatched = rows.iter().filter(|row| row.phase == Phase::Dispatch).map(|row| row.tasks);
    ThreadBudget {
        thread: rows[0].thread,
        phases_us: phases.into_iter().map(|(phase, ticks)| (phase, timeline.us(ticks))).collect(),
        elsewhere_us: timeline.us(Ticks(timeline.makespan.0.saturating_sub(recorded))),
        dispatched: dispatched.fold(0, u64::saturating_add),
    }
}
