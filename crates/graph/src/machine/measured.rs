//! What submits, blocks and hand-overs took, from the swimlane.

use std::path::Path;

use ringlane_trace::Manifest;
use ringlane_trace::swimlane::{self, BlockRow, Swimlane};

use super::delays::Delays;
use super::slowness::Slowness;
use crate::error::ReplayError;
use crate::recorded::{GraphBuild, Program, ProgramTask, TaskIds, read_phases};

/// The chip takes no task for longer than this, in nanoseconds.
const TASK_NS_MAX: u64 = 20_000;
/// It does not move tasks that are shorter than this.
const FINE_NS: u64 = 300;

/// What a block took, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockTime {
    /// From when its thread took it until the kernel began.
    pub before: u64,
    /// The kernel.
    pub kernel: u64,
    /// From the kernel's end until the thread was free: the task's successors were notified meanwhile.
    pub after: u64,
    /// The thread that ran it.
    pub thread: u32,
}

/// A block of a task: the task's place in submission order, and which of its blocks.
pub type PlacedBlock = (u32, u32);

/// What everything took, in ticks.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The orchestration's own time before each submit.
    pub own: Vec<u64>,
    /// Each submit, without its waits.
    pub submits: Vec<u64>,
    /// The blocks of each task: by lane, then by block.
    pub blocks: Vec<Vec<BlockTime>>,
    /// What each thread ran, in order.
    pub placed: Vec<Vec<PlacedBlock>>,
    /// How much longer the same work took on each thread than on the fastest.
    pub slowness: Slowness,
    /// How long threads without work took to find some.
    pub delays: Delays,
    /// Ticks in a second.
    pub clock_freq_hz: u64,
    /// From the last thing that a thread did until the end of the run.
    pub rest: u64,
    /// Whether all tasks were there from the start: the graph was captured.
    pub is_captured: bool,
}

impl Measured {
    pub(super) fn read(
        dir: &Path,
        manifest: &Manifest,
        program: &Program,
        ids: &TaskIds,
    ) -> Result<Self, ReplayError> {
        let disagree = |what: String| ReplayError::FilesDisagree { dir: dir.into(), what };
        let recorded = read_phases(dir, manifest, program)?;
        let counts = &recorded.head.counts;
        let lost =
            counts.blocks.dropped + counts.submits.dropped + counts.tasks.dropped + counts.phases.dropped;
        if lost > 0 {
            return Err(ReplayError::RowsLost { dir: dir.into(), file: swimlane::FILE_NAME, lost });
        }
        let (blocks, placed) = blocks(program, ids, &recorded).map_err(disagree)?;
        let is_captured = matches!(GraphBuild::of(manifest), Some(GraphBuild::Captured { .. }));
        let (own, submits) = match is_captured {
            true => Default::default(),
            false => submits(program, ids, &recorded).map_err(disagree)?,
        };
        let last = recorded.blocks.iter().map(|block| block.finish.0);
        let last = last.chain(recorded.submits.iter().map(|submit| submit.end.0)).max().unwrap_or(0);
        let rest = manifest.makespan_ticks.saturating_sub(last);
        let slowness = Slowness::of(program, &blocks, &placed);
        let (delays, clock_freq_hz) = (Delays::read(&recorded), manifest.clock_freq_hz);
        Ok(Measured { own, submits, blocks, placed, slowness, delays, clock_freq_hz, rest, is_captured })
    }

    /// Makes it that of a captured graph, whose tasks are all there from the start.
    pub fn capture(&mut self) {
        (self.own, self.submits, self.is_captured) = (Vec::new(), Vec::new(), true);
    }

    /// How long a task takes, as far as the chip distinguishes that.
    fn task_ns(&self) -> u64 {
        let blocks = || self.blocks.iter().flatten();
        let ticks: u64 = blocks().map(|block| block.before + block.kernel + block.after).sum();
        let mean = u128::from(ticks) * 1_000_000_000
            / (u128::from(self.clock_freq_hz) * blocks().count() as u128).max(1);
        (mean as u64).clamp(1, TASK_NS_MAX)
    }

