//! Where the time went: what limits the run, and what its critical path is made of.

use ringlane_task::Ticks;

use super::{Finding, Known, Severity, Target};
use crate::critical_path::{Cause, CriticalPath};
use crate::overhead::Overhead;
use crate::timeline::Timeline;
use crate::units::{counted, percent_text, time_text};
use crate::verdict::{Verdict, submits_text};

/// A cause on the critical path is worth a word from this part of the makespan on.
const CAUSE_SHARE: f64 = 0.1;

pub(super) fn find(known: &Known<'_>, findings: &mut Vec<Finding>) {
    let Some(timeline) = known.timeline else { return };
    findings.extend(known.verdict.map(headline));
    if let Some(overhead) = known.overhead {
        findings.extend(small_kernels(timeline, overhead));
    }
    if let Some(path) = known.path {
        findings.extend(dominant_kernel(timeline, path));
        findings.extend(waits(timeline, path));
    }
}

/// The verdict is the headline: it comes before every other thing that costs.
fn headline(verdict: &Verdict) -> Finding {
    let text = verdict.sentence.clone();
    let target = if verdict.replay_error.is_some() { Target::Gains } else { Target::Time };
    Finding { severity: Severity::Costly, weight: f64::INFINITY, text, target }
}

/// Blocks that run for less time than it takes to dispatch and complete them.
fn small_kernels(timeline: &Timeline, overhead: &Overhead) -> Option<Finding> {
    let blocks = timeline.blocks.len() as f64;
    let compute = timeline.blocks.iter().map(|block| block.duration().0 as f64).sum::<f64>() / blocks;
    let compute = timeline.mean_us(compute);
    let [_, head, tail] = &overhead.around_blocks;
    let around = head.mean_us + tail.mean_us;
    if timeline.blocks.is_empty() || around < compute {
        return None;
    }
    let text = format!(
        "Blocks are small: {} on average, plus {} to dispatch and complete each. Larger tiles would reduce this overhead.",
        time_text(compute),
        time_text(around)
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
    Some(Finding { severity, weight: share, text, target: Target::PathKernel(kernel) })
}

/// The longest interval of each cause other than compute, if the cause takes a large part of the path.
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
        let (takes, share_text) = (time_text(timeline.us(total)), percent_text(share));
        let text = match cause {
            Cause::Submit => submits(timeline, path, &format!("{takes}, {share_text}")),
            _ => format!(
                "{share_text} of the critical path ({takes}) is {}; the longest interval takes {}.",
                cause.as_str(),
                time_text(timeline.us(Ticks(longest.ticks())))
            ),
        };
        let target = Target::PathCause(cause);
        (share >= CAUSE_SHARE).then_some(Finding { severity: Severity::Costly, weight: share, text, target })
    });
    found.collect()
}

/// For submits: their number, the median, and the longest one.
fn submits(timeline: &Timeline, path: &CriticalPath, takes: &str) -> String {
    match submits_text(timeline, path) {
        None => format!("The orchestration is on the critical path ({takes})."),
        Some(submits) => {
            format!("The orchestration is on the critical path ({takes}), with {submits}.")
        }
    }
}

fn share(path: &CriticalPath, ticks: u64) -> f64 {
    ticks as f64 / path.whole().0.max(1) as f64
}
