//! `ringlane worker` without a mailbox: a rank of an MPI run.
//!
//! ```text
//! mpirun -n 4 ringlane worker --workers 2 -- run SCENE …
//!   rank 0          runs the cases over the others: each is one of its workers
//!   rank 1, 2, 3    a node each, with chips of its own: serves
//! ```
//! Every rank has the same command line. What the runs are asked for, chips included, rank 0 sends to the others.

use std::ffi::OsString;

use crate::errors::{CliError, Exit};
use crate::workers::shape::Shape;

/// What the launchers of MPI programs give each rank: OpenMPI, those that speak PMI (MPICH, Slurm), and PMIx.
const LAUNCHERS: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"];

/// Is a rank: each of the others has such workers, and rank 0 runs the command over them.
pub fn execute(each: &Shape, command: &[OsString]) -> Result<Exit, CliError> {
    let is_launched = LAUNCHERS.iter().any(|name| std::env::var_os(name).is_some());
    match (is_launched, command) {
        (false, []) => Err(CliError::NoRanks { ranks: 0 }),
        (false, _) if cfg!(feature = "mpi") => Err(CliError::NoRanks { ranks: 0 }),
        _ => be_rank(each, command),
    }
}

#[cfg(not(feature = "mpi"))]
fn be_rank(_: &Shape, _: &[OsString]) -> Result<Exit, CliError> {
    Err(CliError::NoMpi)
}

#[cfg(feature = "mpi")]
use over_mpi::be_rank;

#[cfg(feature = "mpi")]
mod over_mpi {
    use std::ffi::OsString;
    use std::time::Duration;

    use ringlane::RunRequest;
    use ringlane_engine::prelude::Buffers;
    use ringlane_mpi::{Mpi, wait_until_stderr_is_read};
    use ringlane_node::remote::{CallService, Offer, Rank, Ranks, RemoteError, Transport, bridge, serve};
    use ringlane_node::{
        CallError, Memories, NoBackend, NodeProgram, RunOutcome, SharedBuffers, Title, WorkerBackend,
    };
    use ringlane_task::CallConfig;

    use super::super::run::{OverRanks, RunArgs};
    use super::super::{Cli, Command};
    use crate::errors::{CliError, Exit, print};
    use crate::execute::Audience;
    use crate::monitor::Monitor;
    use crate::panics;
    use crate::usage;
    use crate::workers::backends::OwnNode;
    use crate::workers::shape::Shape;
    use crate::workers::{NodeRuntime, Plan};

    /// How long all ranks may take until they are ready, and to say goodbye.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// This process as one of several. What goes wrong is reported here, while mpirun still listens.
    pub(super) fn be_rank(each: &Shape, command: &[OsString]) -> Result<Exit, CliError> {
        let exit = join(each, command).unwrap_or_else(|error| {
            print(&error);
            error.exit()
        });
        if exit != Exit::Ok {
            wait_until_stderr_is_read();
        }
        Ok(exit)
    }

    fn join(each: &Shape, command: &[OsString]) -> Result<Exit, CliError> {
        let mpi = Mpi::init().map_err(|error| CliError::Remote(RemoteError::at_start(error)))?;
        let (is_first, ranks) = (mpi.rank() == Rank::SCHEDULER, mpi.ranks());
        let words = std::iter::once(OsString::from("ringlane")).chain(command.iter().cloned());
        let parsed = Cli::parse_words(words);
        if let Ok(cli) = &parsed {
            cli.prepare()?;
        }
        // All ranks come to the same conclusion, and the first reports it.
        let wrong = match parsed {
            Ok(Cli { command: Command::Run(run), .. }) if ranks > 1 => {
                return if is_first { schedule(mpi, each, *run) } else { work(mpi, each, &run) };
            }
            Ok(Cli { command: Command::Run(_), .. }) => Ok(CliError::NoRanks { ranks }),
            Ok(_) => Ok(not_a_run()),
            Err(_) if command.is_empty() => Ok(not_a_run()),
            Err(error) => Err(error),
        };
        mpi.finish();
        match wrong {
            _ if !is_first => Ok(Exit::Ok),
            Ok(error) => Err(error),
            Err(error) => Ok(usage::show(&error)),
        }
    }

