//! What to check first: a few sentences with numbers, the most important first, each with the place that shows it.

mod loss;
mod shape;
mod time;

use ringlane_task::{KernelId, TaskId, Ticks};
use ringlane_trace::Manifest;
use ringlane_trace::scopes::Scopes;
use serde::Serialize;

use crate::critical_path::{Cause, CriticalPath};
use crate::overhead::Overhead;
use crate::timeline::Timeline;
use crate::verdict::Verdict;

/// At most this number of findings is reported.
pub const FINDINGS_MAX: usize = 7;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something is wrong: the run or its recording.
    Problem,
    /// Something costs a good part of the run.
    Costly,
    /// Good to know.
    Fact,
}

impl Severity {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Problem => "problem",
            Severity::Costly => "costly",
            Severity::Fact => "fact",
        }
    }
}

/// Where a finding can be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// What is said of the run as a whole.
    Header,
    /// Where time went: cores and the critical path.
    Time,
    /// What would help.
    Gains,
    /// A stretch of the timeline.
    Range(Ticks, Ticks),
    /// One task.
    Task(TaskId),
    /// Everything on the critical path that has one cause.
    PathCause(Cause),
    /// The blocks of one kernel that are on the critical path.
    PathKernel(KernelId),
    /// Scopes that were opened at one place, `file:line`.
    Scope(String),
}

/// One thing that is worth saying.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The part of the run that it is about: of findings that matter equally, the larger comes first.
    pub weight: f64,
    /// The sentence.
    pub text: String,
    /// Where it can be seen.
    pub target: Target,
}

/// What findings are made of: the manifest, and as much of the rest as the run recorded.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// What was run and how it ended.
    pub manifest: &'a Manifest,
    /// When everything ran.
    pub timeline: Option<&'a Timeline>,
    /// Where the cores' time went.
    pub overhead: Option<&'a Overhead>,
    /// What limits it.
    pub verdict: Option<&'a Verdict>,
    /// What the makespan was made of.
    pub path: Option<&'a CriticalPath>,
    /// What scopes took of the rings.
    pub scopes: Option<&'a Scopes>,
}

impl<'a> Known<'a> {
    /// The manifest and nothing else.
    pub fn of(manifest: &'a Manifest) -> Self {
        Known { manifest, timeline: None, overhead: None, verdict: None, path: None, scopes: None }
    }
}

/// What is worth saying about a run, the most important first.
pub fn findings(known: &Known<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    loss::find(known, &mut findings);
    time::find(known, &mut findings);
    shape::find(known, &mut findings);
    findings.sort_by(|a, b| a.severity.cmp(&b.severity).then(b.weight.total_cmp(&a.weight)));
    findings.truncate(FINDINGS_MAX);
    findings
}

#[cfg(test)]
mod tests;
