//! How short a schedule could be at best: a time below which no schedule of the same tasks on the same cores can end.
//!
//! ```text
//!          a                                                b
//! |◀── head ≥ a ──▶|  blocks that fit nowhere else  |◀── tail ≥ b ──▶|
//! 0                └──── work ≤ cores × (end − a − b) ────┘           end
//! ```
//!
//! The *head* of a task is the longest chain of tasks that must be done before it begins, its *tail* the longest chain
//! that can begin only after it is done; a task on a chain takes as long as its longest block. All blocks of a task
//! begin after its predecessors' last block and end before its successors' first one. So in a schedule that ends at
//! `end`, the blocks of all tasks with `head ≥ a` and `tail ≥ b` run between `a` and `end − b`; `m` cores do at most
//! `m × (end − a − b)` in that time. Hence, for every `a` and `b` with at least one such task,
//!
//! ```text
//! end ≥ a + work(tasks with head ≥ a and tail ≥ b) / m + b
//! ```
//!
//! and the bound is the largest of these, over all `a` and `b` and over these pools of cores:
//!
//! - each kind by itself, with the blocks that can run on that kind only. A mixed task has blocks in two such pools.
//! - all cores together, with all blocks. A block of a kernel for `any` core counts here only: that it ran on one kind
//!   does not mean that it had to, and a schedule that moves it to the other kind may be shorter than a bound that pins
//!   it down. On a chip of one kind, the kind and all cores are the same pool.
//!
//! This takes blocks for work that can be cut at will. That a block is whole is taken into account in two ways: the longest path
//! through the graph (a task's own longest block takes all of its time on one core), and turns: of 100 equal blocks on 72
//! cores, one core runs two (the module `whole`).
//!
//! What the bound takes as given are durations: a block is as long as it was, wherever and whenever it runs. Control costs,
//! memory and the order of submission are left out, so a schedule as short as the bound need not exist.
//!
//! Ticks are rounded down, so `makespan ≥ bound` holds without a tolerance. It holds for recorded stamps too, although a
//! stamp is a rounded time: rounding down keeps the order of stamps, so the stamps themselves are a schedule.

mod chains;
mod pool;
mod run;
mod whole;

use ringlane_task::Ticks;

use crate::{CoreKind, Cores, InsightError};
use chains::Chains;
use pool::{PoolTask, pool_bound};
pub use run::{KindUse, RunBound, of_run, of_timeline};
use whole::{Batch, BlockGroup, PLACEMENTS, group_of, whole_bound};

/// Where a block can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On cores of this kind only.
    On(CoreKind),
    /// On every core.
    Anywhere,
}

/// How long a task takes: its blocks, summed up.
///
/// ```
/// use ringlane_insight::CoreKind;
/// use ringlane_insight::bound::{Placement, TaskTimes};
/// use ringlane_task::Ticks;
/// let mixed = TaskTimes::default()
///     .with_block(Placement::On(CoreKind::Aic), Ticks(30))
///     .with_block(Placement::On(CoreKind::Aiv), Ticks(20))
///     .with_block(Placement::On(CoreKind::Aiv), Ticks(25));
/// assert_eq!(mixed.duration(), Ticks(30));
/// assert_eq!((mixed.work_on(CoreKind::Aiv), mixed.work()), (Ticks(45), Ticks(75)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskTimes {
    duration: u64,
    /// Work that needs a kind of core, by kind.
    bound_to: [u64; CoreKind::COUNT],
    anywhere: u64,
    /// Its blocks as whole ones, by placement.
    groups: [BlockGroup; PLACEMENTS],
}

impl TaskTimes {
    /// The same with one block more.
    #[must_use]
    pub fn with_block(mut self, placement: Placement, duration: Ticks) -> Self {
        let work = match placement {
            Placement::On(kind) => &mut self.bound_to[kind as usize],
            Placement::Anywhere => &mut self.anywhere,
        };
        // Work past what 64 bits hold is left out, which keeps the bound a lower one.
        *work = work.saturating_add(duration.0);
        self.groups[group_of(placement)].add(duration.0);
        self.duration = self.duration.max(duration.0);
        self
    }

    /// How long its longest block takes: no schedule is done with it sooner.
    pub const fn duration(&self) -> Ticks {
        Ticks(self.duration)
    }

    /// What its blocks that need this kind of core take together.
    pub const fn work_on(&self, kind: CoreKind) -> Ticks {
        Ticks(self.bound_to[kind as usize])
    }

