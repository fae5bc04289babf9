//! `ringlane report`: one self-contained page of everything that is known of a run.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use ringlane_insight::Run;
use ringlane_insight::units::bytes_text;
use ringlane_report::page::{self, PageError, PageFacts, Place};
use ringlane_trace::TraceError;

use crate::errors::{CliError, Exit};
use crate::output::{self, say};
use crate::output_path;
use crate::recording::REPORT_FILE as FILE_NAME;
use crate::rounds::observed;
use crate::run_arg::{Needs, RunArg};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --case large --platform a2a3sim --report
  $ ringlane report
  $ ringlane report outputs/cholesky_small_20261115_093012 -o cholesky.html
The page opens in any browser, from file:// and offline. What the run did not record is named on it, with the option that does.
The page of a run over several workers shows them and their chips on one clock, and links to the pages of their own runs.";

/// Write one self-contained HTML page of a run
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ReportArgs {
    #[command(flatten)]
    run: RunArg,
    /// Where to write the page [default: report.html in the run's directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ReportArgs {
    /// Writes the page, and prints where it is.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Manifest)?;
        let path = self.output.clone().unwrap_or_else(|| run.dir.join(FILE_NAME));
        output_path::check(&run, &path)?;
        let facts = write_page(&run, &path)?;
        facts.missing.iter().for_each(|missing| say(format_args!("note: {missing}")));
        output::results(&format!("{}\n", path.display()))?;
        say(format_args!("{} blocks, {}", facts.blocks, bytes_text(facts.bytes)));
        Ok(Exit::Ok)
    }
}

/// Writes the pages of a run that has just ended, one for each directory that it left, and tells where they are.
pub fn write_pages(dir: &Path, tell: &mut dyn FnMut(String)) -> Result<(), CliError> {
    for dir in observed(dir) {
        let path = dir.join(FILE_NAME);
        let facts = write_page(&Run::open(&dir)?, &path)?;
        tell(format!("report: {} ({})", path.display(), bytes_text(facts.bytes)));
    }
    Ok(())
}

/// Whether a page stands in the directory of its run.
fn place_of(run: &Run, path: &Path) -> Place {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (dir.canonicalize(), run.dir.canonicalize()) {
        (Ok(page), Ok(run)) if page == run => Place::InRun,
        _ => Place::Elsewhere,
    }
}

/// Writes a page whole or not at all.
fn write_page(run: &Run, path: &Path) -> Result<PageFacts, CliError> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.tmp", std::process::id()));
    let partial = PathBuf::from(partial);
    let written = File::create(&partial).map_err(PageError::from).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 18, file);
        let facts = page::write_for(run, place_of(run, path), &mut out)?;
        out.flush()?;
        fs::rename(&partial, path)?;
        Ok(facts)
    });
    written.map_err(|PageError::CannotWrite(source)| {
        let _ = fs::remove_file(&partial);
        TraceError::CannotWrite { path: path.to_path_buf(), source }.into()
    })
}
