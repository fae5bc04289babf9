//! After the run: what was recorded becomes the files of the run directory.
//!
//! Each instrument is a pass over its records into a streaming writer; nothing is held that grows with the rows. A file that
//! cannot be written is tried once more without its rows, so that at least its counts say what was lost. Records that
//! the disk returns altered are such a failure too.

mod artifacts;
mod checksums;
mod deps;
mod dump;
mod phases;
mod pmu;
mod reclaims;
mod scopes;
mod steps;
mod swimlane;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ringlane_engine::stall::Deadlock;
use ringlane_task::{Capacities, CoreId, DfxFlags, Explain, KernelId, Reader, TaskId, Ticks};
use ringlane_trace::rows::KernelRow;
use ringlane_trace::swimlane::{CopyRow, LaunchRow};
use ringlane_trace::{
    ArtifactFile, DfxCost, FileEntry, PmuSource, RecordSizes, RunDir, TraceError, os_reason_hint,
};
use zerocopy::FromBytes;

use crate::error::ProbeError;
use crate::kind::RecordKind;
use crate::pmu::PmuUnavailable;
use crate::recorder::Recorder;
use crate::recording::Recorded;
use crate::records::BlockName;
use crate::selection::{DumpSelection, SelectedKernel};
use crate::settings::Settings;
use crate::store::WriteFailure;
use crate::{KindCounts, RecordedKind, kinds};

/// What the files say about a run beside the records.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The chip: `cpu`, `a2a3sim`, …
    pub platform: String,
    /// Ticks per second.
    pub clock_freq_hz: u64,
    /// What the clock said at the start of the run.
    pub started_ticks: u64,
    /// How long it took.
    pub makespan_ticks: u64,
    /// The kind of each core.
    pub core_types: Vec<String>,
    /// Threads that schedule; where each core is a thread, as many.
    pub threads: u32,
    /// The thread that serves each core.
    pub core_to_thread: Vec<u32>,
    /// What was copied between host and device, with stamps of the run's clock; `None` where the chip does not copy.
    pub copies: Option<Copies>,
    /// Launches of batches of tasks, with stamps of the run's clock; `None` where the chip takes tasks one by one.
    pub launches: Option<Launches>,
    /// Whether the chip has a cost model, which says what each block does.
    pub has_cost_model: bool,
    /// Kernels, by number.
    pub kernels: Vec<KernelRow>,
    /// Source sites as `file:line`, by number.
    pub sites: Vec<String>,
    /// How much there is of everything.
    pub capacities: Capacities,
    /// Sizes of the external buffers.
    pub external_bytes: Vec<u64>,
    /// What stopped the run, if a resource was exhausted.
    pub fatal: Option<Deadlock>,
}

/// What was copied between host and device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// The copies, in the order in which they were made.
    pub rows: Vec<CopyRow>,
    /// How many more there were than these.
    pub dropped: u64,
}

/// Launches of batches of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launches {
    /// The launches, in the order in which they were made.
    pub rows: Vec<LaunchRow>,
    /// How many more there were than these.
    pub dropped: u64,
}

/// The files of a recorded run, and what they cost.
#[derive(Debug, Default)]
pub struct Exported {
    /// One entry for each file that is there.
    pub files: Vec<FileEntry>,
    /// What the recording cost.
    pub cost: DfxCost,
    /// Where counters came from, if they were on.
    pub pmu: Option<PmuSource>,
    /// Memory that was reserved for records.
    pub memory_bytes: u64,
    /// What the records took in the memory of a modelled chip.
    pub record_bytes: Option<RecordSizes>,
    /// The capacities of the run.
    pub capacities: Option<Capacities>,
    /// What did not go well; the run itself is not touched by it.
    pub problems: Vec<RecordingProblem>,
    /// Whether a person ended the export: the files that were not written by then have no rows.
    pub interrupted: bool,
}

