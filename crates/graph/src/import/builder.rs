//! A graph while a reader finds its tasks and edges, in whatever order the file has them.
//!
//! A task has a number from the moment its id is first mentioned, be it as a predecessor; at the end every number has to be
//! defined. The order of definition is the order of the input.

use super::graph::{ImportedGraph, NO_LABEL, OWN_ID, Skipped, TaskRow};
use super::kind::kind_of_name;
use super::limits::{DURATION_TICKS_MAX, EDGES_MAX, KERNELS_MAX, NAME_BYTES_MAX, TASKS_MAX, WORK_TICKS_MAX};
use super::names::{Interner, Texts};
use super::order;
use super::place::{Cursor, Place};
use super::{Format, ImportError, ImportOptions, KernelBy};

/// The rank of a task that is mentioned and not defined.
const UNDEFINED: u32 = u32::MAX;

/// The ticks of a task whose duration is not known.
const NO_DURATION: u64 = u64::MAX;

/// What a file says of a task, beside its id and its duration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskText<'t> {
    /// What this one task is called; its id if there is none.
    pub label: Option<&'t str>,
    /// Its name, where others may have the same; the label if there is none.
    pub name: Option<&'t str>,
    /// Its kind, where the format has one.
    pub kind: Option<&'t str>,
}

pub(super) struct GraphBuilder<'o> {
    pub format: Format,
    pub cursor: Cursor,
    options: &'o ImportOptions,
    ids: Interner,
    tasks: Vec<TaskRow>,
    defined: u32,
    labels: Texts,
    kernels: Interner,
    edges: Vec<(u32, u32)>,
    work: u64,
    pub skipped: Skipped,
}

impl<'o> GraphBuilder<'o> {
    pub(super) fn new(format: Format, cursor: &Cursor, options: &'o ImportOptions) -> Self {
        GraphBuilder {
            format,
            cursor: cursor.clone(),
            options,
            ids: Interner::default(),
            tasks: Vec::new(),
            defined: 0,
            labels: Texts::default(),
            kernels: Interner::default(),
            edges: Vec::new(),
            work: 0,
            skipped: Skipped::default(),
        }
    }

