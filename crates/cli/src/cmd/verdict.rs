//! The verdict on a run, for every command that begins with it.

use ringlane_insight::Run;
use ringlane_insight::critical_path::CriticalPath;
use ringlane_insight::timeline::Timeline;
use ringlane_insight::verdict::{self, Verdict};
use ringlane_task::Explain;

use crate::output::say;

/// The verdict, with the counters that the run recorded. Counters that cannot be read are a note, and show nothing.
pub fn of(run: &Run, timeline: &Timeline, path: &CriticalPath, notes: &mut Vec<String>) -> Option<Verdict> {
    let counters = run.recorded_counters().unwrap_or_else(|error| {
        let note = format!("without its counters: {}", error.detail());
        say(format_args!("note: {note}"));
        notes.push(note);
        None
    });
    verdict::of(timeline, path, counters.as_ref())
}

/// The lines that an answer begins with.
pub fn text(verdict: Option<&Verdict>) -> String {
    verdict.map_or("Nothing ran.\n".to_string(), Verdict::text)
}
