//! `cargo xtask peers`: the same workloads on the runtimes a user would pick instead, side by side with ours.
//!
//! ```text
//! build ──▶ per round, per workload: peers, then ringlane ──▶ board ──▶ table · bars ──▶ --json
//! ```
//! The two sides take turns workload by workload, because a machine that is slow now is slow for both; what is
//! compared is the median over the rounds of each round's median.

mod bars;
mod board;
mod build;
mod sides;
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::{Error, Result, output_of};
use board::{Board, Sample};

/// The workloads of both sides, in the order of the tables.
const WORKLOADS: [&str; 6] = ["independent", "chain", "forkjoin", "wavefront", "cholesky", "random"];
/// Task lengths that some bar is about, and thread counts; both sides take the same list.
const SPINS_US: &str = "0,1";
const THREADS: &str = "1,2";
/// Seconds that one workload of Ringlane may take in a short round.
const QUICK_SECONDS: &str = "2";

/// The options of `cargo xtask peers`.
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask peers --peers ../shared/peers --quick")]
pub struct Args {
    /// Folder with the peers' sources, Makefile and run.py
    #[arg(long, value_name = "DIR")]
    peers: PathBuf,
    /// One short round
    #[arg(long)]
    quick: bool,
    /// Turns that the two sides take on each workload
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: u32,
    /// Only these workloads
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    workloads: Vec<String>,
    /// Write measurements and bars as JSON
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Measure this command instead of building one
    #[arg(long, value_name = "PATH")]
    ringlane: Option<PathBuf>,
}

impl Args {
    fn rounds(&self) -> u32 {
        if self.quick { 1 } else { self.rounds.max(1) }
    }

    /// The workloads asked for, all of them known; all if none was asked for.
    fn workloads(&self) -> Result<Vec<&str>> {
        let unknown = self.workloads.iter().find(|name| !WORKLOADS.contains(&name.as_str()));
        if let Some(name) = unknown {
            return Err(Error::NoWorkload { name: name.clone(), known: WORKLOADS.join(", ") });
        }
        let wanted = |name: &&str| self.workloads.is_empty() || self.workloads.iter().any(|w| w == name);
        Ok(WORKLOADS.into_iter().filter(wanted).collect())
    }
}

/// Builds both sides, measures them in turns and prints how they compare.
pub fn run(args: &Args, root: &Path) -> Result<ExitCode> {
    let workloads = args.workloads()?;
    let peers = build::peers(&args.peers, root)?;
    let ringlane = args.ringlane.clone().map_or_else(|| build::ringlane(root), Ok)?;
    let mut board = Board::default();
    let mut failures = 0;
    for round in 1..=args.rounds() {
        for workload in &workloads {
            eprintln!("round {round} of {}: {workload}", args.rounds());
            board.extend(measure_peers(&peers, workload, args)?);
            // Without our side the peers' rows are still useful; the exit status reports the failure.
            match measure_ringlane(&ringlane, workload, args) {
                Ok(samples) => board.extend(samples),
                Err(error) => {
                    failures += 1;
                    eprintln!("{}", error.report());
                }
            }
        }
    }
    let mut verdicts = bars::judge(&board);
    verdicts.retain(|verdict| workloads.contains(&verdict.workload));
    print!("{}{}", table::of_board(&board), table::of_verdicts(&verdicts));
    if let Some(path) = &args.json {
        let text = sides::to_json(&board, &verdicts);
        std::fs::write(path, text).map_err(Error::file("write", path))?;
    }
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn measure_peers(peers: &Path, workload: &str, args: &Args) -> Result<Vec<Sample>> {
    let out = peers.join("round.json");
    let mut command = Command::new("python3");
    command.arg(peers.join("run.py")).arg("--json").arg(&out);
    command.args(["--workloads", workload, "--spins", SPINS_US, "--threads", THREADS, "--rounds", "1"]);
    command.args(args.quick.then_some("--quick"));
    output_of(&mut command)?;
    sides::of_peers(&std::fs::read_to_string(&out).map_err(Error::file("read", &out))?)
}

fn measure_ringlane(ringlane: &Path, workload: &str, args: &Args) -> Result<Vec<Sample>> {
    let mut command = Command::new(ringlane);
    command.args(["bench", "--workload", workload, "--threads", THREADS, "--spin", SPINS_US, "--json"]);
    if args.quick {
        command.args(["--seconds", QUICK_SECONDS]);
    }
    sides::of_ringlane(&output_of(&mut command)?)
}
