//! What was lost while a run was recorded, by what its files say themselves.

use super::{Broken, Run};
use crate::manifest::FileEntry;
use crate::rows::{RowCounts, dump, swimlane};

/// What each file lacks, in the order of the files.
pub(super) fn of(run: &Run) -> Vec<Broken> {
    let mut missing = Vec::new();
    for entry in run.manifest.iter().flat_map(|manifest| &manifest.files) {
        let text = of_entry(entry);
        missing.extend(text.map(|what| Broken { file: "run.json", what: format!("{}: {what}", entry.path) }));
    }
    // The manifest counts the first kind of row of each file.
    for (name, counts) in run.swimlane.iter().flat_map(|swimlane| {
        let counts = &swimlane.head.counts;
        [("task", counts.tasks), ("edge", counts.edges), ("phase", counts.phases), ("submit", counts.submits)]
    }) {
        let what = of_rows(name, counts);
        missing.extend(what.map(|what| Broken { file: swimlane::FILE_NAME, what }));
    }
    if let Some(counts) = run.dump.as_ref().map(|dump| dump.head.counts).filter(|counts| counts.truncated > 0)
    {
        let what =
            format!("some or all bytes of {} of {} tensors are missing", counts.truncated, counts.tensors);
        missing.push(Broken { file: dump::FILE_NAME, what });
    }
    missing
}

fn of_entry(entry: &FileEntry) -> Option<String> {
    let lost = entry.dropped.zip(entry.total).filter(|&(dropped, _)| dropped > 0);
    let lost = lost.map(|(dropped, total)| format!("{dropped} of {total} rows are missing"));
    match (lost, &entry.incomplete) {
        (Some(lost), Some(why)) => Some(format!("{lost} ({why})")),
        (Some(lost), None) => Some(lost),
        (None, Some(why)) => Some(format!("it is incomplete ({why})")),
        (None, None) => None,
    }
}

fn of_rows(name: &str, counts: RowCounts) -> Option<String> {
    let (lost, total) = (counts.dropped, counts.total());
    (lost > 0).then(|| format!("{lost} of {total} {name} rows are missing"))
}
