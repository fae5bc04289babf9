//! `ringlane check`: whether a run's files are consistent.

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
For a node's run, the runs of its workers are checked too.
Exit status: 0 all checks hold, 1 a check failed, or rows or captured bytes are missing.";

/// Broken invariants that are printed; the rest is counted.
const SHOWN_MAX: usize = 50;

/// Check that the files of a run are complete and consistent
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct CheckArgs {
    #[command(flatten)]
    run: RunArg,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What was found in a run, its rounds and the runs of its workers: how much holds, and in which files what does not.
#[derive(Default)]
struct Report {
    held: u64,
    broken: Vec<(String, String)>,
    /// What was lost when the runs were recorded.
    incomplete: Vec<(String, String)>,
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
    incomplete: Vec<BrokenRow<'a>>,
}

#[derive(Serialize)]
struct WorkerRow {
    run: String,
    held: u64,
    broken: usize,
    incomplete: usize,
}

#[derive(Serialize)]
struct BrokenRow<'a> {
    file: &'a str,
    what: &'a str,
}

impl CheckArgs {
    /// Checks, and reports what does not hold.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let dir = Run::dir_of(&self.run.dir(Needs::Manifest)?);
        let report = check_all(&dir)?;
        let name = dir.display().to_string();
        output::results(&if self.json { json(name, &report) } else { text(&printable(&name), &report) })?;
        let is_whole = report.broken.is_empty() && report.incomplete.is_empty();
        Ok(if is_whole { Exit::Ok } else { Exit::Failed })
    }
}

/// Checks a run, the runs of its workers and, where all of its rounds were observed, each of them.
fn check_all(dir: &Path) -> Result<Report, CliError> {
    let mut all = Report::default();
    for run in [dir.to_path_buf()].into_iter().chain(rounds_of(dir)) {
        let round = run.strip_prefix(dir).unwrap_or(Path::new(""));
        for (below, CheckReport { held, broken, incomplete }) in check_tree(&run)? {
            let place = round.join(&below);
            let file = |file: &str| place.join(file).display().to_string();
            if !below.as_os_str().is_empty() {
                let run = place.display().to_string();
                let (broken, incomplete) = (broken.len(), incomplete.len());
                all.workers.push(WorkerRow { run, held, broken, incomplete });
            }
            all.held += held;
            all.broken.extend(broken.into_iter().map(|broken| (file(broken.file), broken.what)));
            all.incomplete.extend(incomplete.into_iter().map(|lost| (file(lost.file), lost.what)));
        }
    }
    Ok(all)
}

fn json(run: String, report: &Report) -> String {
    let (broken, incomplete) = (rows(&report.broken), rows(&report.incomplete));
    output::json(&Summary { run, held: report.held, workers: &report.workers, broken, incomplete })
}

fn text(run: &str, report: &Report) -> String {
    let mut text = format!("{run}: {}\n", counts(report.held, report.broken.len(), report.incomplete.len()));
    for worker in report.workers.iter().take(SHOWN_MAX) {
        let counts = counts(worker.held, worker.broken, worker.incomplete);
        text += &format!("  {}: {counts}\n", printable(&worker.run));
    }
    if report.workers.len() > SHOWN_MAX {
        text += &format!("  and {} more runs of workers\n", report.workers.len() - SHOWN_MAX);
    }
    for found in [&report.broken, &report.incomplete] {
        for (file, what) in found.iter().take(SHOWN_MAX) {
            text += &format!("  {}: {}\n", printable(file), printable(what));
        }
        if found.len() > SHOWN_MAX {
            text += &format!("  and {} more\n", found.len() - SHOWN_MAX);
        }
    }
    text
}

fn rows(found: &[(String, String)]) -> Vec<BrokenRow<'_>> {
    found.iter().map(|(file, what)| BrokenRow { file, what }).collect()
}

fn counts(held: u64, broken: usize, incomplete: usize) -> String {
    match incomplete {
        0 => format!("{held} held, {broken} broken"),
        incomplete => format!("{held} held, {broken} broken, {incomplete} incomplete"),
    }
}
