//! Development tasks, each a module: `cargo xtask tidy`, `cargo xtask peers`, `cargo xtask swarm`.
//!
//! This file only parses the command line. Exit status as in the command itself: 0 success,
//! 1 a check failed, 2 wrong usage or bad input.

mod error;
mod peers;
pub mod swarm;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the tree against the code conventions
    Tidy(tidy::Args),
    /// Run the workloads on other runtimes and on Ringlane, and compare
    Peers(peers::Args),
    /// Run random programs against the in-order oracle
    Swarm(swarm::Args),
}

/// Runs the task that the command line names.
pub fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Tidy(args) => tidy::run(&args, &repository()),
        Task::Peers(args) => peers::run(&args, &repository()),
        Task::Swarm(args) => swarm::run(&args, &repository()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("{}", error.report());
        ExitCode::from(error.exit_status())
    })
}

/// The root of the repository: the folder above this crate, wherever cargo found it.
fn repository() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).filter(|dir| dir.ends_with("xtask"));
    let here = here.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    here.parent().map(PathBuf::from).unwrap_or(here)
}
