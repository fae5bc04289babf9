//! Where the time went: what limits the run, and what its critical path is made of.

use super::{Finding, Known, Severity, Target};
use crate::critical_path::{Cause, CriticalPath};
use crate::overhead::{Limit, Overhead};
use crate::timeline::Timeline;
use crate::units::{counted, percent_text, time_text};

/// A cause on the critical path is worth a word from this part of the makespan on.
const CAUSE_SHARE: f64 = 0.1;

pub(super) fn find(known: &Known<'_>, findings: &mut Vec<Finding>) {
    let Some(timeline) = known.timeline else { return };
    if let Some(overhead) = known.overhead {
        findings.extend(verdict(overhead));
        findings.extend(small_kernels(timeline, overhead));
    }
    if let Some(path) = known.path {
        findings.extend(dominant_kernel(timeline, path));
        findings.extend(waits(timeline, path));
    }
}

fn verdict(overhead: &Overhead) -> Option<Finding> {
    let verdict = overhead.verdict?;
    let severity = if verdict.limit == Limit::Cores { Severity::Fact } else { Severity::Costly };
    Some(Finding { severity, weight: verdict.share, text: verdict.sentence(), target: Target::Time })
}

/// Kernels that take less than it takes to hand them out and take them back.
fn small_kernels(timeline: &Timeline, overhead: &Overhead) -> Option<Finding> {
    let blocks = timeline.blocks.len() as f64;
    let compute = timeline.blocks.iter().map(|block| block.duration().0 as f64).sum::<f64>() / blocks;
    let around = overhead.head.mean() + overhead.tail.mean();
    if timeline.blocks.is_empty() || around < compute {
        return None;
    }
    let us = |ticks: f64| time_text(ticks * 1e6 / timeline.clock_freq_hz.max(1) as f64);
    let text = format!(
        "Blocks are small: {} on average, and {} to hand one out and take it back. Larger tiles would cost less.",
        us(compute),
        us(around)
    );
    Some(Finding {
        severity: Severity::Costly,
        weight: around / (around + compute),
        text,
        target: Target::Time,
    })
}

fn dominant_kernel(timeline: &Timeline, path: &CriticalPath) -> Option<Finding> {
    let (kernel, ticks, blocks) = path.kernels().into_iter().next()?;
    let share = share(path, ticks.0);
    let text = format!(
        "{} takes {} of the critical path ({} in {}).",
        timeline.kernel_name(kernel),
        percent_text(share),
        time_text(timeline.us(ticks)),
        counted(blocks, "block")
    );
    let severity = if share < CAUSE_SHARE { Severity::Fact } else { Severity::Costly };
    Some(Finding { severity, weight: share, text, target: Target::Kernel(kernel) })
}

/// The longest stretch of each cause that is no compute, where the cause takes a good part of the path.
fn waits(timeline: &Timeline, path: &CriticalPath) -> Vec<Finding> {
    let causes = Cause::ALL.into_iter().filter(|&cause| cause != Cause::Compute);
    let found = causes.filter_map(|cause| {
        let total = path.total(cause);
        let share = share(path, total.0);
        let longest = path
            .segments
            .iter()
            .filter(|segment| segment.cause == cause)
            .max_by_key(|segment| segment.ticks())?;
        let text = format!(
            "{} of the critical path ({}) is {}; the longest stretch takes {}.",
            percent_text(share),
            time_text(timeline.us(total)),
            cause.as_str(),
            time_text(longest.ticks() as f64 * 1e6 / timeline.clock_freq_hz.max(1) as f64)
        );
        let target = Target::Range(longest.start, longest.end);
        (share >= CAUSE_SHARE).then_some(Finding { severity: Severity::Costly, weight: share, text, target })
    });
    found.collect()
}

fn share(path: &CriticalPath, ticks: u64) -> f64 {
    ticks as f64 / path.whole().0.max(1) as f64
}
