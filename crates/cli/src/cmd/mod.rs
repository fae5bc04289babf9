//! The commands, one file each: its options, its worked example, and what it does.

mod bench;
mod check;
mod chips;
mod compare;
mod completions;
mod critical_path;
mod deps;
mod dfx;
mod dump;
mod import;
mod kernels;
mod list;
mod model;
mod overhead;
mod pmu;
mod ranks;
mod replay;
mod report;
mod rerun;
mod rings;
mod run;
mod scopes;
mod size;
mod spaced;
mod swimlane;
mod timeline_notes;
mod verdict;
mod what_if;
mod worker;

pub use dump::DumpError;
pub use report::write_pages;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, CommandFactory, Parser, Subcommand};

use crate::errors::{CliError, Exit, print};
use crate::log::{self, LogFilter};
use crate::plugins;
use crate::signals;
use crate::suggest::OptionNames;
use crate::usage;

const EXAMPLE: &str = "\
Example:
  $ ringlane list
  $ ringlane run vector
Exit status: 0 success, 1 a run or a check failed, 2 wrong usage or bad input, 130 after Ctrl-C,
143 after SIGTERM, 129 after SIGHUP.";

/// Run task graphs, record them, and analyse the recordings
#[derive(Parser)]
#[command(name = "ringlane", version, after_help = EXAMPLE, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    /// Log to standard error: off, error, warn, info, debug, trace, or TOPIC=LEVEL,… [default: RINGLANE_LOG]
    #[arg(long, global = true, display_order = 900, value_name = "LEVEL", value_parser = LogFilter::parse)]
    log: Option<LogFilter>,
    /// Load a plugin: kernels and scenes from a shared library (repeatable)
    #[arg(long, global = true, display_order = 901, value_name = "FILE", action = ArgAction::Append)]
    load: Vec<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::ListArgs),
    Kernels(kernels::KernelsArgs),
    Run(Box<run::RunArgs>),
    Swimlane(swimlane::SwimlaneArgs),
    Overhead(overhead::OverheadArgs),
    CriticalPath(critical_path::CriticalPathArgs),
    Mermaid(deps::MermaidArgs),
    Deps(deps::DepsArgs),
    Compare(compare::CompareArgs),
    Import(import::ImportArgs),
    Replay(Box<replay::ReplayArgs>),
    Rerun(rerun::RerunArgs),
    WhatIf(Box<what_if::WhatIfArgs>),
    Dump(Box<dump::DumpArgs>),
    Pmu(pmu::PmuArgs),
    Scopes(scopes::ScopesArgs),
    Report(report::ReportArgs),
    Check(check::CheckArgs),
    Bench(bench::BenchArgs),
    Chips(chips::ChipsArgs),
    Worker(worker::WorkerArgs),
    Completions(completions::CompletionsArgs),
}

/// Does what a command line says.
pub fn run_from(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::parse_words(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::show(&error),
    };
    // Without handlers, signals have their default effect; a run installs handlers again and reports the failure.
    let _ = signals::catch();
    let ready = cli.prepare();
    ready.and_then(|()| cli.command.execute()).unwrap_or_else(|error| {
        print(&error);
        error.exit()
    })
}

impl Command {
    fn execute(&self) -> Result<Exit, CliError> {
        match self {
            Command::List(args) => args.execute(),
            Command::Kernels(args) => args.execute(),
            Command::Run(args) => args.execute(),
            Command::Swimlane(args) => args.execute(),
            Command::Overhead(args) => args.execute(),
            Command::CriticalPath(args) => args.execute(),
            Command::Mermaid(args) => args.execute(),
            Command::Deps(args) => args.execute(),
            Command::Compare(args) => args.execute(),
            Command::Import(args) => args.execute(),
            Command::Replay(args) => args.execute(),
            Command::Rerun(args) => args.execute(),
            Command::WhatIf(args) => args.execute(),
            Command::Dump(args) => args.execute(),
            Command::Pmu(args) => args.execute(),
            Command::Scopes(args) => args.execute(),
            Command::Report(args) => args.execute(),
            Command::Check(args) => args.execute(),
            Command::Bench(args) => args.execute(),
            Command::Chips(args) => args.execute(),
            Command::Worker(args) => args.execute(),
            Command::Completions(args) => args.execute(Cli::command()),
        }
    }
}

/// The options of every command again, for a process that is started with arguments of its own.
pub fn common_arguments() -> impl Iterator<Item = OsString> {
    log::arguments().into_iter().chain(plugins::arguments())
}

impl Cli {
    /// Does what the options of every command say.
    fn prepare(&self) -> Result<(), CliError> {
        log::start(self.log.as_ref())?;
        plugins::load(&self.load)
    }

    /// Reads a command line, the program's name included.
    fn parse_words(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Cli::try_parse_from(spaced::joined(words))
    }
}

/// The names of the subcommands that can follow a usage line: those of the program after `usage: ringlane`, those of
/// `chips` after `usage: ringlane chips`.
pub fn names(usage: &str) -> Vec<String> {
    command_of(usage).get_subcommands().map(|command| command.get_name().to_string()).collect()
}

/// The options of the command whose usage this is, each with its other names.
pub fn option_names(usage: &str) -> Vec<OptionNames> {
    let names = |arg: &clap::Arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long().map(|long| [long].into_iter().chain(aliases).map(String::from).collect())
    };
    let command = command_of(usage);
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.filter_map(names).map(OptionNames).collect()
}

/// The command whose usage this is.
fn command_of(usage: &str) -> clap::Command {
    let mut command = Cli::command();
    // So that it has what all commands have.
    command.build();
    for word in usage.split_whitespace().skip(2) {
        let Some(inner) = command.find_subcommand(word).cloned() else { break };
        command = inner;
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_is_put_together_rightly() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_worked_example() {
        let mut cli = Cli::command();
        for command in cli.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example:\n  $ ringlane "), "{help}");
        }
    }
}
