//! What a timeline does not show, for the commands that say where time went: with less on record an instant is given to the
//! next cause that is, so who reads the numbers has to know.

use ringlane_insight::CoreKind;
use ringlane_insight::timeline::{EdgeOrigin, Timeline};
use ringlane_insight::units::counted;
use ringlane_trace::swimlane::SwimlaneLevel;

use crate::output::say;

/// Says on standard error what is not on record, and gives it for `--json`.
pub fn say_missing(timeline: &Timeline) -> Vec<String> {
    let notes = missing(timeline);
    notes.iter().for_each(|note| say(format_args!("note: {note}")));
    notes
}

/// What is not on record, a sentence each.
fn missing(timeline: &Timeline) -> Vec<String> {
    let mut notes = Vec::new();
    let is_worker = |kind: &CoreKind| matches!(kind, CoreKind::Chip | CoreKind::Function | CoreKind::Node);
    if timeline.cores.iter().any(is_worker) {
        notes.push(
            "the cores are workers; what they did in a call is in its own run, below this one".to_string(),
        );
    } else if timeline.level < SwimlaneLevel::Phases {
        notes.push("--chip-swimlane=3 would also tell submits and full rings apart".to_string());
    }
    match timeline.edge_origin {
        EdgeOrigin::Dependencies => {}
        EdgeOrigin::Engine => notes.push(
            "--dep-gen would also tell dependencies on tasks that were done long before; without them time before a submit is the orchestrator's".to_string(),
        ),
        EdgeOrigin::Nowhere => notes.push("without --dep-gen nothing tells what a block waited for".to_string()),
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
        notes.push(format!("{} not recorded: their time is given to others", counted(dropped, what)));
    }
    notes
}
