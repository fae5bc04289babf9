//! Two runs of one program: the first task whose inputs agree and whose outputs differ.
//!
//! A wrong value travels: every task that reads it, and every one after that, differs too. The one task that was given
//! the same in both runs and made something else of it is the culprit. Tasks are visited in the order of submission, in
//! which every task comes after its predecessors; so a task before the culprit whose inputs differ has them from
//! outside of what was captured: from the caller's own buffers, or from a task that was not selected.

use ringlane_task::{DType, Seq, TaskId};
use ringlane_trace::dump::{DumpData, Payloads, Role, Stage, Truncated};
use ringlane_trace::rows::RowCounts;
use serde::{Serialize, Serializer};

use super::catalog::{Captured, Catalog};
use super::compare::{ArgumentDiff, Tolerance, compare};
use super::filter::ArgKind;
use crate::{InsightError, Run};

/// One of the two runs.
#[derive(Debug)]
pub struct Side {
    /// What was captured.
    pub catalog: Catalog,
    /// The bytes of it.
    pub payloads: Payloads,
    /// Whether records may be missing: some were lost, or the run ended early.
    may_lack: bool,
}

impl Side {
    /// Reads what a run captured.
    pub fn open(run: &Run) -> Result<Self, InsightError> {
        let catalog = run.captured()?;
        let may_lack = catalog.counts.records.dropped > 0 || run.early_end().is_some();
        Ok(Side { catalog, payloads: run.payloads()?, may_lack })
    }
}

/// How far to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Up to the first culprit.
    First,
    /// To the end.
    All,
}

/// A task that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskDiff {
    /// The task.
    #[serde(rename = "task_id")]
    pub task: TaskId,
    /// Its place in the order of submission.
    pub seq: Seq,
    /// Its kernels.
    pub kernel: String,
    /// Inputs that were compared.
    pub inputs_compared: usize,
    /// Inputs that differ.
    pub inputs: Vec<ArgumentDiff>,
    /// Outputs that differ.
    pub outputs: Vec<ArgumentDiff>,
}

/// What was found. Tasks that differ are shown together with where their inputs come from, see [`Sources`](super::Sources).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// Tasks that were compared.
    pub tasks: u64,
    /// Records that were compared.
    pub records: u64,
    /// Elements that were compared.
    pub elements: u64,
    /// Records of which only a part was compared, because one of the two is cut short.
    #[serde(rename = "truncated")]
    pub cut: u64,
    /// Records that only one run has, because the other lost some or ended early.
    #[serde(rename = "in_one_run_only")]
    pub alone: u64,
    /// Records in the files of the two runs, and those that were lost when they were recorded.
    #[serde(rename = "missing", serialize_with = "dropped_of")]
    pub lost: [RowCounts; 2],
    /// The first task whose inputs differ although no task before it is a culprit.
    #[serde(skip)]
    pub outside: Option<TaskDiff>,
    /// Tasks whose inputs agree and whose outputs differ, the first one first.
    #[serde(skip)]
    pub culprits: Vec<TaskDiff>,
    /// Tasks whose inputs differ, in all.
    #[serde(rename = "given_something_else")]
    pub inherited: u64,
}

/// How many are not there.
fn dropped_of<S: Serializer>(counts: &[RowCounts; 2], to: S) -> Result<S::Ok, S::Error> {
    counts.map(|counts| counts.dropped).serialize(to)
}

impl Diff {
    /// Whether everything that was to be captured is there in both runs.
    pub fn is_whole(&self) -> bool {
        self.cut == 0 && self.lost.iter().all(|counts| counts.dropped == 0)
    }

    /// Whether nothing differs in what both have.
    pub fn agrees(&self) -> bool {
        self.outside.is_none() && self.culprits.is_empty()
    }
}

/// Why two runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Different arguments were chosen to be captured.
    Selections(Option<String>, Option<String>),
    /// The programs are not the same.
    Programs {
        /// From this submit on.
        seq: Seq,
        /// What is different.
        what: String,
    },
}

/// What comes out of comparing two runs.
#[derive(Clone, Debug, PartialEq)]
pub enum DumpComparison {
    /// They were compared.
    Compared(Diff),
    /// They are not runs of one program.
    NotComparable(Mismatch),
}

/// Compares what two runs captured.
pub fn diff(
    a: &Side,
    b: &Side,
    tolerance: Tolerance,
    extent: Extent,
) -> Result<DumpComparison, InsightError> {
    if a.catalog.selection != b.catalog.selection {
        let selections = Mismatch::Selections(a.catalog.selection.clone(), b.catalog.selection.clone());
        return Ok(DumpComparison::NotComparable(selections));
    }
    let lost = [a, b].map(|side| side.catalog.counts.records);
    let mut walk = Walk { a, b, tolerance, found: Diff { lost, ..Diff::default() } };
    let (mut left, mut right) = (a.catalog.by_task().peekable(), b.catalog.by_task().peekable());
    loop {
        let seq = |task: Option<&Vec<Captured<'_>>>| task.map(|records| records[0].seq());
        let (in_a, in_b) = (seq(left.peek()), seq(right.peek()));
        let Some(next) = in_a.into_iter().chain(in_b).min() else { break };
        let (x, y) = (left.next_if(|_| in_a == Some(next)), right.next_if(|_| in_b == Some(next)));
        if let Err(what) = walk.task(&x.unwrap_or_default(), &y.unwrap_or_default())? {
            return Ok(DumpComparison::NotComparable(Mismatch::Programs { seq: next, what }));
        }
        if extent == Extent::First && !walk.found.culprits.is_empty() {
            break;
        }
    }
    Ok(DumpComparison::Compared(walk.found))
}

