//! The bound of a recorded run: when its blocks ran, from the swimlane; what waited for what, from the dependencies.
//!
//! Rows that a recording lost are missing from both, which makes the bound smaller and keeps it true.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ringlane_task::{CoreId, KernelId, Seq, TaskId, Ticks};
use ringlane_trace::deps::{self, DepsRow, read_deps};
use ringlane_trace::swimlane::{self, SwimlaneHead, SwimlaneMeta, SwimlaneRow, read_swimlane};
use ringlane_trace::{Manifest, TraceError};

use super::{Bound, Placement, TaskTimes, lower_bound};
use crate::{CoreKind, Cores, InsightError};

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
    let manifest = Manifest::read(dir)?;
    let (head, blocks) = blocks_of(dir)?;
    let graph = Graph::read(dir)?;
    let disagree = |what| InsightError::FilesDisagree { dir: dir.to_path_buf(), what };
    let (cores, kind_of_core) = cores_of(&head.meta)?;
    let makespan = Ticks(manifest.makespan_ticks);
    let times = task_times(&blocks, &graph, &placements_of(&head.meta, &cores)).map_err(disagree)?;
    let edges = graph.edges().map_err(disagree)?;
    Ok(RunBound {
        makespan,
        bound: lower_bound(&times, &edges, &cores)?,
        kinds: kinds_of(&blocks, &cores, &kind_of_core, makespan).map_err(disagree)?,
        clock_freq_hz: manifest.clock_freq_hz,
        lost_blocks: head.counts.blocks.dropped,
        lost_tasks: graph.lost,
    })
}

/// How long each task took, by its position; the error says how the files disagree.
fn task_times(
    blocks: &[Block],
    graph: &Graph,
    placements: &HashMap<KernelId, Placement>,
) -> Result<Vec<TaskTimes>, String> {
    let mut times = vec![TaskTimes::default(); graph.positions.len()];
    for block in blocks {
        let placement = placements.get(&block.func_id).copied().unwrap_or(Placement::Anywhere);
        match graph.positions.get(&block.task_id) {
            Some(&position) => {
                let task = &mut times[position as usize];
                *task = task.with_block(placement, block.duration);
            }
            // Its row is lost, and with it what it waited for: a task by itself.
            None if graph.lost > 0 => times.push(TaskTimes::default().with_block(placement, block.duration)),
            None => return Err(format!("task {} ran and was not submitted", block.task_id)),
        }
    }
    Ok(times)
}

/// How busy the cores of each kind were; the error says how the files disagree.
fn kinds_of(
    blocks: &[Block],
    cores: &Cores,
    kind_of_core: &[CoreKind],
    makespan: Ticks,
) -> Result<Vec<KindUse>, String> {
    let mut counts = [0; CoreKind::COUNT];
    let mut busy = [0u64; CoreKind::COUNT];
    for block in blocks {
        let kind = kind_of_core.get(block.core.0 as usize);
        let kind = *kind.ok_or_else(|| format!("a block ran on core {}, which is none", block.core))?;
        counts[kind as usize] += 1;
        busy[kind as usize] = busy[kind as usize].saturating_add(block.duration.0);
    }
    let of = |kind| KindUse::of(kind, cores.of(kind), (counts[kind as usize], busy[kind as usize]), makespan);
    Ok(cores.kinds().map(of).collect())
}

impl KindUse {
    fn of(kind: CoreKind, cores: u32, (blocks, busy): (u64, u64), makespan: Ticks) -> Self {
        let available = f64::from(cores) * makespan.0 as f64;
        let utilization = if available > 0.0 { busy as f64 / available } else { 0.0 };
        KindUse { kind, cores, blocks, busy: Ticks(busy), utilization }
    }
}

/// What the bound needs of a block.
struct Block {
    task_id: TaskId,
    duration: Ticks,
    core: CoreId,
    func_id: KernelId,
}

fn blocks_of(dir: &Path) -> Result<(SwimlaneHead, Vec<Block>), InsightError> {
    let mut blocks = Vec::new();
    let path = dir.join(swimlane::FILE_NAME);
    let head = read_swimlane(&path, |row| {
        if let SwimlaneRow::Block(row) = row {
            let duration = Ticks(row.end.0.saturating_sub(row.start.0));
            blocks.push(Block { task_id: row.task_id, duration, core: row.core, func_id: row.func_id });
        }
    });
    Ok((head.map_err(|error| or_not_recorded(error, path, "--chip-swimlane=1"))?, blocks))
}

/// Tasks by their place in submission order, and who waits for whom.
struct Graph {
    positions: HashMap<TaskId, u32>,
    edges: Vec<(TaskId, TaskId)>,
    /// Tasks whose rows are missing.
    lost: u64,
}

impl Graph {
    fn read(dir: &Path) -> Result<Self, InsightError> {
        let mut tasks: Vec<(Seq, TaskId)> = Vec::new();
        let mut edges = Vec::new();
        let path = dir.join(deps::FILE_NAME);
        let lost = read_deps(&path, |row| match row {
            DepsRow::Task(task) => tasks.push((task.seq, task.task_id)),
            DepsRow::Edge(edge) => edges.push((edge.pred, edge.succ)),
            DepsRow::Tensor(_) => {}
        });
        let lost = lost.map_err(|error| or_not_recorded(error, path, "--dep-gen"))?;
        tasks.sort_unstable();
        let positions = tasks.iter().zip(0..).map(|(&(_, task_id), position)| (task_id, position)).collect();
        Ok(Graph { positions, edges, lost })
    }

    /// The edges between positions. One that names a task whose row is lost is left out.
    fn edges(&self) -> Result<Vec<(u32, u32)>, String> {
        let mut edges = Vec::with_capacity(self.edges.len());
        for (pred, succ) in &self.edges {
            match (self.positions.get(pred), self.positions.get(succ)) {
                (Some(&before), Some(&after)) => edges.push((before, after)),
                _ if self.lost > 0 => {}
                _ => return Err(format!("an edge leads from task {pred} to {succ}, and one is none")),
            }
        }
        Ok(edges)
    }
}

/// How many cores of each kind there are, and the kind of each core.
fn cores_of(meta: &SwimlaneMeta) -> Result<(Cores, Vec<CoreKind>), InsightError> {
    let kind = |name: &String| {
        CoreKind::from_name(name).ok_or_else(|| InsightError::UnknownCoreKind { name: name.clone() })
    };
    let kinds: Vec<_> = meta.core_types.iter().map(kind).collect::<Result<_, _>>()?;
    let cores = kinds.iter().fold(Cores::none(), |cores, &kind| cores.with(kind, cores.of(kind) + 1));
    Ok((cores, kinds))
}

/// Where the blocks of each kernel can run. A kernel for a kind of core that the chip does not have (every kernel that
/// asks for one, on `cpu`) runs wherever the chip lets it.
fn placements_of(meta: &SwimlaneMeta, cores: &Cores) -> HashMap<KernelId, Placement> {
    let placement = |name: &str| match CoreKind::from_name(name) {
        Some(kind) if cores.of(kind) > 0 => Placement::On(kind),
        _ => Placement::Anywhere,
    };
    meta.kernels.iter().map(|kernel| (kernel.func_id, placement(&kernel.core_type))).collect()
}

/// A file that is not there was not asked for.
fn or_not_recorded(error: TraceError, path: PathBuf, option: &'static str) -> InsightError {
    match error {
        TraceError::CannotRead { source, .. } if source.kind() == ErrorKind::NotFound => {
            InsightError::NotRecorded { path, option }
        }
        error => InsightError::Trace(error),
    }
}
