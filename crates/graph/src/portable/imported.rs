//! An imported graph as a program: every task follows its predecessors explicitly.
//!
//! A task may have any number of predecessors, a submit only some. The others are joined: tasks that do nothing follow
//! [`JOINED_MAX`] of them each, and the task follows the joins; of very many, joins are joined again.
//!
//! ```text
//! 5 predecessors, 2 for each submit      a b ─▶ join ─┐
//!                                        c d ─▶ join ─┴─▶ join ─┐
//!                                        e ─────────────────────┴─▶ task
//! ```

use std::collections::HashMap;
use std::path::PathBuf;

use ringlane_engine::api::kernel::CoreType;
use ringlane_engine::limits::KERNELS_MAX;
use ringlane_engine::pace::BlockDurations;
use ringlane_task::KernelId;
use ringlane_trace::Manifest;
use ringlane_trace::deps::{self, DepsEdge, DepsRow, DepsTask, EdgeSource, read_deps};

use super::PortableRun;
use super::limits::JOINED_MAX;
use crate::error::ReplayError;
use crate::recorded::{Program, ProgramEdge, ProgramKernel, ProgramTask, TaskKind};

/// A task as the file has it.
struct ImportedTask {
    kernel: u16,
    label: Option<Box<str>>,
    picoseconds: u64,
}

/// What was read of the file.
#[derive(Default)]
struct Graph {
    kernels: Vec<ProgramKernel>,
    numbers: HashMap<KernelId, u16>,
    tasks: Vec<ImportedTask>,
    /// Each edge with the task that waits first.
    edges: Vec<(u32, u32)>,
}

/// Reads an imported graph.
pub(super) fn read(dir: PathBuf, manifest: Manifest) -> Result<PortableRun, ReplayError> {
    let disagree = |what: String| ReplayError::FilesDisagree { dir: dir.clone(), what };
    if !manifest.files.iter().any(|file| file.path == deps::FILE_NAME) {
        let what = "there is no deps.json".to_string();
        return Err(ReplayError::NotRecorded { dir, what });
    }
    let mut graph = Graph::default();
    let mut wrong = None;
    let lost = read_deps(&dir, |row| {
        if wrong.is_none() {
            wrong = graph.row(row, manifest.clock_freq_hz.max(1)).err();
        }
    })?;
    match wrong {
        Some(Wrong::TooManyKernels) => return Err(ReplayError::TooManyKernels { dir }),
        Some(Wrong::Row(what)) => return Err(disagree(what)),
        None => {}
    }
    if lost > 0 {
        return Err(ReplayError::RowsLost { dir, file: deps::FILE_NAME, lost });
    }
    if graph.tasks.len() as u64 != manifest.tasks {
        let what = format!("deps.json has {} tasks, run.json {}", graph.tasks.len(), manifest.tasks);
        return Err(disagree(what));
    }
    let (program, durations, joins) = graph.program(JOINED_MAX);
    Ok(PortableRun { dir, manifest, program, durations, joins })
}

enum Wrong {
    TooManyKernels,
    Row(String),
}

impl Graph {
    fn row(&mut self, row: DepsRow, counter_hz: u64) -> Result<(), Wrong> {
        match row {
            DepsRow::Task(task) => self.task(&task, counter_hz),
            DepsRow::Edge(edge) => self.edge(&edge).map_err(Wrong::Row),
            DepsRow::Tensor(_) | DepsRow::Buffer(_) | DepsRow::LastStep(_) => {
                Err(Wrong::Row("deps.json has tensors or steps, which an imported graph has not".to_string()))
            }
        }
    }

    fn task(&mut self, task: &DepsTask<'_>, counter_hz: u64) -> Result<(), Wrong> {
        let wrong = |what: &str| Wrong::Row(format!("task {} {what}", task.task_id));
        // Imported tasks are on the first ring: an id is the task's place.
        if task.seq.0 != self.tasks.len() as u64 || task.task_id.0 != task.seq.0 {
            return Err(wrong("of deps.json is out of order, or there twice"));
        }
        let [kernel] = &task.kernels[..] else { return Err(wrong("does not have one kernel")) };
        if task.block_num != 1 {
            return Err(wrong("does not have one block"));
        }
        let ticks = task.duration.ok_or_else(|| wrong("has no duration"))?;
        let picoseconds = u128::from(ticks.0) * 1_000_000_000_000 / u128::from(counter_hz);
        let Ok(picoseconds) = u64::try_from(picoseconds) else {
            return Err(wrong("takes longer than 64 bits of picoseconds"));
        };
        let kernel = self.kernel(kernel.kernel.func_id, &kernel.kernel.name)?;
        let label = task.label.as_deref().map(Box::from);
        self.tasks.push(ImportedTask { kernel, label, picoseconds });
        Ok(())
    }

    fn kernel(&mut self, id: KernelId, name: &str) -> Result<u16, Wrong> {
        if let Some(&known) = self.numbers.get(&id) {
            let is_same = self.kernels[usize::from(known)].name == name;
            return is_same
                .then_some(known)
                .ok_or_else(|| Wrong::Row(format!("kernel {} has two names", id.0)));
        }
        // One is left for joins.
        if self.kernels.len() + 1 >= KERNELS_MAX {
            return Err(Wrong::TooManyKernels);
        }
        let number = self.kernels.len() as u16;
        self.kernels.push(ProgramKernel { name: name.to_string(), core: CoreType::Any });
        self.numbers.insert(id, number);
        Ok(number)
    }

    fn edge(&mut self, edge: &DepsEdge) -> Result<(), String> {
        let (before, after) = (edge.pred.0, edge.succ.0);
        if before >= after || after >= self.tasks.len() as u64 {
            return Err(format!("edge {}->{} does not lead to a later task", edge.pred, edge.succ));
        }
        self.edges.push((after as u32, before as u32));
        Ok(())
    }

