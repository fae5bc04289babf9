//! What a rank does with the calls that it receives: the callable runs here, on what this rank has.

use ringlane_engine::api::buffers::BufferId;
use ringlane_task::{Access, BlobTensor, Explain, TensorView};

use super::serve::{Offer, RankService};
use super::store::{Store, lost};
use crate::call_error::CallError;
use crate::callable::{Call as Running, Table};
use crate::error::NodeError;
use crate::frame::Call;
use crate::mailbox::ChipTimes;
use crate::memory::SharedBuffers;
use crate::worker_backend::WorkerBackend;

/// Runs callables for a scheduler on another rank.
///
/// Their tensors are copied into the memory of this rank's own node, which its workers see, and what was written is copied
/// back into the buffers of the call.
pub struct CallService<'e> {
    offer: Offer,
    table: Table,
    room: Option<SharedBuffers>,
    backend: &'e mut dyn WorkerBackend,
}

impl<'e> CallService<'e> {
    /// A service with this backend. `room` are buffers that its workers see; without any, it takes no call before it is set
    /// up.
    pub fn new(
        offer: Offer,
        room: Option<SharedBuffers>,
        backend: &'e mut dyn WorkerBackend,
    ) -> Result<Self, NodeError> {
        Ok(CallService { offer, table: Table::new()?, room, backend })
    }
}

impl RankService for CallService<'_> {
    fn offer(&self) -> Offer {
        self.offer
    }

    fn set_up(&mut self, run_request: &[u8]) -> Result<(), CallError> {
        if let Some(room) = self.backend.set_up(run_request)? {
            self.room = Some(room);
        }
        Ok(())
    }

    fn run(&mut self, call: &Call<'_>, store: &mut Store) -> (Option<ChipTimes>, Result<(), CallError>) {
        let of = |error: &dyn Explain| (None, Err(CallError::of(error)));
        let types = call.scalars.iter().map(|scalar| scalar.dtype());
        let callable = match self.table.resolve_for(call.digest, call.tensors.len(), types) {
            Ok(callable) => callable,
            Err(error) => return of(&error),
        };
        let Some(room) = &self.room else { return (None, Err(not_set_up())) };
        let (mut room, mut placed) = (room.none_yet(), Vec::new());
        for tensor in &call.tensors {
            match place(tensor, store, &mut room) {
                Ok(id) => placed.push((id, tensor.access)),
                Err(error) => return (None, Err(error)),
            }
        }
        let (config, scalars) = (&call.config, &call.scalars);
        let running = Running::here(callable.name(), config, room.buffers(), &placed, scalars, self.backend);
        let mut running = match running {
            Ok(running) => running,
            Err(error) => return of(&error),
        };
        running.member = call.member;
        let result = callable.run(&mut running);
        let chip = running.chip;
        (chip, result.and_then(|()| take_back(call, &placed, store, &mut room)))
    }
}

fn not_set_up() -> CallError {
    let detail = "this rank was called before it received a run request";
    CallError::new(
        "NotSetUp",
        detail,
        "pass a run request to the launch of the rank: `ChildLaunch::with_run_request`",
    )
}

/// Copies a tensor of a call into memory that this rank's workers see.
fn place(tensor: &BlobTensor, store: &Store, room: &mut SharedBuffers) -> Result<BufferId, CallError> {
    let buffer = store.get(tensor.buffer).ok_or_else(|| lost(tensor.buffer, "not here"))?;
    let (view, bytes) = (&tensor.view, buffer.bytes());
    let shape = view.shape();
    let added = if view.is_contiguous() {
        let start = view.offset_bytes() as usize;
        room.add_bytes(view.dtype(), &shape, &bytes[start..start + view.bytes() as usize])
    } else {
        let mut dense = Vec::with_capacity(view.bytes() as usize);
        view.for_each_run(|start, count| dense.extend_from_slice(&bytes[range(start, count)]));
        room.add_bytes(view.dtype(), &shape, &dense)
    };
    added.map_err(|error| CallError::of(&error))
}

/// Copies what a call has written back into its buffers.
fn take_back(
    call: &Call<'_>,
    placed: &[(BufferId, Access)],
    store: &mut Store,
    room: &mut SharedBuffers,
) -> Result<(), CallError> {
    for (tensor, (id, access)) in call.tensors.iter().zip(placed).filter(|(_, (_, access))| access.writes()) {
        debug_assert_eq!(tensor.access, *access);
        let (_, mut dense): (TensorView, &[u8]) =
            room.buffers().bytes(*id).map_err(|error| CallError::of(&error))?;
        let buffer = store.get_mut(tensor.buffer).ok_or_else(|| lost(tensor.buffer, "not here"))?;
        let bytes = buffer.bytes_mut();
        tensor.view.for_each_run(|start, count| {
            let (run, rest) = dense.split_at(count as usize);
            bytes[range(start, count)].copy_from_slice(run);
            dense = rest;
        });
    }
    Ok(())
}

/// Frames are decoded with their views inside of their buffers.
fn range(start: u64, count: u64) -> core::ops::Range<usize> {
    start as usize..(start + count) as usize
}