    fn not_a_run() -> CliError {
        let what = "a command line of `run` after `--`".to_string();
        CliError::MissingArgument { what, usage: "mpirun -n 4 ringlane worker -- run SCENE".to_string() }
    }

    /// Rank 0: runs the cases over the others, and ends them.
    fn schedule(mpi: Mpi, each: &Shape, run: RunArgs) -> Result<Exit, CliError> {
        let mut ranks = Ranks::greet(mpi, PATIENCE).map_err(CliError::Remote)?;
        let each = each.clone();
        let report = |error: &RemoteError| print(error);
        let bridged = bridge(&mut ranks, report, move |links| {
            run.execute_over(OverRanks { links: links.to_vec(), each })
        });
        let bridged = bridged.map_err(CliError::Remote)?;
        match bridged.ranks.and_then(|()| ranks.shutdown(PATIENCE)) {
            Ok(()) => ranks.into_transport().finish(),
            // The run has reported it, unless it had ended by then. Without an end in order, the ranks end with this process.
            Err(error) if matches!(bridged.result, Ok(Exit::Ok)) => return Err(CliError::Remote(error)),
            Err(_) => {}
        }
        bridged.result
    }

    /// Any other rank: a node that serves.
    fn work(mut mpi: Mpi, each: &Shape, run: &RunArgs) -> Result<Exit, CliError> {
        let mut node = RankNode { plan: run.plan_of_a_rank(each), node: None };
        let offer = Offer { level: each.level().into(), chips: each.chips(), functions: 1 };
        let mut service = CallService::new(offer, None, &mut node).map_err(CliError::Node)?;
        // A panic of a callable is the answer to its call.
        match panics::quietly(|| serve(&mut mpi, &mut service)) {
            Ok(Ok(_)) => {
                mpi.finish();
                Ok(Exit::Ok)
            }
            // Rank 0 reports these, or nobody is there to read them.
            Ok(Err(RemoteError::RankDied { .. } | RemoteError::RanksTerminated { .. })) => Ok(Exit::Failed),
            Ok(Err(error)) => Err(CliError::Remote(error)),
            Err(panicked) => {
                print(&panicked);
                Ok(Exit::Failed)
            }
        }
    }

    /// The node that a rank is, once it knows what its runs are asked for.
    struct RankNode {
        plan: Plan,
        /// It, and what it was started for: cases that are asked for alike have the same workers.
        node: Option<(Vec<u8>, OwnNode)>,
    }

    impl WorkerBackend for RankNode {
        fn set_up(&mut self, run_request: &[u8]) -> Result<Option<SharedBuffers>, CallError> {
            if self.node.as_ref().is_some_and(|(started_for, _)| started_for == run_request) {
                return Ok(None);
            }
            let request = RunRequest::decode(run_request).map_err(|error| CallError::of(&error))?;
            let monitor = match self.node.take() {
                Some((_, node)) => node.monitor,
                None => Monitor::start(&Audience::People).map_err(|error| CallError::of(&error))?,
            };
            let runtime = NodeRuntime::start(&Memories::default(), &self.plan, &request);
            let runtime = runtime.map_err(|error| CallError::of(&error))?;
            let room = runtime.buffers();
            self.node = Some((run_request.to_vec(), OwnNode { runtime, monitor }));
            Ok(Some(room))
        }

        fn run_node(
            &mut self,
            title: Title<'_>,
            config: &CallConfig,
            buffers: &mut Buffers<'_>,
            program: &mut NodeProgram<'_>,
        ) -> RunOutcome {
            match &mut self.node {
                Some((_, node)) => node.run_node(title, config, buffers, program),
                None => NoBackend.run_node(title, config, buffers, program),
            }
        }
    }
}
