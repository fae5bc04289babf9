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
//! not the scheduler had noticed by then. So time in which the scheduler has not yet seen that a task is ready counts as the
//! scheduler's. A mixed task could use cores only while every kind that it needs has one idle.
//!
//! A block that can run on any core waits for one idle core, not for one of each kind: such blocks are shared out among the
//! idle cores that no other block waits for, in proportion to their number.
//!
//! All parts of a kind add up to its cores × makespan, to the tick.

mod counts;
mod phases;

use std::collections::BTreeMap;

use ringlane_task::Ticks;
use ringlane_trace::swimlane::{BlockRow, SwimlaneLevel};
use serde::{Serialize, Serializer};

use crate::bound::Placement;
use crate::timeline::{TaskIndex, Timeline};
use crate::waits::{Wait, waits};
use crate::{InsightError, Spread};
use counts::{Idle, IdleCores, Left};
pub use phases::ThreadBudget;

/// What a run's cores did with their time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overhead {
    /// How long the run took.
    #[serde(rename = "makespan_ticks")]
    pub makespan: Ticks,
    /// The same in µs.
    pub makespan_us: f64,
    /// For each kind that the chip has, in the order of the chip's kinds; then, if the chip has several and blocks ran that
    /// can run on any, for all cores together.
    pub kinds: Vec<KindTime>,
    /// From the moment a block could run until the scheduler saw that it had ended, step by step.
    pub around_blocks: [AroundBlocks; 3],
    /// What each scheduler thread did; from level 3 on.
    pub threads: Vec<ThreadBudget>,
}

/// What the cores of one kind did, or all cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KindTime {
    /// The kind, or all of them.
    pub kind: Placement,
    /// How many cores there are.
    pub cores: u64,
    /// Core time: these add up to cores × makespan.
    pub core_time: Parts,
    /// Time on the clock, by what was true of the kind then: these add up to the makespan.
    pub instants: Parts,
}

/// How long one step around a block takes, µs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AroundBlocks {
    /// From what to what.
    pub stretch: &'static str,
    /// The mean.
    pub mean_us: f64,
    /// Of half of the blocks it is not longer.
    pub p50_us: f64,
    /// Of 95 of 100 blocks it is not longer.
    pub p95_us: f64,
    /// The longest.
    pub max_us: f64,
}

impl AroundBlocks {
    fn new(stretch: &'static str, ticks: Vec<Ticks>, timeline: &Timeline) -> Self {
        let spread = Spread::of(ticks);
        let [p50_us, p95_us, max_us] = [spread.p50, spread.p95, spread.max].map(|ticks| timeline.us(ticks));
        AroundBlocks { stretch, mean_us: timeline.mean_us(spread.mean()), p50_us, p95_us, max_us }
    }
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

    /// The parts with their names, in the order in which they are reported.
    pub const fn named(&self) -> [(&'static str, u128); 4] {
        [
            ("busy", self.busy),
            ("scheduler", self.scheduler),
            ("orchestrator", self.orchestrator),
            ("dependencies", self.dependencies),
        ]
    }
}

/// Each part as a share of the whole, by its name.
impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let shares: BTreeMap<_, _> = self.named().map(|(name, part)| (name, self.share(part))).into();
        shares.serialize(to)
    }
}

/// Where the cores' time went. The timeline has level 2 at least: level 1 does not record when blocks were dispatched.
pub fn overhead(timeline: &Timeline) -> Result<Overhead, InsightError> {
    timeline.needs(SwimlaneLevel::Tasks)?;
    let waits = waits(timeline);
    let kinds = kinds_of(timeline, &waits);
    let of_blocks = |stretch, takes: fn(&BlockRow) -> (Ticks, Ticks)| {
        let pairs = timeline.blocks.iter().map(takes);
        let ticks = pairs.map(|(from, to)| Ticks(to.0.saturating_sub(from.0))).collect();
        AroundBlocks::new(stretch, ticks, timeline)
    };
    Ok(Overhead {
        makespan: timeline.makespan,
        makespan_us: timeline.us(timeline.makespan),
        kinds,
        around_blocks: [
            AroundBlocks::new("could run → handed out", until_dispatch(timeline, &waits), timeline),
            of_blocks("handed out → began", |block| (block.dispatch, block.start)),
            of_blocks("ended → seen", |block| (block.end, block.finish)),
        ],
        threads: phases::budgets(timeline),
    })
}

/// How long each block waited to be dispatched.
fn until_dispatch(timeline: &Timeline, waits: &[Wait]) -> Vec<Ticks> {
    let of_task = |task: TaskIndex| {
        let since = waits[task.at()].runnable();
        timeline.blocks_of(task).iter().map(move |block| Ticks(block.dispatch.0.saturating_sub(since.0)))
    };
    timeline.indices().flat_map(of_task).collect()
}

fn kinds_of(timeline: &Timeline, waits: &[Wait]) -> Vec<KindTime> {
    let cores = timeline.core_counts();
    let runs_anywhere = |block: &BlockRow| timeline.pool(block.func_id) == Placement::Anywhere;
    let anywhere = timeline.blocks.iter().any(runs_anywhere).then_some(Placement::Anywhere);
    let nothing = Parts::default();
    let row =
        |kind: Placement| KindTime { kind, cores: kind.cores(&cores), core_time: nothing, instants: nothing };
    let mut kinds: Vec<_> = cores.kinds().map(Placement::On).chain(anywhere).map(row).collect();
    let last_end = timeline.blocks.iter().map(|block| block.end).max().unwrap_or_default();
    counts::moments(timeline, waits, |moment| {
        // Once the last block has ended, what is left is the orchestration's own end.
        let left = if moment.start() >= last_end { Left::End } else { Left::Tasks };
        let idle = moment.idle_cores(left);
        kinds.iter_mut().for_each(|kind| kind.count(&idle, moment.ticks()));
    });
    kinds
}

impl KindTime {
    /// Takes a moment of some ticks into account.
    fn count(&mut self, moment: &IdleCores, ticks: u64) {
        let Idle { cores: idle, scheduler, orchestrator } = moment.of(self.kind);
        let ticks = u128::from(ticks);
        let core_time = |cores: u64| u128::from(cores) * ticks;
        self.core_time.busy += core_time(self.cores.saturating_sub(idle));
        self.core_time.scheduler += core_time(scheduler);
        self.core_time.orchestrator += core_time(orchestrator);
        self.core_time.dependencies += core_time(idle - scheduler - orchestrator);
        let (waits, unsubmitted) = moment.could_use(self.kind);
        let instant = match (idle, waits, unsubmitted) {
            (0, ..) => &mut self.instants.busy,
            (_, true, _) => &mut self.instants.scheduler,
            (_, _, true) => &mut self.instants.orchestrator,
            _ => &mut self.instants.dependencies,
        };
        *instant += ticks;
    }
}

#[cfg(test)]
mod tests;
