//! `ringlane worker` without a mailbox: a rank of an MPI run.
//!
//! ```text
//! mpirun -n 4 ringlane worker --workers 2 -- run SCENE …
//!   rank 0          runs the cases over the others: each is one of its workers
//!   rank 1, 2, 3    a node each, with chips of its own: serves
//! ```
//! Every rank has the same command line; what follows `--` tells the others what their chips are.

use std::ffi::OsString;

use crate::errors::{CliError, Exit};
use crate::workers::shape::Shape;

/// What the launchers of MPI programs tell each rank: OpenMPI, those that speak PMI (MPICH, Slurm), and PMIx.
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

    use ringlane_mpi::{Mpi, stay_until_heard};
    use ringlane_node::remote::{
        CallService, Offer, Rank, Ranks, RemoteError, Transport, bridge, refuse, serve,
    };
    use ringlane_node::{CallError, Memories, NodeError};

    use super::super::run::{OverRanks, RunArgs};
    use super::super::{Cli, Command};
    use crate::errors::{CliError, Exit, print};
    use crate::execute::Audience;
    use crate::log;
    use crate::monitor::Monitor;
    use crate::panics;
    use crate::usage;
    use crate::workers::NodeRuntime;
    use crate::workers::equipment::OwnNode;
    use crate::workers::shape::Shape;

    /// How long all ranks may take until they are ready, and to say goodbye.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// This process as one of several. What goes wrong is told here, while mpirun still listens.
    pub(super) fn be_rank(each: &Shape, command: &[OsString]) -> Result<Exit, CliError> {
        let exit = join(each, command).unwrap_or_else(|error| {
            print(&error);
            error.exit()
        });
        if exit != Exit::Ok {
            stay_until_heard();
        }
        Ok(exit)
    }

    fn join(each: &Shape, command: &[OsString]) -> Result<Exit, CliError> {
        let mpi = Mpi::init().map_err(|error| CliError::Remote(RemoteError::at_start(error)))?;
        let (is_first, ranks) = (mpi.rank() == Rank::SCHEDULER, mpi.ranks());
        let words = std::iter::once(OsString::from("ringlane")).chain(command.iter().cloned());
        let parsed = Cli::parse_words(words);
        if let Ok(cli) = &parsed {
            log::start(cli.log.as_ref())?;
        }
        // All ranks come to the same conclusion, and the first tells it.
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
            Err(error) => Ok(usage::tell(&error)),
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
        let tell = |error: &RemoteError| print(error);
        let bridged = bridge(&mut ranks, tell, move |links| {
            run.execute_over(OverRanks { links: links.to_vec(), each })
        });
        let bridged = bridged.map_err(CliError::Remote)?;
        match bridged.ranks.and_then(|()| ranks.shutdown(PATIENCE)) {
            Ok(()) => ranks.into_transport().finish(),
            // The run has told it, unless it had ended by then. Without an end in order, the ranks end with this process.
            Err(error) if matches!(bridged.result, Ok(Exit::Ok)) => return Err(CliError::Remote(error)),
            Err(_) => {}
        }
        bridged.result
    }

    /// Any other rank: a node that serves.
    fn work(mut mpi: Mpi, each: &Shape, run: &RunArgs) -> Result<Exit, CliError> {
        let mut node = match equip(each, run) {
            Ok(node) => node,
            Err(error) => {
                // Rank 0 tells why, and its end is that of this one.
                if refuse(&mut mpi, error).is_ok() {
                    let _ = mpi.receive(PATIENCE);
                }
                return Ok(Exit::Failed);
            }
        };
        let offer = Offer { level: each.level().into(), chips: each.chips(), functions: 1 };
        let room = node.runtime.buffers();
        let mut service = CallService::new(offer, room, &mut node).map_err(CliError::Node)?;
        // A panic of a callable is the answer to its call.
        match panics::quietly(|| serve(&mut mpi, &mut service)) {
            Ok(Ok(_)) => {
                mpi.finish();
                Ok(Exit::Ok)
            }
            // Rank 0 tells of these, or nobody is there to be told.
            Ok(Err(RemoteError::RankDied { .. } | RemoteError::RanksTerminated { .. })) => Ok(Exit::Failed),
            Ok(Err(error)) => Err(CliError::Remote(error)),
            Err(panicked) => {
                print(&panicked);
                Ok(Exit::Failed)
            }
        }
    }

    fn equip(each: &Shape, run: &RunArgs) -> Result<OwnNode, CallError> {
        let of_node = |error: NodeError| CallError::of(&error);
        let monitor = Monitor::start(&Audience::People).map_err(|error| CallError::of(&error))?;
        let runtime = NodeRuntime::start(&Memories::default(), &run.plan_of_a_rank(each)).map_err(of_node)?;
        Ok(OwnNode { runtime, monitor })
    }
}