    /// What all of its blocks take together.
    pub fn work(&self) -> Ticks {
        Ticks(self.bound_to.iter().fold(self.anywhere, |sum, work| sum.saturating_add(*work)))
    }
}

/// A time that no schedule can beat, and what it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The bound: the largest of the others.
    pub ticks: Ticks,
    /// The longest chain of tasks that wait for each other.
    pub longest_path: Ticks,
    /// What all cores together need at least.
    pub all_cores: Ticks,
    /// What the cores of each kind that the chip has need at least, in the order of [`CoreKind::ALL`].
    pub by_kind: Vec<(CoreKind, Ticks)>,
    /// What the cores need at least because blocks cannot be cut: 0 where no core has to run two of those that could run at
    /// the same time.
    pub whole_blocks: Ticks,
}

/// The time below which no schedule of these tasks can end.
///
/// Tasks are in submission order, or any other in which an edge `(before, after)`, two positions in `tasks`, leads
/// from an earlier one to a later one. Takes `O((tasks + edges) log (tasks + edges))`.
///
/// ```
/// use ringlane_insight::{CoreKind, Cores};
/// use ringlane_insight::bound::{Placement, TaskTimes, lower_bound};
/// use ringlane_task::Ticks;
/// // One task, then four of 10 ticks that wait for it, then one that waits for those: on two cores the four take 20.
/// let task = TaskTimes::default().with_block(Placement::Anywhere, Ticks(10));
/// let edges = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (3, 5), (4, 5)];
/// let bound = lower_bound(&[task; 6], &edges, &Cores::none().with(CoreKind::Cpu, 2))?;
/// assert_eq!((bound.longest_path, bound.ticks), (Ticks(30), Ticks(40)));
/// # Ok::<(), ringlane_insight::InsightError>(())
/// ```
pub fn lower_bound(tasks: &[TaskTimes], edges: &[(u32, u32)], cores: &Cores) -> Result<Bound, InsightError> {
    check_cores(tasks, cores)?;
    let chains = Chains::of(tasks, edges)?;
    let pool = |cores: u64, work: &dyn Fn(&TaskTimes) -> Ticks| {
        let jobs = tasks.iter().zip(chains.around()).map(|(task, (head, tail))| PoolTask {
            head,
            tail,
            work: work(task).0,
        });
        Ticks(pool_bound(jobs, cores))
    };
    let all_cores = pool(cores.all(), &TaskTimes::work);
    let by_kind: Vec<_> = match cores.kinds().collect::<Vec<_>>()[..] {
        [only] => vec![(only, all_cores)],
        ref kinds => kinds
            .iter()
            .map(|&kind| (kind, pool(u64::from(cores.of(kind)), &|task: &TaskTimes| task.work_on(kind))))
            .collect(),
    };
    let longest_path = Ticks(chains.longest(tasks));
    let whole_blocks = whole_blocks(tasks, &chains, cores);
    let best = by_kind.iter().map(|&(_, ticks)| ticks).max().unwrap_or_default();
    let ticks = best.max(all_cores).max(longest_path).max(whole_blocks);
    Ok(Bound { ticks, longest_path, all_cores, by_kind, whole_blocks })
}

/// What blocks that cannot be cut need at least: of each kind on its cores, and of all on all.
fn whole_blocks(tasks: &[TaskTimes], chains: &Chains, cores: &Cores) -> Ticks {
    let pool = |cores: u64, groups: core::ops::Range<usize>| {
        let batches = tasks.iter().zip(chains.around()).flat_map(|(task, (head, tail))| {
            task.groups[groups.clone()].iter().map(move |&group| Batch { head, tail, group })
        });
        whole_bound(batches, cores)
    };
    let of_kind = |kind: CoreKind| pool(u64::from(cores.of(kind)), kind as usize..kind as usize + 1);
    let kinds = cores.kinds().map(of_kind).max().unwrap_or(0);
    Ticks(kinds.max(pool(cores.all(), 0..PLACEMENTS)))
}

/// Work that no core can do has no schedule, and no bound.
fn check_cores(tasks: &[TaskTimes], cores: &Cores) -> Result<(), InsightError> {
    for kind in CoreKind::ALL.into_iter().filter(|&kind| cores.of(kind) == 0) {
        if tasks.iter().any(|task| task.work_on(kind) > Ticks(0)) {
            return Err(InsightError::NoCores { kind: kind.as_str() });
        }
    }
    if cores.all() == 0 && tasks.iter().any(|task| task.work() > Ticks(0)) {
        return Err(InsightError::NoCores { kind: "any" });
    }
    Ok(())
}
