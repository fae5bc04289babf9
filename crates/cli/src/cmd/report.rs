//! `ringlane report`: a self-contained HTML page about a run.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use ringlane_graph::what_if;
use ringlane_insight::Run;
use ringlane_insight::units::bytes_text;
use ringlane_report::page::{self, PageError, PageFacts, PageOptions, PagePlace};
use ringlane_trace::{ArtifactFile, TraceError, remove_unfinished};

use crate::errors::{CliError, Exit};
use crate::limits::TICK;
use crate::output::{self, path_text, say};
use crate::output_path;
use crate::rounds::observed;
use crate::run_arg::{Needs, RunArg};
use crate::signals::is_stop_asked;
use ringlane::REPORT_FILE as FILE_NAME;

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --case large --platform a2a3sim --report
  $ ringlane report
  $ ringlane report outputs/cholesky_small_20261115_093012 -o cholesky.html
The page works offline in any recent browser, from file://. It lists what the run did not record, with the option that records it.
The page of a run over several workers shows all of them on one clock, and links to the pages of their own runs.";

/// Write a self-contained HTML page about a run
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ReportArgs {
    #[command(flatten)]
    run: RunArg,
    /// The file to write [default: report.html in the run directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ReportArgs {
    /// Writes the page, and prints where it is.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Recording)?;
        let path = self.output.clone().unwrap_or_else(|| run.dir.join(FILE_NAME));
        output_path::check(&run, &path)?;
        let facts = write_page(&run, &path)?;
        facts.missing.iter().for_each(|missing| say(format_args!("note: {missing}")));
        output::results(&format!("{}\n", path_text(&path)))?;
        say(format_args!("{} blocks, {}", facts.blocks, bytes_text(facts.bytes)));
        Ok(Exit::Ok)
    }
}

/// Writes the pages of a run that has just ended, one for each of its directories, and reports their paths.
///
/// It runs in its own thread and is not waited for after a stop signal, because the page of a large run takes seconds.
pub fn write_pages(dir: &Path, report: &mut dyn FnMut(String)) -> Result<(), CliError> {
    let (sender, pages) = mpsc::channel();
    let dirs = observed(dir);
    let mut missing = dirs.len();
    let write = move || {
        for dir in dirs.into_iter().take_while(|_| !is_stop_asked()) {
            let path = dir.join(FILE_NAME);
            let written = Run::open(&dir).map_err(CliError::from).and_then(|run| write_page(&run, &path));
            let line =
                |facts: PageFacts| format!("report: {} ({})", path_text(&path), bytes_text(facts.bytes));
            if sender.send(written.map(line)).is_err() {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("ringlane-report".into()).spawn(write);
    let thread = thread.map_err(|source| TraceError::CannotWrite { path: dir.join(FILE_NAME), source })?;
    loop {
        match pages.recv_timeout(TICK) {
            Ok(page) => {
                report(page?);
                missing -= 1;
            }
            Err(RecvTimeoutError::Timeout) if !is_stop_asked() => {}
            Err(RecvTimeoutError::Disconnected) if missing == 0 || !is_stop_asked() => {
                return thread.join().map_err(|panic| resume_unwind(panic));
            }
            Err(_) => {
                remove_unfinished(|_| ());
                report(format!(
                    "interrupted: no report.html; `ringlane report {}` writes it",
                    path_text(dir)
                ));
                return Ok(());
            }
        }
    }
}

/// Whether a page is in the directory of its run.
fn place_of(run: &Run, path: &Path) -> PagePlace {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (dir.canonicalize(), run.dir.canonicalize()) {
        (Ok(page), Ok(run)) if page == run => PagePlace::InRun,
        _ => PagePlace::Elsewhere,
    }
}

/// Writes a page atomically.
fn write_page(run: &Run, path: &Path) -> Result<PageFacts, CliError> {
    let mut file = ArtifactFile::at(path)?;
    let options = PageOptions { place: place_of(run, path), gains: Some(what_if::gains(run)) };
    let written = page::write_with(run, options, &mut file);
    let facts = written.map_err(|PageError::CannotWrite(source)| file.error(source))?;
    file.commit()?;
    Ok(facts)
}
