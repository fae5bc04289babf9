//! `ringlane check`: are the run's files true of each other?

use std::path::Path;

use ringlane_insight::Run;
use ringlane_trace::{CheckReport, check_tree};
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
The runs of a node's workers, below it, are checked with it.
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

/// What was found in a run, its rounds and the runs of its workers: how much holds, and in which files what does not.
#[derive(Default)]
struct Report {
    held: u64,
    broken: Vec<(String, String)>,
    /// The runs of a node's workers, and how much holds in each.
    workers: Vec<WorkerRow>,
}

#[derive(Serialize)]
struct Summary<'a> {
    run: String,
    held: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    workers: &'a [WorkerRow],
    broken: Vec<BrokenRow<'a>>,
}

#[derive(Serialize)]
struct WorkerRow {
    run: String,
    held: u64,
    broken: usize,
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

/// Checks a run, the runs of its workers and, where all of its rounds were observed, each of them.
fn check_all(dir: &Path) -> Result<Report, CliError> {
    let mut all = Report::default();
    for run in [dir.to_path_buf()].into_iter().chain(rounds_of(dir)) {
        let round = run.strip_prefix(dir).unwrap_or(Path::new(""));
        for (below, CheckReport { held, broken }) in check_tree(&run)? {
            let place = round.join(&below);
            let file = |file: &str| place.join(file).display().to_string();
            if !below.as_os_str().is_empty() {
                let run = place.display().to_string();
                all.workers.push(WorkerRow { run, held, broken: broken.len() });
            }
            all.held += held;
            all.broken.extend(broken.into_iter().map(|broken| (file(broken.file), broken.what)));
        }
    }
    Ok(all)
}

fn json(run: String, report: &Report) -> String {
    let broken = report.broken.iter().map(|(file, what)| BrokenRow { file, what });
    let workers = &report.workers;
    let summary = Summary { run, held: report.held, workers, broken: broken.collect() };
    let text = serde_json::to_string(&summary).expect("strings and numbers");
    format!("{text}\n")
}

fn text(run: &str, report: &Report) -> String {
    let mut text = format!("{run}: {} held, {} broken\n", report.held, report.broken.len());
    for worker in report.workers.iter().take(SHOWN_MAX) {
        text += &format!("  {}: {} held, {} broken\n", printable(&worker.run), worker.held, worker.broken);
    }
    if report.workers.len() > SHOWN_MAX {
        text += &format!("  and {} more runs of workers\n", report.workers.len() - SHOWN_MAX);
    }
    for (file, what) in report.broken.iter().take(SHOWN_MAX) {
        text += &format!("  {file}: {}\n", printable(what));
    }
    if report.broken.len() > SHOWN_MAX {
        text += &format!("  and {} more\n", report.broken.len() - SHOWN_MAX);
    }
    text
}
