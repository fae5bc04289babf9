//! What insight says of the run: findings, where time went, and the critical path.

use ringlane_insight::bound::Placement;
use ringlane_insight::critical_path::{Cause, CauseTime, CriticalPath, Segment, observed};
use ringlane_insight::findings::{Known, findings};
use ringlane_insight::overhead::{KindTime, overhead};
use ringlane_insight::timeline::Timeline;
use ringlane_insight::verdict::{self, Verdict};
use ringlane_insight::{Instrument, Run};
use ringlane_trace::scopes::Scopes;
use serde::Serialize;

use super::{NoteKind, Page, exact, grouped};
use crate::page::columns::Coding::{Maybe, Plain};
use crate::page::columns::{Column, ColumnWriter};
use crate::page::limits::PATH_MAX;

/// Where time went: core time by kind and the critical path, each in parts.
#[derive(Serialize)]
pub struct TimeData {
    /// Core time by kind; not known below level 2.
    kinds: Vec<KindTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// The critical path by cause; the parts add up to the makespan.
    path: Vec<CauseTime>,
}

impl Page {
    /// Adds what can be said with what there is.
    pub(super) fn add_answers(&mut self, run: &Run, timeline: Option<&Timeline>, scopes: Option<&Scopes>) {
        let timeline = timeline.filter(|timeline| !timeline.blocks.is_empty());
        let overhead = timeline.and_then(|timeline| overhead(timeline).ok());
        let path = timeline.and_then(|timeline| observed(timeline).ok());
        // Counters that cannot be read have a note of their own.
        let gains = self.run.gains.as_ref();
        let verdict = timeline
            .zip(path.as_ref())
            .and_then(|(timeline, path)| verdict::of_run(run, timeline, path, gains));
        let found = findings(&Known {
            manifest: &self.run.manifest,
            timeline,
            overhead: overhead.as_ref(),
            verdict: verdict.as_ref(),
            path: path.as_ref(),
            scopes,
        });
        self.run.findings = found;
        if let Some(path) = path {
            // All cores together are the kinds again.
            let mut kinds = overhead.map(|overhead| overhead.kinds).unwrap_or_default();
            kinds.retain(|kind| kind.kind != Placement::Anywhere);
            self.run.time = Some(TimeData { kinds, verdict, path: path.causes() });
            self.add_path(path);
        }
    }
}

impl Page {
    /// Adds the segments of the path; of too many, neighbours are merged.
    fn add_path(&mut self, mut path: CriticalPath) {
        let segments = path.segments.len();
        if segments > PATH_MAX {
            path.segments = merged(&path.segments, path.whole().0 / PATH_MAX as u64 * 2);
            let text = format!(
                "{} segments of the critical path are merged into {}, each with the cause that takes most of it; the sums are exact.",
                grouped(segments),
                grouped(path.segments.len())
            );
            self.note(Instrument::Swimlane, NoteKind::LeftOut, text);
        }
        self.columns.extend(columns(&path));
    }
}

/// Neighbours put together until they are at least so long; each keeps cause, task and core of its longest part.
fn merged(segments: &[Segment], shortest: u64) -> Vec<Segment> {
    let mut merged: Vec<Segment> = Vec::new();
    let (mut longest, mut took) = (0, [0u64; Cause::ALL.len()]);
    for segment in segments {
        let Some(last) = merged.last_mut().filter(|last| last.ticks() < shortest) else {
            (longest, took) = (segment.ticks(), [0; Cause::ALL.len()]);
            took[place(segment.cause)] = segment.ticks();
            merged.push(*segment);
            continue;
        };
        let (start, end) = (last.start, segment.end);
        took[place(segment.cause)] += segment.ticks();
        if segment.ticks() > longest {
            (longest, *last) = (segment.ticks(), *segment);
        }
        let most = (0..took.len()).max_by_key(|&cause| took[cause]).unwrap_or(0);
        *last = Segment { start, end, cause: Cause::ALL[most], ..*last };
    }
    merged
}

fn place(cause: Cause) -> usize {
    Cause::ALL.iter().position(|&known| known == cause).unwrap_or(0)
}

/// The segments of the path; each begins where the one before ends.
fn columns(path: &CriticalPath) -> [Column; 4] {
    let segments = || path.segments.iter();
    let mut task = ColumnWriter::new("path.task", Maybe);
    let mut core = ColumnWriter::new("path.core", Maybe);
    let mut before = 0;
    for segment in segments() {
        let at = segment.task.map(|task| i64::from(task.0));
        task.push_maybe(at.map(|at| at - std::mem::replace(&mut before, at)));
        core.push_maybe(segment.core.map(|core| i64::from(core.0)));
    }
    [
        Column::of("path.took", Plain, segments().map(|segment| exact(segment.ticks()))),
        Column::of("path.cause", Plain, segments().map(|segment| place(segment.cause) as i64)),
        task.finish(),
        core.finish(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Ticks;

    #[test]
    fn merged_segments_cover_the_same_time_and_keep_what_took_most_of_it() {
        let segment = |start, end, cause| Segment {
            start: Ticks(start),
            end: Ticks(end),
            cause,
            task: None,
            core: None,
            kernel: None,
        };
        let path = [
            segment(0, 4, Cause::Submit),
            segment(4, 9, Cause::Compute),
            segment(9, 12, Cause::Submit),
            segment(12, 13, Cause::Compute),
        ];
        let facts: Vec<_> = merged(&path, 10).iter().map(|s| (s.start.0, s.end.0, s.cause)).collect();
        assert_eq!(facts, [(0, 12, Cause::Submit), (12, 13, Cause::Compute)]);
    }
}
