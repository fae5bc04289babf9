//! Submits a graph: handles of its buffers, scopes of bounded size, one submit per task.

use ringlane_engine::Result;
use ringlane_engine::prelude::{Arg, BufferId, Buffers, DType, Orch, Tensor, scalar};

use super::graph::{BufferIndex, Graph, Task};
use super::kernels::{self, Plain};
use super::limits::SCOPE_TASKS;

/// The external buffers of a graph: one element each, since no kernel reads it.
pub struct Data {
    /// The buffers.
    pub buffers: Buffers<'static>,
    ids: Vec<BufferId>,
}

impl Data {
    /// Buffers for a graph.
    pub fn of(graph: &Graph) -> Result<Self> {
        let mut buffers = Buffers::new();
        let ids =
            (0..graph.buffers).map(|_| buffers.add_zeroed(DType::Float32, &[1])).collect::<Result<_>>()?;
        Ok(Data { buffers, ids })
    }

    /// The buffers, and the ids to create their handles in a run.
    pub fn parts(&mut self) -> (&mut Buffers<'static>, Ids<'_>) {
        (&mut self.buffers, Ids(&self.ids))
    }
}

/// Ids of the buffers.
#[derive(Clone, Copy)]
pub struct Ids<'d>(&'d [BufferId]);

impl Ids<'_> {
    /// Their handles in this run.
    pub fn handles<'s>(self, o: &mut Orch<'s, '_>) -> Result<Vec<Tensor<'s>>> {
        let mut handles = Vec::with_capacity(self.0.len());
        for &id in self.0 {
            handles.push(o.external(id)?);
        }
        Ok(handles)
    }
}

/// Submits all tasks, in scopes of at most [`SCOPE_TASKS`].
pub fn plain<'s>(o: &mut Orch<'s, '_>, tasks: &[Task], handles: &[Tensor<'s>]) -> Result<()> {
    let kernels = Plain::current();
    for scope in tasks.chunks(SCOPE_TASKS) {
        o.scope(|o| scope.iter().try_for_each(|task| submit(o, kernels, task, handles)))?;
    }
    Ok(())
}

/// Submits one task.
#[inline]
pub fn submit<'s>(
    o: &mut Orch<'s, '_>,
    kernels: &'static Plain,
    task: &Task,
    handles: &[Tensor<'s>],
) -> Result<()> {
    let at = |buffer: BufferIndex| handles[buffer.0 as usize];
    match *task {
        Task::Free => o.submit(&kernels.free, []).map(drop),
        Task::Update(to) => o.submit(&kernels.updates, [at(to).inout()]).map(drop),
        Task::Read(from) => o.submit(&kernels.reads, [at(from).read()]).map(drop),
        Task::ReadUpdate(from, to) => {
            o.submit(&kernels.read_updates, [at(from).read(), at(to).inout()]).map(drop)
        }
        Task::Read2Update([a, b], to) => {
            o.submit(&kernels.read2_updates, [at(a).read(), at(b).read(), at(to).inout()]).map(drop)
        }
    }
}

/// Like [`plain`], with kernels that check the order of their tasks.
pub fn checked<'s>(o: &mut Orch<'s, '_>, tasks: &[Task], handles: &[Tensor<'s>]) -> Result<()> {
    for (scope, first) in tasks.chunks(SCOPE_TASKS).zip((0u32..).step_by(SCOPE_TASKS)) {
        o.scope(|o| {
            for (task, number) in scope.iter().zip(first..) {
                o.submit_slice(&[], kernels::checked_for(task), &checked_args(number, task, handles))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn checked_args<'s>(number: u32, task: &Task, handles: &[Tensor<'s>]) -> Vec<Arg<'s>> {
    let at = |buffer: BufferIndex| handles[buffer.0 as usize];
    let reads = task.reads().iter().map(|&from| at(from).read());
    std::iter::once(scalar(number)).chain(reads).chain(task.updates().map(|to| at(to).inout())).collect()
}
