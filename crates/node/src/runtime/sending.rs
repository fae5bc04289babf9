//! Sending a call to a worker: its arguments, its configuration and its directory.

use std::time::Instant;

use ringlane_engine::placed::BlockArgument;
use ringlane_engine::seams::Probe;
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_task::{BlobTensor, BufferHandle, CallConfig, DfxFlags, Scalar, TensorView};

use super::chip::NodeChip;
use super::dispatch::Waiting;
use super::journal::directory;
use super::worker_handle::{Attempt, WorkerCall};
use crate::callable::{Callable, WorkerKind};
use crate::clock::now_ns;
use crate::error::NodeError;
use crate::memory::Memories;

/// A call on its way to a worker.
pub(super) struct Outgoing {
    pub(super) task: SlotIndex,
    pub(super) record: TaskRecord,
    pub(super) index: u32,
    pub(super) callable: &'static Callable,
    pub(super) config: CallConfig,
    pub(super) attempt: Attempt,
    /// Its number on its worker, which is that of its directory, however often it is sent.
    pub(super) seq: u64,
}

impl<P: Probe> NodeChip<'_, P> {
    /// Sends a call. A worker that has died since its last call is started again first.
    pub(super) fn send(&mut self, worker: usize, call: Outgoing) -> Result<(), NodeError> {
        let Outgoing { task, record, index, callable, config, attempt, seq } = call;
        #[allow(unsafe_code)]
        // SAFETY: the chip holds the task until its blocks are finished.
        let arguments = unsafe { self.executor(worker).arguments(&record, index) };
        let (tensors, scalars) = packed(self.lent.memories, &arguments)?;
        let handle = &mut self.lent.pool[worker];
        handle.revive();
        if let Some(error) = &handle.lost {
            return Err(error.clone());
        }
        let sent_ns = now_ns();
        let member = (index, record.blocks);
        let sent = handle.child.send(callable, &config, member, &tensors, &scalars);
        if sent.is_err() && !handle.child.is_alive() && attempt == Attempt::First {
            return self.send(worker, Outgoing { attempt: Attempt::Second, ..call });
        }
        sent?;
        let limit = self.lent.call_settings.call_timeout;
        let deadline = Instant::now().checked_add(limit).unwrap_or_else(far_away);
        let submit_ns = self.lent.submit_ns[task.0 as usize].min(sent_ns);
        handle.job = Some(WorkerCall {
            task,
            record,
            index,
            callable,
            config,
            attempt,
            seq,
            submit_ns,
            sent_ns,
            deadline,
            limit,
        });
        Ok(())
    }

    /// The configuration of a call: the submit's, in a directory of its own. Plain functions leave no files.
    pub(super) fn config_for(
        &self,
        waiting: &Waiting,
        worker: usize,
        seq: u64,
    ) -> Result<CallConfig, NodeError> {
        let (mut config, handle) = (waiting.ticket.config, &self.lent.pool[worker]);
        if waiting.callable.kind() == WorkerKind::Function {
            config.dfx_flags = DfxFlags::NONE;
        }
        let mut prefix = String::new();
        if !config.dfx_flags.is_empty() {
            prefix = format!("{}/{}", self.lent.context.prefix, directory(handle.child.name(), seq));
        }
        config.set_output_prefix(&prefix).map_err(NodeError::Config)?;
        Ok(config)
    }
}

/// Later than anything that is waited for.
fn far_away() -> Instant {
    Instant::now() + std::time::Duration::from_secs(86_400 * 365)
}

/// Arguments as a mailbox takes them: tensors by memory and offset; the node's own scalar is left out.
fn packed(
    memories: &Memories,
    arguments: &[BlockArgument],
) -> Result<(Vec<BlobTensor>, Vec<Scalar>), NodeError> {
    let (mut tensors, mut scalars) = (Vec::new(), Vec::new());
    for (index, argument) in arguments[..arguments.len() - 1].iter().enumerate() {
        match argument {
            BlockArgument::Scalar(scalar) => scalars.push(*scalar),
            BlockArgument::Tensor { address, dtype, dims, access } => {
                let (id, offset) = memories.locate(*address).ok_or(NodeError::TensorElsewhere { index })?;
                let bytes = memories.get(id).map_or(0, |memory| memory.bytes());
                let view = TensorView::from_parts(*dtype, offset, dims, bytes).map_err(|source| {
                    NodeError::Arguments(ringlane_task::BlobError::BadView { index, source })
                })?;
                let buffer = BufferHandle { id, generation: 0 };
                tensors.push(BlobTensor { view, buffer, access: *access });
            }
        }
    }
    Ok((tensors, scalars))
}
