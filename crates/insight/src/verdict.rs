//! What limits a run, in one sentence: the same for every command and for the page.
//!
//! ```text
//! critical path ──▶ the cause that takes most of it ──▶ limit ──▶ sentence, and what helps
//!                                                         ▲
//! counters: do the kernels wait for memory? ──────────────┘ if kernels or cores are the limit
//! ```
//!
//! If the run can be replayed, the verdict is that of the experiments ([`gains`](crate::gains)): what really makes the run shorter.
//! Without replays it follows the critical path because only what is on it makes a run longer: that at some instant *some* block
//! was on its way says little, for on a chip with many cores that is nearly always so. So it is the largest line of
//! `ringlane critical-path`. That is an observation, not an experiment: with the cause removed, the run is shorter by no
//! more than the share, and by less where another path is nearly as long.

mod memory;
mod sentence;

use std::fmt;

use ringlane_task::{TaskId, Ticks};
use serde::Serialize;

use crate::bound::Placement;
use crate::critical_path::{Cause, CriticalPath, Segment, longest};
use crate::gains::{Gains, WhatIf};
use crate::pmu::Counters;
use crate::timeline::{TaskIndex, Timeline};
use crate::{Run, Spread};
pub(crate) use sentence::submits_text;

/// What limits a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// There is more to run than cores.
    Cores,
    /// Kernels wait for memory.
    Memory,
    /// Blocks wait to be dispatched while cores are free.
    Scheduler,
    /// Tasks are not submitted fast enough.
    Orchestrator,
    /// Submits wait for rings that are full.
    Rings,
    /// Copies between host and chip, or values that the orchestration reads.
    Transfers,
    /// Kernels on the critical path: the graph does not have more to run at once.
    Dependencies,
}

impl Limit {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Limit::Cores => "core-bound",
            Limit::Memory => "memory-bound",
            Limit::Scheduler => "scheduler-bound",
            Limit::Orchestrator => "orchestrator-bound",
            Limit::Rings => "ring-bound",
            Limit::Transfers => "transfer-bound",
            Limit::Dependencies => "dependency-bound",
        }
    }

    /// The word for it at the start of a sentence.
    pub const fn label(self) -> &'static str {
        match self {
            Limit::Cores => "Core-bound",
            Limit::Memory => "Memory-bound",
            Limit::Scheduler => "Scheduler-bound",
            Limit::Orchestrator => "Orchestrator-bound",
            Limit::Rings => "Ring-bound",
            Limit::Transfers => "Transfer-bound",
            Limit::Dependencies => "Dependency-bound",
        }
    }

    /// What helps against it on a platform: only modelled chips have scheduler threads and policies to choose.
    pub fn remedy(self, platform: &str) -> &'static str {
        match self {
            Limit::Scheduler if !platform.ends_with("sim") => "fewer, larger tasks; more threads",
            Limit::Cores => "faster kernels, more cores",
            Limit::Memory => "fewer bytes moved: kernels fused, data kept on the core, smaller types",
            Limit::Scheduler => "larger tiles, more scheduler threads, another policy",
            Limit::Orchestrator => "fewer, larger tasks; less work between submits",
            Limit::Rings => "larger rings (ringlane scopes names them), smaller scopes",
            Limit::Transfers => "fewer and smaller copies; values read later, or not at all",
            Limit::Dependencies => "faster kernels on the path, shorter chains: smaller tiles, another order",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What limits a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What limits it.
    pub limit: Limit,
    /// The cores that it is about, `any` if they are all: those that blocks on the path can run on.
    pub kind: &'static str,
    /// The cause on the critical path that it follows from, as `ringlane critical-path` calls it.
    pub cause: &'static str,
    /// The part of the critical path, and so of the makespan, that has this cause.
    pub share: f64,
    /// The part of the kernels' cycles in which data moved between memory and cores; `None` if no counter shows it.
    pub memory_share: Option<f64>,
    /// The verdict in a sentence: the first line of every answer.
    pub sentence: String,
    /// The largest part of the critical path, as a part of a sentence.
    pub observation: String,
    /// What helps.
    pub remedy: &'static str,
    /// How exact the gains in the sentence are; `None` if no replays were made.
    pub replay_error: Option<f64>,
}

impl Verdict {
    /// The sentence, in a second line what helps, and in a third what was observed if the sentence is of experiments.
    pub fn text(&self) -> String {
        let text = format!("{}\nWhat helps: {}.\n", self.sentence, self.remedy);
        match self.replay_error {
            Some(_) => format!("{text}Observed: {}.\n", self.observation),
            None => text,
        }
    }

    /// The verdict of experiments on the run, whose platform it is. What was observed is kept apart; counters that show that kernels
    /// wait for memory say why kernels or cores are the limit.
    pub fn with_gains(mut self, answer: &WhatIf, platform: &str) -> Self {
        let is_compute = matches!(answer.limit, Some(Limit::Cores | Limit::Dependencies));
        if let Some(limit) = answer.limit.filter(|_| !(is_compute && self.limit == Limit::Memory)) {
            (self.limit, self.remedy) = (limit, limit.remedy(platform));
        }
        self.sentence = answer.sentence_with(self.limit);
        self.replay_error = Some(answer.baseline.error);
        self
    }
}

