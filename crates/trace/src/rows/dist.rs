//! `dist_swimlane.json`: what each worker process of a node was called for, and when.
//!
//! ```text
//!          submit      sent   accepted  run                    end  done
//! node   ────┴──────────┴────────────────────────────────────────────┴───▶   its own clock
//! worker                        ┴───────┴────────────────────────┴       ▶   its clock + clock_offset_ticks
//! chip                                    chip_start ├─ chip_ticks ─┤        its run, in <worker>/<seq>/
//! ```
//!
//! All times are ticks of the node's clock since the node's run began. Those of a worker were stamped by the worker and
//! shifted by the offset of its clock, which was measured and is reported with its error: two stamps of different
//! processes can be in the wrong order by that much, and no more.

mod read;
mod write;

use std::borrow::Cow;
use std::collections::HashSet;

use ringlane_task::{TaskId, Ticks};
use serde::{Deserialize, Serialize};

pub use super::RowCounts;
pub use read::{Dist, DistHead, read_dist};
pub use write::DistWriter;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "dist_swimlane.json";

/// The version of the file.
pub const VERSION: u64 = 1;

names! {
    /// What a worker does with a call.
    WorkerKind {
        /// It runs a graph on one chip.
        Chip = "chip",
        /// It calls a plain function.
        Function = "function",
        /// It schedules over workers of its own.
        Node = "node",
    }
}

names! {
    /// How a call ended.
    CallStatus {
        /// The callable returned.
        Ok = "ok",
        /// The callable, or what was to call it, said why not.
        Failed = "failed",
        /// The worker's process ended before it answered.
        Died = "died",
        /// The answer did not come in time, and the worker was killed.
        Late = "late",
    }
}

/// A worker's place among those of its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerIndex(pub u32);

impl WorkerIndex {
    /// The place as an index of a table.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// A callable's place among those that the file names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallableIndex(pub u32);

impl CallableIndex {
    /// The place as an index of a table.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// The number of a call on its worker; names the directory of what it left, `<worker>/<seq>/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallSeq(pub u64);

impl std::fmt::Display for CallSeq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

id_fields!(WorkerIndex CallableIndex CallSeq);

row! { object
    /// A worker process.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DistWorker {
        /// What it is called: `chip0`, `function0`, `node1`; also its directory's name.
        name: String,
        /// What it does.
        kind: WorkerKind,
        /// Its process; the last one, if it was started again.
        pid: u32,
        /// What is added to its clock to get the node's.
        clock_offset_ticks: i64,
        /// How far that may be off: half of the shortest round trip that it was measured by; `None` if there was none.
        clock_error_ticks: Option<u64>,
        /// How often it was started again.
        restarts: u32,
    }
}

row! { object
    /// What does not change during a run.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DistMeta {
        /// The chips of the workers: `cpu`, `a2a3sim`, …, as run.json has it.
        platform: String,
        /// Ticks of the node's clock in a second.
        clock_freq_hz: u64,
        /// How long the node's run took.
        makespan: Ticks [as "makespan_ticks"],
        /// The node's level: 3 over chips, one more for each level of nodes below it.
        level: u8,
        /// Its workers.
        workers: Vec<DistWorker> [line],
        /// The names of what was called.
        callables: Vec<String> [line],
    }
    checked by names_of
}

/// Names of workers name directories, each its own.
fn names_of(meta: &DistMeta) -> Result<(), String> {
    let mut names = HashSet::new();
    for DistWorker { name, .. } in &meta.workers {
        if name.contains('/') || !stays_below(name) {
            return Err(format!("worker {name:?} cannot name a directory"));
        }
        if !names.insert(name) {
            return Err(format!("two workers are called {name:?}"));
        }
    }
    Ok(())
}

