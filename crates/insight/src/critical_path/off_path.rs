//! Off-path intervals: the orchestrator's time that is no submit. They are copies between host and chip, and on `cpu` the
//! blocks that the submitting thread ran itself.

use ringlane_task::{CoreId, Ticks};

use super::{Cause, Segment};
use crate::CoreKind;
use crate::timeline::Timeline;

/// The off-path intervals, asked for from the latest to the earliest.
pub(super) struct OffPath {
    /// By their ends; the latest is last.
    intervals: Vec<Segment>,
}

impl OffPath {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let copies = timeline.copies.iter().map(|copy| Segment {
            start: copy.start,
            end: copy.end,
            cause: Cause::Data,
            task: None,
            core: None,
            kernel: None,
        });
        let submits = timeline.cores.first() == Some(&CoreKind::Cpu);
        let own =
            timeline.blocks.iter().filter(|block| submits && block.core == CoreId(0)).map(|block| Segment {
                start: block.start,
                end: block.end,
                cause: Cause::Compute,
                task: timeline.find(block.task_id),
                core: Some(block.core),
                kernel: Some(block.func_id),
            });
        let mut intervals: Vec<_> =
            copies.chain(own).filter(|interval| interval.start < interval.end).collect();
        intervals.sort_by_key(|interval| (interval.end, interval.start));
        OffPath { intervals }
    }

    /// The latest interval that began before this moment. Moments only get earlier.
    pub(super) fn before(&mut self, now: Ticks) -> Option<Segment> {
        while self.intervals.last().is_some_and(|interval| interval.start >= now) {
            self.intervals.pop();
        }
        self.intervals.last().copied()
    }
}
