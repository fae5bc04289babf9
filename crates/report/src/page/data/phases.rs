//! What scheduler threads did. Where there are too many phases for a page, neighbours are merged into intervals that keep
//! the phase which took most of their time.

use ringlane_insight::Instrument;
use ringlane_insight::timeline::Timeline;
use ringlane_trace::swimlane::{Phase, PhaseRow};

use super::{NoteKind, Page, grouped, tick};
use crate::page::columns::Coding::{Delta, Plain};
use crate::page::columns::Column;
use crate::page::limits::{PHASES_MAX, STRETCHES_MAX};

impl Page {
    pub(super) fn add_phases(&mut self, timeline: &Timeline) {
        let phases = &timeline.phases;
        if phases.is_empty() {
            return;
        }
        let merged = (phases.len() > PHASES_MAX).then(|| {
            let all = timeline.makespan.0.saturating_mul(u64::from(timeline.scheduler_threads.max(1)));
            merged(phases, all / STRETCHES_MAX as u64 + 1)
        });
        if let Some(merged) = &merged {
            let text = format!(
                "{} phases of scheduler threads are merged into {} intervals, each with the phase that takes most of it.",
                grouped(phases.len()),
                grouped(merged.len())
            );
            self.note(Instrument::Swimlane, NoteKind::LeftOut, text);
        }
        self.run.names.phases = Phase::ALL.iter().map(|phase| phase.as_str()).collect();
        self.columns.extend(columns(merged.as_ref().unwrap_or(phases)));
    }
}

/// When each began and how long it took, and the other columns of its row.
fn columns(phases: &[PhaseRow]) -> Vec<Column> {
    let others = |name: &str| name != "start" && name != "end";
    let mut columns = Column::of_rows("phases.row", Delta, phases.iter().map(Some), others);
    columns.extend([
        Column::of("phases.start", Delta, phases.iter().map(|phase| tick(phase.start))),
        Column::of(
            "phases.took",
            Plain,
            phases.iter().map(|phase| (tick(phase.end) - tick(phase.start)).max(0)),
        ),
    ]);
    columns
}

/// Neighbours of one thread put together until they take at least `shortest`; a gap as long as that stays a gap.
fn merged(phases: &[PhaseRow], shortest: u64) -> Vec<PhaseRow> {
    let mut intervals = Vec::new();
    let mut open: Option<(PhaseRow, TimeByPhase)> = None;
    for next in phases {
        let fits = |interval: &PhaseRow| {
            interval.thread == next.thread
                && took(interval) < shortest
                && next.start.0.saturating_sub(interval.end.0) < shortest
        };
        if let Some(full) = open.take_if(|(interval, _)| !fits(interval)) {
            intervals.push(with_longest_phase(full));
        }
        let (interval, by_phase) =
            open.get_or_insert((PhaseRow { tasks: 0, ..*next }, TimeByPhase::default()));
        by_phase[next.phase as usize] += took(next);
        interval.end = interval.end.max(next.end);
        interval.tasks = interval.tasks.saturating_add(next.tasks);
    }
    intervals.extend(open.map(with_longest_phase));
    intervals
}

type TimeByPhase = [u64; Phase::ALL.len()];

fn took(phase: &PhaseRow) -> u64 {
    phase.end.0.saturating_sub(phase.start.0)
}

fn with_longest_phase((interval, by_phase): (PhaseRow, TimeByPhase)) -> PhaseRow {
    let longest = Phase::ALL.iter().max_by_key(|&&phase| by_phase[phase as usize]);
    PhaseRow { phase: longest.copied().unwrap_or(interval.phase), ..interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Ticks;

    fn row(thread: u32, phase: Phase, start: u64, end: u64) -> PhaseRow {
        PhaseRow { thread, phase, start: Ticks(start), end: Ticks(end), loop_: 0, tasks: 1 }
    }

    #[test]
    fn an_interval_keeps_the_phase_that_took_most_of_it_and_no_thread_joins_another() {
        let phases = [
            row(0, Phase::Idle, 0, 2),
            row(0, Phase::Dispatch, 2, 9),
            row(0, Phase::Idle, 9, 12),
            row(0, Phase::Resolve, 50, 51),
            row(1, Phase::Complete, 51, 52),
        ];
        let first = PhaseRow { tasks: 3, ..row(0, Phase::Dispatch, 0, 12) };
        assert_eq!(merged(&phases, 10), [first, phases[3], phases[4]]);
    }

    #[test]
    fn every_column_of_a_phase_is_on_the_page() {
        let names: Vec<_> =
            columns(&[row(0, Phase::Idle, 3, 2)]).into_iter().map(|column| column.name).collect();
        let expected = ["row.thread", "row.phase", "row.loop", "row.tasks", "start", "took"];
        assert_eq!(names, expected.map(|name| format!("phases.{name}")));
    }
}
