//! A worker of level 2: runs callables on one chip, in this process.

use ringlane_engine::api::buffers::{BufferId, Buffers};
use ringlane_task::{Access, CallConfig, Scalar};

use crate::callable::{Call, Callable, WorkerKind};
use crate::error::NodeError;
use crate::mailbox::ChipTimes;
use crate::worker_backend::WorkerBackend;

/// Runs chip callables in this process, as a worker process does with those that it is sent.
#[derive(Debug)]
pub struct ChipWorker<E> {
    backend: E,
}

impl<E: WorkerBackend> ChipWorker<E> {
    /// A worker with a chip.
    pub fn new(backend: E) -> Self {
        ChipWorker { backend }
    }

    /// Calls, with these buffers as tensors; gives when the run on the chip was.
    pub fn call(
        &mut self,
        callable: &'static Callable,
        config: &CallConfig,
        buffers: &mut Buffers<'_>,
        tensors: &[(BufferId, Access)],
        scalars: &[Scalar],
    ) -> Result<Option<ChipTimes>, NodeError> {
        config.validate().map_err(NodeError::Config)?;
        let types = scalars.iter().map(|scalar| scalar.dtype());
        callable.signature().check(callable.name(), tensors.len(), types)?;
        let failed = |error| NodeError::CallFailed {
            worker: "this process".to_string(),
            callable: callable.name(),
            error,
        };
        if callable.kind() != WorkerKind::Chip {
            return Err(NodeError::WrongKind { callable: callable.name(), kind: callable.kind().as_str() });
        }
        let mut call = Call::here(callable.name(), config, buffers, tensors, scalars, &mut self.backend)?;
        callable.run(&mut call).map_err(failed)?;
        Ok(call.chip)
    }
}
