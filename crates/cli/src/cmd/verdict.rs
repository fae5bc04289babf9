//! The verdict on a run, for every command that begins with it.

use ringlane_graph::what_if;
use ringlane_insight::Run;
use ringlane_insight::critical_path::CriticalPath;
use ringlane_insight::gains::Gains;
use ringlane_insight::timeline::Timeline;
use ringlane_insight::verdict::{self, Verdict};
use ringlane_task::Explain;

use crate::output::{printable, say};

/// The verdict, with the gains that replays predict and with the counters that the run recorded. What cannot be read, and why there are no
/// gains, are notes.
pub fn of(run: &Run, timeline: &Timeline, path: &CriticalPath, notes: &mut Vec<String>) -> Option<Verdict> {
    let counters = run.recorded_counters().unwrap_or_else(|error| {
        let note = format!("without its counters: {}", error.detail());
        say(format_args!("note: {note}"));
        notes.push(note);
        None
    });
    let verdict = verdict::of(timeline, path, counters.as_ref())?;
    match what_if::gains(run) {
        Gains::Known(answer) => Some(verdict.with_gains(&answer, &timeline.platform)),
        Gains::Unknown(why) => {
            say(format_args!("note: {}", printable(&why.text())));
            notes.push(why.text());
            Some(verdict)
        }
    }
}

/// The lines that an answer begins with.
pub fn text(verdict: Option<&Verdict>) -> String {
    verdict.map_or("Nothing ran.\n".to_string(), Verdict::text)
}
