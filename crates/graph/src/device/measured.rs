//! What submits, launches, copies and blocks took, from the swimlane.

use std::ops::Range;
use std::path::Path;

use ringlane_trace::Manifest;
use ringlane_trace::swimlane::{self, BlockRow, Swimlane};

use super::batch::{BlockOf, BlockTime, Follows, Gap, Lists, Over};
use super::timeline::{Busy, HostTime, copies, launches};
use crate::error::ReplayError;
use crate::recorded::{GraphBuild, Program, TaskIds, block_index, read_phases};

/// A batch of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedBatch {
    /// The place of its first task in submission order.
    pub first: u32,
    /// The number of its tasks.
    pub count: u32,
}

impl RecordedBatch {
    /// The places of its tasks.
    pub fn tasks(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// What everything took, in ticks.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The orchestration's own time before each submit until it waits for tasks, and after the last submit.
    pub lead: Vec<u64>,
    /// The same after that, or all of it where it does not wait; at the end of the run, besides copies.
    pub own: Vec<u64>,
    /// Each submit, without copies, and without batches that it launched or waited for.
    pub submits: Vec<u64>,
    /// The copies before or during each submit, and those after the last one.
    pub copies: Vec<u64>,
    /// For each submit that waited for room: the task that was complete then, with the batch that it is in.
    pub stalls: Vec<Option<u32>>,
    /// The share of each task in laying out and launching its batch, until the device begins.
    pub launch: Vec<u64>,
    /// The share of each task in the rest of the launch.
    pub after_launch: Vec<u64>,
    /// The share of each task in completing the tasks of its batch.
    pub settle: Vec<u64>,
    /// From the end of a batch until a poll can see it.
    pub notice: u64,
    /// The blocks of each task: by lane, then by block.
    pub blocks: Vec<Vec<BlockTime>>,
    /// The usual time from what a block follows until it begins, by [`Gap`].
    pub usual: [u64; 3],
    /// The batches of the recording.
    pub batches: Vec<RecordedBatch>,
    /// The number of lists.
    pub lists: u32,
    /// The number of lists in the recording.
    pub recorded_lists: u32,
    /// Whether all tasks are one batch: the graph is captured.
    pub is_captured: bool,
}

impl Measured {
    pub(super) fn read(
        dir: &Path,
        manifest: &Manifest,
        (program, follows): (&Program, &Follows),
        ids: &TaskIds,
    ) -> Result<Self, ReplayError> {
        let recorded = checked(dir, manifest, program)?;
        let disagree = |what: String| ReplayError::FilesDisagree { dir: dir.into(), what };
        let tasks = launches(&recorded).iter().map(|launch| launch.tasks);
        let launched = tasks.fold(0, u64::saturating_add);
        if launched < manifest.tasks {
            return Err(ReplayError::NotInBatches { dir: dir.into(), tasks: manifest.tasks - launched });
        }
        if launched > manifest.tasks {
            return Err(disagree(format!("{launched} tasks were launched, run.json has {}", manifest.tasks)));
        }
        let is_captured = matches!(GraphBuild::of(manifest), Some(GraphBuild::Captured { .. }));
        let empty = Measured { is_captured, ..Measured::default() };
        empty.filled((program, follows), ids, &recorded, manifest.makespan_ticks).map_err(disagree)
    }

    /// Takes everything from a recording whose launches have all tasks.
    pub(super) fn filled(
        mut self,
        (program, follows): (&Program, &Follows),
        ids: &TaskIds,
        recorded: &Swimlane,
        makespan: u64,
    ) -> Result<Self, String> {
        self.recorded_lists = recorded.head.meta.core_types.len() as u32;
        self.lists = self.recorded_lists;
        let times = self.read_blocks(program, ids, recorded)?;
        self.read_batches(recorded, follows, &times);
        let submits = if self.is_captured { Vec::new() } else { submits(program, ids, recorded)? };
        self.read_host(recorded, &submits, program.tasks.len(), makespan);
        Ok(self)
    }

