//! Reads `deps.json` as a program. Everything in it is checked: a replay relies on it.

use std::collections::HashMap;
use std::path::Path;

use ringlane_engine::api::kernel::CoreType;
use ringlane_engine::limits::{BLOCKS_MAX, KERNELS_MAX, SCALARS_MAX, TENSORS_MAX};
use ringlane_task::{Access, Dim, KernelId, TaskId, TensorView};
use ringlane_trace::Manifest;
use ringlane_trace::deps::{
    self, Deps, DepsArg, DepsStep, DepsTask, EdgeSource, KernelRow, StepKind, TensorIndex,
};
use ringlane_trace::rows::ViewRow;

use super::program::{
    Program, ProgramArg, ProgramBuffer, ProgramEdge, ProgramKernel, ProgramTask, Step, TaskKind,
};
use crate::error::ReplayError;

/// The place of each task in submission order.
pub(crate) struct TaskIds(HashMap<TaskId, u32>);

impl TaskIds {
    /// Those of tasks in submission order.
    #[cfg(test)]
    pub(crate) fn in_order(ids: impl IntoIterator<Item = TaskId>) -> Self {
        TaskIds(ids.into_iter().zip(0..).collect())
    }

    /// The place of a task.
    pub(crate) fn place(&self, task: TaskId) -> Option<u32> {
        self.0.get(&task).copied()
    }
}

/// Reads the program of a run, streamed or captured: what was submitted is the same.
pub(crate) fn program(dir: &Path, manifest: &Manifest) -> Result<(Program, TaskIds), ReplayError> {
    let not_recorded = |what: &str| ReplayError::NotRecorded { dir: dir.into(), what: what.to_string() };
    if !manifest.files.iter().any(|file| file.path == deps::FILE_NAME) {
        return Err(not_recorded("there is no deps.json"));
    }
    let deps = Deps::read(dir)?;
    if deps.dropped > 0 {
        return Err(ReplayError::RowsLost { dir: dir.into(), file: deps::FILE_NAME, lost: deps.dropped });
    }
    if deps.last_steps.is_empty() {
        return Err(not_recorded(
            "deps.json is from a version that did not record the steps between submits",
        ));
    }
    let disagree = |what: String| ReplayError::FilesDisagree { dir: dir.into(), what };
    if deps.tasks.len() as u64 != manifest.tasks {
        let (tasks, expected) = (deps.tasks.len(), manifest.tasks);
        return Err(disagree(format!("deps.json has {tasks} tasks, run.json {expected}")));
    }
    let ids = ids_of(&deps).map_err(disagree)?;
    let mut builder = Builder::new(&deps).map_err(disagree)?;
    builder.edges(&deps, &ids).map_err(disagree)?;
    let built = deps.tasks.iter().try_for_each(|task| builder.task(task));
    built.and_then(|()| builder.finish(&deps.last_steps)).map_err(disagree)?;
    Ok((builder.program, ids))
}

fn ids_of(deps: &Deps) -> Result<TaskIds, String> {
    let mut ids = HashMap::with_capacity(deps.tasks.len());
    for (place, task) in deps.tasks.iter().enumerate() {
        if task.seq.0 != place as u64 || ids.insert(task.task_id, place as u32).is_some() {
            return Err(format!("task {} of deps.json is out of order, or there twice", task.task_id));
        }
    }
    Ok(TaskIds(ids))
}

/// A tensor, as far as the program has come.
#[derive(Clone, Copy)]
struct KnownTensor {
    bytes: u64,
    /// Whether it exists by now.
    is_made: bool,
}

struct Builder {
    program: Program,
    tensors: Vec<KnownTensor>,
    /// Explicit predecessors of each task.
    explicit: Vec<Vec<u32>>,
    kernels: HashMap<KernelId, u16>,
    /// For each open scope, the root included: the barrier that its tasks follow.
    barriers: Vec<Option<u32>>,
}

impl Builder {
    fn new(deps: &Deps) -> Result<Self, String> {
        let mut tensors = Vec::with_capacity(deps.tensors.len());
        for (place, tensor) in deps.tensors.iter().enumerate() {
            if tensor.tensor != TensorIndex(place as u32) {
                return Err(format!("tensor {} of deps.json is out of order", tensor.tensor.0));
            }
            tensors.push(KnownTensor { bytes: tensor.bytes, is_made: false });
        }
        let mut buffers = Vec::with_capacity(deps.buffers.len());
        for buffer in &deps.buffers {
            if let Some(TensorIndex(tensor)) = buffer.tensor {
                let known = tensors.get_mut(tensor as usize);
                let known = known.filter(|known| !known.is_made && known.bytes == buffer.bytes);
                known.ok_or_else(|| format!("buffer {} is not tensor {tensor}", buffers.len()))?.is_made =
                    true;
            }
            let tensor = buffer.tensor.map(|tensor| tensor.0);
            buffers.push(ProgramBuffer { bytes: buffer.bytes, is_writable: buffer.writable, tensor });
        }
        let program = Program { buffers, tensors: tensors.len(), ..Program::default() };
        let explicit = vec![Vec::new(); deps.tasks.len()];
        Ok(Builder { program, tensors, explicit, kernels: HashMap::new(), barriers: Vec::new() })
    }

