//! What was captured of one task.

use ringlane_engine::alone::AloneArg;
use ringlane_insight::dump::Catalog;
use ringlane_insight::{Instrument, Run};
use ringlane_task::{Access, Scalar, Seq, TaskId, TensorView};
use ringlane_trace::deps::{Deps, DepsTask};
use ringlane_trace::dump::{DumpData, DumpRecord, DumpTensor, Payloads, Stage, Truncated};

use super::error::RerunError;
use crate::recorded::view_of;

/// Bytes that are read of a file at once.
const PIECE_BYTES: usize = 1 << 20;

/// An argument with what was captured of it.
#[derive(Clone, Debug)]
pub enum CapturedArg {
    /// A part of a tensor.
    Tensor {
        /// Which tensor, by its place in [`CapturedTask::tensors`].
        tensor: usize,
        /// Which part of it.
        view: TensorView,
        /// What the task does with it.
        access: Access,
        /// The axis along which blocks share it out.
        split: Option<u8>,
        /// Its elements before the task, if it reads them.
        before: Option<Vec<u8>>,
        /// Its elements after the task, if it writes them.
        after: Option<Vec<u8>>,
    },
    /// A value.
    Scalar(Scalar),
}

impl CapturedArg {
    pub(super) fn alone(&self) -> AloneArg {
        match *self {
            CapturedArg::Scalar(scalar) => AloneArg::Scalar(scalar),
            CapturedArg::Tensor { tensor, view, access, split, .. } => {
                AloneArg::Tensor { tensor, view, access, split }
            }
        }
    }

    /// Its elements after the task, if it writes them.
    pub(super) fn after(&self) -> Option<&[u8]> {
        match self {
            CapturedArg::Tensor { after, .. } => after.as_deref(),
            CapturedArg::Scalar(_) => None,
        }
    }
}

/// A task with what was captured of it.
#[derive(Clone, Debug)]
pub struct CapturedTask {
    /// Its id.
    pub task: TaskId,
    /// Its place in submission order.
    pub seq: Seq,
    /// Its label.
    pub label: Option<String>,
    /// The names of its kernels, by lane.
    pub lanes: [Option<String>; 3],
    /// The number of blocks of each kernel.
    pub blocks: u32,
    /// Its arguments.
    pub args: Vec<CapturedArg>,
    /// Bytes of the tensors that its arguments are parts of.
    pub tensors: Vec<u64>,
}

impl CapturedTask {
    /// The task as people name it.
    pub fn title(&self) -> String {
        let kernels: Vec<&str> = self.lanes.iter().flatten().map(String::as_str).collect();
        let label = self.label.as_ref().map_or(String::new(), |label| format!(" {label:?}"));
        format!("{} {}{label}", self.task, kernels.join("+"))
    }

    /// Reads what was captured of a task.
    pub(super) fn read(run: &Run, task: TaskId) -> Result<Self, RerunError> {
        let catalog = run.captured()?;
        if !run.has(Instrument::Deps) {
            return Err(RerunError::NoDeps { dir: run.dir.clone() });
        }
        let deps = run.dependencies()?;
        let row = deps.tasks.iter().find(|row| row.task_id == task);
        let row = row.ok_or(RerunError::UnknownTask { task, tasks: deps.tasks.len() })?;
        if row.kernels.is_empty() {
            let what = if row.args.is_empty() { "a barrier" } else { "an allocation" };
            return Err(RerunError::NoKernel { task, what });
        }
        let mut lanes = [const { None }; 3];
        for kernel in row.kernels.iter() {
            let lane = lanes.get_mut(usize::from(kernel.lane)).filter(|lane| lane.is_none());
            let lane =
                lane.ok_or_else(|| disagree(run, task, "has a lane twice, or one beyond the third"))?;
            *lane = Some(kernel.kernel.name.clone());
        }
        let records = Records::of(&catalog, row)?;
        let mut reader = ArgReader { run, row, deps: &deps, payloads: run.payloads()?, tensors: Vec::new() };
        let count = row.args.len() + row.scalars.unwrap_or(0) as usize;
        let args = (0..count).map(|arg| reader.arg(arg as u32, &records)).collect::<Result<Vec<_>, _>>()?;
        let tensors = reader.tensors.iter().map(|&(_, bytes)| bytes).collect();
        let (seq, label) = (row.seq, row.label.as_deref().map(str::to_string));
        Ok(CapturedTask { task, seq, label, lanes, blocks: row.block_num, args, tensors })
    }
}

fn disagree(run: &Run, task: TaskId, what: &str) -> RerunError {
    RerunError::FilesDisagree { dir: run.dir.clone(), what: format!("task {task} {what}") }
}

