//! `ringlane worker`: what a node starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use ringlane_node::{CallError, Inherited, NoBackend, NodeError, Service, Spin, WorkerBackend, WorkerKind};
use ringlane_task::Reader;

use super::ranks;
use crate::errors::{CliError, Exit};
use crate::execute::Audience;
use crate::jobs;
use crate::monitor::Monitor;
use crate::options;
use crate::panics;
use crate::signals;
use crate::workers::backends::{OneChip, OwnNode};
use crate::workers::shape::Shape;
use crate::workers::{NodeRuntime, Plan};
use ringlane::RunRequest;

const EXAMPLE: &str = "\
Example:
  $ ringlane worker --mailbox-fd 5 --kind chip --request-fd 6
  $ mpirun -n 4 ringlane worker -- run paged_attention --case small --dfx
A node starts its workers itself, with a mailbox that they inherit as an open descriptor; there is no use in starting one by
hand. A worker ends with its node.
Without a mailbox it is a rank of an MPI run: rank 0 runs what follows `--` over the others, each of which has --workers chips
(this needs a build with --features mpi).";

/// Serve calls as a worker process of a node, or as a rank of an MPI run
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct WorkerArgs {
    /// The inherited file descriptor of the mailbox
    #[arg(long, value_name = "N")]
    mailbox_fd: Option<i32>,
    /// The file descriptor of the run request: platform, chip, policy, costs, chaos, dump selection [default: cpu]
    #[arg(long, value_name = "N")]
    request_fd: Option<i32>,
    /// The file descriptor of the case that this process runs
    #[arg(long, value_name = "N", hide = true, conflicts_with = "mailbox_fd")]
    job_fd: Option<i32>,
    /// Microseconds to poll the mailbox before sleeping
    #[arg(long, value_name = "N", default_value_t = 0)]
    spin_us: u64,
    /// The file descriptor of a node's memory, outermost node first (repeatable)
    #[arg(long = "memory-fd", value_name = "N")]
    memory_fds: Vec<i32>,
    /// Name options instead of methods in the hints of errors: the command started the node, not a program
    #[arg(long)]
    for_command: bool,
    /// The kind of worker: plain functions only, with a chip, or with its own workers
    #[arg(long, value_name = "KIND", default_value = "function", value_parser = ["function", "chip", "node"])]
    kind: String,
    /// The number of chips of a node or rank
    #[arg(long, value_name = "N[xM]", default_value = "1", value_parser = Shape::parse)]
    workers: Shape,
    /// Kill one of its own workers that takes longer than this for a call
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = options::call_timeout)]
    call_timeout: Duration,
    /// The `run` command line that rank 0 executes over the other ranks
    #[arg(last = true, value_name = "run SCENE…")]
    command: Vec<OsString>,
}

impl WorkerArgs {
    /// Serves until the node, or rank 0, shuts it down.
    pub fn execute(&self) -> Result<Exit, CliError> {
        match (self.mailbox_fd, self.job_fd) {
            (None, Some(job)) => jobs::run_for_parent(job),
            (Some(mailbox), _) => {
                let reader = if self.for_command { Reader::Command } else { Reader::Program };
                reader.make_current();
                self.serve(mailbox)
            }
            (None, None) => {
                signals::leave_sigterm();
                ranks::execute(&self.workers, &self.command)
            }
        }
    }

    fn serve(&self, mailbox: i32) -> Result<Exit, CliError> {
        let (memories, run_request) = (self.memory_fds.clone(), self.request_fd);
        let inherited = Inherited { mailbox, memories, run_request };
        let service = Service::adopt(&inherited, Spin::from_us(self.spin_us)).map_err(CliError::Node)?;
        let mut backend = match self.backend(&service) {
            Ok(backend) => backend,
            Err(error) => return Err(CliError::Node(service.refuse(error))),
        };
        // A panic of a callable is the answer to its call.
        match panics::quietly(|| service.serve(&mut *backend)) {
            Ok(served) => served.map(|_| Exit::Ok).map_err(CliError::Node),
            Err(panicked) => {
                crate::errors::print(&panicked);
                Ok(Exit::Failed)
            }
        }
    }

    /// What this worker has.
    fn backend(&self, service: &Service) -> Result<Box<dyn WorkerBackend>, NodeError> {
        if self.kind == WorkerKind::Function.as_str() {
            return Ok(Box::new(NoBackend));
        }
        let cannot = |error: CliError| NodeError::CannotSetUp { error: CallError::of(&error) };
        let request = service.run_request().map(RunRequest::decode).transpose();
        let request = request.map_err(|error| cannot(CliError::Request(error)))?.unwrap_or_default();
        let monitor = Monitor::start(&Audience::People).map_err(cannot)?;
        if self.kind == WorkerKind::Chip.as_str() {
            return Ok(Box::new(OneChip { request, runtime: None, graphs: BTreeMap::new(), monitor }));
        }
        let (shape, call_timeout) = (self.workers.clone(), self.call_timeout);
        let plan = Plan { shape, call_timeout, ranks: Vec::new() };
        let runtime = NodeRuntime::start(service.memories(), &plan, &request)?;
        Ok(Box::new(OwnNode { runtime, monitor }))
    }
}