    fn edges(&mut self, deps: &Deps, ids: &TaskIds) -> Result<(), String> {
        for edge in &deps.edges {
            let places = ids.place(edge.pred).zip(ids.place(edge.succ));
            let Some((before, after)) = places.filter(|(before, after)| before < after) else {
                return Err(format!("edge {}->{} does not lead to a later task", edge.pred, edge.succ));
            };
            if edge.source == EdgeSource::Explicit {
                self.explicit[after as usize].push(before);
            }
            let cause = edge.cause.map_or(EdgeSource::Explicit.as_str(), |cause| cause.hazard.as_str());
            self.program.edges.push(ProgramEdge { before, after, cause });
        }
        Ok(())
    }

    fn task(&mut self, task: &DepsTask<'_>) -> Result<(), String> {
        let place = self.program.tasks.len() as u32;
        let first_step = self.program.steps.len();
        task.before.iter().flat_map(|steps| steps.iter()).try_for_each(|step| self.step(step))?;
        let Some(&barrier) = self.barriers.last() else {
            return Err(format!("task {} is outside of every scope", task.task_id));
        };
        let kind = match (task.kernels.is_empty(), task.args.is_empty(), task.upload == Some(true)) {
            (false, _, false) => TaskKind::Kernels,
            (true, true, false) => TaskKind::Barrier,
            (true, false, false) => TaskKind::Alloc,
            (true, false, true) => TaskKind::Upload,
            _ => return Err(format!("task {} is neither a kernel nor an upload", task.task_id)),
        };
        if !(1..=BLOCKS_MAX).contains(&task.block_num) {
            return Err(format!("task {} has {} blocks", task.task_id, task.block_num));
        }
        let first_arg = self.program.args.len();
        self.args(task, kind)?;
        let first_after = self.program.after.len();
        if kind == TaskKind::Kernels {
            let followed = self.explicit[place as usize].iter().filter(|&&task| Some(task) != barrier);
            self.program.after.extend(followed);
        }
        if kind == TaskKind::Barrier {
            *self.barriers.last_mut().expect("a scope is open") = Some(place);
        }
        let lanes = self.lanes(task)?;
        self.program.tasks.push(ProgramTask {
            kind,
            lanes,
            blocks: task.block_num,
            args: first_arg..self.program.args.len(),
            after: first_after..self.program.after.len(),
            before: first_step..self.program.steps.len(),
            label: task.label.as_deref().map(Box::from),
            duration_ps: task.duration_ps,
        });
        Ok(())
    }

    /// The kernels of a task, by lane.
    fn lanes(&mut self, task: &DepsTask<'_>) -> Result<[Option<u16>; 3], String> {
        let mut lanes = [None; 3];
        for kernel in task.kernels.iter() {
            let lane = lanes.get_mut(usize::from(kernel.lane)).filter(|lane| lane.is_none());
            let lane = lane.ok_or_else(|| format!("task {} has lane {} twice", task.task_id, kernel.lane))?;
            *lane = Some(self.kernel(&kernel.kernel)?);
        }
        match lanes {
            [_, None, Some(_)] => Err(format!("task {} has lane 2 and no lane 1", task.task_id)),
            _ => Ok(lanes),
        }
    }

    fn kernel(&mut self, row: &KernelRow) -> Result<u16, String> {
        let core = match row.core_type.as_str() {
            "aic" => CoreType::Aic,
            "aiv" => CoreType::Aiv,
            "any" => CoreType::Any,
            other => return Err(format!("kernel {:?} runs on {other:?}", row.name)),
        };
        let kernels = &mut self.program.kernels;
        if let Some(&known) = self.kernels.get(&row.func_id) {
            let same = &kernels[usize::from(known)];
            let is_same = same.name == row.name && same.core == core;
            return is_same.then_some(known).ok_or_else(|| format!("kernel {} has two names", row.func_id.0));
        }
        if kernels.len() >= KERNELS_MAX {
            return Err(format!("there are more than {KERNELS_MAX} kernels"));
        }
        let number = kernels.len() as u16;
        kernels.push(ProgramKernel { name: row.name.clone(), core });
        self.kernels.insert(row.func_id, number);
        Ok(number)
    }