    pub(super) const fn options(&self) -> &'o ImportOptions {
        self.options
    }

    /// The task with this id, which may be defined later.
    pub(super) fn mention(&mut self, id: &str) -> Result<u32, ImportError> {
        self.check_name(id)?;
        let task = self.ids.intern(id).map_err(|_| self.names_too_large())?;
        if task as usize == self.tasks.len() {
            self.push_task()?;
        }
        Ok(task)
    }

    /// Defines a task that has no id.
    pub(super) fn define_nameless(&mut self, line: u64, text: TaskText<'_>) -> Result<u32, ImportError> {
        debug_assert_eq!(self.ids.len(), 0, "all tasks have ids, or none");
        self.push_task()?;
        let task = self.tasks.len() as u32 - 1;
        self.define_at(task, line, text)?;
        Ok(task)
    }

    /// Whether a task is defined.
    pub(super) fn is_defined(&self, task: u32) -> bool {
        self.tasks[task as usize].rank != UNDEFINED
    }

    /// Defines a mentioned task; one that is defined is refused.
    pub(super) fn define(&mut self, task: u32, line: u64, text: TaskText<'_>) -> Result<(), ImportError> {
        if self.is_defined(task) {
            let first_line = u64::from(self.tasks[task as usize].line);
            let id = self.ids.get(task).to_string();
            return Err(ImportError::RepeatedTask { place: self.cursor.place_in(line), id, first_line });
        }
        self.define_at(task, line, text)
    }

    fn define_at(&mut self, task: u32, line: u64, text: TaskText<'_>) -> Result<(), ImportError> {
        let rank = self.defined;
        self.defined += 1;
        self.set_text(task, text)?;
        let row = &mut self.tasks[task as usize];
        (row.rank, row.line) = (rank, u32::try_from(line).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Sets what a task is called and its kernel.
    pub(super) fn set_text(&mut self, task: u32, text: TaskText<'_>) -> Result<(), ImportError> {
        let id = if self.ids.len() > 0 { self.ids.get(task) } else { "" };
        let called = text.label.unwrap_or(id);
        let name = text.name.filter(|name| !name.is_empty()).unwrap_or(called);
        [Some(called), Some(name), text.kind]
            .into_iter()
            .flatten()
            .try_for_each(|text| self.check_name(text))?;
        let kernel = match (self.options.kernel_by, text.kind.filter(|kind| !kind.is_empty())) {
            (KernelBy::Kind, Some(kind)) => kind,
            (KernelBy::Kind, None) => kind_of_name(name),
            (KernelBy::Name, _) if name.is_empty() => kind_of_name(name),
            (KernelBy::Name, _) => name,
        };
        let full = |_| ImportError::NamesTooLarge { place: self.cursor.place() };
        let label = match called {
            "" => NO_LABEL,
            called if called == kernel => NO_LABEL,
            called if self.ids.len() > 0 && called == id => OWN_ID,
            called => self.labels.push(called).map_err(full)?,
        };
        let kernel = self.kernels.intern(kernel).map_err(full)?;
        let row = &mut self.tasks[task as usize];
        (row.kernel, row.label) = (kernel, label);
        Ok(())
    }

    /// Sets the duration of a task, in nanoseconds of the file; `line` is where it says so, and `value` how.
    pub(super) fn set_duration(
        &mut self,
        task: u32,
        line: u64,
        nanoseconds: f64,
        value: impl FnOnce() -> String,
    ) -> Result<(), ImportError> {
        let place = self.cursor.place_in(line);
        let named = || self.name_of(task);
        if !nanoseconds.is_finite() || nanoseconds < 0.0 {
            return Err(ImportError::BadDuration { task: named(), place, value: value() });
        }
        let ticks = self.options.scale.ticks(nanoseconds);
        if ticks.is_nan() || ticks > DURATION_TICKS_MAX as f64 {
            return Err(ImportError::DurationTooLong { task: named(), place, ticks });
        }
        let row = &mut self.tasks[task as usize];
        let before = if row.ticks == NO_DURATION { 0 } else { row.ticks };
        row.ticks = ticks as u64;
        self.work = self.work - before + row.ticks;
        if self.work > WORK_TICKS_MAX {
            return Err(ImportError::WorkTooLong { place });
        }
        Ok(())
    }

    /// Whether a task has a duration.
    pub(super) fn has_duration(&self, task: u32) -> bool {
        self.tasks[task as usize].ticks != NO_DURATION
    }

    pub(super) fn add_edge(&mut self, pred: u32, succ: u32) -> Result<(), ImportError> {
        self.check_room(1)?;
        self.edges.push((pred, succ));
        Ok(())
    }

    /// Refuses more edges than there may be, before any of them is added.
    pub(super) fn check_room(&self, edges: usize) -> Result<(), ImportError> {
        if edges > EDGES_MAX - self.edges.len() {
            return Err(ImportError::TooManyEdges { place: self.cursor.place() });
        }
        Ok(())
    }

    fn push_task(&mut self) -> Result<(), ImportError> {
        if self.tasks.len() == TASKS_MAX {
            return Err(ImportError::TooManyTasks { place: self.cursor.place() });
        }
        let line = u32::try_from(self.cursor.line()).unwrap_or(u32::MAX);
        self.tasks.push(TaskRow { line, rank: UNDEFINED, kernel: 0, label: NO_LABEL, ticks: NO_DURATION });
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), ImportError> {
        match name.len() {
            bytes if bytes > NAME_BYTES_MAX => {
                Err(ImportError::NameTooLong { place: self.cursor.place(), bytes })
            }
            _ => Ok(()),
        }
    }

    fn names_too_large(&self) -> ImportError {
        ImportError::NamesTooLarge { place: self.cursor.place() }
    }

    /// A task as errors name it: by its id, or by what it is called.
    pub(super) fn name_of(&self, task: u32) -> String {
        let row = &self.tasks[task as usize];
        match row.label {
            _ if self.ids.len() > 0 => self.ids.get(task).to_string(),
            NO_LABEL | OWN_ID if self.kernels.len() > 0 => self.kernels.get(row.kernel).to_string(),
            NO_LABEL | OWN_ID => String::new(),
            label => self.labels.get(label).to_string(),
        }
    }

    /// Where a task is defined, or first mentioned.
    pub(super) fn place_of(&self, task: u32) -> Place {
        self.cursor.line_place(u64::from(self.tasks[task as usize].line))
    }

    /// The graph, if every task is defined and has a duration, and no edges form a cycle.
    pub(super) fn finish(mut self) -> Result<ImportedGraph, ImportError> {
        let file = self.cursor.file().to_string();
        if let Some(task) = (0..self.tasks.len() as u32).find(|&task| !self.is_defined(task)) {
            return Err(ImportError::UnknownTask { place: self.place_of(task), id: self.name_of(task) });
        }
        if let Some(task) = (0..self.tasks.len() as u32).find(|&task| !self.has_duration(task)) {
            let (place, format) = (self.place_of(task), self.format);
            return Err(ImportError::MissingDuration { place, task: self.name_of(task), format });
        }
        if self.tasks.is_empty() {
            return Err(ImportError::EmptyGraph { file });
        }
        let ranks: Vec<u32> = self.tasks.iter().map(|row| row.rank).collect();
        let mut edges = std::mem::take(&mut self.edges);
        let order = match order::sort(&ranks, &mut edges) {
            Ok(order) => order,
            Err(cycle) => return Err(self.cycle(&cycle)),
        };
        drop(ranks);
        let kernels = self.used_kernels(&order)?;
        Ok(ImportedGraph {
            format: self.format,
            file,
            kernels,
            tasks: self.tasks,
            ids: self.ids.into_texts(),
            labels: self.labels,
            order,
            edges,
            work: self.work,
            skipped: self.skipped,
        })
    }

    /// The names of kernels that tasks have, in the order of their first tasks; others were names of tasks before their kind
    /// was known.
    fn used_kernels(&mut self, order: &[u32]) -> Result<Vec<String>, ImportError> {
        let mut numbers = vec![u32::MAX; self.kernels.len()];
        let mut used = Vec::new();
        for &task in order {
            let kernel = &mut self.tasks[task as usize].kernel;
            let number = &mut numbers[*kernel as usize];
            if *number == u32::MAX {
                if used.len() == KERNELS_MAX {
                    return Err(ImportError::TooManyKernels { file: self.cursor.file().to_string() });
                }
                *number = used.len() as u32;
                used.push(self.kernels.get(*kernel).to_string());
            }
            *kernel = *number;
        }
        Ok(used)
    }

    fn cycle(&self, cycle: &[u32]) -> ImportError {
        let named =
            cycle.iter().take(super::limits::CYCLE_NAMES_MAX).map(|&task| self.name_of(task)).collect();
        let place = cycle.first().map_or_else(|| self.cursor.place(), |&first| self.place_of(first));
        ImportError::Cycle { place, tasks: named, length: cycle.len() }
    }
}
