//! The parts of a manifest.

use ringlane_task::{ChipSpec, Explain};
use serde::{Deserialize, Serialize};

use crate::rows::dist::stays_below;

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Every task ran and the golden, if there is one, agreed.
    #[default]
    Ok,
    /// A task or the golden failed.
    Failed,
    /// The runtime stopped the run.
    Fatal,
    /// A person stopped the run.
    Interrupted,
    /// Nothing ran: the graph was imported from a file of another tool.
    Imported,
}

impl RunStatus {
    /// The name used in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            RunStatus::Ok => "ok",
            RunStatus::Failed => "failed",
            RunStatus::Fatal => "fatal",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Imported => "imported",
        }
    }
}

/// Why a run did not end well, in the words of its error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// The error's name.
    pub name: String,
    /// The numbers and places that led to it.
    pub detail: String,
    /// What to do about it.
    pub hint: String,
}

impl RunError {
    /// Takes down an error.
    ///
    /// ```
    /// use ringlane_task::Resource;
    /// use ringlane_trace::RunError;
    /// let error = Resource::TensorMap.check(None, 0).unwrap_err();
    /// assert_eq!(RunError::of(&error).name, "CapacityTooSmall");
    /// ```
    pub fn of(error: &dyn Explain) -> Self {
        RunError { name: error.name().to_string(), detail: error.detail(), hint: error.hint() }
    }
}

/// Where hardware counters came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PmuSource {
    /// `perf_event`, `tsc` (the fallback), `device` (a GPU), or `model` (a simulator's cost model).
    pub source: String,
    /// The group of counters.
    pub group: u32,
}

/// Where the ticks of a run come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// `tsc`, `monotonic`, or a simulator's own.
    pub source: String,
    /// How far `clock_freq_hz` may be off, in millionths.
    #[serde(with = "super::json::float")]
    pub error_ppm: f64,
}

/// How a modelled chip was run: with the platform and the seed, all that its times depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// The chip's own name: another than the platform's where a file was given.
    pub chip: String,
    /// The policy that chose which task ran next.
    pub policy: String,
    /// The seed of the injected faults.
    pub chaos: Option<u64>,
    /// Where the costs of blocks were recorded, if they were.
    pub costs: Option<String>,
    /// The part of the chip that the run used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<ChipSpec>,
}

/// Bytes that records take in the memory of a modelled chip; 0 for those that were not made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordSizes {
    /// A block.
    pub block: u64,
    /// A phase of a control thread.
    pub phase: u64,
    /// A submit.
    pub submit: u64,
    /// A scope.
    pub scope: u64,
    /// A task whose arguments are captured.
    pub captured_task: u64,
    /// A captured argument, beside its bytes.
    pub captured_argument: u64,
}

/// A captured graph that was replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphFacts {
    /// Edges, those that a memory limit added included.
    pub edges: u64,
    /// Bytes of the graph itself: tasks, arguments and edges.
    pub graph_bytes: u64,
    /// Bytes of the tensors that it makes, as planned.
    pub memory_bytes: u64,
    /// Bytes that they would take if none shared any.
    pub memory_sum_bytes: u64,
    /// The most bytes alive at once in submission order: no plan takes less.
    pub memory_lower_bound_bytes: u64,
    /// The limit, if there was one.
    pub memory_limit_bytes: Option<u64>,
    /// Edges that were added so that the tensors fit the limit.
    pub added_edges: u64,
    /// What it took to copy the graph to a modelled chip, before the first replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_ticks: Option<u64>,
}

/// What the diagnostics cost the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DfxCost {
    /// Time that writers waited for a free buffer.
    pub writer_wait_ticks: u64,
    /// Bytes recorded.
    pub bytes: u64,
    /// Time the collector thread was busy.
    pub collector_us: u64,
    /// Time to write the artifacts after the run.
    pub export_us: u64,
}

/// How the outputs compared with the known answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Golden {
    /// Outputs compared.
    pub checked: u64,
    /// Outputs that differ by more than the tolerance.
    pub failed: u64,
    /// The largest difference; a string in JSON when it is not finite.
    #[serde(with = "super::json::float")]
    pub max_abs_error: f64,
    /// A hash of all output bytes.
    pub output_hash: String,
}

/// One file of the run. It gives the number of rows, and of rows that were lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path within the run directory.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Rows there were; absent for files without rows, as the next two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Rows in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected: Option<u64>,
    /// Rows lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// Why the file is not complete, if a write failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

impl FileEntry {
    /// A file without rows of its own.
    pub fn plain(path: impl Into<String>, bytes: u64) -> Self {
        FileEntry { path: path.into(), bytes, total: None, collected: None, dropped: None, incomplete: None }
    }

    /// A file of rows; the total is their sum.
    pub fn with_rows(path: impl Into<String>, bytes: u64, collected: u64, dropped: u64) -> Self {
        let (total, collected, dropped) = (Some(collected + dropped), Some(collected), Some(dropped));
        FileEntry { total, collected, dropped, ..Self::plain(path, bytes) }
    }

    /// What is wrong with the entry, if something is.
    pub(super) fn problem(&self) -> Option<String> {
        if !stays_below(&self.path) {
            return Some(format!("file {:?} is not inside the run directory", self.path));
        }
        match (self.total, self.collected, self.dropped) {
            (None, None, None) => None,
            (Some(t), Some(c), Some(d)) if c.checked_add(d) == Some(t) => None,
            (Some(t), Some(c), Some(d)) => {
                Some(format!("file {:?}: {c} collected and {d} dropped are not {t} in total", self.path))
            }
            _ => Some(format!("file {:?}: total, collected and dropped belong together", self.path)),
        }
    }
}
