//! Captured arguments with their tasks, in the order of submission.

use std::collections::HashMap;
use std::ops::Range;

use ringlane_task::{KernelId, Seq, TaskId};
use ringlane_trace::deps::TensorIndex;
use ringlane_trace::dump::{Dump, DumpCounts, DumpData, DumpRecord, DumpTask};

use super::filter::Filter;
use crate::task_name;

/// A captured argument with its task.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Its place in the catalog: the same in every run of one program that captures the same.
    pub index: u64,
    /// What was captured.
    pub record: &'a DumpRecord,
    /// Its task.
    pub task: &'a DumpTask<'static>,
    /// The names of its task's kernels, with `+` between those of a mixed one.
    pub kernel: &'a str,
    /// The name that its task's submit gave it; known where dependencies were recorded.
    pub label: Option<&'a str>,
}

/// Everything that was captured.
///
/// Records are sorted by submission, then by argument, then by stage (before the task, after it): unlike the file, which
/// has them by core.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// What was chosen to be captured; `None` for everything.
    pub selection: Option<String>,
    /// How many records there are, and how many were lost.
    pub counts: DumpCounts,
    tasks: Vec<DumpTask<'static>>,
    /// The name of each task's kernels, as a place in `names`.
    name_of: Vec<u32>,
    names: Vec<String>,
    /// Records, each with its task's place.
    records: Vec<(u32, DumpRecord)>,
    labels: HashMap<TaskId, String>,
}

impl Catalog {
    /// Sorts the records of a run; `Err` says what does not fit together.
    pub fn new(dump: Dump) -> Result<Self, String> {
        let mut tasks = dump.tasks;
        tasks.sort_by_key(|task| task.seq);
        let mut places = HashMap::with_capacity(tasks.len());
        for (task, place) in tasks.iter().zip(0u32..) {
            if places.insert(task.task_id, place).is_some() {
                return Err(format!("tensor_dump.json has task {} twice", task.task_id));
            }
        }
        let mut records = Vec::with_capacity(dump.records.len());
        for record in dump.records {
            let place = places.get(&record.task_id);
            let place = place.ok_or_else(|| {
                format!("tensor_dump.json has a record of task {}, and not the task", record.task_id)
            })?;
            records.push((*place, record));
        }
        records.sort_by_key(|(place, record)| (*place, record.arg_index, record.stage as u8));
        let known: HashMap<KernelId, &str> =
            dump.head.kernels.iter().map(|kernel| (kernel.func_id, &*kernel.name)).collect();
        let (mut names, mut name_of) = (Vec::new(), Vec::with_capacity(tasks.len()));
        let mut seen: HashMap<&[KernelId], u32> = HashMap::new();
        for task in &tasks {
            name_of.push(*seen.entry(&task.func_ids).or_insert_with(|| {
                let each = task.func_ids.iter().map(|id| known.get(id).copied().unwrap_or("?"));
                names.push(each.collect::<Vec<_>>().join("+"));
                names.len() as u32 - 1
            }));
        }
        Ok(Catalog {
            selection: dump.head.selection,
            counts: dump.head.counts,
            tasks,
            name_of,
            names,
            records,
            labels: HashMap::new(),
        })
    }

    /// The same with the names of tasks.
    #[must_use]
    pub fn with_labels(self, labels: impl IntoIterator<Item = (TaskId, String)>) -> Self {
        Catalog { labels: labels.into_iter().collect(), ..self }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing was captured.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Everything, in order.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Captured<'_>> + ExactSizeIterator {
        (0..self.records.len()).map(|at| self.get(at))
    }

    fn get(&self, at: usize) -> Captured<'_> {
        let (task, record) = &self.records[at];
        let task = *task as usize;
        let kernel = &self.names[self.name_of[task] as usize];
        let task = &self.tasks[task];
        let label = self.labels.get(&task.task_id).map(String::as_str);
        Captured { index: at as u64, record, task, kernel, label }
    }

    /// What a filter lets through.
    pub fn select<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = Captured<'a>> {
        self.all().filter(|captured| filter.takes(captured))
    }

    /// The records of one task after the other, by submission.
    pub fn by_task(&self) -> impl Iterator<Item = Vec<Captured<'_>>> {
        let mut at = 0;
        self.records.chunk_by(|a, b| a.0 == b.0).map(move |records| {
            let from = at;
            at += records.len();
            (from..at).map(|at| self.get(at)).collect()
        })
    }

    /// What there is to choose from, for the error about another choice.
    pub fn describe(&self) -> String {
        let mut kernels: Vec<&str> = self.names.iter().map(String::as_str).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let args = self.records.iter().map(|(_, record)| record.arg_index).max().unwrap_or(0);
        let (first, last) = (self.tasks.first(), self.tasks.last());
        let (Some(first), Some(last)) = (first, last) else { return "nothing was captured".to_string() };
        format!(
            "there are {} records of {} tasks, {} to {}; kernels {}; arguments 0 to {args}",
            self.len(),
            self.tasks.len(),
            task_name(first.task_id),
            task_name(last.task_id),
            kernels.join(", ")
        )
    }
}

impl Captured<'_> {
    /// The task as people name it: `ring:number`.
    pub fn task_name(&self) -> String {
        task_name(self.task.task_id)
    }

    /// The task's kernels, and its name in quotes if it has one.
    pub fn title(&self) -> String {
        self.label.map_or_else(|| self.kernel.to_string(), |label| format!("{} {label:?}", self.kernel))
    }

    /// The task's place in the order of submission.
    pub fn seq(&self) -> Seq {
        self.task.seq
    }

    /// The tensor that it is a part of; none for a scalar, and in files that do not say it.
    pub fn tensor(&self) -> Option<TensorIndex> {
        match &self.record.data {
            DumpData::Tensor(tensor) => tensor.tensor,
            DumpData::Scalar(_) => None,
        }
    }

    /// The bytes of that tensor from the first that it touches to the last.
    pub fn byte_range(&self) -> Option<Range<u64>> {
        match &self.record.data {
            DumpData::Tensor(tensor) => tensor.view.byte_range(),
            DumpData::Scalar(_) => None,
        }
    }

    /// The lengths of its dimensions; none for a scalar.
    pub fn shape(&self) -> Vec<u64> {
        match &self.record.data {
            DumpData::Tensor(tensor) => tensor.view.shape().collect(),
            DumpData::Scalar(_) => Vec::new(),
        }
    }
}

/// Lengths of dimensions, as people write them: `16x64`; `-` for none.
pub fn describe_shape(shape: &[u64]) -> String {
    match shape {
        [] => "-".to_string(),
        shape => shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x"),
    }
}

/// The indices of the element at a place in logical order, outermost first.
///
/// ```
/// assert_eq!(ringlane_insight::dump::place_in(&[2, 3], 4), [1, 1]);
/// ```
pub fn place_in(shape: &[u64], element: u64) -> Vec<u64> {
    let mut rest = element;
    let mut place: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&len| {
            let (index, above) = (rest % len.max(1), rest / len.max(1));
            rest = above;
            index
        })
        .collect();
    place.reverse();
    place
}
