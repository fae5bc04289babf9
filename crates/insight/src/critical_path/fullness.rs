//! When every core that a block could have run on was busy.

use ringlane_task::Ticks;

use crate::CoreKind;
use crate::bound::Placement;
use crate::sweep::Sweep;
use crate::timeline::Timeline;

/// Stretches of time in which all cores of a kind, or all cores, were busy.
pub(super) struct Fullness {
    /// By kind, then for all cores together.
    full: [Vec<(Ticks, Ticks)>; CoreKind::COUNT + 1],
}

impl Fullness {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let cores = timeline.core_counts();
        let mut sweep = Sweep::<{ CoreKind::COUNT }>::with_capacity(2 * timeline.blocks.len());
        for block in &timeline.blocks {
            sweep.during(timeline.kind_of(block) as usize, 1, block.start, block.end);
        }
        let mut full: [Vec<(Ticks, Ticks)>; CoreKind::COUNT + 1] = Default::default();
        sweep.stretches(timeline.makespan, |stretch| {
            let is_full =
                CoreKind::ALL.map(|kind| stretch.counts[kind as usize] >= i64::from(cores.of(kind)));
            let all = is_full.iter().all(|&is_full| is_full);
            for (stretches, is_full) in full.iter_mut().zip(is_full.into_iter().chain([all])) {
                match stretches.last_mut() {
                    _ if !is_full => {}
                    Some(last) if last.1 == stretch.start => last.1 = stretch.end,
                    _ => stretches.push((stretch.start, stretch.end)),
                }
            }
        });
        Fullness { full }
    }

    /// The parts of a stretch of time, latest first, each with whether every core of the placement was busy.
    pub(super) fn backwards(
        &self,
        placement: Placement,
        start: Ticks,
        mut end: Ticks,
        mut each: impl FnMut(Ticks, Ticks, IsFull),
    ) {
        let full = match placement {
            Placement::On(kind) => &self.full[kind as usize],
            Placement::Anywhere => &self.full[CoreKind::COUNT],
        };
        let later = full.partition_point(|&(from, _)| from < end);
        for &(from, to) in full[..later].iter().rev().take_while(|&&(_, to)| to > start) {
            let (from, to) = (from.max(start), to.min(end));
            each(to, end, IsFull::No);
            each(from, to, IsFull::Yes);
            end = from;
        }
        each(start, end, IsFull::No);
    }
}

/// Whether every core that would do was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsFull {
    Yes,
    No,
}