    /// The program, in which no submit names more than `at_once` predecessors; and the number of its joins.
    fn program(mut self, at_once: usize) -> (Program, BlockDurations, u64) {
        self.edges.sort_unstable();
        self.edges.dedup();
        let join = self.join_kernel();
        let mut made = Built { join, at_once, ..Built::default() };
        made.program.kernels = self.kernels;
        let mut edges = self.edges.into_iter().peekable();
        // The place of each task in the program, which also has joins.
        let mut places = Vec::with_capacity(self.tasks.len());
        for (number, task) in (0..).zip(self.tasks) {
            let mut before = Vec::new();
            while let Some((_, one)) = edges.next_if(|(after, _)| *after == number) {
                before.push(places[one as usize]);
            }
            let before = made.joined(before);
            places.push(made.task(task, &before));
        }
        if made.joins > 0 {
            made.program.kernels.push(ProgramKernel { name: made.join.1, core: CoreType::Any });
        }
        (made.program, made.durations, made.joins)
    }

    /// The number and the name of the kernel of joins: one that no task has.
    fn join_kernel(&self) -> (u16, String) {
        let is_free = |name: &String| !self.kernels.iter().any(|kernel| kernel.name == *name);
        let names = std::iter::once("join".to_string()).chain((2..).map(|n| format!("join_{n}")));
        let name = names.into_iter().find(is_free).expect("there are more names than kernels");
        (self.kernels.len() as u16, name)
    }
}

/// The program as far as it is built.
#[derive(Default)]
struct Built {
    program: Program,
    durations: BlockDurations,
    join: (u16, String),
    at_once: usize,
    joins: u64,
}

impl Built {
    /// Tasks that follow all of these: themselves if they are few, otherwise joins.
    fn joined(&mut self, mut before: Vec<u32>) -> Vec<u32> {
        while before.len() > self.at_once {
            let mut joined = Vec::with_capacity(before.len() / self.at_once + 1);
            for some in before.chunks(self.at_once) {
                if let [only] = some {
                    joined.push(*only);
                    continue;
                }
                let join = ImportedTask { kernel: self.join.0, label: None, picoseconds: 0 };
                joined.push(self.task(join, some));
                self.joins += 1;
            }
            before = joined;
        }
        before
    }

    /// Adds a task after others; gives its place.
    fn task(&mut self, task: ImportedTask, before: &[u32]) -> u32 {
        let place = self.program.tasks.len() as u32;
        let first = self.program.after.len();
        self.program.after.extend(before);
        let edge = |&before: &u32| ProgramEdge { before, after: place, cause: EdgeSource::Explicit.as_str() };
        self.program.edges.extend(before.iter().map(edge));
        self.program.tasks.push(ProgramTask {
            kind: TaskKind::Kernels,
            lanes: [Some(task.kernel), None, None],
            blocks: 1,
            args: 0..0,
            after: first..self.program.after.len(),
            before: 0..0,
            label: task.label,
            duration_ps: None,
        });
        self.durations.push_task([task.picoseconds]);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph whose last task follows all others.
    fn star(before: u32) -> Graph {
        let kernels = vec![ProgramKernel { name: "join".to_string(), core: CoreType::Any }];
        let task =
            |number: u32| ImportedTask { kernel: 0, label: None, picoseconds: 1_000 + u64::from(number) };
        Graph {
            kernels,
            tasks: (0..=before).map(task).collect(),
            edges: (0..before).map(|one| (before, one)).collect(),
            ..Graph::default()
        }
    }

    /// The tasks that a task follows, joins resolved.
    fn reached(program: &Program, task: u32) -> Vec<u32> {
        let mut found = Vec::new();
        for &before in &program.after[program.tasks[task as usize].after.clone()] {
            match program.tasks[before as usize].lanes[0] {
                Some(0) => found.push(before),
                _ => found.extend(reached(program, before)),
            }
        }
        found
    }

    #[test]
    fn many_predecessors_are_joined_in_as_many_levels_as_it_takes_and_none_is_lost() {
        for (before, at_once, expected) in [(4, 4, 0), (5, 2, 3), (16, 4, 4), (17, 4, 5), (100_000, 1024, 98)]
        {
            let (program, durations, joins) = star(before).program(at_once);
            assert_eq!(joins, expected, "{before} by {at_once}");
            let most = program.tasks.iter().map(|task| task.after.len()).max().unwrap();
            assert!(most <= at_once, "{most} by {at_once}");
            let last = program.tasks.len() as u32 - 1;
            assert_eq!(u64::from(last), u64::from(before) + joins);
            assert_eq!(durations.of_task(last as usize), [1_000 + u64::from(before)]);
            let mut reached = reached(&program, last);
            reached.sort_unstable();
            assert_eq!(reached, (0..before).collect::<Vec<_>>());
        }
    }

    #[test]
    fn joins_take_no_time_and_have_a_kernel_of_their_own() {
        let (program, durations, joins) = star(10).program(4);
        assert_eq!((joins, &*program.kernels[1].name), (3, "join_2"));
        let of_joins = (0..program.tasks.len()).filter(|&task| program.tasks[task].lanes[0] == Some(1));
        assert!(of_joins.clone().all(|task| durations.of_task(task) == [0]));
        assert_eq!(of_joins.count() as u64, joins);
        assert_eq!(star(3).program(4).0.kernels.len(), 1);
    }

    #[test]
    fn an_edge_that_is_there_twice_is_one_edge() {
        let mut graph = star(2);
        graph.edges.extend([(2, 0), (1, 0)]);
        let (program, ..) = graph.program(8);
        assert_eq!(program.edges.len(), 3);
    }
}
