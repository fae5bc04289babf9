//! `ringlane completions SHELL`: the script with which a shell completes this command.

use std::path::Path;

use clap_complete::Shell;

use crate::errors::{CliError, Exit};
use crate::output;

const EXAMPLE: &str = "\
Example:
  $ ringlane completions bash > ~/.local/share/bash-completion/completions/ringlane";

/// Print a shell's completion script
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the script, for the name under which the command was called.
    pub fn execute(&self, mut command: clap::Command) -> Result<Exit, CliError> {
        let called = std::env::args_os().next();
        let name = called.as_deref().and_then(|path| Path::new(path).file_name()?.to_str());
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, name.unwrap_or("ringlane"), &mut text);
        output::results(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Ok)
    }
}
