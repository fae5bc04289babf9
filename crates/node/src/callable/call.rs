//! A call, as the function that is called sees it.

use core::marker::PhantomData;

use ringlane_engine::api::buffers::{BufferId, Buffers, Permission};
use ringlane_engine::overlap::{Region, Relation, relation};
use ringlane_engine::prelude::{Element, Orch};
use ringlane_task::{Access, BlobTensor, BufferHandle, CallConfig, Scalar};

use crate::call_error::CallError;
use crate::error::NodeError;
use crate::mailbox::{ChipTimes, Received};
use crate::memory::{Mapping, Memories};
use crate::runtime::NodeOrch;
use crate::worker_backend::{Title, WorkerBackend};

/// A call: what it is given, and what its worker has.
pub struct Call<'c> {
    pub(crate) name: &'static str,
    pub(crate) config: CallConfig,
    pub(crate) member: (u32, u32),
    pub(crate) scalars: Vec<Scalar>,
    pub(crate) tensors: Vec<CallTensor>,
    pub(crate) backend: &'c mut dyn WorkerBackend,
    pub(crate) chip: Option<ChipTimes>,
    /// The tensors are in memory that lives as long.
    life: PhantomData<&'c mut [u8]>,
}

/// A tensor of a call.
#[derive(Clone, Copy)]
pub(crate) struct CallTensor {
    address: *mut u8,
    pub(crate) tensor: BlobTensor,
    is_taken: bool,
}

impl<'c> Call<'c> {
    pub(crate) fn new(
        name: &'static str,
        received: &Received<'_>,
        memories: &'c Memories,
        backend: &'c mut dyn WorkerBackend,
    ) -> Result<Self, NodeError> {
        let tensors = located(received, memories)?;
        let scalars = received.arguments.scalars().collect();
        let (config, member) = (received.config, received.member);
        Ok(Call { name, config, member, scalars, tensors, backend, chip: None, life: PhantomData })
    }

    /// A call in this process, on buffers of this process.
    pub(crate) fn here(
        name: &'static str,
        config: &CallConfig,
        buffers: &'c mut Buffers<'_>,
        tensors: &[(BufferId, Access)],
        scalars: &[Scalar],
        backend: &'c mut dyn WorkerBackend,
    ) -> Result<Self, NodeError> {
        let mut placed: Vec<CallTensor> = Vec::new();
        for (index, &(id, access)) in tensors.iter().enumerate() {
            let placed_at = buffers.place(id).map_err(|_| NodeError::TensorElsewhere { index });
            let (view, space, permission) = placed_at?;
            if access.writes() && permission == Permission::Read {
                return Err(NodeError::ReadOnlyBuffer { index });
            }
            let twice = tensors[..index]
                .iter()
                .any(|(other, before)| *other == id && (access.writes() || before.writes()));
            if twice {
                return Err(NodeError::BufferTwice { index });
            }
            let buffer = BufferHandle { id: index as u32, generation: 0 };
            let tensor = BlobTensor { view, buffer, access };
            // What is written is the caller's alone: `buffers` is borrowed mutably for as long as the call.
            placed.push(CallTensor { address: space.base, tensor, is_taken: false });
        }
        let (config, scalars) = (*config, scalars.to_vec());
        let (member, life) = ((0, 1), PhantomData);
        Ok(Call { name, config, member, scalars, tensors: placed, backend, chip: None, life })
    }

    /// What is asked of its run; it is valid.
    pub fn config(&self) -> &CallConfig {
        &self.config
    }

    /// Which member of a group this is, from 0.
    pub fn member(&self) -> u32 {
        self.member.0
    }

    /// How many members the group has; 1 if there is none.
    pub fn members(&self) -> u32 {
        self.member.1
    }

    /// A scalar, by its number among the scalars.
    pub fn scalar<T: Element>(&self, index: usize) -> Result<T, CallError> {
        self.scalars.get(index).and_then(|scalar| scalar.get::<T>()).ok_or_else(|| {
            self.wrong("WrongScalar", format!("scalar {index} is not there, or no {}", T::DTYPE))
        })
    }

