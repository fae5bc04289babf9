//! One batch on the device: which list each block is on, and when it runs.

use std::collections::HashSet;
use std::ops::Range;

use ringlane_engine::lists::{Placed, Planner};
use ringlane_trace::deps::EdgeSource;

use super::measured::Measured;
use crate::recorded::{Program, ProgramEdge, TaskKind};

/// What a block followed when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// The launch of its batch: it is the first on its list.
    Launch = 0,
    /// The block before it on its list.
    Block = 1,
    /// The flag of a task with a block on another list.
    Flag = 2,
}

/// When what a block follows was over, by [`Gap`].
pub(super) type Over = [Option<u64>; 3];
/// A block: the place of its task in submission order, and which of its blocks.
pub(super) type BlockOf = (usize, usize);

/// What a block took, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockTime {
    /// The kernel.
    pub kernel: u64,
    /// The list that it was on.
    pub list: u32,
    /// The time from each thing that it followed until its kernel began, by [`Gap`]: not more than was measured.
    pub gaps: [Option<u64>; 3],
}

/// Which tasks each task follows, by their places in submission order.
#[derive(Clone, Debug, Default)]
pub struct Follows {
    /// Where those of each task begin, and the end.
    first: Vec<usize>,
    tasks: Vec<u32>,
    /// Whether edges of the program are missing.
    is_changed: bool,
}

impl Follows {
    /// Those of a program.
    pub fn all(program: &Program) -> Self {
        Follows::without(program, &HashSet::new())
    }

    /// Those of a program without some edges. Memory that the orchestration itself initialized is ready when it is submitted:
    /// nothing waits for that.
    pub fn without(program: &Program, dropped: &HashSet<(u64, u64)>) -> Self {
        let is_wired = |edge: &&ProgramEdge| {
            let kind = program.tasks[edge.before as usize].kind;
            let is_made = matches!(kind, TaskKind::Alloc | TaskKind::Upload)
                && edge.cause != EdgeSource::Explicit.as_str();
            !is_made && !dropped.contains(&(edge.before.into(), edge.after.into()))
        };
        let pairs = program.edges.iter().filter(is_wired).map(|edge| (edge.after, edge.before));
        let mut pairs: Vec<(u32, u32)> = pairs.collect();
        pairs.sort_unstable();
        pairs.dedup();
        let first =
            (0..=program.tasks.len()).map(|task| pairs.partition_point(|pair| (pair.0 as usize) < task));
        let first = first.collect();
        Follows {
            first,
            tasks: pairs.into_iter().map(|pair| pair.1).collect(),
            is_changed: !dropped.is_empty(),
        }
    }

    /// The tasks of a batch that a task of it follows: others are done before it begins.
    fn inside(&self, batch: &Range<usize>, task: usize) -> &[u32] {
        let all = &self.tasks[self.first[task]..self.first[task + 1]];
        &all[all.partition_point(|&before| (before as usize) < batch.start)..]
    }
}

/// The lists of a batch.
pub(super) struct Lists {
    tasks: Range<usize>,
    count: u32,
    /// The list of each block, task by task.
    places: Vec<u32>,
}

impl Lists {
    /// Those of the recording, if the batch was one of it; otherwise those on which the chip would put its blocks.
    pub(super) fn of(measured: &Measured, follows: &Follows, tasks: Range<usize>) -> Self {
        let is_recorded = measured.lists == measured.recorded_lists
            && !follows.is_changed
            && measured.batch_at(tasks.start).is_some_and(|batch| batch.tasks() == tasks);
        if is_recorded { Lists::recorded(measured, tasks) } else { Lists::planned(measured, follows, tasks) }
    }

    pub(super) fn recorded(measured: &Measured, tasks: Range<usize>) -> Self {
        let places = measured.blocks[tasks.clone()].iter().flatten().map(|block| block.list).collect();
        Lists { tasks, count: measured.recorded_lists, places }
    }

    pub(super) fn planned(measured: &Measured, follows: &Follows, tasks: Range<usize>) -> Self {
        let mut planner = Planner::new(measured.lists);
        let (mut ends, mut first): (Vec<Placed>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut places = Vec::new();
        for task in tasks.clone() {
            let before = follows.inside(&tasks, task).iter().flat_map(|&before| {
                let at = before as usize - tasks.start;
                &ends[first[at]..first.get(at + 1).copied().unwrap_or(ends.len())]
            });
            planner.begin(before.copied());
            first.push(ends.len());
            let blocks = measured.blocks[task].len();
            ends.extend((0..blocks.max(1)).map(|_| planner.place()));
            // A task without blocks is on a list, and keeps it for no time.
            places.extend(ends[ends.len() - blocks..].iter().map(|placed| placed.list));
        }
        Lists { tasks, count: measured.lists, places }
    }

    /// The list of each block, task by task.
    pub(super) fn into_places(self) -> Vec<u32> {
        self.places
    }

    /// Goes through the blocks in an order in which each comes after all that it follows. `run` is asked when a block begins and
    /// ends, given when what it follows was over, by [`Gap`]. Gives the end of the batch.
    pub(super) fn run(
        &self,
        measured: &Measured,
        follows: &Follows,
        begin: u64,
        mut run: impl FnMut(BlockOf, Over) -> u64,
    ) -> u64 {
        let mut free: Vec<Option<u64>> = vec![None; self.count as usize];
        let mut ended: Vec<Ended> = Vec::with_capacity(self.tasks.len());
        let (mut places, mut end) = (self.places.iter(), begin);
        for task in self.tasks.clone() {
            let before = follows.inside(&self.tasks, task).iter();
            let before: Vec<Ended> = before.map(|&one| ended[one as usize - self.tasks.start]).collect();
            let mut own = Ended { at: begin, only_on: None };
            let blocks = measured.blocks[task].len();
            for (block, &list) in (0..blocks).zip(places.by_ref()) {
                let awaited = before.iter().filter(|one| one.only_on != Some(list)).map(|one| one.at).max();
                let free = &mut free[list as usize];
                let launch = free.is_none().then_some(begin);
                let at = run((task, block), [launch, *free, awaited]);
                *free = Some(at);
                own.only_on = Some(list).filter(|_| block == 0 || own.only_on == Some(list));
                own.at = own.at.max(at);
            }
            if blocks == 0 {
                own.at = before.iter().map(|one| one.at).max().unwrap_or(begin);
            }
            end = end.max(own.at);
            ended.push(own);
        }
        end
    }
}

/// A task of the batch that has ended.
#[derive(Clone, Copy)]
struct Ended {
    at: u64,
    /// The list that all its blocks are on: what follows it there needs no flag.
    only_on: Option<u32>,
}

/// When a block begins: after all that it follows, with what passes after each.
pub(super) fn start_of(block: &BlockTime, over: Over, usual: [u64; 3]) -> u64 {
    let after = |gap: usize| over[gap].map(|at| at + block.gaps[gap].unwrap_or(usual[gap]));
    (0..over.len()).filter_map(after).max().unwrap_or(0)
}
