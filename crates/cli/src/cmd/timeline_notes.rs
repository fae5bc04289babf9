//! What a timeline does not tell, for the commands that say where time went: with less on record an instant is given to the
//! next cause that is, so who reads the numbers has to know.

use ringlane_insight::timeline::{EdgeOrigin, Timeline};
use ringlane_insight::units::counted;
use ringlane_trace::swimlane::SwimlaneLevel;

use crate::output::say;

/// Says on standard error what is not on record.
pub fn say_missing(timeline: &Timeline) {
    if timeline.level < SwimlaneLevel::Phases {
        say("note: --chip-swimlane=3 would also tell submits and full rings apart");
    }
    match timeline.edge_origin {
        EdgeOrigin::Dependencies => {}
        EdgeOrigin::Engine => say(
            "note: --dep-gen would also tell dependencies on tasks that were done long before; without them time before a submit is the orchestrator's",
        ),
        EdgeOrigin::Nowhere => say("note: without --dep-gen nothing tells what a block waited for"),
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
        say(format_args!("note: {} not recorded: their time is given to others", counted(dropped, what)));
    }
}
