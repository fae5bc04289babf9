//! Submits a recorded program as it was submitted: same scopes, same views, same order.

use std::time::Duration;

use ringlane_engine::api::arg::{Arg, ArgKind};
use ringlane_engine::api::backend::{Backend, Call, Contents, Inference, Reading, Site};
use ringlane_engine::api::buffers::{BufferId, Buffers, Permission};
use ringlane_engine::api::launch::Launch;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::api::tensor::{TaskHandle, TensorRef};
use ringlane_engine::arena::Arena;
use ringlane_engine::{Error, Fault, Result};
use ringlane_task::{Access, DType, Scalar};

use super::Replayable;
use crate::error::ReplayError;
use crate::recorded::{Program, ProgramArg, ProgramTask, Step, TaskKind};

/// No axis, as the engine says it.
const NO_SPLIT: u8 = u8::MAX;

/// The external buffers of a replay. Their memory is reserved and never touched.
#[derive(Debug)]
pub struct ReplayBuffers {
    /// The buffers.
    pub buffers: Buffers<'static>,
    /// Their names, in order.
    pub ids: Vec<BufferId>,
}

/// The external buffers of a program.
pub(super) fn buffers(program: &Program) -> core::result::Result<ReplayBuffers, ReplayError> {
    let (mut buffers, mut ids) = (Buffers::new(), Vec::with_capacity(program.buffers.len()));
    for buffer in &program.buffers {
        let permission = if buffer.is_writable { Permission::ReadWrite } else { Permission::Read };
        let shape = shape_of(buffer.bytes).ok_or_else(|| {
            Error::from(Fault::OutOfMemory { what: "an external buffer", bytes: buffer.bytes })
        })?;
        let arena = Arena::new(buffer.bytes, "an external buffer")?;
        let base = arena.base();
        // SAFETY: the arena has this many bytes, nothing else uses it, and the buffer keeps it.
        ids.push(unsafe { buffers.keep_at(base, DType::UInt8, &shape, permission, Box::new(arena)) }?);
    }
    Ok(ReplayBuffers { buffers, ids })
}

/// The shape of a tensor with this number of bytes.
fn shape_of(bytes: u64) -> Option<Vec<u32>> {
    if let Ok(length) = u32::try_from(bytes) {
        return Some(vec![length]);
    }
    let rows = (2..=1u32 << 16)
        .find(|&rows| bytes.is_multiple_of(rows.into()) && u32::try_from(bytes / u64::from(rows)).is_ok())?;
    Some(vec![rows, (bytes / u64::from(rows)) as u32])
}

/// Runs the orchestration.
pub(super) fn run(
    replayable: &Replayable<'_>,
    ids: &[BufferId],
    o: &mut Orch<'_, '_>,
    site: Site,
) -> Result<()> {
    let program = replayable.program;
    // SAFETY: views were checked against their tensors when the program was read, kernels touch nothing, and the program ends
    // the scopes that it begins.
    let backend = unsafe { o.backend() };
    let mut submitter = Submitter {
        replayable,
        site,
        externals: Vec::with_capacity(ids.len()),
        tensors: vec![TensorRef::default(); program.tensors],
        tasks: Vec::with_capacity(program.tasks.len()),
        args: Vec::new(),
        made: Vec::new(),
        outs: Vec::new(),
        after: Vec::new(),
    };
    submitter.run(backend, ids)
}

/// The handles of a replay.
struct Submitter<'r, 'p> {
    replayable: &'r Replayable<'p>,
    site: Site,
    externals: Vec<TensorRef>,
    tensors: Vec<TensorRef>,
    tasks: Vec<TaskHandle>,
    args: Vec<Arg<'static>>,
    /// The tensors that the outputs of the task are.
    made: Vec<u32>,
    outs: Vec<TensorRef>,
    after: Vec<TaskHandle>,
}

impl Submitter<'_, '_> {
    fn run(&mut self, backend: &mut dyn Backend, ids: &[BufferId]) -> Result<()> {
        let program = self.replayable.program;
        for (buffer, &id) in program.buffers.iter().zip(ids) {
            let (external, _) = backend.external(id)?;
            self.externals.push(external);
            if let Some(tensor) = buffer.tensor {
                self.tensors[tensor as usize] = external;
            }
        }
        for task in &program.tasks {
            for step in &program.steps[task.before.clone()] {
                self.step(backend, step)?;
            }
            let handle = self.task(backend, task)?;
            self.tasks.push(handle);
        }
        program.steps[program.last_steps.clone()].iter().try_for_each(|step| self.step(backend, step))
    }