/// Something that a recording lacks.
#[derive(Debug, thiserror::Error)]
pub enum RecordingProblem {
    /// A file misses rows, because a write failed.
    Incomplete {
        /// The file, the error and how many rows are lost.
        what: String,
    },
    /// A file has no rows, because a person ended the export.
    Interrupted {
        /// The file and how many rows are lost.
        what: String,
    },
    /// The hardware's counters are out of reach.
    Pmu(PmuUnavailable),
    /// A kernel whose arguments were to be captured was never submitted.
    NeverSubmitted {
        /// Its name.
        kernel: String,
        /// Those that were.
        known: String,
    },
    /// No argument of the run's tasks was among those to be captured.
    NothingCaptured {
        /// What was asked for.
        selection: String,
    },
    /// The records are lost.
    Lost(ProbeError),
}

ringlane_task::display_explained!(RecordingProblem);

impl Explain for RecordingProblem {
    fn name(&self) -> &'static str {
        match self {
            RecordingProblem::Incomplete { .. } => "RecordingIncomplete",
            RecordingProblem::Interrupted { .. } => "RecordingInterrupted",
            RecordingProblem::Pmu(why) => why.name(),
            RecordingProblem::NeverSubmitted { .. } => "NeverSubmitted",
            RecordingProblem::NothingCaptured { .. } => "NothingCaptured",
            RecordingProblem::Lost(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            RecordingProblem::Incomplete { .. } => "a file of the recording is incomplete",
            RecordingProblem::Interrupted { .. } => "a file of the recording was not written",
            RecordingProblem::Pmu(error) => return error.summary(),
            RecordingProblem::NeverSubmitted { .. } => "a selected kernel was never submitted",
            RecordingProblem::NothingCaptured { .. } => "no argument of any task was captured",
            RecordingProblem::Lost(error) => return error.summary(),
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            RecordingProblem::Incomplete { what } | RecordingProblem::Interrupted { what } => what.clone(),
            RecordingProblem::Pmu(why) => why.detail(),
            RecordingProblem::NeverSubmitted { kernel, .. } => format!("the run submitted no {kernel:?}"),
            RecordingProblem::NothingCaptured { selection } => {
                format!("the selection {selection} matched no argument")
            }
            RecordingProblem::Lost(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            RecordingProblem::Incomplete { what } => {
                let directory = Reader::choose("`set_output_prefix`", "-o");
                let otherwise = format!("free space or choose another directory with {directory}");
                format!(
                    "the run's results are not affected; {}",
                    os_reason_hint(what).unwrap_or(otherwise.as_str())
                )
            }
            RecordingProblem::Interrupted { .. } => {
                "run it again; files that were written before the signal are complete".to_string()
            }
            RecordingProblem::Pmu(why) => why.hint(),
            RecordingProblem::NeverSubmitted { known, .. } => format!("it submitted {known}"),
            RecordingProblem::NothingCaptured { .. } => {
                let all = Reader::choose("`DumpSelection::Everything`", "--dump-tensor");
                format!("mark arguments with `o.dump(…)`, or capture all of them with {all}")
            }
            RecordingProblem::Lost(error) => error.hint(),
        }
    }
}

/// What every export has at hand.
pub(crate) struct Export<'a> {
    recorded: &'a Recorded,
    facts: &'a RunFacts,
    settings: &'a Settings,
    /// Steps between submits that were recorded among them.
    steps: u64,
    dir: &'a RunDir,
    /// Whether any row of counters is the processor's.
    counted: AtomicBool,
    /// The captured bytes, to be read back for their checksums.
    payload: Option<File>,
    /// Whether a person wants this export to end.
    stop_asked: Option<fn() -> bool>,
}

/// Whether rows are written, or only counted as lost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    Kept,
    Lost,
}

/// What the system says about a file that cannot be written.
fn reason(error: &TraceError) -> String {
    error.os_reason().unwrap_or_else(|| error.detail())
}

