//! The project's own chores, each a module: `cargo xtask tidy`, `cargo xtask peers`, `cargo xtask swarm`.
//!
//! This file only reads the command line and hands over. Exit status as in the command itself: 0 all well,
//! 1 a check failed, 2 wrong usage or bad input.

mod error;
mod peers;
pub mod swarm;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check the whole tree by the house habits
    Tidy(tidy::Args),
    /// Run the workloads on other runtimes and on Ringlane, and compare
    Peers(peers::Args),
    /// Run random programs against the in-order oracle
    Swarm(swarm::Args),
}

/// Does the chore that the command line asks for.
pub fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Tidy(args) => tidy::run(&args, &repository()),
        Chore::Peers(args) => peers::run(&args, &repository()),
        Chore::Swarm(args) => swarm::run(&args, &repository()),
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
