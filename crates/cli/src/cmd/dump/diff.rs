//! `ringlane dump diff`: the first task whose inputs agree and whose outputs differ.

use std::path::PathBuf;

use ringlane_insight::Instrument;
use ringlane_insight::dump::{
    ArgumentDiff, Diff, DumpComparison, Extent, Mismatch, Provenance, Side, Sources, TaskDiff, Tolerance,
    describe_shape, diff,
};
use ringlane_insight::units::counted;
use ringlane_task::TaskId;
use ringlane_trace::deps::Origin;
use serde::Serialize;

use super::error::DumpError;
use super::print::{seven_digits, task_line};
use crate::errors::{CliError, Exit};
use crate::output::{self, say};
use crate::run_arg::open_named;

const EXAMPLE: &str = "\
Example:
  $ ringlane dump diff outputs/good outputs/wrong
  $ ringlane dump diff outputs/cpu outputs/a2a3sim --tolerance 1e-3
Two elements a and b agree if |a - b| <= T + T * max(|a|, |b|); NaN agrees with NaN; integers must be equal.
Exit status: 0 the runs agree; 1 they differ, one of them lost records or captured bytes, or nothing could be compared;
2 they are not runs of the same program.";

/// Culprits that are printed with --all; the rest is counted.
const SHOWN_MAX: usize = 50;

/// Find the first task whose inputs agree in two runs but whose outputs differ
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct DiffArgs {
    /// A run directory, or a file in it
    a: PathBuf,
    /// Another run of the same program
    b: PathBuf,
    /// The tolerance, absolute and relative
    #[arg(long, value_name = "T", default_value = "1e-6", allow_negative_numbers = true, value_parser = tolerance)]
    tolerance: Tolerance,
    /// Show every such task, not only the first
    #[arg(long)]
    all: bool,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

fn tolerance(text: &str) -> Result<Tolerance, CliError> {
    let found = text.parse().ok().and_then(Tolerance::new);
    found.ok_or_else(|| CliError::bad_value("--tolerance", text, "a number from 0", "--tolerance 1e-6"))
}

impl DiffArgs {
    /// Compares, and reports what differs.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let (a, b) = (open_named(&self.a)?, open_named(&self.b)?);
        let extent = if self.all { Extent::All } else { Extent::First };
        let found = match diff(&Side::open(&a)?, &Side::open(&b)?, self.tolerance, extent)? {
            DumpComparison::Compared(found) => found,
            DumpComparison::NotComparable(why) => return Err(not_comparable(&why).into()),
        };
        let sources = match a.has(Instrument::Deps) && !found.agrees() {
            true => Sources::new(a.dependencies()?),
            false => Sources::default(),
        };
        let shown = Shown { sources, found: &found, tolerance: self.tolerance };
        output::results(&if self.json { shown.json() } else { shown.text() })?;
        if found.alone > 0 {
            say(format_args!(
                "note: {} records are in only one run: the other one lost records or ended early",
                found.alone
            ));
        }
        let is_well = found.agrees() && found.is_whole() && !is_empty(&found);
        Ok(if is_well { Exit::Ok } else { Exit::Failed })
    }
}

/// Whether there was nothing to compare: no record is in both runs.
fn is_empty(found: &Diff) -> bool {
    found.records == 0
}

fn not_comparable(why: &Mismatch) -> DumpError {
    match why {
        Mismatch::Selections(a, b) => {
            let name = |selection: &Option<String>| selection.clone().unwrap_or("@all".to_string());
            let what = format!("A was captured with --dump-tensor={}, B with {}", name(a), name(b));
            DumpError::NotComparable { what, hint: "record both runs with the same --dump-tensor" }
        }
        Mismatch::Programs { seq, what } => DumpError::NotComparable {
            what: format!("the programs differ at seq {seq}: {what}"),
            hint: "compare two runs with the same scene, case, seed and parameters",
        },
    }
}

struct Shown<'a> {
    /// Where inputs come from, if dependencies were recorded.
    sources: Sources,
    found: &'a Diff,
    tolerance: Tolerance,
}