/// The records of one task.
struct Records<'c> {
    records: Vec<&'c DumpRecord>,
    selection: Option<&'c str>,
}

impl<'c> Records<'c> {
    fn of(catalog: &'c Catalog, row: &DepsTask<'_>) -> Result<Self, RerunError> {
        let of_task = catalog.all().filter(|captured| captured.record.task_id == row.task_id);
        let records: Vec<_> = of_task.map(|captured| captured.record).collect();
        let selection = catalog.selection.as_deref();
        if records.is_empty() && !(row.args.is_empty() && row.scalars.is_none()) {
            let (selection, lost) = (selection.map(str::to_string), catalog.counts.records.dropped);
            return Err(RerunError::NotCaptured { task: row.task_id, selection, lost });
        }
        Ok(Records { records, selection })
    }

    fn find(&self, arg: u32, stage: Stage) -> Option<&'c DumpRecord> {
        self.records.iter().copied().find(|record| record.arg_index == arg && record.stage == stage)
    }

    fn missing(&self, task: TaskId, arg: u32) -> RerunError {
        let selection = self.selection.map(str::to_string);
        RerunError::ArgNotCaptured { task, arg, selection }
    }
}

/// Reads the arguments of a task one by one.
struct ArgReader<'r> {
    run: &'r Run,
    row: &'r DepsTask<'static>,
    deps: &'r Deps,
    payloads: Payloads,
    /// The tensors of the arguments so far: their numbers in the run, and their bytes.
    tensors: Vec<(u32, u64)>,
}

impl ArgReader<'_> {
    fn arg(&mut self, arg: u32, records: &Records<'_>) -> Result<CapturedArg, RerunError> {
        let task = self.row.task_id;
        let Some(row) = self.row.args.iter().find(|row| row.index == arg) else {
            let record =
                records.find(arg, Stage::BeforeDispatch).ok_or_else(|| records.missing(task, arg))?;
            return match record.data {
                DumpData::Scalar(scalar) => Ok(CapturedArg::Scalar(scalar)),
                DumpData::Tensor(_) => {
                    Err(disagree(self.run, task, "has a tensor where deps.json has a scalar"))
                }
            };
        };
        if row.access == Access::NoDep {
            return Err(RerunError::NoDepArg { task, arg });
        }
        let tensor = self.deps.tensors.get(row.tensor.0 as usize).filter(|known| known.tensor == row.tensor);
        let tensor = tensor.ok_or_else(|| disagree(self.run, task, "has a tensor that deps.json lacks"))?;
        let view = view_of(&row.view, tensor.bytes);
        let view = view.map_err(|what| disagree(self.run, task, &format!("argument {arg}: {what}")))?;
        let bytes = |stage: Stage, is_wanted: bool| -> Result<Option<Vec<u8>>, RerunError> {
            if !is_wanted {
                return Ok(None);
            }
            let record = records.find(arg, stage).ok_or_else(|| records.missing(task, arg))?;
            let DumpData::Tensor(captured) = record.data else {
                return Err(disagree(self.run, task, "has a scalar where deps.json has a tensor"));
            };
            if captured.view != row.view {
                return Err(disagree(
                    self.run,
                    task,
                    "has another view in tensor_dump.json than in deps.json",
                ));
            }
            self.bytes(arg, &captured).map(Some)
        };
        let before = bytes(Stage::BeforeDispatch, row.access.reads())?;
        let after = bytes(Stage::AfterCompletion, row.access.writes())?;
        let tensor = self.place(row.tensor.0, tensor.bytes);
        Ok(CapturedArg::Tensor { tensor, view, access: row.access, split: row.split, before, after })
    }

    /// The place of a tensor in the list of the task's.
    fn place(&mut self, tensor: u32, bytes: u64) -> usize {
        let known = self.tensors.iter().position(|&(known, _)| known == tensor);
        known.unwrap_or_else(|| {
            self.tensors.push((tensor, bytes));
            self.tensors.len() - 1
        })
    }

    fn bytes(&self, arg: u32, captured: &DumpTensor) -> Result<Vec<u8>, RerunError> {
        let task = self.row.task_id;
        if captured.truncated == Truncated::Yes {
            return Err(RerunError::Truncated { task, arg, bytes: captured.bin_size });
        }
        // Before memory is taken for it.
        self.payloads.check(captured)?;
        let mut bytes = Vec::with_capacity(captured.bin_size as usize);
        let mut piece = vec![0; PIECE_BYTES.min(captured.bin_size.max(16) as usize)];
        self.payloads.for_each_piece::<RerunError>(captured, &mut piece, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }
}
