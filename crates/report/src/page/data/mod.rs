//! What goes into a page: small things as JSON, tables as columns, and notes on what is not there.
//!
//! Each part is made from one table of the run and then frees it, so that a page takes no more memory than its
//! largest table. A table that was not recorded or is damaged becomes a note; the rest of the page does without it.

mod answers;
mod band;
mod blocks;
mod chips;
mod dump;
mod edges;
mod kernels;
mod labels;
mod node;
mod overview;
mod phases;
mod pmu;
mod scopes;
mod tasks;
mod timeline;

use ringlane_insight::compare::RunSummary;
use ringlane_insight::findings::Finding;
use ringlane_insight::gains::Gains;
use ringlane_insight::pmu::CountersAnswer;
use ringlane_insight::timeline::Timeline;
use ringlane_insight::{InsightError, Instrument, Run};
use ringlane_task::{Explain, Ticks};
use ringlane_trace::Manifest;
use ringlane_trace::scopes::Scopes;
use serde::Serialize;

use super::PageOptions;
use super::columns::Column;
use super::limits::EXACT_MAX;

/// Everything on a page.
pub struct Page {
    /// The program, in a few words.
    pub title: String,
    /// What is small.
    pub run: RunData,
    /// What is not.
    pub columns: Vec<Column>,
}

/// The page's JSON.
#[derive(Serialize)]
pub struct RunData {
    format: u32,
    dir: String,
    /// As text: a page's numbers hold only 53 bits.
    seed: String,
    manifest: Manifest,
    notes: Vec<Note>,
    findings: Vec<Finding>,
    /// What another page needs to compare its run with this one.
    summary: RunSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<answers::TimeData>,
    /// What would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    gains: Option<Gains>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<timeline::TimelineData>,
    kernels: Vec<kernels::KernelData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overview: Option<overview::Overview>,
    /// Names that columns refer to by their places.
    names: edges::Names,
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<scopes::ScopesData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<CountersAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dump: Option<dump::DumpData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<node::NodeData>,
}

/// Something that is not on the page, and what to do about it.
#[derive(Clone, Debug, Serialize)]
pub struct Note {
    /// The instrument it is about.
    about: &'static str,
    /// Why it is not there.
    kind: NoteKind,
    /// The same in a sentence.
    text: String,
    /// The option that records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<&'static str>,
}

/// Why something is not on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// The run did not record it.
    Absent,
    /// Its file cannot be understood.
    Damaged,
    /// It does not fit.
    LeftOut,
    /// Rows were lost when it was recorded.
    Lost,
}

impl Page {
    /// Gathers what there is of a run.
    pub fn of(run: &Run, options: PageOptions) -> Self {
        let mut page = Page::empty(run);
        page.run.gains = options.gains;
        page.note_losses(run);
        let timeline = page.table(Instrument::Swimlane, run.timeline());
        let scopes = page.table(Instrument::Scopes, run.scopes());
        page.run.summary = RunSummary::of(&run.manifest, timeline.as_ref());
        page.add_answers(run, timeline.as_ref(), scopes.as_ref());
        page.add_counters(run, timeline.as_ref());
        if let Some(timeline) = timeline {
            page.add_timeline(run, &timeline, scopes.as_ref());
        }
        if let Some(scopes) = scopes {
            page.add_scopes(&scopes);
        }
        page.add_dump(run);
        page.add_node(run, options.place);
        page
    }

    /// A page with what the manifest says.
    fn empty(run: &Run) -> Self {
        Page {
            title: format!("{} {}", run.manifest.scene, run.manifest.case),
            run: RunData {
                format: 3,
                dir: run.dir.display().to_string(),
                seed: run.manifest.seed.to_string(),
                manifest: run.manifest.clone(),
                notes: Vec::new(),
                findings: Vec::new(),
                summary: RunSummary::of(&run.manifest, None),
                time: None,
                gains: None,
                timeline: None,
                kernels: Vec::new(),
                overview: None,
                names: edges::Names::default(),
                scopes: None,
                counters: None,
                dump: None,
                node: None,
            },
            columns: Vec::new(),
        }
    }

