//! What the makespan was made of: the path that led to the run's end, backwards, with a cause for each instant.
//!
//! ```text
//!  submit ─▶ compute A ─▶ scheduler ─▶ core ─▶ compute B ─▶ … ─▶ compute Z ─▶ scheduler
//!  0         └ the last of what B waited for    └ all cores were busy           └ until the run ended: makespan
//! ```
//!
//! From the block that ended last the path goes back to whatever it was that the block waited for last: the core before it,
//! the scheduler that had not handed it out, the task whose end made it ready, or its submit. On the orchestrator's side
//! it goes from submit to submit. Segments touch, so they add up to the makespan, to the tick.
//!
//! A path says what to shorten first. It is the observed one: with its cause removed, the run is shorter only by the
//! lead over the second-longest path.

mod answer;
mod fullness;
mod longest;
mod off_path;
mod walk;

use ringlane_task::{CoreId, KernelId, Ticks};
use ringlane_trace::swimlane::SwimlaneLevel;

use crate::InsightError;
use crate::timeline::{TaskIndex, Timeline};
pub use answer::{CauseTime, NamedSegment, PathAnswer};
pub use longest::{LongestPath, longest};

/// What an instant of the path was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A kernel ran.
    Compute,
    /// Values were on their way: a copy, or the orchestration reading a result.
    Data,
    /// A block had all it needed, and no core it could have run on was free: each had a block, and most of them ran.
    Core,
    /// A block had all it needed, a core it could have run on was free, and the two had not been put together; or most cores
    /// were between two blocks.
    Scheduler,
    /// A submit waited for a ring.
    RingFull,
    /// The orchestration submitted, or did something of its own.
    Submit,
}

impl Cause {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Cause; 6] =
        [Cause::Compute, Cause::Data, Cause::Core, Cause::Scheduler, Cause::RingFull, Cause::Submit];

    /// What it is called.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Compute => "compute",
            Cause::Data => "wait for data",
            Cause::Core => "wait for a core",
            Cause::Scheduler => "wait for the scheduler",
            Cause::RingFull => "ring full",
            Cause::Submit => "submit",
        }
    }
}

/// A stretch of the path with one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// From when.
    pub start: Ticks,
    /// Until when.
    pub end: Ticks,
    /// Why.
    pub cause: Cause,
    /// The task it is about.
    pub task: Option<TaskIndex>,
    /// The core that computed.
    pub core: Option<CoreId>,
    /// The kernel that ran.
    pub kernel: Option<KernelId>,
}

impl Segment {
    /// How long it is.
    pub const fn ticks(&self) -> u64 {
        self.end.0 - self.start.0
    }
}

/// The observed path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Its segments in the order of time; none is empty, each begins where the one before ends.
    pub segments: Vec<Segment>,
}

impl CriticalPath {
    /// How much of it has this cause.
    pub fn total(&self, cause: Cause) -> Ticks {
        Ticks(self.segments.iter().filter(|segment| segment.cause == cause).map(Segment::ticks).sum())
    }

    /// All of it: the makespan.
    pub fn whole(&self) -> Ticks {
        Ticks(self.segments.iter().map(Segment::ticks).sum())
    }

    /// How much of it has each cause, in the order of [`Cause::ALL`]; these add up to the makespan.
    pub fn causes(&self) -> Vec<CauseTime> {
        let of = |cause| CauseTime {
            cause,
            ticks: self.total(cause),
            share: self.share(cause),
            segments: self.segments.iter().filter(|segment| segment.cause == cause).count(),
        };
        Cause::ALL.map(of).to_vec()
    }

    /// The part of it that has this cause, 0 to 1.
    pub fn share(&self, cause: Cause) -> f64 {
        self.total(cause).0 as f64 / self.whole().0.max(1) as f64
    }

    /// Time that each kernel computed on it and how often, the longest first.
    pub fn kernels(&self) -> Vec<(KernelId, Ticks, u64)> {
        let mut kernels = std::collections::BTreeMap::<KernelId, (u64, u64)>::new();
        for segment in &self.segments {
            if let Some(kernel) = segment.kernel {
                let (ticks, count) = kernels.entry(kernel).or_default();
                (*ticks, *count) = (*ticks + segment.ticks(), *count + 1);
            }
        }
        let mut kernels: Vec<_> = kernels.into_iter().map(|(id, (ticks, n))| (id, Ticks(ticks), n)).collect();
        kernels.sort_by_key(|&(id, ticks, _)| (std::cmp::Reverse(ticks), id));
        kernels
    }
}

/// The path that led to the end of a run.
///
/// The timeline has level 2 at least: level 1 does not distinguish a block that waited for the scheduler from one that was not
/// submitted. At level 2 submits are unknown, so all time before a task without a predecessor counts as submit.
pub fn observed(timeline: &Timeline) -> Result<CriticalPath, InsightError> {
    timeline.needs(SwimlaneLevel::Tasks)?;
    Ok(walk::Walk::new(timeline).path())
}

#[cfg(test)]
mod tests;
