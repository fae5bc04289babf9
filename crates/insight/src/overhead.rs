//! Where cores' time went, and who is to blame for what they did not use: the scheduler, the orchestrator, or the graph.
//!
//! ```text
//! at each instant, for each kind of core
//!   cores that run a block                          ──▶ busy
//!   idle, and a block that has all it needs waits   ──▶ scheduler      (as many cores as blocks wait)
//!   idle, and a task could run but is not submitted ──▶ orchestrator   (of the cores left)
//!   idle, and there is nothing that could run       ──▶ dependencies   (of the cores left)
//! ```
//!
//! A task *could run* when the last task it depends on has ended; that is known from the graph and the timeline, whether or
//! not anybody had noticed by then. So time in which the scheduler has not yet seen that a task is ready counts as the
//! scheduler's. A mixed task could use cores only while every kind that it needs has one idle.
//!
//! All parts of a kind add up to its cores × makespan, to the tick.

mod counts;
mod phases;

use ringlane_task::Ticks;
use ringlane_trace::swimlane::{BlockRow, SwimlaneLevel};

use crate::timeline::{TaskIndex, Timeline};
use crate::units::percent_text;
use crate::waits::{Wait, waits};
use crate::{CoreKind, InsightError, Spread};
use counts::Moment;
pub use phases::ThreadBudget;

/// What a run's cores did with their time.
#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// How long the run took.
    pub makespan: Ticks,
    /// For each kind that the chip has, in the order of [`CoreKind::ALL`].
    pub kinds: Vec<KindTime>,
    /// From the moment a block could run until it was handed out.
    pub wait: Spread,
    /// From the hand-out until the kernel began.
    pub head: Spread,
    /// From the kernel's end until the scheduler saw it.
    pub tail: Spread,
    /// What each scheduler thread did; from level 3 on.
    pub threads: Vec<ThreadBudget>,
    /// What to say in one word, about the kind with the most to do; `None` if nothing ran.
    pub verdict: Option<Verdict>,
}

/// What the cores of one kind did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindTime {
    /// The kind.
    pub kind: CoreKind,
    /// How many cores there are.
    pub cores: u32,
    /// Core time: these add up to cores × makespan.
    pub time: Parts,
    /// Time on the clock, by what was true of the kind then: these add up to the makespan.
    pub instants: Parts,
}

/// A whole in four parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Blocks ran; of instants: on all cores of the kind.
    pub busy: u128,
    /// A block waited for the scheduler.
    pub scheduler: u128,
    /// A task that could have run was not submitted, or the orchestration had not ended.
    pub orchestrator: u128,
    /// Nothing could run.
    pub dependencies: u128,
}

impl Parts {
    /// The whole.
    pub const fn whole(&self) -> u128 {
        self.busy + self.scheduler + self.orchestrator + self.dependencies
    }

    /// A part as a share of the whole.
    pub fn share(&self, part: u128) -> f64 {
        if self.whole() == 0 { 0.0 } else { part as f64 / self.whole() as f64 }
    }

    /// The parts with their names, in the order in which they are told.
    pub const fn named(&self) -> [(&'static str, u128); 4] {
        [
            ("busy", self.busy),
            ("scheduler", self.scheduler),
            ("orchestrator", self.orchestrator),
            ("dependencies", self.dependencies),
        ]
    }
}

/// What limits a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Cores are busy: there is too much work for them.
    Cores,
    /// Blocks wait to be handed out while cores are idle.
    Scheduler,
    /// Tasks are not submitted fast enough.
    Orchestrator,
    /// The graph does not have more to run at once.
    Dependencies,
}

/// From this part of their time on, busy cores are what limits a run.
const MOSTLY_BUSY: f64 = 0.5;

/// What limits a run, of which kind of core that is said, and how much of the time it was so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What limits it.
    pub limit: Limit,
    /// The kind with the most to do.
    pub kind: CoreKind,
    /// Of cores, the part of their time that they were busy; otherwise the part of the makespan in which one of them was
    /// idle for that reason.
    pub share: f64,
}

impl Verdict {
    /// The verdict in a sentence.
    pub fn sentence(&self) -> String {
        let ((a_core, cores), share) = (self.kind.nouns(), percent_text(self.share));
        match self.limit {
            Limit::Cores => format!("Core-bound: {cores} were busy {share} of their time."),
            Limit::Scheduler => {
                format!(
                    "Scheduler-bound: for {share} of the time a block that could run waited while {a_core} was idle."
                )
            }
            Limit::Orchestrator => {
                format!(
                    "Orchestrator-bound: for {share} of the time a task that could run was not submitted yet while {a_core} was idle."
                )
            }
            Limit::Dependencies => {
                format!(
                    "Dependency-bound: for {share} of the time {a_core} was idle because nothing could run."
                )
            }
        }
    }
}