struct Walk<'a> {
    a: &'a Side,
    b: &'a Side,
    tolerance: Tolerance,
    found: Diff,
}

impl Walk<'_> {
    /// Compares one task; the inner error says why the programs are not the same.
    fn task(&mut self, x: &[Captured<'_>], y: &[Captured<'_>]) -> Result<Result<(), String>, InsightError> {
        let (Some(first), Some(other)) = (x.first(), y.first()) else {
            return Ok(self.alone(x, y));
        };
        if first.kernel != other.kernel {
            return Ok(Err(format!("it runs {} in A and {} in B", first.kernel, other.kernel)));
        }
        let mut task = TaskDiff {
            task: first.task.task_id,
            seq: first.seq(),
            kernel: first.kernel.to_string(),
            inputs_compared: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let place = |captured: &Captured<'_>| (captured.record.arg_index, captured.record.stage as u8);
        let only = |of: &[Captured<'_>], other: &[Captured<'_>]| -> Vec<(u32, Stage)> {
            let lacks = |captured: &&Captured<'_>| !other.iter().any(|other| place(other) == place(captured));
            of.iter()
                .filter(lacks)
                .map(|captured| (captured.record.arg_index, captured.record.stage))
                .collect()
        };
        if let Err(what) = self.lacking(&only(x, y), "B", self.b).and(self.lacking(&only(y, x), "A", self.a))
        {
            return Ok(Err(format!("{}: {what}", first.kernel)));
        }
        self.found.alone += (only(x, y).len() + only(y, x).len()) as u64;
        for left in x {
            let Some(right) = y.iter().find(|right| place(right) == place(left)) else { continue };
            if form(left) != form(right) {
                let (a, b, arg) = (describe(left), describe(right), left.record.arg_index);
                return Ok(Err(format!("argument {arg} of {} is {a} in A and {b} in B", first.kernel)));
            }
            self.argument(left, right, &mut task)?;
        }
        self.judge(task);
        Ok(Ok(()))
    }

    /// A task that only one of the runs has.
    fn alone(&mut self, x: &[Captured<'_>], y: &[Captured<'_>]) -> Result<(), String> {
        let (records, lacks, name) = if x.is_empty() { (y, self.a, "B") } else { (x, self.b, "A") };
        match lacks.may_lack {
            true => self.found.alone += records.len() as u64,
            false => return Err(format!("{} is in {name} alone", records[0].kernel)),
        }
        Ok(())
    }

    /// Whether a run may lack these records of a task that it has.
    fn lacking(&self, records: &[(u32, Stage)], name: &str, side: &Side) -> Result<(), String> {
        match records.first() {
            Some((arg, stage)) if !side.may_lack => Err(format!("argument {arg} ({stage}) is not in {name}")),
            _ => Ok(()),
        }
    }

    fn argument(
        &mut self,
        x: &Captured<'_>,
        y: &Captured<'_>,
        task: &mut TaskDiff,
    ) -> Result<(), InsightError> {
        let (left, right) = ((x.record, &self.a.payloads), (y.record, &self.b.payloads));
        let (elements, found) = compare(left, right, self.tolerance)?;
        self.found.records += 1;
        self.found.elements += elements;
        self.found.cut += u64::from(is_cut(x) || is_cut(y));
        match x.record.stage {
            Stage::BeforeDispatch => {
                task.inputs_compared += 1;
                task.inputs.extend(found);
            }
            Stage::AfterCompletion => task.outputs.extend(found),
        }
        Ok(())
    }

    fn judge(&mut self, task: TaskDiff) {
        self.found.tasks += 1;
        if !task.inputs.is_empty() {
            self.found.inherited += 1;
            if self.found.culprits.is_empty() && self.found.outside.is_none() {
                self.found.outside = Some(task);
            }
        } else if !task.outputs.is_empty() {
            self.found.culprits.push(task);
        }
    }
}

fn is_cut(captured: &Captured<'_>) -> bool {
    matches!(&captured.record.data, DumpData::Tensor(tensor) if tensor.truncated == Truncated::Yes)
}

/// What has to be equal for two arguments to be compared element by element.
fn form(captured: &Captured<'_>) -> (Role, ArgKind, DType, Vec<u64>) {
    let dtype = match &captured.record.data {
        DumpData::Tensor(tensor) => tensor.view.dtype,
        DumpData::Scalar(scalar) => scalar.dtype(),
    };
    (captured.record.role, ArgKind::of(&captured.record.data), dtype, captured.shape())
}

fn describe(captured: &Captured<'_>) -> String {
    let (role, kind, dtype, shape) = form(captured);
    match kind {
        ArgKind::Scalar => format!("{role} scalar {dtype}"),
        ArgKind::Tensor => format!("{role} {dtype} {shape:?}"),
    }
}