    /// Places the blocks; gives when each began and ended.
    fn read_blocks(
        &mut self,
        program: &Program,
        ids: &TaskIds,
        recorded: &Swimlane,
    ) -> Result<Vec<Vec<(u64, u64)>>, String> {
        let blocks = |task: &crate::recorded::ProgramTask| task.kernels() * task.blocks as usize;
        let mut rows: Vec<Vec<Option<&BlockRow>>> =
            program.tasks.iter().map(|task| vec![None; blocks(task)]).collect();
        for row in &recorded.blocks {
            let not_there = || format!("deps.json has no block {} of task {}", row.block.0, row.task_id);
            let place = ids.place(row.task_id).ok_or_else(not_there)? as usize;
            let index = block_index(&program.tasks[place], row.lane, row.block.0).ok_or_else(not_there)?;
            if row.core.0 >= self.lists {
                return Err(format!(
                    "block {} of task {} ran on core {}",
                    row.block.0, row.task_id, row.core.0
                ));
            }
            rows[place][index] = Some(row);
        }
        let mut times = Vec::with_capacity(rows.len());
        for (place, rows) in rows.into_iter().enumerate() {
            let ran: Option<Vec<&BlockRow>> = rows.into_iter().collect();
            let ran = ran.ok_or_else(|| format!("blocks of the task with number {place} did not run"))?;
            let time = |row: &&BlockRow| BlockTime {
                kernel: row.duration().0,
                list: row.core.0,
                ..BlockTime::default()
            };
            self.blocks.push(ran.iter().map(time).collect());
            times.push(ran.iter().map(|row| (row.start.0, row.end.0)).collect());
        }
        Ok(times)
    }

    /// Takes batches apart: what each block waited for, and what the host did for each.
    fn read_batches(&mut self, recorded: &Swimlane, follows: &Follows, times: &[Vec<(u64, u64)>]) {
        let settling = Busy::settling(recorded);
        let mut over = Vec::new();
        let (mut device_free, mut first, mut notices) = (0, 0, Vec::new());
        for launch in launches(recorded) {
            let batch = RecordedBatch { first, count: launch.tasks as u32 };
            // Its first block may begin before the call that launches it returns.
            let first_start = times[batch.tasks()].iter().flatten().map(|time| time.0).min();
            let begun = launch.end.0.min(first_start.unwrap_or(u64::MAX)).max(launch.start.0);
            let begin = begun.max(device_free);
            let note = |(task, block): BlockOf, after| {
                over.push(((task, block), after));
                times[task][block].1
            };
            device_free = Lists::recorded(self, batch.tasks()).run(self, follows, begin, note);
            share(&mut self.launch, settling.rest(launch.start.0, begun), batch.count);
            share(&mut self.after_launch, settling.rest(begun, launch.end.0), batch.count);
            share(
                &mut self.settle,
                launch.settled.0.saturating_sub(launch.wait.0.max(device_free)),
                batch.count,
            );
            notices.extend(launch.wait.0.checked_sub(device_free).filter(|_| launch.settled > launch.wait));
            self.batches.push(batch);
            first += batch.count;
        }
        self.notice = notices.into_iter().min().unwrap_or(0);
        self.read_gaps(&over, times);
    }

    /// What passed between the last thing that a block followed and its start. After the others, the usual time passed, or less.
    fn read_gaps(&mut self, over: &[(BlockOf, Over)], times: &[Vec<(u64, u64)>]) {
        let last = |after: &Over| (0..3).filter(|&gap| after[gap].is_some()).max_by_key(|&gap| after[gap]);
        let passed = |(task, block): BlockOf, at: u64| times[task][block].0.saturating_sub(at);
        let mut known: [Vec<u64>; 3] = Default::default();
        for (place, after) in over {
            let Some(gap) = last(after) else { continue };
            known[gap].extend(after[gap].map(|at| passed(*place, at)));
        }
        let [launch, block, flag] = known.map(median);
        let block = block.unwrap_or(0);
        self.usual = [launch.unwrap_or(0), block, flag.unwrap_or(block)];
        for (place, after) in over {
            let gaps = &mut self.blocks[place.0][place.1].gaps;
            for gap in [Gap::Launch, Gap::Block, Gap::Flag].map(|gap| gap as usize) {
                let most = if last(after) == Some(gap) { u64::MAX } else { self.usual[gap] };
                gaps[gap] = after[gap].map(|at| passed(*place, at).min(most));
            }
        }
    }

