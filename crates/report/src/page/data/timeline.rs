//! What a page says of the timeline as a whole.

use ringlane_insight::timeline::{EdgeOrigin, Timeline};
use serde::Serialize;

use super::{Detail, NoteKind, Page, grouped};
use crate::page::limits::{DETAILED_TASKS_MAX, EXACT_MAX};
use ringlane_insight::Instrument;

/// The chip, and how much of what it did is on the page.
#[derive(Serialize)]
pub struct TimelineData {
    level: u8,
    makespan: u64,
    hz: u64,
    cores: Vec<&'static str>,
    threads: u32,
    tasks: usize,
    pub(super) blocks: u64,
    edges: usize,
    edge_origin: &'static str,
    copies: Vec<CopyData>,
}

#[derive(Serialize)]
struct CopyData {
    direction: &'static str,
    what: String,
    bytes: u64,
    start: u64,
    end: u64,
}

/// What is said of a timeline.
pub fn of(timeline: &Timeline) -> TimelineData {
    let copies = timeline.copies.iter().map(|copy| CopyData {
        direction: copy.direction.as_str(),
        what: copy.what.clone(),
        bytes: copy.bytes.min(EXACT_MAX),
        start: copy.start.0.min(EXACT_MAX),
        end: copy.end.0.min(EXACT_MAX),
    });
    TimelineData {
        level: timeline.level.number(),
        makespan: timeline.makespan.0.min(EXACT_MAX),
        hz: timeline.clock_freq_hz,
        cores: timeline.cores.iter().map(|kind| kind.as_str()).collect(),
        threads: timeline.scheduler_threads,
        tasks: timeline.tasks.len(),
        blocks: timeline.blocks.len() as u64,
        edges: timeline.edges.len(),
        edge_origin: match timeline.edge_origin {
            EdgeOrigin::Dependencies => "dependencies",
            EdgeOrigin::Engine => "engine",
            EdgeOrigin::Nowhere => "nowhere",
        },
        copies: copies.collect(),
    }
}

impl Page {
    /// How much the page holds of each task; adds a note if it is not all.
    pub(super) fn detail_of(&mut self, timeline: &Timeline) -> Detail {
        let tasks = timeline.tasks.len();
        if tasks <= DETAILED_TASKS_MAX {
            return Detail::Full;
        }
        let text = format!(
            "{} tasks are more than the {} that a page shows one by one: their arguments, producers and the parts of their \
             submits are left out. ringlane deps --task ID and ringlane dump --task ID show them.",
            grouped(tasks),
            grouped(DETAILED_TASKS_MAX)
        );
        self.note(Instrument::Deps, NoteKind::LeftOut, text);
        Detail::Lean
    }
}
