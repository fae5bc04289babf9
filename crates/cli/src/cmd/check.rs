//! `ringlane check`: are the run's files true of each other?

use std::path::Path;

use ringlane_insight::Run;
use ringlane_trace::{CheckReport, check_run};
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output::{self, printable};
use crate::rounds::rounds_of;
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

/// What was found in a run and its rounds: how much holds, and in which files what does not.
#[derive(Default)]
struct Report {
    held: u64,
    broken: Vec<(String, String)>,
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
        let dir = Run::dir_of(&self.run.dir(Needs::Manifest)?);
        let report = check_all(&dir)?;
        let name = dir.display().to_string();
        output::results(&if self.json { json(name, &report) } else { text(&name, &report) })?;
        Ok(if report.broken.is_empty() { Exit::Ok } else { Exit::Failed })
    }
}

/// Checks a run and, where all of its rounds were observed, each of them.
fn check_all(dir: &Path) -> Result<Report, CliError> {
    let mut all = Report::default();
    for run in [dir.to_path_buf()].into_iter().chain(rounds_of(dir)) {
        let CheckReport { held, broken } = check_run(&run)?;
        let below = run.strip_prefix(dir).unwrap_or(Path::new(""));
        let file = |file: &str| below.join(file).display().to_string();
        all.held += held;
        all.broken.extend(broken.into_iter().map(|broken| (file(broken.file), broken.what)));
    }
    Ok(all)
}

fn json(run: String, report: &Report) -> String {
    let broken = report.broken.iter().map(|(file, what)| BrokenRow { file, what });
    let summary = Summary { run, held: report.held, broken: broken.collect() };
    let text = serde_json::to_string(&summary).expect("strings and numbers");
    format!("{text}\n")
}

fn text(run: &str, report: &Report) -> String {
    let mut text = format!("{run}: {} held, {} broken\n", report.held, report.broken.len());
    for (file, what) in report.broken.iter().take(SHOWN_MAX) {
        text += &format!("  {file}: {}\n", printable(what));
    }
    if report.broken.len() > SHOWN_MAX {
        text += &format!("  and {} more\n", report.broken.len() - SHOWN_MAX);
    }
    text
}