impl Shown<'_> {
    fn text(&self) -> String {
        let found = self.found;
        let mut text = String::new();
        if let Some(task) = &found.outside {
            text += &format!(
                "the inputs differ: {} is the first task whose inputs differ in B, and no captured task produced them\n",
                name(task)
            );
            text += &arguments(&task.inputs);
            text += &self.inputs_from(task.task);
        }
        for (number, task) in found.culprits.iter().take(SHOWN_MAX).enumerate() {
            let title = if number == 0 { "the culprit" } else { "and" };
            let inputs = match task.inputs_compared {
                0 => "none of its inputs were captured".to_string(),
                1 => "its input agrees".to_string(),
                many => format!("its {many} inputs agree"),
            };
            text += &format!("{title}: {}: {inputs}, but its outputs differ\n", name(task));
            text += &arguments(&task.outputs);
            text += &self.inputs_from(task.task);
        }
        if found.culprits.len() > SHOWN_MAX {
            text += &format!("and {} more\n", found.culprits.len() - SHOWN_MAX);
        }
        if is_empty(found) {
            text += match found.lost.iter().all(|counts| counts.total() == 0) {
                true => "nothing was captured, so nothing was compared\n",
                false => "no record is in both runs, so nothing was compared\n",
            };
        } else if found.agrees() && found.is_whole() {
            text += "the runs agree\n";
        }
        text += &self.missing();
        text += &format!(
            "compared {}, {}, {}, with a tolerance of {:e}",
            counted(found.tasks, "task"),
            counted(found.records, "record"),
            counted(found.elements, "element"),
            self.tolerance.get()
        );
        if found.inherited > 0 {
            text += &format!("; only inherited a difference: {}", counted(found.inherited, "task"));
        }
        if found.cut > 0 {
            text += &format!("; {} compared in part", counted(found.cut, "truncated record"));
        }
        text + "\n"
    }

    /// What the runs lost, a line each.
    fn missing(&self) -> String {
        let found = self.found;
        let so = if found.agrees() { ": the runs cannot be compared" } else { "" };
        let mut text = String::new();
        for (counts, name) in found.lost.iter().zip(["A", "B"]).filter(|(counts, _)| counts.dropped > 0) {
            text += &format!("{} of {} records of {name} are missing{so}\n", counts.dropped, counts.total());
        }
        if found.cut > 0 {
            text += &format!("bytes of {} of {} records are missing{so}\n", found.cut, found.records);
        }
        text
    }

    fn inputs_from(&self, task: TaskId) -> String {
        let mut text = String::new();
        for Provenance { arg, origin, producers } in self.sources.of(task) {
            let from: Vec<_> =
                producers.iter().map(|made| task_line(made.task, made.seq, &made.kernel)).collect();
            let from = match (from.is_empty(), origin) {
                (false, _) => from.join(", "),
                (true, Origin::External) => "an external tensor".to_string(),
                (true, Origin::Heap) => "an allocation that no task has written".to_string(),
            };
            text += &format!("  arg {arg} comes from {from}\n");
        }
        text
    }

    fn json(&self) -> String {
        let found = self.found;
        let verdict = match (&found.outside, found.culprits.is_empty()) {
            (None, true) if !found.is_whole() => "incomplete",
            (None, true) if is_empty(found) => "nothing_captured",
            (None, true) => "agree",
            (_, false) => "culprit",
            (Some(_), true) => "inputs_differ",
        };
        let task = |task| TaskAnswer { task, inputs_from: self.sources.of(task.task) };
        output::json(&Answer {
            verdict,
            tolerance: self.tolerance.get(),
            diff: found,
            outside: found.outside.as_ref().map(task),
            culprits: found.culprits.iter().map(task).collect(),
        })
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    verdict: &'static str,
    tolerance: f64,
    #[serde(flatten)]
    diff: &'a Diff,
    outside: Option<TaskAnswer<'a>>,
    culprits: Vec<TaskAnswer<'a>>,
}

#[derive(Serialize)]
struct TaskAnswer<'a> {
    #[serde(flatten)]
    task: &'a TaskDiff,
    inputs_from: Vec<Provenance>,
}

fn name(task: &TaskDiff) -> String {
    task_line(task.task, task.seq, &task.kernel)
}

fn arguments(differing: &[ArgumentDiff]) -> String {
    let mut text = String::new();
    for found in differing {
        let ArgumentDiff { arg, role, dtype, shape, compared, differing, first, worst, .. } = found;
        text += &format!(
            "  arg {arg} ({role}, {dtype} {}): {differing} of {} differ, the first at {:?}\n",
            describe_shape(shape),
            counted(*compared, "element"),
            first
        );
        text += &format!(
            "    worst at {:?}: {} in A, {} in B, {} apart\n",
            worst.at,
            worst.a,
            worst.b,
            seven_digits(worst.difference)
        );
    }
    text
}
