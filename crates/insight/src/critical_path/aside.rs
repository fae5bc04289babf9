//! What explains time of the orchestrator that is no submit: copies between host and chip, and on `cpu` the blocks that the
//! submitting thread ran itself.

use ringlane_task::{CoreId, Ticks};

use super::{Cause, Segment};
use crate::CoreKind;
use crate::timeline::Timeline;

/// Known stretches, asked for from the latest to the earliest.
pub(super) struct Aside {
    /// By their ends; the latest is last.
    stretches: Vec<Segment>,
}

impl Aside {
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
        let mut stretches: Vec<_> = copies.chain(own).filter(|stretch| stretch.start < stretch.end).collect();
        stretches.sort_by_key(|stretch| (stretch.end, stretch.start));
        Aside { stretches }
    }

    /// The latest stretch that began before this moment. Moments only get earlier.
    pub(super) fn before(&mut self, now: Ticks) -> Option<Segment> {
        while self.stretches.last().is_some_and(|stretch| stretch.start >= now) {
            self.stretches.pop();
        }
        self.stretches.last().copied()
    }
}
