//! `report.html`: one page that answers what a reader asks of a run, in the order of the questions.
//!
//! ```text
//! Run ──▶ data (what goes in, and what does not fit) ──▶ columns + JSON ─┐
//!                                        assets (css, js: include_str!) ─┴──▶ shell ──▶ one file
//! ```
//!
//! The page is one file without references: it opens from `file://`, offline, years later. It can say nothing to the
//! network (its own policy forbids it), and every name in it is text, never markup.
//!
//! ```no_run
//! let run = ringlane_insight::Run::open("outputs/cholesky")?;
//! let mut file = std::io::BufWriter::new(std::fs::File::create("report.html")?);
//! let facts = ringlane_report::page::write(&run, &mut file)?;
//! println!("{} blocks in {} bytes", facts.blocks, facts.bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod data;
pub mod limits;
mod shell;

use std::io::{self, Write};

use ringlane_insight::Run;
use ringlane_insight::gains::Gains;
use ringlane_task::{Explain, Reader};

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// Size of the page.
    pub bytes: u64,
    /// Blocks that it shows.
    pub blocks: u64,
    /// What is not on it, and why, as the page says it.
    pub missing: Vec<String>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The page cannot be written.
    CannotWrite(#[from] io::Error),
}

ringlane_task::display_explained!(PageError);

impl Explain for PageError {
    fn name(&self) -> &'static str {
        "CannotWrite"
    }

    fn summary(&self) -> String {
        match self {
            PageError::CannotWrite(_) => "the page cannot be written",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        let PageError::CannotWrite(error) = self;
        error.to_string()
    }

    fn hint(&self) -> String {
        format!("name a file that can be written{}", Reader::choose("", " with -o FILE"))
    }
}

/// Where a page is to be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagePlace {
    /// In the run's directory: pages of the runs below it are linked.
    #[default]
    InRun,
    /// Elsewhere: the directories of the runs below are named.
    Elsewhere,
}

/// What a page is written with besides the run itself.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// Where it is to be stored.
    pub place: PagePlace,
    /// What would help the run, as replays found it; without, the page has no such panel.
    pub gains: Option<Gains>,
}

/// Writes the page of a run, to be stored in its directory. What a run did not record, or what of it is damaged, is reported on the
/// page and is no error.
pub fn write(run: &Run, out: &mut impl Write) -> Result<PageFacts, PageError> {
    write_with(run, PageOptions::default(), out)
}

/// Writes the page of a run with these options.
pub fn write_with(run: &Run, options: PageOptions, out: &mut impl Write) -> Result<PageFacts, PageError> {
    let page = data::Page::of(run, options);
    let mut out = Counting { out, bytes: 0 };
    shell::write(&page, &mut out)?;
    out.flush()?;
    Ok(PageFacts { bytes: out.bytes, blocks: page.blocks(), missing: page.notes_as_text() })
}

/// Counts what passes through.
struct Counting<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