row! { array
    /// One call of one worker.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CallRow<'a> {
        /// The worker.
        worker: WorkerIndex,
        /// The number of the call on this worker.
        seq: CallSeq,
        /// The task of the node's graph.
        task_id: TaskId,
        /// Which call of a task that is a group of them; 0 for any other.
        member: u32,
        /// What was called.
        callable: CallableIndex,
        /// When it was submitted to the node.
        submit: Ticks,
        /// When it was in the worker's mailbox; `None`, as in what follows, if that never happened.
        sent: Option<Ticks>,
        /// When the worker took it.
        accepted: Option<Ticks>,
        /// When the callable began.
        run: Option<Ticks>,
        /// When the callable ended.
        end: Option<Ticks>,
        /// When the node saw how it ended.
        done: Option<Ticks>,
        /// How it ended.
        status: CallStatus,
        /// The run directory that it left, relative to the node's.
        dir: Option<Cow<'a, str>>,
        /// When the run that it left began, on the node's clock; with the two that follow, see [`CallRow::chip`].
        chip_start: Option<Ticks>,
        /// How long that run took, in ticks of its own clock.
        chip_ticks: Option<u64>,
        /// Ticks of its own clock in a second.
        chip_freq_hz: Option<u64>,
    }
    checked by chip_of
}

/// The three columns of a run are all there or none of them.
fn chip_of(row: &CallRow<'_>) -> Result<(), String> {
    match (row.chip_start, row.chip_ticks, row.chip_freq_hz) {
        (None, None, None) => Ok(()),
        (Some(_), Some(_), Some(0)) => Err("chip_freq_hz is 0".to_string()),
        (Some(_), Some(_), Some(_)) => Ok(()),
        _ => Err("chip_start, chip_ticks and chip_freq_hz belong together".to_string()),
    }
}

/// When a call's own run was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipSpan {
    /// When it began, on the node's clock. A modelled chip has a time of its own: this is when its program began.
    pub start: Ticks,
    /// How long it took, in ticks of its own clock: `makespan_ticks` of its run.json.
    pub ticks: u64,
    /// Ticks of its own clock in a second.
    pub freq_hz: u64,
}

impl<'a> CallRow<'a> {
    /// A call that was submitted, and of which nothing else is known.
    pub const fn submitted(worker: WorkerIndex, seq: CallSeq, task_id: TaskId, submit: Ticks) -> Self {
        CallRow {
            worker,
            seq,
            task_id,
            member: 0,
            callable: CallableIndex(0),
            submit,
            sent: None,
            accepted: None,
            run: None,
            end: None,
            done: None,
            status: CallStatus::Ok,
            dir: None,
            chip_start: None,
            chip_ticks: None,
            chip_freq_hz: None,
        }
    }

    /// The run that it left, on the node's clock; `None` if there is none, or if it is not known.
    pub fn chip(&self) -> Option<ChipSpan> {
        Some(ChipSpan { start: self.chip_start?, ticks: self.chip_ticks?, freq_hz: self.chip_freq_hz? })
    }

    /// Says when the run that it left was.
    pub fn set_chip(&mut self, chip: ChipSpan) {
        let ChipSpan { start, ticks, freq_hz } = chip;
        (self.chip_start, self.chip_ticks, self.chip_freq_hz) = (Some(start), Some(ticks), Some(freq_hz));
    }

    /// The steps after `submit`, with their names, in order.
    pub(crate) const fn steps(&self) -> [(&'static str, Option<Ticks>); 5] {
        [
            ("sent", self.sent),
            ("accepted", self.accepted),
            ("run", self.run),
            ("end", self.end),
            ("done", self.done),
        ]
    }

    /// The same call, owning its text.
    pub fn into_owned(self) -> CallRow<'static> {
        CallRow { dir: self.dir.map(|dir| Cow::Owned(dir.into_owned())), ..self }
    }
}

/// The directory of a call's own run, relative to the node's: `<worker>/<seq>`.
///
/// ```
/// use ringlane_trace::dist::{CallSeq, child_dir};
/// assert_eq!(child_dir("chip0", CallSeq(1)), "chip0/1");
/// ```
pub fn child_dir(worker: &str, seq: CallSeq) -> String {
    format!("{worker}/{seq}")
}

/// Whether a path stays below the directory it is relative to: plain components, none of them `.` or `..`.
pub(crate) fn stays_below(path: &str) -> bool {
    path.split('/').all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains('\0'))
}

#[cfg(test)]
mod tests;
