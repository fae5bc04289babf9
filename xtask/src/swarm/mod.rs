//! `cargo xtask swarm`: random programs on random ring sizes, threads and modelled chips, each against the in-order oracle.
//!
//! ```text
//! seed ──▶ draw ──▶ program ──▶ check: oracle · engine · hints · reuse · recording · models ──▶ equal, or a failure
//!                                 ▲
//! watch (parent) ◀── lines ── worker (child): a hang or a crash is known by its seed
//! ```
//! Every failure prints the one command that reproduces it. `--plant` switches a known bug on and expects it found.
mod capacity;
mod captured;
mod check;
mod cuda;
mod dispatch;
mod draw;
mod draw_args;
mod draw_model;
mod draw_patterns;
mod interpret;
mod kernels;
mod ledger;
mod modelled;
mod outcome;
mod program;
mod raw;
mod record;
pub mod rng;
mod shrink;
mod watch;
mod worker;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ringlane_engine::planted::Bug;

use crate::error::{Error, Result};

/// Time without output after which a program counts as hanging; shorter when the search is for a hang.
const SILENCE: Duration = Duration::from_secs(20);
/// The first program on a device waits until the bodies are compiled.
const SILENCE_DEVICE: Duration = Duration::from_secs(120);
const SILENCE_PLANTED: Duration = Duration::from_secs(6);

const DEVICES: [&str; 2] = ["cuda", "cuda-host"];

/// The options of `cargo xtask swarm`.
#[derive(clap::Args)]
#[command(
    after_help = "Example: cargo xtask swarm --seconds 60\n         cargo xtask swarm --plant no-war-edge\n         cargo xtask swarm --device cuda-host --count 1000"
)]
pub struct Args {
    /// How long to draw programs
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Seed of the first program; the next ones follow it [default: from the clock]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Number of programs, instead of a time
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Threads of every run, instead of 1 to 4
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(i32).range(1..=64))]
    threads: Option<i32>,
    /// Switch this bug on and expect it found: no-war-edge, slot-reused-early, scope-ended-early, lost-wake-up,
    /// poison-forgotten, end-seen-early
    #[arg(long, value_name = "BUG", value_parser = clap::builder::PossibleValuesParser::new(Bug::ALL.map(|b| b.0)))]
    plant: Option<String>,
    /// Processes side by side
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=64))]
    jobs: u64,
    /// Check the programs on this device instead: `cuda`, or `cuda-host`, which needs no GPU
    #[arg(long, value_name = "P", value_parser = clap::builder::PossibleValuesParser::new(DEVICES), conflicts_with = "plant")]
    device: Option<String>,
    /// Only show the program of the seed
    #[arg(long)]
    show: bool,
    /// (The swarm's own children:) step from seed to seed
    #[arg(long, value_name = "STRIDE", hide = true)]
    worker: Option<u64>,
}

/// Draws and checks programs.
pub(crate) fn run(args: &Args, root: &Path) -> Result<ExitCode> {
    if let Some(bug) = &args.plant
        && !plant(bug)
    {
        return with_bugs(args, root);
    }
    let first = args.seed.unwrap_or_else(from_clock);
    if args.show {
        print!("{}", shrink::describe(&draw::program(first, 0)));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(stride) = args.worker {
        return Ok(worker::work(args, first, stride));
    }
    let begun = Instant::now();
    let jobs = args.count.map_or(args.jobs, |count| args.jobs.min(count.max(1)));
    let silence = match (&args.plant, &args.device) {
        (Some(_), _) => SILENCE_PLANTED,
        (_, Some(_)) => SILENCE_DEVICE,
        _ => SILENCE,
    };
    eprintln!("programs from seed {first}");
    let tally = watch::watch(args, first, jobs, silence)?;
    Ok(match (&tally.found, &args.plant) {
        (None, None) => {
            println!("{}, 0 failures", tally.summary());
            ExitCode::SUCCESS
        }
        (None, Some(bug)) => {
            println!("{bug}: not found in {}", tally.summary());
            ExitCode::from(1)
        }
        (Some(found), Some(bug)) => {
            let line = found.what.lines().next().unwrap_or_default();
            println!(
                "{bug}: found after {:.1} s, seed {}: {line}",
                begun.elapsed().as_secs_f64(),
                found.seed
            );
            ExitCode::SUCCESS
        }
        (Some(found), None) => {
            println!(
                "{}{}, 1 failure\nreproduce with: {}",
                found.what,
                tally.summary(),
                again(args, found.seed)
            );
            ExitCode::from(1)
        }
    })
}

/// The command that runs one program again.
fn again(args: &Args, seed: u64) -> String {
    let threads = args.threads.map_or(String::new(), |n| format!(" --threads {n}"));
    let device = args.device.as_ref().map_or(String::new(), |device| format!(" --device {device}"));
    format!("cargo xtask swarm --seed {seed} --count 1{threads}{device}")
}

fn from_clock() -> u64 {
    // Small numbers are easier to type again.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as u64 % 1_000_000_000 * 1000)
}

/// Switches a bug on; false if this build has none.
fn plant(name: &str) -> bool {
    #[cfg(feature = "planted-bugs")]
    ringlane_engine::planted::plant(Bug::ALL.iter().find(|(n, _)| *n == name).map(|(_, bug)| *bug));
    let _ = name;
    cfg!(feature = "planted-bugs")
}

/// The same command, by a build that has the bugs.
fn with_bugs(args: &Args, root: &Path) -> Result<ExitCode> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["run", "--release", "--quiet", "--package", "xtask"]);
    command.args(["--features", "planted-bugs", "--target-dir"]).arg(target.join("planted"));
    command.args(["--", "swarm", "--seconds", &args.seconds.to_string(), "--jobs", &args.jobs.to_string()]);
    command.args(args.plant.iter().flat_map(|bug| ["--plant", bug]));
    let numbers =
        [("--seed", args.seed), ("--count", args.count), ("--threads", args.threads.map(|n| n as u64))];
    for (option, value) in numbers {
        command.args(value.iter().flat_map(|value| [option.to_string(), value.to_string()]));
    }
    let status = command.status().map_err(|source| Error::Start { program: "cargo".into(), source })?;
    Ok(ExitCode::from(status.code().unwrap_or(1) as u8))
}

/// Draws the program of a seed with about `size` tasks (0: as the seed says) and checks it; the failure in words.
///
/// ```
/// assert_eq!(xtask::swarm::check_seed(1, 10), Ok(()));
/// ```
pub fn check_seed(seed: u64, size: u32) -> std::result::Result<(), String> {
    let program = draw::program(seed, size);
    check::check(&program).map_err(|failure| {
        let small = shrink::shrink(&program);
        format!("seed {seed}, size {size}: {failure}\n{}", shrink::describe(&small))
    })
}
