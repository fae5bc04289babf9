//! Notes on what a timeline lacks, for the commands that attribute time: if a cause was not recorded, its time is
//! attributed to another one, and the reader of the numbers has to know.

use ringlane_insight::CoreKind;
use ringlane_insight::timeline::{EdgeOrigin, Timeline};
use ringlane_insight::units::counted;
use ringlane_trace::swimlane::SwimlaneLevel;

use crate::output::say;

/// Prints on standard error what was not recorded, and returns it for `--json`.
pub fn say_missing(timeline: &Timeline) -> Vec<String> {
    let notes = missing(timeline);
    notes.iter().for_each(|note| say(format_args!("note: {note}")));
    notes
}

/// What was not recorded, one sentence each.
fn missing(timeline: &Timeline) -> Vec<String> {
    let mut notes = Vec::new();
    let is_worker = |kind: &CoreKind| matches!(kind, CoreKind::Chip | CoreKind::Function | CoreKind::Node);
    if timeline.cores.iter().any(is_worker) {
        notes.push(
            "the cores are workers; what they did in a call is in its own run, below this one".to_string(),
        );
    } else if timeline.level < SwimlaneLevel::Phases {
        notes.push(
            "without --chip-swimlane=3, submits and waits for full rings cannot be distinguished".to_string(),
        );
    }
    match timeline.edge_origin {
        EdgeOrigin::Dependencies => {}
        EdgeOrigin::Engine => notes.push(
            "without --dep-gen, dependencies on tasks that were reclaimed before the submit are unknown, and time before a submit counts as the orchestrator's".to_string(),
        ),
        EdgeOrigin::Nowhere => notes.push("without --dep-gen, the dependencies of blocks are unknown".to_string()),
    }
    let counts = &timeline.counts;
    let lost_tasks = timeline.lost_tasks;
    let lost = [
        (counts.blocks.dropped, "block"),
        (lost_tasks, "task"),
        (counts.edges.dropped, "edge"),
        (counts.phases.dropped, "phase"),
        (counts.submits.dropped, "submit"),
    ];
    for (dropped, what) in lost.into_iter().filter(|&(dropped, _)| dropped > 0) {
        notes.push(format!("{} not recorded: the time counts as something else", counted(dropped, what)));
    }
    notes
}
