//! The command `ringlane`: it lists, runs and measures programs, and turns what a run recorded into answers.
//!
//! ```text
//! ringlane_cli::main() ──▶ cmd (arguments) ──▶ select, execute ──▶ ringlane (library) ──▶ outputs/…
//!                              └─ swimlane · deps · critical-path · scopes · dump · pmu · report · …  read a run again
//! ```
//! A crate with kernels and scenes of its own gets all of it with one line:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     ringlane_cli::main()
//! }
//! ```
// Three files are allowed some: `signals.rs` and `crash.rs` install signal handlers, and `workers/mod.rs` puts a recorder on
// a node.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod case_report;
mod cmd;
mod costs;
mod crash;
mod diagnostics;
mod errors;
mod execute;
mod interrupted;
mod jobs;
mod limits;
mod log;
mod machine;
mod monitor;
mod options;
mod output;
mod output_path;
mod panics;
mod plugins;
mod pmu;
mod progress;
mod recorded;
mod replayed_case;
mod rounds;
mod run_arg;
mod select;
mod selection;
mod signals;
mod suggest;
mod summary;
mod usage;
mod watchdog;
mod workers;

use std::process::ExitCode;

pub use ringlane_bench::CountingAllocator;

/// The whole command: reads the process's arguments, does what they say, and gives the exit status.
///
/// Kernels and scenes registered anywhere in the program are found, so this is all of a program's `main`:
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     ringlane_cli::main()
/// }
/// ```
pub fn main() -> ExitCode {
    panics::install();
    ringlane_task::Reader::Command.make_current();
    let command = || cmd::run_from(std::env::args_os());
    // The hook has reported what happened.
    std::panic::catch_unwind(command).unwrap_or(errors::Exit::Failed).into()
}
