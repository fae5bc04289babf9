//! What moved between two runs of one program.
//!
//! Runs may have clocks of different rates, so everything is given in microseconds. The causes of the two critical paths add
//! up to the two makespans, so what moved between the causes adds up to what moved between the makespans.

use std::collections::BTreeMap;

use ringlane_trace::Manifest;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::critical_path::{Cause, observed};
use crate::timeline::Timeline;
use crate::units::microseconds;
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
    let us = |run: &Manifest| microseconds(run.makespan_ticks as f64, run.clock_freq_hz);
    let mut comparison = Comparison {
        makespan_us: Moved { before: us(a), after: us(b) },
        wall_us: Moved { before: a.wall_us, after: b.wall_us },
        causes: Vec::new(),
        kernels: Vec::new(),
        differences: differences(a, b),
    };
    if before.has(Instrument::Swimlane) && after.has(Instrument::Swimlane) {
        let (a, b) = (before.timeline()?, after.timeline()?);
        comparison.causes = causes(&a, &b);
        comparison.kernels = kernels(&a, &b);
    }
    Ok(comparison)
}

fn causes(a: &Timeline, b: &Timeline) -> Vec<CauseMoved> {
    // Below level 2 a run has no path: then there is nothing to compare.
    let (Ok(before), Ok(after)) = (observed(a), observed(b)) else { return Vec::new() };
    let moved = |cause| Moved { before: a.us(before.total(cause)), after: b.us(after.total(cause)) };
    Cause::ALL.into_iter().map(|cause| CauseMoved { cause, us: moved(cause) }).collect()
}

fn kernels(a: &Timeline, b: &Timeline) -> Vec<KernelMoved> {
    let mut kernels = BTreeMap::<String, KernelMoved>::new();
    let mut add = |timeline: &Timeline, pick: fn(&mut Moved) -> &mut f64| {
        for block in &timeline.blocks {
            let name = timeline.kernel_name(block.func_id);
            if !kernels.contains_key(name) {
                let nothing = Moved::default();
                let (name, blocks, total_us, mean_us) = (name.to_string(), nothing, nothing, nothing);
                kernels.insert(name.clone(), KernelMoved { name, blocks, total_us, mean_us });
            }
            let Some(kernel) = kernels.get_mut(name) else { continue };
            *pick(&mut kernel.blocks) += 1.0;
            *pick(&mut kernel.total_us) += timeline.us(block.duration());
        }
    };
    add(a, |moved| &mut moved.before);
    add(b, |moved| &mut moved.after);
    let mut kernels: Vec<_> = kernels.into_values().collect();
    let mean = |total: f64, blocks: f64| if blocks > 0.0 { total / blocks } else { 0.0 };
    for KernelMoved { blocks, total_us, mean_us, .. } in &mut kernels {
        mean_us.before = mean(total_us.before, blocks.before);
        mean_us.after = mean(total_us.after, blocks.after);
    }
    kernels.sort_by(|a, b| b.total_us.by().abs().total_cmp(&a.total_us.by().abs()));
    kernels
}

/// What was not the same when the two were run.
fn differences(a: &Manifest, b: &Manifest) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, before: String, after: String| {
        if before != after {
            differences.push(format!("{what} {before} and {after}"));
        }
    };
    differ("ringlane", a.ringlane.clone(), b.ringlane.clone());
    differ("platform", a.platform.clone(), b.platform.clone());
    differ("status", a.status.as_str().into(), b.status.as_str().into());
    differ("seed", a.seed.to_string(), b.seed.to_string());
    differ("threads", a.threads.to_string(), b.threads.to_string());
    differ("tasks", a.tasks.to_string(), b.tasks.to_string());
    differ("diagnostics", a.dfx_flags().to_string(), b.dfx_flags().to_string());
    for name in a.params.keys().chain(b.params.keys().filter(|name| !a.params.contains_key(*name))) {
        let value = |run: &Manifest| run.params.get(name).cloned().unwrap_or_else(|| "unset".to_string());
        differ(&format!("parameter {name}"), value(a), value(b));
    }
    if a.model != b.model {
        differences.push("the model's chip, policy or costs".to_string());
    }
    differences
}
