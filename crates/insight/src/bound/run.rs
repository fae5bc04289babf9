//! The bound of a recorded run: when its blocks ran, from the swimlane; what waited for what, from the dependencies.
//!
//! Rows that a recording lost are missing from both, which makes the bound smaller and keeps it true.

use std::path::Path;

use ringlane_task::Ticks;

use super::{Bound, TaskTimes, lower_bound};
use crate::timeline::Timeline;
use crate::{CoreKind, InsightError, Instrument, Run};

/// A run beside the shortest time it could have taken.
#[derive(Clone, Debug, PartialEq)]
pub struct RunBound {
    /// How long it took on the chip.
    pub makespan: Ticks,
    /// What no schedule of its tasks, with the durations they had, could beat.
    pub bound: Bound,
    /// How busy its cores were, for each kind that the chip has, in the order of [`CoreKind::ALL`].
    pub kinds: Vec<KindUse>,
    /// Ticks in a second.
    pub clock_freq_hz: u64,
    /// Blocks that the swimlane lost; the bound does not know them.
    pub lost_blocks: u64,
    /// Tasks that the dependencies lost; the bound does not know what they waited for.
    pub lost_tasks: u64,
}

impl RunBound {
    /// How many times as long as the bound the run took: 1 for a run that could not have been shorter. `None` if the
    /// bound is 0 because nothing ran.
    pub fn ratio(&self) -> Option<f64> {
        (self.bound.ticks > Ticks(0)).then(|| self.makespan.0 as f64 / self.bound.ticks.0 as f64)
    }
}

/// What the cores of one kind did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindUse {
    /// The kind.
    pub kind: CoreKind,
    /// How many cores of it there are.
    pub cores: u32,
    /// Blocks that they ran.
    pub blocks: u64,
    /// Time that they spent in blocks, all cores together.
    pub busy: Ticks,
    /// The part of their time that they spent in blocks: busy / (cores × makespan), 0 if the run took no time.
    pub utilization: f64,
}

/// The bound of a run that recorded its swimlane, at any level, and its dependencies.
///
/// ```no_run
/// use std::path::Path;
/// // ringlane run cholesky --chip-swimlane=1 --dep-gen -o outputs/cholesky
/// let run = ringlane_insight::bound::of_run(Path::new("outputs/cholesky"))?;
/// assert!(run.makespan >= run.bound.ticks);
/// println!("{} times the shortest schedule, at best", run.ratio().unwrap_or(1.0));
/// # Ok::<(), ringlane_insight::InsightError>(())
/// ```
pub fn of_run(dir: &Path) -> Result<RunBound, InsightError> {
    let run = Run::open(dir)?;
    run.file(Instrument::Deps)?;
    of_timeline(&run.timeline()?)
}

/// The bound of a timeline, with the edges that it has.
pub fn of_timeline(timeline: &Timeline) -> Result<RunBound, InsightError> {
    let edges: Vec<_> = timeline.edges.pairs().map(|(before, after)| (before.0, after.0)).collect();
    Ok(RunBound {
        makespan: timeline.makespan,
        bound: lower_bound(&task_times(timeline), &edges, &timeline.core_counts())?,
        kinds: kinds_of(timeline),
        clock_freq_hz: timeline.clock_freq_hz,
        lost_blocks: timeline.counts.blocks.dropped,
        lost_tasks: timeline.lost_tasks,
    })
}

/// How long each task took, by its position.
pub(crate) fn task_times(timeline: &Timeline) -> Vec<TaskTimes> {
    let mut times = vec![TaskTimes::default(); timeline.tasks.len()];
    for task in timeline.indices() {
        let blocks = timeline.blocks_of(task).iter();
        times[task.at()] = blocks.fold(TaskTimes::default(), |times, block| {
            times.with_block(timeline.placement(block.func_id), block.duration())
        });
    }
    times
}

/// How busy the cores of each kind were.
fn kinds_of(timeline: &Timeline) -> Vec<KindUse> {
    let (mut counts, mut busy) = ([0; CoreKind::COUNT], [0u64; CoreKind::COUNT]);
    for block in &timeline.blocks {
        let kind = timeline.kind_of(block) as usize;
        counts[kind] += 1;
        busy[kind] = busy[kind].saturating_add(block.duration().0);
    }
    let cores = timeline.core_counts();
    let of = |kind: CoreKind| {
        KindUse::of(kind, cores.of(kind), (counts[kind as usize], busy[kind as usize]), timeline.makespan)
    };
    cores.kinds().map(of).collect()
}

impl KindUse {
    fn of(kind: CoreKind, cores: u32, (blocks, busy): (u64, u64), makespan: Ticks) -> Self {
        let available = f64::from(cores) * makespan.0 as f64;
        let utilization = if available > 0.0 { busy as f64 / available } else { 0.0 };
        KindUse { kind, cores, blocks, busy: Ticks(busy), utilization }
    }
}
