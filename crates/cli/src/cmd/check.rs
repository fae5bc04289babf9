//! `ringlane check`: are the run's files true of each other?

use ringlane_trace::{CheckReport, check_run};
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output;
use crate::run_arg::{Needs, RunArg};

const EXAMPLE: &str = "\
Example:
  $ ringlane run matmul --dfx
  $ ringlane check
  $ ringlane check outputs/matmul_small_20261115_093012 --json
Exit status: 0 all holds, 1 something does not.";

/// Broken invariants that are printed; the rest is counted.
const SHOWN_MAX: usize = 50;

/// Check that the files of a run are true of each other
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct CheckArgs {
    #[command(flatten)]
    run: RunArg,
    /// As JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    run: String,
    held: u64,
    broken: Vec<BrokenRow<'a>>,
}

#[derive(Serialize)]
struct BrokenRow<'a> {
    file: &'a str,
    what: &'a str,
}

impl CheckArgs {
    /// Checks, and tells what does not hold.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let dir = self.run.dir(Needs::Manifest)?;
        let report = check_run(&dir)?;
        let name = dir.display().to_string();
        output::results(&if self.json { json(name, &report) } else { text(&name, &report) })?;
        Ok(if report.broken.is_empty() { Exit::Ok } else { Exit::Failed })
    }
}

fn json(run: String, report: &CheckReport) -> String {
    let broken = report.broken.iter().map(|broken| BrokenRow { file: broken.file, what: &broken.what });
    let summary = Summary { run, held: report.held, broken: broken.collect() };
    let text = serde_json::to_string(&summary).expect("strings and numbers");
    format!("{text}\n")
}

fn text(run: &str, report: &CheckReport) -> String {
    let mut text = format!("{run}: {} held, {} broken\n", report.held, report.broken.len());
    for broken in report.broken.iter().take(SHOWN_MAX) {
        text += &format!("  {}: {}\n", broken.file, broken.what);
    }
    if report.broken.len() > SHOWN_MAX {
        text += &format!("  and {} more\n", report.broken.len() - SHOWN_MAX);
    }
    text
}
