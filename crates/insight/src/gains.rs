//! What would help a run: the answer of `ringlane what-if`, which every command and the page begin with.
//!
//! ```text
//! graph: one replay for each experiment ──▶ WhatIf ──▶ sentence ──▶ verdict ──▶ overhead, critical-path, findings, page
//! ```
//!
//! The replays are made by `ringlane-graph`; this is what they give, and what follows from it. The limit of a run is what the
//! change with the largest gain lifts, because a large part of the critical path that a change does not shorten limits nothing.

mod sentence;

use serde::Serialize;

use crate::units::percent_text;
use crate::verdict::Limit;

/// A change is worth a word from this gain on.
pub const GAIN_MIN: f64 = 0.01;

/// What `what-if` answers: what `--json` prints, and what the text and the page show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The unchanged replay against the recording.
    pub baseline: Baseline,
    /// A time that no schedule of these blocks can beat.
    pub bound_us: f64,
    /// The gain of a run that takes no longer.
    pub bound_gain: f64,
    /// What limits the run: what the change with the largest gain lifts. `None` if no change gains [`GAIN_MIN`].
    pub limit: Option<Limit>,
    /// In one line: what limits the run, and what each remedy would gain.
    pub sentence: String,
    /// The experiments, the largest gain first.
    pub experiments: Vec<Outcome>,
    /// Experiments that could not be made, and why.
    pub notes: Vec<String>,
}

/// The unchanged replay against the recording.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// How long the run took.
    pub recorded_us: f64,
    /// How long its replay takes.
    pub replayed_us: f64,
    /// By how much the replay is longer, as a part of the recorded time.
    pub error: f64,
}

impl Baseline {
    /// The part of the replayed time that a run of this time would save.
    pub fn gain_of(&self, makespan_us: f64) -> f64 {
        if self.replayed_us > 0.0 { 1.0 - makespan_us / self.replayed_us } else { 0.0 }
    }
}

/// What an experiment gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The experiment.
    pub name: String,
    /// How long the run would take.
    pub makespan_us: f64,
    /// The part of the replayed time that it would save; negative if the run would be longer.
    pub gain: f64,
    /// What it represents, if it is a change that people can make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// A change that people can make, at least in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// What is changed: of experiments on one thing, the best counts.
    pub subject: String,
    /// The change, as a part of a sentence: `free submits`.
    pub words: String,
    /// What it lifts.
    pub lifts: Limit,
}

/// What would help a run, or why that is not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gains {
    /// Replays were made.
    Known(WhatIf),
    /// None were made.
    Unknown(NoGains),
}

/// Why no replays were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoGains {
    /// The name of the reason.
    pub name: String,
    /// The reason, with its numbers.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

impl NoGains {
    /// All of it in one line.
    pub fn text(&self) -> String {
        format!("no predicted gains: {}; {}", self.reason, self.hint)
    }
}

impl Gains {
    /// The answer, if there is one.
    pub fn known(&self) -> Option<&WhatIf> {
        match self {
            Gains::Known(answer) => Some(answer),
            Gains::Unknown(_) => None,
        }
    }
}

impl WhatIf {
    /// The answer that follows from these experiments, in any order.
    pub fn new(baseline: Baseline, bound_us: f64, mut experiments: Vec<Outcome>, notes: Vec<String>) -> Self {
        experiments.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        let remedies = remedies(&experiments);
        let limit = limit_of(&remedies);
        let bound_gain = baseline.gain_of(bound_us);
        let sentence = sentence::of(limit, &remedies, bound_gain);
        WhatIf { baseline, bound_us, bound_gain, limit, sentence, experiments, notes }
    }

    /// The answer of one experiment, whatever it changes.
    pub fn of_one(baseline: Baseline, bound_us: f64, outcome: Outcome) -> Self {
        let direction = if outcome.gain < 0.0 { "longer" } else { "shorter" };
        let gain = percent_text(outcome.gain.abs());
        let sentence = format!("{}: the run would be {gain} {direction}.", outcome.name);
        let bound_gain = baseline.gain_of(bound_us);
        let experiments = vec![outcome];
        WhatIf { baseline, bound_us, bound_gain, limit: None, sentence, experiments, notes: Vec::new() }
    }

    /// The line with another word for the limit, such as that of counters.
    pub fn sentence_with(&self, limit: Limit) -> String {
        match self.limit {
            Some(own) if own != limit => self.sentence.replacen(own.label(), limit.label(), 1),
            _ => self.sentence.clone(),
        }
    }
}

/// The best experiment on each subject that is a remedy, the largest gain first.
fn remedies(ranked: &[Outcome]) -> Vec<(&Remedy, f64)> {
    let mut best: Vec<(&Remedy, f64)> = Vec::new();
    for Outcome { remedy, gain, .. } in ranked {
        let Some(remedy) = remedy else { continue };
        if best.iter().all(|(known, _)| known.subject != remedy.subject) {
            best.push((remedy, *gain));
        }
    }
    best
}

/// What limits a run. Faster kernels and more cores also help a run that waits for memory, because more cores bring their share of
/// its bandwidth; so memory limits it if twice the bandwidth would help half as much. Faster kernels help a run that has too few cores,
/// and one that has too few tasks to run at once: it has too few cores if more of them would help half as much.
fn limit_of(remedies: &[(&Remedy, f64)]) -> Option<Limit> {
    let &(first, gain) = remedies.first().filter(|(_, gain)| *gain >= GAIN_MIN)?;
    let helps_half =
        |limit| remedies.iter().any(|&(remedy, more)| remedy.lifts == limit && 2.0 * more >= gain);
    match first.lifts {
        Limit::Cores | Limit::Dependencies if helps_half(Limit::Memory) => Some(Limit::Memory),
        Limit::Dependencies if helps_half(Limit::Cores) => Some(Limit::Cores),
        limit => Some(limit),
    }
}

#[cfg(test)]
mod tests;
