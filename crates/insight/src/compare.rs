//! What moved between two runs of one program.
//!
//! ```text
//! run ──▶ RunSummary ──┐
//!                      ├──▶ Comparison         a page stores the summary of its run and compares it with that of another page
//! run ──▶ RunSummary ──┘
//! ```
//!
//! Runs may have clocks of different rates, so everything is given in microseconds. The causes of the two critical paths add
//! up to the two makespans, so what moved between the causes adds up to what moved between the makespans.

mod summary;

use std::collections::BTreeSet;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

pub use summary::{CauseSummary, KernelSummary, RunSummary, Setting};

use crate::critical_path::Cause;
use crate::{InsightError, Instrument, Run};

/// A number before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// In the first run.
    pub before: f64,
    /// In the second.
    pub after: f64,
}

impl Moved {
    /// By how much.
    pub fn by(&self) -> f64 {
        self.after - self.before
    }

    /// By which part of what it was; `None` if it was nothing.
    ///
    /// ```
    /// use ringlane_insight::compare::Moved;
    /// assert_eq!(Moved { before: 100.0, after: 125.0 }.share(), Some(0.25));
    /// assert_eq!(Moved { before: 0.0, after: 1.0 }.share(), None);
    /// ```
    pub fn share(&self) -> Option<f64> {
        (self.before > 0.0).then(|| self.by() / self.before)
    }
}

/// Both numbers, and what moved.
impl Serialize for Moved {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Moved", 4)?;
        fields.serialize_field("before", &self.before)?;
        fields.serialize_field("after", &self.after)?;
        fields.serialize_field("by", &self.by())?;
        fields.serialize_field("share", &self.share())?;
        fields.end()
    }
}

/// A kernel in both runs; nothing in one that did not run it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelMoved {
    /// Its name.
    #[serde(rename = "kernel")]
    pub name: String,
    /// Blocks.
    pub blocks: Moved,
    /// Time of all of them, µs.
    pub total_us: Moved,
    /// The mean of a block, µs.
    pub mean_us: Moved,
}

/// A part of the critical path in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseMoved {
    /// The cause.
    pub cause: Cause,
    /// How long, µs.
    pub us: Moved,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// How long they took on the chip, µs.
    pub makespan_us: Moved,
    /// How long they took on the wall, µs.
    pub wall_us: Moved,
    /// The parts of the critical paths; none unless both runs recorded their swimlane at level 2 or 3.
    #[serde(rename = "critical_path")]
    pub causes: Vec<CauseMoved>,
    /// Kernels, those that moved most first; none unless both runs recorded their swimlane.
    pub kernels: Vec<KernelMoved>,
    /// What is not the same of the two, in words: parameters, chip, threads, …
    pub differences: Vec<String>,
}

/// Compares two runs of one scene and case. What they did not both record is left out.
pub fn compare(before: &Run, after: &Run) -> Result<Comparison, InsightError> {
    let (a, b) = (&before.manifest, &after.manifest);
    if (&a.scene, &a.case) != (&b.scene, &b.case) {
        let what = format!("{} {} and {} {}", a.scene, a.case, b.scene, b.case);
        return Err(InsightError::NotComparable { what });
    }
    let have_timelines = before.has(Instrument::Swimlane) && after.has(Instrument::Swimlane);
    let summary = |run: &Run| {
        let timeline = if have_timelines { Some(run.timeline()?) } else { None };
        Ok::<_, InsightError>(RunSummary::of(&run.manifest, timeline.as_ref()))
    };
    Ok(Comparison::of(&summary(before)?, &summary(after)?))
}

impl Comparison {
    /// Compares two runs by their summaries.
    pub fn of(before: &RunSummary, after: &RunSummary) -> Self {
        let causes = before.causes.as_deref().zip(after.causes.as_deref());
        let kernels = before.kernels.as_deref().zip(after.kernels.as_deref());
        Comparison {
            makespan_us: Moved { before: before.makespan_us, after: after.makespan_us },
            wall_us: Moved { before: before.wall_us, after: after.wall_us },
            causes: causes.map(|(a, b)| causes_moved(a, b)).unwrap_or_default(),
            kernels: kernels.map(|(a, b)| kernels_moved(a, b)).unwrap_or_default(),
            differences: differences(before, after),
        }
    }
}

/// Both list all causes, in the same order.
fn causes_moved(before: &[CauseSummary], after: &[CauseSummary]) -> Vec<CauseMoved> {
    let moved = |(a, b): (&CauseSummary, &CauseSummary)| CauseMoved {
        cause: a.cause,
        us: Moved { before: a.us, after: b.us },
    };
    before.iter().zip(after).map(moved).collect()
}

/// Both list their kernels by name.
fn kernels_moved(before: &[KernelSummary], after: &[KernelSummary]) -> Vec<KernelMoved> {
    let of = |kernels: &[KernelSummary], name: &str| {
        let found = kernels.binary_search_by(|kernel| kernel.name.as_str().cmp(name));
        found.map(|at| kernels[at].clone()).unwrap_or_default()
    };
    let moved = |name: &str| {
        let (a, b) = (of(before, name), of(after, name));
        KernelMoved {
            name: name.to_string(),
            blocks: Moved { before: a.blocks, after: b.blocks },
            total_us: Moved { before: a.total_us, after: b.total_us },
            mean_us: Moved { before: a.mean_us, after: b.mean_us },
        }
    };
    let names: BTreeSet<_> = before.iter().chain(after).map(|kernel| kernel.name.as_str()).collect();
    let mut kernels: Vec<_> = names.into_iter().map(moved).collect();
    kernels.sort_by(|a, b| b.total_us.by().abs().total_cmp(&a.total_us.by().abs()));
    kernels
}

/// What was not the same when the two were run.
fn differences(before: &RunSummary, after: &RunSummary) -> Vec<String> {
    let only_after = after.settings.iter().filter(|setting| before.setting(&setting.name).is_none());
    let settings = before.settings.iter().chain(only_after);
    let difference = |Setting { name, .. }: &Setting| {
        let (a, b) = (before.setting(name), after.setting(name));
        (a != b).then(|| format!("{name} {} and {}", a.unwrap_or("unset"), b.unwrap_or("unset")))
    };
    settings.filter_map(difference).collect()
}