    /// The values of a tensor, which the call may read. Each tensor can be had once.
    pub fn slice<T: Element>(&mut self, index: usize) -> Result<&'c [T], CallError> {
        let (start, len) = self.take::<T>(index)?;
        #[allow(unsafe_code)]
        // SAFETY: `located` saw that this many values are in the memory, which lives for `'c`; the node orders this call against
        // all others that write them, and a tensor that this call itself writes does not overlap any other of it.
        Ok(unsafe { core::slice::from_raw_parts(start, len) })
    }

    /// The values of a tensor that the call only reads. The tensor can still be had, or go to a run.
    pub fn peek<T: Element>(&mut self, index: usize) -> Result<&'c [T], CallError> {
        if self.tensors.get(index).is_none_or(|tensor| tensor.tensor.access.writes()) {
            return Err(self.wrong("WrongTensor", format!("tensor {index} was not given to be read")));
        }
        let values = self.slice(index)?;
        self.tensors[index].is_taken = false;
        Ok(values)
    }

    /// The values of a tensor, which the call may write. Each tensor can be had once.
    pub fn slice_mut<T: Element>(&mut self, index: usize) -> Result<&'c mut [T], CallError> {
        let writes = self.tensors.get(index).is_some_and(|tensor| tensor.tensor.access.writes());
        if !writes {
            return Err(self.wrong("WrongTensor", format!("tensor {index} was passed for reading only")));
        }
        let (start, len) = self.take::<T>(index)?;
        #[allow(unsafe_code)]
        // SAFETY: as for `slice`, and this one is given away once.
        Ok(unsafe { core::slice::from_raw_parts_mut(start, len) })
    }

    fn take<T: Element>(&mut self, index: usize) -> Result<(*mut T, usize), CallError> {
        let problem = match self.tensors.get(index) {
            None => format!("there is no tensor {index}, the call has {}", self.tensors.len()),
            Some(tensor) if tensor.is_taken => format!("tensor {index} is accessed twice"),
            Some(CallTensor { tensor, .. }) if tensor.view.dtype() != T::DTYPE => {
                format!("tensor {index} is {}, but is accessed as {}", tensor.view.dtype(), T::DTYPE)
            }
            Some(tensor) if !tensor.tensor.view.is_contiguous() => {
                format!("tensor {index} has gaps and cannot be a slice")
            }
            Some(_) => {
                let tensor = &mut self.tensors[index];
                tensor.is_taken = true;
                return Ok((tensor.address.cast(), tensor.tensor.view.elements() as usize));
            }
        };
        Err(self.wrong("WrongTensor", problem))
    }

    fn wrong(&self, name: &str, detail: String) -> CallError {
        let hint = "check the arguments in its callable! declaration";
        CallError::new(name, format!("{}: {detail}", self.name), hint)
    }

    /// Runs an orchestration on the worker's chip, with the tensors that were not had as slices as external buffers, in order.
    /// If the call's configuration asks for diagnostics, the run leaves a directory.
    pub fn on_chip(
        &mut self,
        title: Title<'_>,
        mut orchestrate: impl FnMut(&mut Orch<'_, '_>, &[BufferId]) -> ringlane_engine::Result<()>,
    ) -> Result<(), CallError> {
        let (mut buffers, ids) = self.lend()?;
        let mut f = |o: &mut Orch<'_, '_>| orchestrate(o, &ids);
        let (chip, result) = self.backend.run_chip(title, &self.config, &mut buffers, &mut f);
        self.chip = chip;
        result
    }

    /// Runs an orchestration over the workers that this worker has, like [`on_chip`](Self::on_chip).
    pub fn on_node(
        &mut self,
        title: Title<'_>,
        mut orchestrate: impl FnMut(&mut NodeOrch<'_, '_, '_>, &[BufferId]) -> ringlane_engine::Result<()>,
    ) -> Result<(), CallError> {
        let (mut buffers, ids) = self.lend()?;
        let mut f = |o: &mut NodeOrch<'_, '_, '_>| orchestrate(o, &ids);
        let (chip, result) = self.backend.run_node(title, &self.config, &mut buffers, &mut f);
        self.chip = chip;
        result
    }

    /// The tensors that are left, as buffers of a run.
    fn lend(&mut self) -> Result<(Buffers<'c>, Vec<BufferId>), CallError> {
        let (mut buffers, mut ids) = (Buffers::new(), Vec::new());
        for (index, tensor) in self.tensors.iter_mut().enumerate().filter(|(_, tensor)| !tensor.is_taken) {
            let view = &tensor.tensor.view;
            if !view.is_contiguous() {
                let detail =
                    format!("{}: tensor {index} has gaps and cannot be a buffer of a run", self.name);
                let hint = "pass whole tensors to a run, or slices of their first axis";
                return Err(CallError::new("WrongTensor", detail, hint));
            }
            let permission = match tensor.tensor.access.writes() {
                true => Permission::ReadWrite,
                false => Permission::Read,
            };
            tensor.is_taken = true;
            #[allow(unsafe_code)]
            // SAFETY: as for `slice` and `slice_mut`.
            let id = unsafe { buffers.lend_at(tensor.address, view.dtype(), &view.shape(), permission) };
            ids.push(id.map_err(|error| CallError::of(&error))?);
        }
        Ok((buffers, ids))
    }
}

/// The tensors of a call in this process, each of them checked: its memory is there, it is inside, and no bytes that are
/// written are those of another.
pub(crate) fn located(received: &Received<'_>, memories: &Memories) -> Result<Vec<CallTensor>, NodeError> {
    let mut tensors: Vec<CallTensor> = Vec::new();
    for (index, wire) in received.arguments.tensors().enumerate() {
        let number = wire.buffer().id;
        let memory = memories.get(number).ok_or(NodeError::corrupt("memory of a tensor", number))?;
        let tensor = wire.resolve(index, memory.bytes()).map_err(NodeError::Arguments)?;
        let offset = tensor.view.offset_bytes();
        if offset < Mapping::HEAD_BYTES {
            return Err(NodeError::corrupt("offset of a tensor", offset));
        }
        if tensors.iter().any(|before| conflict(&before.tensor, &tensor)) {
            return Err(NodeError::corrupt("tensor that overlaps another", index as u64));
        }
        tensors.push(CallTensor { address: memory.at(offset), tensor, is_taken: false });
    }
    Ok(tensors)
}

fn conflict(a: &BlobTensor, b: &BlobTensor) -> bool {
    let writes = |tensor: &BlobTensor| tensor.access.writes();
    let inferred = a.access != Access::NoDep && b.access != Access::NoDep;
    inferred
        && a.buffer == b.buffer
        && (writes(a) || writes(b))
        && relation(&Region::of(&a.view), &Region::of(&b.view)) != Relation::Disjoint
}