impl Limit {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Limit::Cores => "core-bound",
            Limit::Scheduler => "scheduler-bound",
            Limit::Orchestrator => "orchestrator-bound",
            Limit::Dependencies => "dependency-bound",
        }
    }
}

/// Where the cores' time went. The timeline has level 2 at least: level 1 does not know when blocks were handed out.
pub fn overhead(timeline: &Timeline) -> Result<Overhead, InsightError> {
    timeline.needs(SwimlaneLevel::Tasks)?;
    let waits = waits(timeline);
    let kinds = kinds_of(timeline, &waits);
    let of_blocks = |takes: fn(&BlockRow) -> (Ticks, Ticks)| {
        let pairs = timeline.blocks.iter().map(takes);
        Spread::of(pairs.map(|(from, to)| Ticks(to.0.saturating_sub(from.0))).collect())
    };
    Ok(Overhead {
        makespan: timeline.makespan,
        verdict: verdict_of(&kinds),
        kinds,
        wait: Spread::of(until_dispatch(timeline, &waits)),
        head: of_blocks(|block| (block.dispatch, block.start)),
        tail: of_blocks(|block| (block.end, block.finish)),
        threads: phases::budgets(timeline),
    })
}

/// How long each block waited to be handed out.
fn until_dispatch(timeline: &Timeline, waits: &[Wait]) -> Vec<Ticks> {
    let of_task = |task: TaskIndex| {
        let since = waits[task.at()].runnable();
        timeline.blocks_of(task).iter().map(move |block| Ticks(block.dispatch.0.saturating_sub(since.0)))
    };
    timeline.indices().flat_map(of_task).collect()
}

fn kinds_of(timeline: &Timeline, waits: &[Wait]) -> Vec<KindTime> {
    let cores = timeline.core_counts();
    let nothing = Parts::default();
    let kind = |kind| KindTime { kind, cores: cores.of(kind), time: nothing, instants: nothing };
    let mut kinds: Vec<_> = cores.kinds().map(kind).collect();
    let last_end = timeline.blocks.iter().map(|block| block.end).max().unwrap_or_default();
    counts::moments(timeline, waits, |moment| {
        // Once the last block has ended, what is left is the orchestration's own end.
        let is_over = moment.start() >= last_end;
        kinds.iter_mut().for_each(|kind| {
            let could_run = if is_over { u64::MAX } else { moment.unsubmitted(kind.kind) };
            kind.count(moment, could_run);
        });
    });
    kinds
}

impl KindTime {
    /// Takes a moment into account in which so many blocks could have run if they had been submitted.
    fn count(&mut self, moment: &Moment<'_>, unsubmitted: u64) {
        let idle = moment.idle(self.kind);
        let scheduler = idle.min(moment.waiting(self.kind));
        let orchestrator = (idle - scheduler).min(unsubmitted);
        let ticks = u128::from(moment.ticks());
        let core_time = |cores: u64| u128::from(cores) * ticks;
        self.time.busy += core_time(u64::from(self.cores).saturating_sub(idle));
        self.time.scheduler += core_time(scheduler);
        self.time.orchestrator += core_time(orchestrator);
        self.time.dependencies += core_time(idle - scheduler - orchestrator);
        let instant = match (idle, scheduler, orchestrator) {
            (0, ..) => &mut self.instants.busy,
            (_, 1.., _) => &mut self.instants.scheduler,
            (_, _, 1..) => &mut self.instants.orchestrator,
            _ => &mut self.instants.dependencies,
        };
        *instant += ticks;
    }
}

/// Says it of the kind that is the busiest: the others wait for it, or have nothing to do. Cores that are busy most of their
/// time are the limit. Otherwise it is what was most often true while they were not: of many idle cores a graph may need
/// only one, so that the time on the clock tells more than the cores' time.
fn verdict_of(kinds: &[KindTime]) -> Option<Verdict> {
    let busy = |kind: &KindTime| kind.time.share(kind.time.busy);
    let kind = kinds.iter().filter(|kind| kind.time.busy > 0).max_by(|a, b| busy(a).total_cmp(&busy(b)))?;
    let verdict = |limit, share| Some(Verdict { limit, kind: kind.kind, share });
    if busy(kind) >= MOSTLY_BUSY {
        return verdict(Limit::Cores, busy(kind));
    }
    let Parts { busy: _, scheduler, orchestrator, dependencies } = kind.instants;
    let parts = [
        (Limit::Scheduler, scheduler),
        (Limit::Orchestrator, orchestrator),
        (Limit::Dependencies, dependencies),
    ];
    // Of equal parts the first.
    let (limit, part) = parts.into_iter().rev().max_by_key(|&(_, part)| part)?;
    verdict(limit, kind.instants.share(part))
}

#[cfg(test)]
mod tests;
