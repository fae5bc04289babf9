//! What is on the critical path, as a part of a sentence.

use super::{Limit, submits};
use crate::bound::Placement;
use crate::critical_path::{Cause, CriticalPath};
use crate::task_name;
use crate::timeline::Timeline;
use crate::units::{counted, percent_text, time_text};

/// What a sentence is made of.
pub(super) struct Facts {
    pub(super) limit: Limit,
    pub(super) cause: Cause,
    pub(super) pool: Placement,
    pub(super) share: f64,
    pub(super) memory_share: Option<f64>,
}

pub(super) fn of(timeline: &Timeline, path: &CriticalPath, facts: &Facts) -> String {
    let share = percent_text(facts.share);
    match facts.limit {
        Limit::Cores => core_time(timeline, facts),
        Limit::Memory => {
            let moving = percent_text(facts.memory_share.unwrap_or_default());
            let what = match facts.cause {
                Cause::Compute => kernels(timeline, path, facts),
                _ => core_time(timeline, facts),
            };
            format!("{what}, and data moved in {moving} of the kernels' cycles")
        }
        Limit::Scheduler => {
            let core = facts.pool.nouns().0;
            format!("for {share} of the critical path a block that could run waited while {core} was idle")
        }
        Limit::Orchestrator => orchestration(timeline, path, &share),
        Limit::Rings => {
            format!("for {share} of the critical path a submit waited for a full ring")
        }
        Limit::Transfers => format!(
            "for {share} of the critical path values were copied between host and chip, or read by the orchestration"
        ),
        Limit::Dependencies => kernels(timeline, path, facts),
    }
}

/// Of cores: how much of the path was waiting for them, and how busy they were.
fn core_time(timeline: &Timeline, facts: &Facts) -> String {
    let (share, busy) = (percent_text(facts.share), percent_text(timeline.busy_share(facts.pool)));
    let cores = facts.pool.nouns().1;
    match facts.cause {
        Cause::Compute => {
            format!(
                "kernels that do not wait for each other take {share} of the critical path, one after another; {cores} were busy {busy} of the time"
            )
        }
        _ => format!(
            "for {share} of the critical path a block waited because no core that can run it was free; {cores} were busy {busy} of the time"
        ),
    }
}

/// Of kernels on the path: which takes most.
fn kernels(timeline: &Timeline, path: &CriticalPath, facts: &Facts) -> String {
    let share = percent_text(facts.share);
    let most = path.kernels().into_iter().next().map(|(kernel, ticks, _)| {
        let part = ticks.0 as f64 / path.whole().0.max(1) as f64;
        format!(", most of all {} ({})", timeline.kernel_name(kernel), percent_text(part))
    });
    format!("kernels take {share} of the critical path{}", most.unwrap_or_default())
}

/// Of submits: how many there are, what one usually takes, and the longest of them.
fn orchestration(timeline: &Timeline, path: &CriticalPath, share: &str) -> String {
    match submits_text(timeline, path) {
        Some(submits) => format!("{share} of the critical path is the orchestration, with {submits}"),
        None => format!("{share} of the critical path is the orchestration"),
    }
}

/// The submits on a path in a few words: `1,101 submits: median 160.0 ns, longest 50.0 µs (task 1:150)`.
pub(crate) fn submits_text(timeline: &Timeline, path: &CriticalPath) -> Option<String> {
    let found = submits(timeline, path)?;
    let time = |ticks| time_text(timeline.us(ticks));
    let count = counted(found.spread.count, "submit");
    if found.spread.count == 1 {
        return Some(format!("{count} of {} (task {})", time(found.spread.max), task_name(found.longest)));
    }
    let (median, longest, task) = (time(found.spread.p50), time(found.spread.max), task_name(found.longest));
    Some(format!("{count}: median {median}, longest {longest} (task {task})"))
}