/// The verdict on a run: the largest part of its critical path. `None` if nothing ran.
///
/// Counters are those of the same run, if it has any.
///
/// ```no_run
/// use ringlane_insight::{Instrument, Run, critical_path, verdict};
/// let run = Run::open("outputs/cholesky")?;
/// let timeline = run.timeline()?;
/// let path = critical_path::observed(&timeline)?;
/// if let Some(verdict) = verdict::of(&timeline, &path, run.counters().ok().as_ref()) {
///     println!("{}", verdict.sentence);
/// }
/// # Ok::<(), ringlane_insight::InsightError>(())
/// ```
pub fn of(timeline: &Timeline, path: &CriticalPath, counters: Option<&Counters>) -> Option<Verdict> {
    if timeline.blocks.is_empty() {
        return None;
    }
    let cause = largest(path)?;
    let pool = pool_of(timeline, path, cause);
    let share = path.share(cause);
    let limit = limit_of(timeline, path, cause);
    let memory_share = counters.and_then(|counters| match limit {
        Limit::Cores => memory::of_pool(timeline, pool, counters),
        Limit::Dependencies => memory::of_path(path, counters),
        _ => None,
    });
    let (limit, memory_share) = match memory_share {
        Some(memory) if memory.is_bound() => (Limit::Memory, Some(memory.moving)),
        memory => (limit, memory.map(|memory| memory.moving)),
    };
    let facts = sentence::Facts { limit, cause, pool, share, memory_share };
    let observation = sentence::of(timeline, path, &facts);
    let sentence = format!("{}: {observation}.", limit.label());
    let (kind, cause, remedy) = (pool.as_str(), cause.as_str(), limit.remedy(&timeline.platform));
    Some(Verdict {
        limit,
        kind,
        cause,
        share,
        memory_share,
        sentence,
        observation,
        remedy,
        replay_error: None,
    })
}

/// The verdict with what counters the run has, and with the gains if they are known. Counters that cannot be read show nothing.
pub fn of_run(run: &Run, timeline: &Timeline, path: &CriticalPath, gains: Option<&Gains>) -> Option<Verdict> {
    let verdict = of(timeline, path, run.recorded_counters().ok().flatten().as_ref())?;
    Some(match gains.and_then(Gains::known) {
        Some(answer) => verdict.with_gains(answer, &timeline.platform),
        None => verdict,
    })
}

/// The cause that takes most of the path; of equal ones the last in the order in which they are reported: waits come
/// after kernels.
fn largest(path: &CriticalPath) -> Option<Cause> {
    let total = |cause: &Cause| path.total(*cause);
    Cause::ALL.into_iter().max_by_key(total).filter(|cause| total(cause) > Ticks(0))
}

fn limit_of(timeline: &Timeline, path: &CriticalPath, cause: Cause) -> Limit {
    match cause {
        Cause::Data => Limit::Transfers,
        Cause::Core => Limit::Cores,
        Cause::Scheduler => Limit::Scheduler,
        Cause::RingFull => Limit::Rings,
        Cause::Submit => Limit::Orchestrator,
        // Kernels on the path that do not wait for each other had to share a core.
        Cause::Compute if 2 * longest(timeline).ticks.0 < path.total(cause).0 => Limit::Cores,
        Cause::Compute => Limit::Dependencies,
    }
}

/// The cores that most of the path's time with this cause is about; of time that is about none, those that compute on it.
fn pool_of(timeline: &Timeline, path: &CriticalPath, cause: Cause) -> Placement {
    let about = |segment: &&Segment| match cause {
        Cause::Core | Cause::Scheduler => segment.cause == cause,
        _ => segment.cause == Cause::Compute,
    };
    let mut pools: Vec<(Placement, u64)> = Vec::new();
    for segment in path.segments.iter().filter(about) {
        let Some(pool) = segment.task.and_then(|task| pool_of_task(timeline, task)) else { continue };
        match pools.iter_mut().find(|(known, _)| *known == pool) {
            Some((_, ticks)) => *ticks += segment.ticks(),
            None => pools.push((pool, segment.ticks())),
        }
    }
    pools.into_iter().max_by_key(|&(_, ticks)| ticks).map_or(Placement::Anywhere, |(pool, _)| pool)
}

fn pool_of_task(timeline: &Timeline, task: TaskIndex) -> Option<Placement> {
    timeline.last_block(task).map(|block| timeline.pool(block.func_id))
}

/// How long the submits on a path took, and of which task the longest was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSubmits {
    /// How many there are, and how their times are spread.
    pub spread: Spread,
    /// The longest.
    pub longest: TaskId,
}

/// The submits that a path leads through; `None` if submits were not recorded, or if there is none.
pub fn submits(timeline: &Timeline, path: &CriticalPath) -> Option<PathSubmits> {
    let of_submits = path.segments.iter().filter(|segment| segment.cause == Cause::Submit);
    // A submit that a full ring interrupted has two segments.
    let mut times: Vec<(TaskIndex, u64)> = Vec::new();
    for (task, ticks) in of_submits.filter_map(|segment| Some((segment.task?, segment.ticks()))) {
        match times.last_mut() {
            Some((last, sum)) if *last == task => *sum += ticks,
            _ => times.push((task, ticks)),
        }
    }
    let longest = times.iter().max_by_key(|&&(task, ticks)| (ticks, std::cmp::Reverse(task)))?.0;
    let spread = Spread::of(times.into_iter().map(|(_, ticks)| Ticks(ticks)).collect());
    Some(PathSubmits { spread, longest: timeline.task(longest).task_id })
}

#[cfg(test)]
mod tests;
