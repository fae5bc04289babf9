//! The report of a case: all that the summary, the costs and the exit status are made of, in a form that one process can
//! hand to another.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ringlane_chip_sim::core::CoreKind;
use ringlane_insight::units::bytes_text;
use ringlane_probe::RecordingProblem;
use ringlane_task::Explain;
use ringlane_trace::Manifest;
use serde::{Deserialize, Serialize};

use crate::errors::{CliError, Exit, lines};
use crate::execute::Outcome;
use crate::output::{path_text, say};

/// What became of a case, for the summary.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseReport {
    /// What `run.json` says.
    pub manifest: Manifest,
    /// Where it is.
    pub dir: PathBuf,
    /// Wall time of each round, in microseconds.
    pub walls_us: Vec<f64>,
    /// The most memory the process had during the case.
    pub peak_rss_bytes: u64,
    /// What the diagnostics left and cost, if a round was observed.
    pub recorded: Option<String>,
    /// How busy a modelled chip was.
    pub modelled: Option<Modelled>,
}

/// The cores of a modelled chip, by [`CoreKind`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Modelled {
    /// How many.
    pub cores: [u32; 2],
    /// The share of the makespan that they were busy.
    pub utilization: [f64; 2],
}

/// Something to say about a case on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// This.
    Say(String),
    /// This, unless it was said of another case.
    SayOnce(String),
}

/// Why the command does not go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// The three lines of the error.
    pub text: String,
    /// How the command ends.
    pub exit: Exit,
}

/// All that comes of a case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// What became of it, unless it could not begin.
    pub case_report: Option<CaseReport>,
    /// What there is to say and was not said yet.
    pub notes: Vec<Note>,
    /// Why there is no use in going on.
    pub refusal: Option<Refusal>,
}

impl From<&Outcome> for CaseReport {
    fn from(outcome: &Outcome) -> Self {
        let Outcome { manifest, dir, walls_us, peak_rss_bytes, recorded, modelled, .. } = outcome;
        CaseReport {
            manifest: manifest.clone(),
            dir: dir.clone(),
            walls_us: walls_us.clone(),
            peak_rss_bytes: *peak_rss_bytes,
            recorded: recorded.as_ref().map(|recorded| recorded.text(manifest.clock_freq_hz)),
            modelled: modelled.as_ref().map(|totals| Modelled {
                cores: totals.cores,
                utilization: CoreKind::ALL.map(|kind| totals.utilization(kind)),
            }),
        }
    }
}

impl Refusal {
    /// What an error makes of the command.
    pub fn of(error: &CliError) -> Self {
        Refusal { text: lines("error", error), exit: error.exit() }
    }
}

impl Note {
    /// An error, in its three lines.
    pub fn error(error: &dyn Explain) -> Self {
        Note::Say(lines("error", error))
    }

    /// What a recording lacks; of the processor's counters in one line, and once in a command.
    fn problem(problem: &RecordingProblem) -> Self {
        match problem {
            RecordingProblem::Pmu(why) => Note::SayOnce(format!(
                "warning: {}: {}: {}; {}; pmu.csv has ticks of the clock instead",
                why.name(),
                why.summary(),
                why.detail(),
                why.hint()
            )),
            problem => Note::Say(lines("warning", problem)),
        }
    }

    /// Where a run's files are, what a recording lacks, what chaos drew, and why the run did not end well.
    pub fn of(outcome: &Outcome) -> Vec<Note> {
        let (manifest, dir) = (&outcome.manifest, path_text(&outcome.dir));
        let peak = bytes_text(outcome.peak_rss_bytes);
        let mut notes =
            vec![Note::Say(format!("{} {}: {dir} (peak memory {peak})", manifest.scene, manifest.case))];
        notes.extend(outcome.recorded.iter().flat_map(|recorded| &recorded.problems).map(Note::problem));
        if let Some(totals) = &outcome.modelled {
            notes.extend(totals.draws.iter().map(|draw| Note::Say(format!("chaos: {draw}"))));
            let unlisted = totals.draw_count - totals.draws.len() as u64;
            notes.extend((unlisted > 0).then(|| Note::Say(format!("chaos: and {unlisted} more"))));
        }
        notes.extend(outcome.failure.as_ref().map(|failure| Note::error(&*failure.error)));
        notes
    }
}

/// Says notes, and remembers what is said once.
#[derive(Debug, Default)]
pub struct Voice {
    said: BTreeSet<String>,
}

impl Voice {
    /// Says a note, if it is still to be said.
    pub fn say(&mut self, note: Note) {
        match note {
            Note::Say(text) => say(text),
            Note::SayOnce(text) => {
                if self.said.insert(text.clone()) {
                    say(text);
                }
            }
        }
    }
}