impl<C> Recorder<C> {
    /// Ends the recording and writes its files. Never fails as a whole: what cannot be written is reported.
    pub fn export(mut self, facts: &RunFacts) -> Exported {
        let begun = Instant::now();
        self.close();
        let Some(recording) = self.recording.take() else { return Exported::default() };
        let mut exported = Exported {
            record_bytes: facts.has_cost_model.then(|| self.record_sizes()),
            capacities: Some(facts.capacities),
            ..Exported::default()
        };
        let recorded = match recording.stop([]) {
            Ok(recorded) => recorded,
            Err(error) => {
                exported.problems.push(RecordingProblem::Lost(error));
                return exported;
            }
        };
        let export = Export {
            recorded: &recorded,
            facts,
            settings: &self.settings,
            steps: self.steps,
            dir: &self.dir,
            counted: AtomicBool::new(false),
            payload: self.payload.as_ref().and_then(|payload| payload.file().try_clone().ok()),
            stop_asked: self.settings.stop_asked.filter(|is_asked| !is_asked()),
        };
        export.run(&mut exported, self.payload.take());
        if self.settings.flags.contains(DfxFlags::PMU) {
            let refusal = self.refusal.lock().expect("no panic while a reason is noted").take();
            exported.pmu = Some(pmu::source(export.counted.load(Ordering::Relaxed), &self.settings.cores));
            exported.problems.extend(refusal.map(RecordingProblem::Pmu));
        }
        exported.cost.writer_wait_ticks = recorded.kinds().iter().map(|k| k.counts().waited_ticks).sum();
        let spooled = recorded.kinds().iter().filter(|kind| kind.kind() != kinds::PAYLOAD);
        // How much of it went through the disk depends on this machine: of a modelled chip all is counted.
        let spooled: u64 = match self.settings.cores.are_modelled() {
            true => spooled.map(|kind| kind.counts().bytes).sum(),
            false => spooled.map(|kind| kind.counts().written_bytes).sum(),
        };
        exported.cost.bytes = spooled + exported.files.iter().map(|file| file.bytes).sum::<u64>();
        exported.cost.collector_us = recorded.collector_busy().as_micros() as u64;
        exported.memory_bytes = recorded.reserved_bytes();
        exported.cost.export_us = begun.elapsed().as_micros() as u64;
        exported
    }
}