    /// Adds the arguments of a task: scalars where no tensor has the index.
    fn args(&mut self, task: &DepsTask<'_>, kind: TaskKind) -> Result<(), String> {
        let mut scalars = task.scalars.unwrap_or(0);
        if scalars as usize > SCALARS_MAX || task.args.len() > TENSORS_MAX {
            return Err(format!("task {} has too many arguments", task.task_id));
        }
        let mut next = 0;
        for arg in task.args.iter() {
            let skipped = arg.index.checked_sub(next).filter(|&skipped| skipped <= scalars);
            let skipped = skipped.ok_or_else(|| format!("task {} has no argument {next}", task.task_id))?;
            self.program.args.extend((0..skipped).map(|_| ProgramArg::Scalar));
            (scalars, next) = (scalars - skipped, arg.index + 1);
            let arg = self.arg(arg).map_err(|what| format!("task {}: {what}", task.task_id))?;
            if kind == TaskKind::Upload
                && let ProgramArg::Tensor { view, .. } = &arg
            {
                self.program.upload_bytes_max = self.program.upload_bytes_max.max(view.bytes());
            }
            self.program.args.push(arg);
        }
        self.program.args.extend((0..scalars).map(|_| ProgramArg::Scalar));
        let makes_one =
            matches!(&task.args[..], [arg] if arg.access == Access::Output) && task.scalars.is_none();
        match kind {
            TaskKind::Alloc | TaskKind::Upload if !makes_one => {
                Err(format!("task {} has no kernel, and does not make one tensor", task.task_id))
            }
            _ => Ok(()),
        }
    }

    fn arg(&mut self, arg: &DepsArg) -> Result<ProgramArg, String> {
        let (TensorIndex(tensor), access, split) = (arg.tensor, arg.access, arg.split);
        let Some(known) = self.tensors.get_mut(tensor as usize) else {
            return Err(format!("there is no tensor {tensor}"));
        };
        if known.is_made == (access == Access::Output) {
            return Err(format!("tensor {tensor} is used before it is made, or made twice"));
        }
        known.is_made = true;
        let view = view_of(&arg.view, known.bytes)?;
        let is_whole = view.is_whole() && view.offset_bytes() == 0;
        if access == Access::Output && !is_whole {
            return Err(format!("tensor {tensor} is made in part"));
        }
        Ok(ProgramArg::Tensor { tensor, view, access, split })
    }

    fn step(&mut self, step: &DepsStep<'_>) -> Result<(), String> {
        let made = match step.step {
            StepKind::Enter => {
                self.barriers.push(self.barriers.last().copied().flatten());
                if self.barriers.len() == 1 {
                    return Ok(()); // The root scope: a run has one.
                }
                let label = step.label.as_deref().map(Box::from);
                Step::Enter { is_manual: step.manual == Some(true), label }
            }
            StepKind::Exit => {
                self.barriers.pop().ok_or("more scopes end than begin")?;
                if self.barriers.is_empty() {
                    return Ok(());
                }
                Step::Exit
            }
            StepKind::Advance => Step::Advance(step.ticks.ok_or("time passes, and no ticks")?),
            StepKind::Read => self.read(step)?,
        };
        self.program.steps.push(made);
        Ok(())
    }

    fn read(&self, step: &DepsStep<'_>) -> Result<Step, String> {
        let (row, is_in_place) =
            (step.view.as_ref().ok_or("a read without a view")?, step.in_place == Some(true));
        let tensor = match (step.tensor, step.buffer) {
            (Some(TensorIndex(tensor)), None) => tensor,
            (None, Some(buffer)) => {
                let known = self.program.buffers.get(buffer as usize);
                let known = known.ok_or_else(|| format!("there is no buffer {buffer} to read"))?;
                let view = view_of(row, known.bytes)?;
                match known.tensor {
                    Some(tensor) => return Ok(Step::Read { tensor, view, is_in_place }),
                    None => return Ok(Step::ReadBuffer { buffer, view, is_in_place }),
                }
            }
            _ => return Err("a read of no tensor, or of two".to_string()),
        };
        let known = self.tensors.get(tensor as usize).filter(|known| known.is_made);
        let known = known.ok_or_else(|| format!("tensor {tensor} is read before it is made"))?;
        Ok(Step::Read { tensor, view: view_of(row, known.bytes)?, is_in_place })
    }

    /// Adds the steps after the last submit. They end all scopes.
    fn finish(&mut self, last_steps: &[DepsStep<'_>]) -> Result<(), String> {
        let first = self.program.steps.len();
        last_steps.iter().try_for_each(|step| self.step(step))?;
        self.program.last_steps = first..self.program.steps.len();
        if self.barriers.is_empty() { Ok(()) } else { Err("scopes do not end".to_string()) }
    }
}

/// A view, checked against the size of its tensor.
pub(crate) fn view_of(row: &ViewRow, tensor_bytes: u64) -> Result<TensorView, String> {
    let dims: Vec<Dim> = row
        .shape()
        .zip(row.strides())
        .map(|(len, stride)| Dim { len: len as u32, stride: stride as u32 })
        .collect();
    TensorView::from_parts(row.dtype, row.offset, &dims, tensor_bytes).map_err(|error| error.to_string())
}
