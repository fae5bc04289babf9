//! An imported graph: its tasks in topological order, and its edges.

use serde::Serialize;

use super::Format;
use super::names::Texts;

/// The label of a task that is called as its kernel is.
pub(super) const NO_LABEL: u32 = u32::MAX;
/// The label of a task that is called by its id.
pub(super) const OWN_ID: u32 = u32::MAX - 1;

/// A task as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskRow {
    pub ticks: u64,
    pub kernel: u32,
    pub label: u32,
    pub line: u32,
    pub rank: u32,
}

/// What a file has and a task graph has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Events of other kinds: counters, instants, metadata, asynchronous ones.
    pub events: u64,
    /// Arrows that do not begin and end in two slices.
    pub arrows: u64,
}

/// A task of an imported graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedTask<'g> {
    /// The number of its kernel in [`ImportedGraph::kernels`].
    pub kernel: u32,
    /// What it is called, if that is not the name of its kernel.
    pub label: Option<&'g str>,
    /// How long it takes, in ticks of 1 ns.
    pub ticks: u64,
    /// The line of the file that it is in.
    pub line: u64,
}

/// A task graph of another tool. Positions number tasks in a topological order.
#[derive(Debug)]
pub struct ImportedGraph {
    pub(super) format: Format,
    pub(super) file: String,
    pub(super) kernels: Vec<String>,
    /// By the number that the reader gave them.
    pub(super) tasks: Vec<TaskRow>,
    pub(super) ids: Texts,
    pub(super) labels: Texts,
    /// The number of the task at each position.
    pub(super) order: Vec<u32>,
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) work: u64,
    pub(super) skipped: Skipped,
}

impl ImportedGraph {
    /// The format of the file.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The names of kernels: the kinds of tasks.
    pub fn kernels(&self) -> &[String] {
        &self.kernels
    }

    /// Tasks, in topological order.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = ImportedTask<'_>> {
        self.order.iter().map(|&number| self.task(number))
    }

    fn task(&self, number: u32) -> ImportedTask<'_> {
        let TaskRow { ticks, kernel, label, line, .. } = self.tasks[number as usize];
        let label = match label {
            NO_LABEL => None,
            OWN_ID => Some(self.ids.get(number)),
            label => Some(self.labels.get(label)),
        };
        ImportedTask { kernel, label, ticks, line: u64::from(line) }
    }

    /// Edges between positions, from the task that has to be done first to the one that waits; sorted by the latter, each once.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Ticks of all tasks together.
    pub const fn work_ticks(&self) -> u64 {
        self.work
    }

    /// Ticks of the longest path.
    pub fn longest_path_ticks(&self) -> u64 {
        let mut ends = vec![0u64; self.order.len()];
        let mut edges = self.edges.iter().peekable();
        for (position, task) in (0..).zip(self.tasks()) {
            let mut start = 0;
            while let Some((pred, _)) = edges.next_if(|(_, succ)| *succ == position) {
                start = start.max(ends[*pred as usize]);
            }
            ends[position as usize] = start + task.ticks;
        }
        ends.into_iter().max().unwrap_or(0)
    }

    /// What was left out.
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }
}
