//! `ringlane dump bad`: the first task that produced a NaN or an infinity from finite inputs.

use ringlane_insight::Instrument;
use ringlane_insight::dump::{Bad, BadArgument, BadTask, describe_shape, find_bad};
use ringlane_insight::units::counted;

use super::print::{stats_line, task_line};
use crate::errors::{CliError, Exit};
use crate::output;
use crate::run_arg::{Needs, RunArg};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --dump-tensor
  $ ringlane dump bad
Exit status: 0 no NaN or infinity was found; 1 one was found, records or captured bytes are missing, or nothing was captured.";

/// Find the first task that produced a NaN or an infinity from finite inputs
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct BadArgs {
    #[command(flatten)]
    run: RunArg,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

impl BadArgs {
    /// Searches, and reports what was found.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Dump))?;
        let found = find_bad(&run.captured()?, &run.payloads()?)?;
        output::results(&if self.json { output::json(&found) } else { text(&found) })?;
        let is_well = found.maker.is_none() && found.given.is_none() && found.is_whole() && !is_empty(&found);
        Ok(if is_well { Exit::Ok } else { Exit::Failed })
    }
}

/// Whether there was nothing to search: no record was captured, and none was lost.
fn is_empty(found: &Bad) -> bool {
    found.lost.total() == 0
}

fn text(found: &Bad) -> String {
    let mut text = String::new();
    if let Some(task) = &found.given {
        text += &format!("{} reads NaN or infinity that no captured task produced\n", name(task));
        text += &arguments(task);
    }
    if let Some(task) = &found.maker {
        text += &format!("{} produces NaN or infinity from finite inputs\n", name(task));
        text += &arguments(task);
        for input in &task.inputs {
            text += &format!("  input arg {} ({}): {}\n", input.arg, input.role, stats_line(&input.stats));
        }
    } else if found.given.is_some() {
        text += "no captured task produces one from finite inputs: check where the program gets this value\n";
    } else if is_empty(found) {
        text += "nothing was captured, so nothing was searched\n";
    } else if found.is_whole() {
        text += "no NaN and no infinity\n";
    } else {
        text += "no NaN and no infinity in the captured records; the missing ones may have some\n";
    }
    text += &format!("searched {}", counted(found.records, "record"));
    text += &match found.cut {
        0 => "\n".to_string(),
        cut => format!(", {cut} of them truncated\n"),
    };
    match found.lost.dropped {
        0 => text,
        lost => text + &format!("{lost} of {} records are missing\n", found.lost.total()),
    }
}

fn name(task: &BadTask) -> String {
    task_line(task.task, task.seq, &task.kernel)
}

fn arguments(task: &BadTask) -> String {
    let line = |bad: &BadArgument| {
        let BadArgument { arg, role, dtype, shape, stats, first, value, .. } = bad;
        format!(
            "  arg {arg} ({role}, {dtype} {}): {} of {}, {} NaN and {} infinite; the first, {value}, at {:?}\n",
            describe_shape(shape),
            stats.bad(),
            counted(stats.elements, "element"),
            stats.nan,
            stats.infinite,
            first
        )
    };
    task.bad.iter().map(line).collect()
}