    /// How many tasks take this long, at least one.
    pub(super) fn tasks_in(&self, ns: u64) -> usize {
        (ns / self.task_ns()).max(1) as usize
    }

    /// Whether tasks are too short for the chip to move them.
    pub(super) fn is_fine(&self) -> bool {
        self.task_ns() < FINE_NS
    }
}

/// What the blocks of each task took, and what each thread ran.
type Blocks = (Vec<Vec<BlockTime>>, Vec<Vec<PlacedBlock>>);

fn blocks(program: &Program, ids: &TaskIds, recorded: &Swimlane) -> Result<Blocks, String> {
    let empty = |task: &ProgramTask| vec![BlockTime::default(); task.kernels() * task.blocks as usize];
    let mut blocks: Vec<Vec<BlockTime>> = program.tasks.iter().map(empty).collect();
    let mut placed = vec![Vec::new(); recorded.head.meta.core_types.len()];
    let mut rows: Vec<&BlockRow> = recorded.blocks.iter().collect();
    rows.sort_by_key(|row| row.dispatch);
    for row in rows {
        let not_there = || format!("deps.json has no block {} of task {}", row.block.0, row.task_id);
        let place = ids.place(row.task_id).ok_or_else(not_there)? as usize;
        let task = &program.tasks[place];
        let kernels = task.lanes.get(..usize::from(row.lane)).ok_or_else(not_there)?.iter().flatten().count();
        let index = kernels * task.blocks as usize + row.block.0 as usize;
        *blocks[place].get_mut(index).ok_or_else(not_there)? = time_of(row);
        if let Some(thread) = placed.get_mut(row.core.0 as usize) {
            thread.push((place as u32, index as u32));
        }
    }
    Ok((blocks, placed))
}

fn time_of(row: &BlockRow) -> BlockTime {
    BlockTime {
        before: row.start.0.saturating_sub(row.dispatch.0),
        kernel: row.duration().0,
        after: row.finish.0.saturating_sub(row.end.0),
        thread: row.core.0,
    }
}

/// The orchestration's own time before each submit, and each submit without its waits.
fn submits(program: &Program, ids: &TaskIds, recorded: &Swimlane) -> Result<(Vec<u64>, Vec<u64>), String> {
    let mut rows = vec![None; program.tasks.len()];
    for row in &recorded.submits {
        let place = ids.place(row.task_id).ok_or_else(|| format!("deps.json has no task {}", row.task_id))?;
        rows[place as usize] = Some(*row);
    }
    // What the submitting thread ran meanwhile, in order of time.
    let mut ran: Vec<_> = recorded.blocks.iter().filter(|block| block.core.0 == 0).collect();
    ran.sort_by_key(|block| block.dispatch);
    let (mut own, mut submits) = (Vec::new(), Vec::new());
    let (mut free, mut next) = (0, 0);
    for (place, row) in rows.into_iter().enumerate() {
        let row = row.ok_or_else(|| format!("there is no submit of the task with number {place}"))?;
        let mut busy = 0;
        while next < ran.len() && ran[next].dispatch.0 < row.start.0 {
            busy += ran[next].finish.0.min(row.start.0).saturating_sub(ran[next].dispatch.0.max(free));
            next += 1;
        }
        // A wait for a value is time of the orchestration's, but not its own; what it ran meanwhile is part of the wait.
        let waited = row.read.0.max(busy);
        own.push(row.start.0.saturating_sub(free).saturating_sub(waited));
        submits.push((row.end.0 - row.start.0.min(row.end.0)).saturating_sub(row.stall.0));
        free = row.end.0;
        // Blocks that it ran while the submit waited for a ring.
        while next < ran.len() && ran[next].dispatch.0 < row.end.0 {
            next += 1;
        }
    }
    Ok((own, submits))
}