    fn task(&mut self, backend: &mut dyn Backend, task: &ProgramTask) -> Result<TaskHandle> {
        let args = &self.replayable.program.args[task.args.clone()];
        match (task.kind, args) {
            (TaskKind::Barrier, _) => backend.barrier(self.site),
            (TaskKind::Alloc | TaskKind::Upload, [ProgramArg::Tensor { tensor, view, .. }, ..]) => {
                let contents = match task.kind {
                    TaskKind::Upload => Contents::Host(self.replayable.zeros(view.bytes())),
                    _ => Contents::Zeros,
                };
                self.tensors[*tensor as usize] = backend.alloc(*view, contents, self.site)?;
                Ok(TaskHandle::default())
            }
            _ => self.kernels(backend, task, args),
        }
    }

    fn kernels(
        &mut self,
        backend: &mut dyn Backend,
        task: &ProgramTask,
        args: &[ProgramArg],
    ) -> Result<TaskHandle> {
        self.args.clear();
        self.made.clear();
        for arg in args {
            let kind = match *arg {
                ProgramArg::Tensor { tensor, view, access: Access::Output, split } => {
                    self.made.push(tensor);
                    ArgKind::Output { view, split: split.unwrap_or(NO_SPLIT) }
                }
                ProgramArg::Tensor { tensor, view, access, split } => {
                    let tensor = self.tensors[tensor as usize];
                    ArgKind::Tensor { tensor, view, access, split: split.unwrap_or(NO_SPLIT) }
                }
                ProgramArg::Scalar => ArgKind::Scalar(Scalar::new(0u8)),
            };
            // SAFETY: the view was checked against its tensor when the program was read; nothing reads or writes it.
            self.args.push(unsafe { Arg::from_kind(kind) });
        }
        self.after.clear();
        let after = &self.replayable.program.after[task.after.clone()];
        self.after.extend(after.iter().map(|&task| self.tasks[task as usize]));
        self.outs.clear();
        self.outs.resize(self.args.len(), TensorRef::default());
        let launch = self.launch(task);
        let call = Call { launch: &launch, args: &self.args, after: &self.after, site: self.site };
        let handle = backend.submit(&call, &mut self.outs)?;
        for (&tensor, &made) in self.made.iter().zip(&self.outs) {
            self.tensors[tensor as usize] = made;
        }
        Ok(handle)
    }

    fn launch<'t>(&self, task: &'t ProgramTask) -> Launch<'t> {
        let kernel = |lane: usize| task.lanes[lane].map(|at| self.replayable.kernels[usize::from(at)]);
        let launch = match (kernel(0), kernel(1), kernel(2)) {
            (Some(only), None, None) => Launch::from(only),
            (aic, Some(first), Some(second)) => Launch::mixed(aic, &[first, second]),
            (aic, Some(first), None) => Launch::mixed(aic, &[first]),
            (aic, None, _) => Launch::mixed(aic, &[]),
        };
        let launch = launch.blocks(task.blocks);
        let launch = match task.duration_ps {
            Some(ps) => launch.taking(Duration::from_nanos(ps / 1000)),
            None => launch,
        };
        match &task.label {
            Some(label) => launch.labelled(label),
            None => launch,
        }
    }

    fn step(&mut self, backend: &mut dyn Backend, step: &Step) -> Result<()> {
        match step {
            Step::Enter { is_manual, label } => {
                let inference = if *is_manual { Inference::Off } else { Inference::Inherit };
                backend.enter_scope(self.site, inference)?;
                if let Some(label) = label {
                    backend.label_scope(label);
                }
                Ok(())
            }
            Step::Exit => backend.exit_scope(),
            Step::Advance(ticks) => {
                backend.advance_time(*ticks);
                Ok(())
            }
            Step::Read { tensor, view, is_in_place } => {
                backend.read(self.tensors[*tensor as usize], view, how(*is_in_place), &mut |_| {})
            }
            Step::ReadBuffer { buffer, view, is_in_place } => {
                backend.read(self.externals[*buffer as usize], view, how(*is_in_place), &mut |_| {})
            }
        }
    }
}

fn how(is_in_place: bool) -> Reading {
    if is_in_place { Reading::InPlace } else { Reading::Copy }
}