impl Export<'_> {
    /// Whether a person has ended this export.
    fn is_stopped(&self) -> bool {
        self.stop_asked.is_some_and(|is_asked| is_asked())
    }

    /// An error once a person has ended this export.
    fn go_on(&self) -> io::Result<()> {
        if self.is_stopped() { Err(io::Error::other("interrupted")) } else { Ok(()) }
    }

    fn run(&self, exported: &mut Exported, payload: Option<ArtifactFile>) {
        // First, because it may leave room on the disk for the others.
        self.payload(exported, payload);
        let unmatched = self.never_submitted();
        let nothing = if unmatched.is_empty() { self.nothing_captured() } else { None };
        exported.problems.extend(unmatched.into_iter().chain(nothing));
        for written in self.artifacts() {
            let is_interrupted = |problem: &_| matches!(problem, RecordingProblem::Interrupted { .. });
            exported.interrupted |= written.problem.as_ref().is_some_and(is_interrupted);
            exported.problems.extend(written.problem);
            exported.files.push(written.entry);
        }
    }

    /// Gives the captured bytes their name. Where some were lost no record claims any, and the others give up their place.
    fn payload(&self, exported: &mut Exported, payload: Option<ArtifactFile>) {
        let Some(payload) = payload else { return };
        let recorded = self.recorded.kind(kinds::PAYLOAD);
        let failed = recorded.and_then(RecordedKind::failure);
        if failed.is_some() {
            // It is unknown which bytes are there: the records claim none, and others need the room.
            recorded.into_iter().for_each(RecordedKind::release_disk);
        }
        let incomplete = failed.map(WriteFailure::reason);
        let (bytes, incomplete) = match payload.commit() {
            Ok(bytes) => (bytes, incomplete),
            Err(error) => (0, incomplete.or(Some(reason(&error)))),
        };
        if let Some(what) = &incomplete {
            let what = format!("{}: {what}", kinds::PAYLOAD_FILE);
            exported.problems.push(RecordingProblem::Incomplete { what });
        }
        let entry = FileEntry::plain(kinds::PAYLOAD_FILE, bytes);
        exported.files.push(FileEntry { incomplete, ..entry });
    }

    /// Kernels that were asked for and did not come.
    fn never_submitted(&self) -> Vec<RecordingProblem> {
        let DumpSelection::Kernels(selected) = &self.settings.dump else { return Vec::new() };
        let names: Vec<&str> = self.facts.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let missing = selected.iter().filter(|kernel| !names.contains(&kernel.name.as_str()));
        let problem = |kernel: &SelectedKernel| RecordingProblem::NeverSubmitted {
            kernel: kernel.name.clone(),
            known: names.join(", "),
        };
        missing.map(problem).collect()
    }

    /// A selection that matched no argument of the tasks that were submitted.
    fn nothing_captured(&self) -> Option<RecordingProblem> {
        let is_on = self.settings.flags.contains(DfxFlags::DUMP) && !self.facts.kernels.is_empty();
        let selection =
            self.settings.dump.chosen().filter(|_| is_on && self.counts(kinds::DUMP).total == 0)?;
        Some(RecordingProblem::NothingCaptured { selection })
    }

    fn counts(&self, kind: RecordKind) -> KindCounts {
        let counts = self.recorded.kind(kind).map(RecordedKind::counts).unwrap_or_default();
        let steps = if kind == kinds::DEPS { self.steps } else { 0 };
        KindCounts { total: counts.total.saturating_sub(steps), ..counts }
    }

    /// Rows of a kind that are not in the file.
    fn dropped(&self, kind: RecordKind, rows: Rows) -> u64 {
        let counts = self.counts(kind);
        if rows == Rows::Kept { counts.dropped } else { counts.total }
    }

    /// Visits the records of a kind, all of one type, each with the number of its writer.
    fn for_each<R: FromBytes>(
        &self,
        kind: RecordKind,
        rows: Rows,
        mut visit: impl FnMut(u32, R) -> io::Result<()>,
    ) -> io::Result<()> {
        self.for_each_chunk(kind, rows, |writer, mut bytes| {
            while let Ok((record, rest)) = R::read_from_prefix(bytes) {
                visit(writer, record)?;
                bytes = rest;
            }
            Ok(())
        })
    }

    fn for_each_chunk(
        &self,
        kind: RecordKind,
        rows: Rows,
        mut visit: impl FnMut(u32, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.recorded.kind(kind) {
            Some(recorded) if rows == Rows::Kept => recorded.for_each_chunk(|writer, chunk| {
                self.go_on()?;
                visit(writer, chunk)
            }),
            _ => Ok(()),
        }
    }

    /// Ticks since the start of the run, within the run.
    fn ticks(&self, stamp: u64) -> Ticks {
        Ticks(stamp.saturating_sub(self.facts.started_ticks).min(self.facts.makespan_ticks))
    }

    /// The kind of a core.
    fn core_type_of(&self, core: CoreId) -> &str {
        self.facts.core_types.get(core.0 as usize).map_or("cpu", String::as_str)
    }
}

impl BlockName {
    fn task(&self) -> TaskId {
        TaskId(self.task_id())
    }

    fn kernel(&self) -> KernelId {
        KernelId(self.func as u32)
    }
}

/// So that a spool that cannot be read ends an export as a write that fails does.
impl From<ProbeError> for io::Error {
    fn from(error: ProbeError) -> Self {
        io::Error::other(error)
    }
}
