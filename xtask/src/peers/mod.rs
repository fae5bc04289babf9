//! `cargo xtask peers`: the same workloads on the runtimes a user would pick instead, side by side with ours.
//!
//! ```text
//! build ──▶ per round, task length and number of threads: peers, then ringlane ──▶ board ──▶ table · bars ──▶ --json
//! ```
//! The two sides take turns, because a machine that is slow now is slow for both; what is compared is the median over the
//! rounds of each round's median.

mod bars;
mod board;
mod build;
mod sides;
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::{Error, Result, output_of};
use board::{Board, Graph, Sample};

/// The workloads of both sides, in the order of the tables.
const WORKLOADS: [&str; 6] = ["independent", "chain", "forkjoin", "wavefront", "cholesky", "random"];
/// Seconds that Ringlane's workloads of one task length and number of threads may take in a short round: as much as those of a peer.
const QUICK_SECONDS: &str = "1.3";

/// The options of `cargo xtask peers`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask peers --peers ../shared/peers --quick

  # On another machine, without compilers: copy target/peers, the command and xtask there
  ./xtask peers --peers ./peers --built --ringlane ./ringlane --threads 1,2,8,16 --spins 0,1,10 --only taskflow,rayon --replay")]
pub struct Args {
    /// Folder with the peers' sources, Makefile and run.py
    #[arg(long, value_name = "DIR")]
    peers: PathBuf,
    /// Measure what is built in the folder, instead of building it in a copy
    #[arg(long, requires = "ringlane")]
    built: bool,
    /// One short round
    #[arg(long)]
    quick: bool,
    /// Turns that the two sides take
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: u32,
    /// Only these workloads
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    workloads: Vec<String>,
    /// Only these peers; default all that are built
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Numbers of threads, the submitting one included
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<u32>,
    /// Lengths of tasks in microseconds; 0: empty tasks
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [0, 1])]
    spins: Vec<u32>,
    /// Compare captured graphs with the peers' built graphs, too
    #[arg(long)]
    replay: bool,
    /// Write measurements and bars as JSON
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Measure this command instead of building one
    #[arg(long, value_name = "PATH")]
    ringlane: Option<PathBuf>,
}

/// A task length, and a number of threads.
#[derive(Clone, Copy)]
struct Setting {
    spin_us: u32,
    threads: u32,
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

    fn settings(&self) -> impl Iterator<Item = Setting> {
        let of = |&spin_us| self.threads.iter().map(move |&threads| Setting { spin_us, threads });
        self.spins.iter().flat_map(of)
    }

    /// Measures one side after the other.
    fn measure(&self, peers: &Path, ringlane: &Path, workloads: &[&str], at: Setting) -> Result<Vec<Sample>> {
        let mut samples = self.measure_peers(peers, workloads, at)?;
        samples.extend(self.measure_ringlane(ringlane, workloads, at, Graph::Submitted)?);
        if self.replay {
            samples.extend(self.measure_ringlane(ringlane, workloads, at, Graph::Built)?);
        }
        Ok(samples)
    }

    fn measure_peers(&self, peers: &Path, workloads: &[&str], at: Setting) -> Result<Vec<Sample>> {
        let out =
            tempfile::NamedTempFile::new().map_err(Error::file("create", Path::new("a file in TMPDIR")))?;
        let mut command = Command::new("python3");
        command.arg(peers.join("run.py")).arg("--json").arg(out.path());
        command.args(["--workloads", &workloads.join(","), "--rounds", "1"]);
        command.args(["--spins", &at.spin_us.to_string(), "--threads", &at.threads.to_string()]);
        if !self.only.is_empty() {
            command.args(["--peers", &self.only.join(",")]);
        }
        command.args(self.quick.then_some("--quick"));
        output_of(&mut command)?;
        sides::of_peers(&std::fs::read_to_string(out.path()).map_err(Error::file("read", out.path()))?)
    }

    fn measure_ringlane(
        &self,
        ringlane: &Path,
        workloads: &[&str],
        at: Setting,
        graph: Graph,
    ) -> Result<Vec<Sample>> {
        let mut command = Command::new(ringlane);
        command.arg("bench").args((graph == Graph::Built).then_some("replay"));
        workloads.iter().for_each(|workload| _ = command.args(["--workload", workload]));
        command.args(["--threads", &at.threads.to_string(), "--spin", &at.spin_us.to_string(), "--json"]);
        if self.quick {
            command.args(["--seconds", QUICK_SECONDS]);
        }
        sides::of_ringlane(&output_of(&mut command)?, graph)
    }
}

/// Builds both sides, measures them in turns and prints how they compare.
pub fn run(args: &Args, root: &Path) -> Result<ExitCode> {
    let workloads = args.workloads()?;
    let peers = if args.built { args.peers.clone() } else { build::peers(&args.peers, root)? };
    let ringlane = args.ringlane.clone().map_or_else(|| build::ringlane(root), Ok)?;
    let mut board = Board::default();
    let mut failures = 0;
    for round in 1..=args.rounds() {
        for at in args.settings() {
            eprintln!(
                "round {round} of {}: tasks of {} µs, {} threads",
                args.rounds(),
                at.spin_us,
                at.threads
            );
            // What was measured before is still useful; the exit status reports the failure.
            match args.measure(&peers, &ringlane, &workloads, at) {
                Ok(samples) => board.extend(samples),
                Err(error) => {
                    failures += 1;
                    eprintln!("{}", error.report());
                }
            }
        }
    }
    let verdicts = bars::judge(&board, &workloads);
    print!("{}{}", table::of_board(&board), table::of_verdicts(&verdicts));
    if let Some(path) = &args.json {
        let text = sides::to_json(&board, &verdicts);
        std::fs::write(path, text).map_err(Error::file("write", path))?;
    }
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