    /// How many blocks are on it, those of a node's chips included.
    pub fn blocks(&self) -> u64 {
        let own = self.run.timeline.as_ref().map_or(0, |timeline| timeline.blocks);
        own.saturating_add(self.run.node.as_ref().map_or(0, |node| node.blocks))
    }

    /// The notes, as sentences.
    pub fn notes_as_text(&self) -> Vec<String> {
        self.run.notes.iter().map(|note| note.text.clone()).collect()
    }

    fn add_timeline(&mut self, run: &Run, timeline: &Timeline, scopes: Option<&Scopes>) {
        let detail = self.detail_of(timeline);
        self.run.kernels = kernels::of(timeline);
        self.run.overview = overview::of(timeline);
        self.run.timeline = Some(timeline::of(timeline));
        self.columns.extend(blocks::columns(timeline));
        self.columns.extend(tasks::columns(timeline, detail));
        self.add_phases(timeline);
        self.add_edges(run, timeline, scopes, detail);
    }

    /// Takes a table, or notes why there is none.
    fn table<T>(&mut self, instrument: Instrument, table: Result<T, InsightError>) -> Option<T> {
        let error = match table {
            Ok(table) => return Some(table),
            Err(error) => error,
        };
        let about = instrument.as_str();
        let note = match &error {
            InsightError::NotRecorded { below: Some(_), .. } => Note {
                about,
                kind: NoteKind::Absent,
                text: format!("Not recorded by the node: {about}. The runs of its workers have it."),
                option: None,
            },
            InsightError::NothingRan { .. } => Note {
                about,
                kind: NoteKind::Absent,
                text: format!("No {about}: the graph was imported. `ringlane replay` runs it."),
                option: None,
            },
            InsightError::NotRecorded { .. } => Note {
                about,
                kind: NoteKind::Absent,
                text: format!("Not recorded: {about}. {} records it.", instrument.option()),
                option: Some(instrument.option()),
            },
            error => {
                let text = format!("{}: {}. {}", error.name(), error.summary(), error.detail());
                Note { about, kind: NoteKind::Damaged, text, option: None }
            }
        };
        self.run.notes.push(note);
        None
    }

    fn note(&mut self, about: Instrument, kind: NoteKind, text: String) {
        self.run.notes.push(Note { about: about.as_str(), kind, text, option: None });
    }

    /// What the manifest says was lost.
    fn note_losses(&mut self, run: &Run) {
        for instrument in Instrument::ALL {
            let Some(entry) = run.entry(instrument) else { continue };
            if let Some(dropped) = entry.dropped.filter(|&dropped| dropped > 0) {
                let of = entry.total.unwrap_or(dropped);
                let text = format!("{}: {dropped} of {of} rows were dropped while recording.", entry.path);
                self.note(instrument, NoteKind::Lost, text);
            }
            if let Some(why) = &entry.incomplete {
                self.note(instrument, NoteKind::Lost, format!("{} is incomplete: {why}.", entry.path));
            }
        }
    }
}

/// Whether tasks are listed one by one, with all that is known of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// They are.
    Full,
    /// There are too many.
    Lean,
}

/// A count as people read it.
fn grouped(count: usize) -> String {
    ringlane_insight::units::grouped(count as u64)
}

/// A time as the page's numbers hold it.
fn tick(ticks: Ticks) -> i64 {
    exact(ticks.0)
}

/// A count as the page's numbers hold it.
fn exact(count: u64) -> i64 {
    count.min(EXACT_MAX) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_that_a_page_cannot_hold_is_the_last_it_can() {
        assert_eq!((tick(Ticks(7)), tick(Ticks(u64::MAX))), (7, 1 << 53));
    }
}
