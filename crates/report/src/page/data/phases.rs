//! What scheduler threads did. Where there are too many phases for a page, neighbours are merged into stretches that keep
//! the phase which took most of their time.

use ringlane_insight::Instrument;
use ringlane_insight::timeline::Timeline;
use ringlane_trace::swimlane::{Phase, PhaseRow};

use super::{NoteKind, Page, grouped, tick};
use crate::page::columns::Coding::{Delta, Plain};
use crate::page::columns::Column;
use crate::page::limits::{PHASES_MAX, STRETCHES_MAX};

const PHASES: [Phase; 5] = [Phase::Complete, Phase::Resolve, Phase::Dispatch, Phase::Reclaim, Phase::Idle];

/// Some time of one thread.
struct Stretch {
    thread: u32,
    phase: usize,
    start: i64,
    end: i64,
    tasks: u64,
}

impl Page {
    pub(super) fn add_phases(&mut self, timeline: &Timeline) {
        let phases = &timeline.phases;
        if phases.is_empty() {
            return;
        }
        let stretches: Vec<Stretch> = if phases.len() > PHASES_MAX {
            let shortest = tick(timeline.makespan) * i64::from(timeline.scheduler_threads.max(1));
            let stretches = merged(phases, shortest / STRETCHES_MAX as i64 + 1);
            let text = format!(
                "{} phases of scheduler threads are merged into {} intervals, each with the phase that takes most of it.",
                grouped(phases.len()),
                grouped(stretches.len())
            );
            self.note(Instrument::Swimlane, NoteKind::LeftOut, text);
            stretches
        } else {
            phases.iter().map(Stretch::of).collect()
        };
        let column =
            |name, coding, of: fn(&Stretch) -> i64| Column::of(name, coding, stretches.iter().map(of));
        self.columns.extend([
            column("phases.thread", Delta, |stretch| i64::from(stretch.thread)),
            column("phases.phase", Plain, |stretch| stretch.phase as i64),
            column("phases.start", Delta, |stretch| stretch.start),
            column("phases.took", Plain, |stretch| stretch.end - stretch.start),
            column("phases.tasks", Plain, |stretch| super::exact(stretch.tasks)),
        ]);
    }
}

impl Stretch {
    fn of(row: &PhaseRow) -> Self {
        let (start, end) = (tick(row.start), tick(row.end).max(tick(row.start)));
        Stretch { thread: row.thread, phase: place(row.phase), start, end, tasks: row.tasks }
    }
}

fn place(phase: Phase) -> usize {
    PHASES.iter().position(|&known| known == phase).unwrap_or(PHASES.len())
}

/// Neighbours of one thread put together until they are at least so long; a gap as long as that stays a gap.
fn merged(phases: &[PhaseRow], shortest: i64) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut open: Option<(Stretch, [i64; PHASES.len() + 1])> = None;
    let close = |(mut stretch, took): (Stretch, [i64; PHASES.len() + 1])| {
        stretch.phase = (0..took.len()).max_by_key(|&phase| took[phase]).unwrap_or(0);
        stretch
    };
    for next in phases.iter().map(Stretch::of) {
        let fits = |(stretch, _): &(Stretch, _)| {
            stretch.thread == next.thread
                && stretch.end - stretch.start < shortest
                && next.start - stretch.end < shortest
        };
        if let Some(full) = open.take_if(|open| !fits(open)) {
            stretches.push(close(full));
        }
        let took = next.end - next.start;
        let (stretch, by_phase) = open.get_or_insert_with(|| {
            let first = Stretch { tasks: 0, ..Stretch { thread: next.thread, ..next } };
            (first, [0; PHASES.len() + 1])
        });
        by_phase[next.phase] += took;
        stretch.end = stretch.end.max(next.end);
        stretch.tasks = stretch.tasks.saturating_add(next.tasks);
    }
    stretches.extend(open.map(close));
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Ticks;

    fn row(thread: u32, phase: Phase, start: u64, end: u64) -> PhaseRow {
        PhaseRow { thread, phase, start: Ticks(start), end: Ticks(end), loop_: 0, tasks: 1 }
    }

    #[test]
    fn a_stretch_keeps_the_phase_that_took_most_of_it_and_no_thread_joins_another() {
        let phases = [
            row(0, Phase::Idle, 0, 2),
            row(0, Phase::Dispatch, 2, 9),
            row(0, Phase::Idle, 9, 12),
            row(0, Phase::Resolve, 50, 51),
            row(1, Phase::Complete, 51, 52),
        ];
        let stretches = merged(&phases, 10);
        let facts: Vec<_> =
            stretches.iter().map(|s| (s.thread, PHASES[s.phase], s.start, s.end, s.tasks)).collect();
        assert_eq!(
            facts,
            [(0, Phase::Dispatch, 0, 12, 3), (0, Phase::Resolve, 50, 51, 1), (1, Phase::Complete, 51, 52, 1)]
        );
    }
}
