//! Which files an export writes, and how any one of them is written.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, ScopedJoinHandle};

use ringlane_engine::panic_text;
use ringlane_task::DfxFlags;
use ringlane_trace::rows::RowCounts;
use ringlane_trace::{ArtifactFile, FileEntry, TraceError};

use super::{Export, RecordingProblem, Rows, reason};
use crate::kind::RecordKind;
use crate::store::WriteFailure;
use crate::{RecordedKind, kinds};

/// One file of the run directory.
struct Artifact {
    /// What asks for it.
    flag: DfxFlags,
    name: &'static str,
    /// The records that it is made from; the first are its rows.
    kinds: &'static [RecordKind],
    fill: fn(&Export<'_>, &mut ArtifactFile, Rows) -> io::Result<RowCounts>,
}

/// All of them; first the one that may take long, so that it is begun before the others.
const ARTIFACTS: [Artifact; 5] = [
    Artifact {
        flag: DfxFlags::DEPS,
        name: kinds::DEPS_FILE,
        kinds: &[kinds::DEPS],
        fill: |export, out, rows| export.deps(out, rows),
    },
    Artifact {
        flag: DfxFlags::SWIMLANE_CORES,
        name: kinds::SWIMLANE_FILE,
        kinds: &[kinds::BLOCKS, kinds::TASKS, kinds::RECLAIMS, kinds::EDGES, kinds::PHASES, kinds::SUBMITS],
        fill: |export, out, rows| export.swimlane(out, rows),
    },
    Artifact {
        flag: DfxFlags::DUMP,
        name: kinds::DUMP_FILE,
        kinds: &[kinds::DUMP, kinds::DUMP_TASKS],
        fill: |export, out, rows| export.dump(out, rows),
    },
    Artifact {
        flag: DfxFlags::PMU,
        name: kinds::PMU_FILE,
        kinds: &[kinds::PMU],
        fill: |export, out, rows| export.pmu(out, rows),
    },
    Artifact {
        flag: DfxFlags::SCOPES,
        name: kinds::SCOPES_FILE,
        kinds: &[kinds::SCOPES],
        fill: |export, out, rows| export.scopes(out, rows),
    },
];

/// A file, and what it lacks.
pub(super) struct Written {
    pub(super) entry: FileEntry,
    pub(super) problem: Option<RecordingProblem>,
}

/// Why records that were kept cannot become rows: they are not what was written.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("the records are damaged: {0}")]
    Records(String),
    #[error("the records are damaged: only {found} of {total} rows could be read back")]
    Count { total: u64, found: u64 },
}

impl From<Unreadable> for io::Error {
    fn from(why: Unreadable) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, why)
    }
}

impl Export<'_> {
    /// Writes the files that were asked for, in the order of the table.
    pub(super) fn artifacts(&self) -> Vec<Written> {
        let asked = ARTIFACTS.iter().filter(|artifact| self.settings.flags.contains(artifact.flag));
        thread::scope(|scope| {
            let beside = |artifact| {
                let thread = thread::Builder::new();
                self.is_long(artifact).then(|| thread.spawn_scoped(scope, || self.file(artifact)).ok())?
            };
            let begun = asked.map(|artifact| match beside(artifact) {
                Some(thread) => (artifact, Err(thread)),
                None => (artifact, Ok(self.file(artifact))),
            });
            // All are begun before the first is waited for. One whose thread died gets its second chance here.
            let begun: Vec<_> = begun.collect();
            let end = |(artifact, written): (_, Result<Written, ScopedJoinHandle<'_, Written>>)| {
                written.or_else(|thread| thread.join()).unwrap_or_else(|_| self.file(artifact))
            };
            begun.into_iter().map(end).collect()
        })
    }

    /// Whether a file is worth a thread beside those that write the others.
    fn is_long(&self, artifact: &Artifact) -> bool {
        let alone = self.settings.flags == artifact.flag;
        artifact.flag == DfxFlags::DEPS && !alone && self.has_many_tasks()
    }

    /// Writes one file: with its rows, else without, else not at all. Either way what its records hold on disk is given up.
    fn file(&self, artifact: &Artifact) -> Written {
        let name = artifact.name;
        let written = self.attempt(artifact, Rows::Kept);
        let recorded = || artifact.kinds.iter().filter_map(|&kind| self.recorded.kind(kind));
        recorded().for_each(RecordedKind::release_disk);
        let is_stopped = written.is_err() && self.is_stopped();
        let (mut entry, failure) = match written {
            Ok(entry) => (entry, None),
            Err(error) => {
                let nothing = || FileEntry::with_rows(name, 0, 0, self.total(artifact));
                let entry = self.attempt(artifact, Rows::Lost).unwrap_or_else(|_| nothing());
                (entry, Some(if is_stopped { "interrupted".to_string() } else { reason(&error) }))
            }
        };
        let spool = recorded().find_map(RecordedKind::failure).map(WriteFailure::reason);
        entry.incomplete = failure.or(spool);
        let problem = entry.incomplete.as_ref().map(|what| {
            let (lost, total) = (entry.dropped.unwrap_or(0), entry.total.unwrap_or(0));
            let what = format!("{name}: {what}; {lost} of {total} rows lost");
            match is_stopped {
                true => RecordingProblem::Interrupted { what },
                false => RecordingProblem::Incomplete { what },
            }
        });
        Written { entry, problem }
    }

    fn attempt(&self, artifact: &Artifact, rows: Rows) -> Result<FileEntry, TraceError> {
        let mut out = self.dir.create_file(artifact.name)?;
        if let Some(is_asked) = self.stop_asked.filter(|_| rows == Rows::Kept) {
            out.give_up_when(is_asked);
        }
        // What a panic leaves half done is `out`, which is given up; the records are only read.
        let filled = catch_unwind(AssertUnwindSafe(|| (artifact.fill)(self, &mut out, rows)));
        let filled =
            filled.unwrap_or_else(|panic| Err(Unreadable::Records(panic_text(&*panic).into()).into()));
        let counts = filled.and_then(|counts| self.all_came_back(artifact, counts));
        let counts = counts.map_err(|source| out.error(source))?;
        let bytes = out.commit()?;
        Ok(FileEntry::with_rows(artifact.name, bytes, counts.collected, counts.dropped))
    }

    /// Rows that were recorded are in the file or counted as lost; where some are neither, the records are damaged.
    fn all_came_back(&self, artifact: &Artifact, counts: RowCounts) -> io::Result<RowCounts> {
        let (total, found) = (self.total(artifact), counts.total());
        if total == found { Ok(counts) } else { Err(Unreadable::Count { total, found }.into()) }
    }

    /// Rows there were for a file.
    fn total(&self, artifact: &Artifact) -> u64 {
        artifact.kinds.first().map_or(0, |&rows| self.counts(rows).total)
    }
}
