//! `ringlane dump`: list, print, export and compare captured arguments.

mod bad;
mod diff;
mod error;
mod export;
mod filter;
mod list;
mod print;

use std::path::PathBuf;

use ringlane_insight::Instrument;
use ringlane_insight::dump::Captured;

use crate::errors::{CliError, Exit};
use crate::options;
use crate::output;
use crate::output_path;
use crate::run_arg::{Needs, RunArg};
pub use error::DumpError;
use export::Format;

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --dump-tensor
  $ ringlane dump --kernel SOFTMAX --stage after
  $ ringlane dump --task 2:5 --print
  $ ringlane dump --tensor 17
  $ ringlane dump --index 12 --export npy -o arrays
docs/commands/dump.md explains the output.";

/// List, print, export and compare captured arguments
#[derive(clap::Args)]
#[command(after_help = EXAMPLE, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct DumpArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    run: RunArg,
    /// Print statistics and the first elements of each selected record
    #[arg(long, conflicts_with = "export")]
    print: bool,
    /// Write each selected record to its own file in the directory given by -o
    #[arg(long, value_name = "FORMAT", requires = "output", value_enum)]
    export: Option<Format>,
    /// The directory to export to; created if it does not exist
    #[arg(short, long, value_name = "DIR", requires = "export", value_parser = options::directory)]
    output: Option<PathBuf>,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
    // Last, because its heading holds for all that follows.
    #[command(flatten)]
    filter: filter::FilterArgs,
}

#[derive(clap::Subcommand)]
enum Action {
    Diff(diff::DiffArgs),
    Bad(bad::BadArgs),
}

impl DumpArgs {
    /// Lists, prints or exports the records that the filters select.
    pub fn execute(&self) -> Result<Exit, CliError> {
        match &self.action {
            Some(Action::Diff(args)) => return args.execute(),
            Some(Action::Bad(args)) => return args.execute(),
            None => {}
        }
        let run = self.run.open(Needs::Table(Instrument::Dump))?;
        self.output.iter().try_for_each(|dir| output_path::check(&run, dir))?;
        let catalog = run.captured()?;
        let filter = self.filter.filter();
        let selected: Vec<Captured<'_>> = catalog.select(&filter).collect();
        if selected.is_empty() && !catalog.is_empty() {
            return Err(DumpError::NothingSelected { there: catalog.describe() }.into());
        }
        let text = match (self.export.zip(self.output.as_ref()), self.print, self.json) {
            (Some((format, dir)), _, json) => {
                let files = export::export(&selected, &run.payloads()?, format, dir)?;
                if json { export::json(&files) } else { export::text(&files) }
            }
            (None, true, false) => print::text(&selected, &run.payloads()?)?,
            (None, true, true) => print::json(&selected, &run.payloads()?)?,
            (None, false, false) => list::text(&selected, &catalog),
            (None, false, true) => list::json(&selected),
        };
        output::results(&text)?;
        Ok(Exit::Ok)
    }
}
