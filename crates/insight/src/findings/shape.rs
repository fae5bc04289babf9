//! What the shape of the run shows: how far it is from the best there could be, cores that run out of work, blocks that
//! are much slower than others of their kernel.

use std::collections::HashMap;

use ringlane_task::{KernelId, Ticks};
use ringlane_trace::swimlane::BlockRow;

use super::{Finding, Known, Severity, Target};
use crate::bound::of_timeline;
use crate::sweep::Sweep;
use crate::timeline::{EdgeOrigin, Timeline};
use crate::units::{counted, percent_text, time_text};

/// A block is an outlier if it takes this number of times the median of its kernel's blocks,
const OUTLIER: u64 = 4;
/// of which there are at least this number,
const OUTLIER_BLOCKS: usize = 8;
/// and if it takes this part of the makespan.
const OUTLIER_SHARE: f64 = 0.02;

/// The end of a run is a tail from where on no more than this part of the cores is busy,
const TAIL_CORES: f64 = 0.25;
/// if it takes this part of the makespan.
const TAIL_SHARE: f64 = 0.1;

pub(super) fn find(known: &Known<'_>, findings: &mut Vec<Finding>) {
    let Some(timeline) = known.timeline.filter(|timeline| !timeline.blocks.is_empty()) else { return };
    findings.extend(floor(timeline));
    findings.extend(tail(timeline));
    findings.extend(outlier(timeline));
}

/// How much shorter the run could be at best.
fn floor(timeline: &Timeline) -> Option<Finding> {
    if timeline.edge_origin != EdgeOrigin::Dependencies {
        return None;
    }
    let run = of_timeline(timeline).ok()?;
    let ratio = run.ratio()?;
    let text = format!(
        "No schedule of these tasks on these cores can take less than {}; the run took {ratio:.2} times that. The longest chain of tasks takes {}.",
        time_text(timeline.us(run.bound.ticks)),
        time_text(timeline.us(run.bound.longest_path))
    );
    Some(Finding { severity: Severity::Fact, weight: 1.0 - 1.0 / ratio.max(1.0), text, target: Target::Time })
}

/// The time at the end in which most cores have run out of work.
fn tail(timeline: &Timeline) -> Option<Finding> {
    let few = (timeline.cores.len() as f64 * TAIL_CORES) as i64;
    let mut sweep = Sweep::<1>::with_capacity(2 * timeline.blocks.len());
    timeline.blocks.iter().for_each(|block| sweep.during(0, 1, block.start, block.end));
    let mut since = Ticks(0);
    let mut most = 0;
    sweep.stretches(timeline.makespan, |stretch| {
        if stretch.counts[0] > few {
            (since, most) = (stretch.end, most.max(stretch.counts[0]));
        }
    });
    let share = (timeline.makespan.0 - since.0) as f64 / timeline.makespan.0.max(1) as f64;
    // Without a time in which many were busy there is no tail, only a run that is narrow.
    (most > 0 && few > 0 && share >= TAIL_SHARE).then(|| Finding {
        severity: Severity::Costly,
        weight: share,
        text: format!(
            "In the last {} ({}), at most {} of {} were busy.",
            time_text(timeline.us(Ticks(timeline.makespan.0 - since.0))),
            percent_text(share),
            few,
            counted(timeline.cores.len() as u64, "core")
        ),
        target: Target::Range(since, timeline.makespan),
    })
}

/// The block whose duration exceeds the median of its kernel the most.
fn outlier(timeline: &Timeline) -> Option<Finding> {
    let mut kernels = HashMap::<KernelId, Vec<&BlockRow>>::new();
    timeline.blocks.iter().for_each(|block| kernels.entry(block.func_id).or_default().push(block));
    let slowest = |blocks: &mut Vec<&'_ BlockRow>| {
        let middle = (blocks.len() - 1) / 2;
        let median = blocks.select_nth_unstable_by_key(middle, |block| block.duration()).1.duration();
        (
            median,
            **blocks
                .iter()
                .max_by_key(|block| (block.duration(), std::cmp::Reverse(block.task_id)))
                .expect("not empty"),
        )
    };
    let found = kernels.values_mut().filter(|blocks| blocks.len() >= OUTLIER_BLOCKS).map(slowest);
    let share = |block: &BlockRow| block.duration().0 as f64 / timeline.makespan.0.max(1) as f64;
    let far = found.filter(|(median, block)| {
        block.duration().0 / median.0.max(1) >= OUTLIER && share(block) >= OUTLIER_SHARE
    });
    let (median, block) = far.max_by_key(|(_, block)| (block.duration(), block.func_id))?;
    let text = format!(
        "One block of {} took {}, {:.1} times the median of its blocks: task {} on core {}.",
        timeline.kernel_name(block.func_id),
        time_text(timeline.us(block.duration())),
        block.duration().0 as f64 / median.0.max(1) as f64,
        block.task_id,
        block.core
    );
    Some(Finding {
        severity: Severity::Costly,
        weight: share(&block),
        text,
        target: Target::Task(block.task_id),
    })
}