    /// Takes the time of the submitter's thread apart.
    fn read_host(&mut self, recorded: &Swimlane, submits: &[SubmitTimes], tasks: usize, makespan: u64) {
        let host = HostTime::of(recorded, |start, end| {
            let next = submits.partition_point(|submit| submit.start < start);
            submits.get(next).is_some_and(|submit| submit.start < end)
        });
        (self.lead, self.own) = (vec![0; tasks + 1], vec![0; tasks + 1]);
        (self.submits, self.stalls, self.copies) = (vec![0; tasks], vec![None; tasks], vec![0; tasks + 1]);
        let mut free = 0;
        for (place, &SubmitTimes { start, end, stall }) in submits.iter().enumerate() {
            (self.lead[place], self.own[place]) = host.own(free, start);
            self.submits[place] = host.rest(start, end);
            if stall > 0 {
                self.stalls[place] = self.settled_in(recorded, start, end);
            }
            free = free.max(end);
        }
        // A captured graph has no submits: what comes before its launch is as if it came before the first one.
        if let (true, Some(launch)) = (self.is_captured, launches(recorded).first()) {
            free = launch.start.0;
            self.own[0] = host.rest(0, free);
        }
        (self.lead[tasks], self.own[tasks]) = host.own(free, makespan);
        for copy in copies(recorded) {
            let place = match self.is_captured {
                true if copy.start.0 < free => 0,
                true => tasks,
                false => submits.partition_point(|submit| submit.end <= copy.start.0),
            };
            self.copies[place] += copy.end.0.saturating_sub(copy.start.0);
        }
    }

    /// The first task of the last batch that was settled between two times.
    fn settled_in(&self, recorded: &Swimlane, start: u64, end: u64) -> Option<u32> {
        let rows = launches(recorded);
        let last = rows.partition_point(|launch| launch.settled.0 <= end).checked_sub(1)?;
        (rows[last].settled.0 > start).then(|| self.batches[last].first)
    }

    /// The batch of the recording that begins with this task.
    pub(super) fn batch_at(&self, first: usize) -> Option<&RecordedBatch> {
        let at = self.batches.binary_search_by_key(&(first as u32), |batch| batch.first).ok()?;
        self.batches.get(at)
    }

    /// Makes it that of a captured graph: all tasks are one batch, which is on the device before the run begins. Memory that
    /// the orchestration initialized is initialized there.
    pub fn capture(&mut self) {
        for all in [&mut self.lead, &mut self.submits, &mut self.launch, &mut self.after_launch] {
            all.fill(0);
        }
        for all in [&mut self.own, &mut self.copies] {
            all.split_last_mut().into_iter().for_each(|(_, before)| before.fill(0));
        }
        self.stalls.fill(None);
        self.is_captured = true;
    }
}

/// Reads the swimlane, which must have everything, launches of batches included.
fn checked(dir: &Path, manifest: &Manifest, program: &Program) -> Result<Swimlane, ReplayError> {
    let recorded = read_phases(dir, manifest, program)?;
    if recorded.head.launches.is_none() {
        let what =
            "l2_perf_records.json is from a version that did not record launches of batches".to_string();
        return Err(ReplayError::NotRecorded { dir: dir.into(), what });
    }
    let counts = &recorded.head.counts;
    let lost = counts.blocks.dropped + counts.submits.dropped + counts.launches.dropped;
    if lost > 0 {
        return Err(ReplayError::RowsLost { dir: dir.into(), file: swimlane::FILE_NAME, lost });
    }
    Ok(recorded)
}

/// When a submit began and ended, and how long it waited for room.
#[derive(Clone, Copy, Default)]
struct SubmitTimes {
    start: u64,
    end: u64,
    stall: u64,
}

fn submits(program: &Program, ids: &TaskIds, recorded: &Swimlane) -> Result<Vec<SubmitTimes>, String> {
    let mut times = vec![None; program.tasks.len()];
    for row in &recorded.submits {
        let place = ids.place(row.task_id).ok_or_else(|| format!("deps.json has no task {}", row.task_id))?;
        times[place as usize] =
            Some(SubmitTimes { start: row.start.0, end: row.end.0.max(row.start.0), stall: row.stall.0 });
    }
    let missing = |place| format!("there is no submit of the task with number {place}");
    times.into_iter().enumerate().map(|(place, row)| row.ok_or_else(|| missing(place))).collect()
}

/// Adds the shares of a number of tasks in a time, which add up to it.
fn share(shares: &mut Vec<u64>, whole: u64, count: u32) {
    let until = |number: u32| (u128::from(whole) * u128::from(number) / u128::from(count.max(1))) as u64;
    shares.extend((0..count).map(|number| until(number + 1) - until(number)));
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
