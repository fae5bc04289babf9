//! What a worker has beside its callables: a chip, or workers of its own. The facade brings it, so that this crate knows no chip.

use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_task::CallConfig;

use crate::call_error::CallError;
use crate::mailbox::ChipTimes;
use crate::memory::SharedBuffers;
use crate::runtime::NodeOrch;

/// What a run that a call makes is called in its `run.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Title<'a> {
    /// The scene.
    pub scene: &'a str,
    /// The case.
    pub case: &'a str,
    /// Which part of the case, from one unit to another, if every call for that part runs the same program: a worker may
    /// capture it once and replay it.
    pub part: Option<(u32, u32)>,
}

/// An orchestration on a chip.
pub type ChipProgram<'p> = dyn FnMut(&mut Orch<'_, '_>) -> ringlane_engine::Result<()> + 'p;

/// An orchestration over workers.
pub type NodeProgram<'p> = dyn FnMut(&mut NodeOrch<'_, '_, '_>) -> ringlane_engine::Result<()> + 'p;

/// When a run was, if there was one, and how it ended.
pub type RunOutcome = (Option<ChipTimes>, Result<(), CallError>);

/// What a worker can run things on.
///
/// ```
/// use ringlane_node::{WorkerBackend, NoBackend};
/// let _plain: &dyn WorkerBackend = &NoBackend; // a worker for plain functions
/// ```
pub trait WorkerBackend {
    /// Makes ready for runs that are asked for this: bytes that the node above has encoded. A rank gets them before its
    /// calls; the answer is where the tensors of calls go from now on, if that is elsewhere than before.
    fn set_up(&mut self, _run_request: &[u8]) -> Result<Option<SharedBuffers>, CallError> {
        Ok(None)
    }

    /// Runs an orchestration on the worker's chip.
    fn run_chip(
        &mut self,
        title: Title<'_>,
        _config: &CallConfig,
        _buffers: &mut Buffers<'_>,
        _program: &mut ChipProgram<'_>,
    ) -> RunOutcome {
        (None, Err(missing("a chip", title)))
    }

    /// Runs an orchestration over the worker's own workers.
    fn run_node(
        &mut self,
        title: Title<'_>,
        _config: &CallConfig,
        _buffers: &mut Buffers<'_>,
        _program: &mut NodeProgram<'_>,
    ) -> RunOutcome {
        (None, Err(missing("workers of its own", title)))
    }
}

fn missing(what: &str, title: Title<'_>) -> CallError {
    let detail = format!("{} {} needs {what}, which this worker does not have", title.scene, title.case);
    CallError::new("WrongWorker", detail, "declare the callable with the kind of worker that it needs")
}

/// Nothing: a worker for plain functions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBackend;

impl WorkerBackend for NoBackend {}
