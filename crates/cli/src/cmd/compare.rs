//! `ringlane compare`: what changed between two runs of one program.

use std::path::PathBuf;

use ringlane_insight::Run;
use ringlane_insight::compare::{Comparison, Moved, compare};
use ringlane_insight::units::{percent_text, time_text};
use ringlane_trace::RunStatus;
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output::{self, printable, say};
use crate::run_arg::open_named;
use ringlane_insight::text_table::{Side, Table};

const EXAMPLE: &str = "\
Example:
  $ ringlane run cholesky --case small --dfx -o before
  $ ringlane run cholesky --case small --dfx -o after
  $ ringlane compare before after --fail-over 5%
Exit status: 0; with --fail-over, 1 if the makespan grew by more, or if the second run failed and the first did not.";

/// Compare the makespan, critical path and kernels of two runs of one program
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct CompareArgs {
    /// The run to compare with
    #[arg(value_name = "RUN")]
    before: PathBuf,
    /// The new run
    #[arg(value_name = "RUN")]
    after: PathBuf,
    /// Exit with status 1 if the makespan grew by more than this: 5% or 0.05
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = share)]
    fail_over: Option<f64>,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

impl CompareArgs {
    /// Compares and prints.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let (before, after) = (open_named(&self.before)?, open_named(&self.after)?);
        let comparison = compare(&before, &after)?;
        let is_over = self.fail_over.is_some_and(|limit| is_worse(&before, &after, &comparison, limit));
        if self.json {
            output::results(&output::json(&Answer { comparison: &comparison, over_limit: is_over }))?;
        } else {
            for difference in &comparison.differences {
                say(format_args!("note: the runs differ: {}", printable(difference)));
            }
            output::results(&text_of(&comparison))?;
        }
        if let (true, Some(limit)) = (is_over, self.fail_over) {
            say(match comparison.makespan_us.share().filter(|&grew| grew > limit) {
                Some(grew) => {
                    format!("the makespan grew by {}, more than {}", percent_text(grew), percent_text(limit))
                }
                None => format!("the second run ended {}", after.manifest.status.as_str()),
            });
        }
        Ok(if is_over { Exit::Failed } else { Exit::Ok })
    }
}

/// Whether the second run exceeds the limit: its makespan grew by more, or it failed and the first one did not. A failed run
/// does not count as faster.
fn is_worse(before: &Run, after: &Run, comparison: &Comparison, limit: f64) -> bool {
    let failed = |run: &Run| run.manifest.status != RunStatus::Ok;
    let makespan = comparison.makespan_us;
    let grew = makespan.share().map_or(makespan.after > 0.0, |grew| grew > limit);
    grew || failed(after) && !failed(before)
}

/// A part, as a percentage or as a fraction.
fn share(text: &str) -> Result<f64, CliError> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    let share = number.ok().filter(|share| share.is_finite() && *share >= 0.0);
    share.ok_or_else(|| {
        CliError::bad_value("--fail-over", text, "a share such as 5% or 0.05", "--fail-over 5%")
    })
}

fn text_of(comparison: &Comparison) -> String {
    let mut table = moved_table("");
    table.push(row("makespan", comparison.makespan_us));
    table.push(row("wall", comparison.wall_us));
    let mut text = table.render();
    if comparison.kernels.is_empty() {
        return text + "\nTo compare kernels and critical paths, record both runs with --chip-swimlane\n";
    }
    if !comparison.causes.is_empty() {
        text += "\nCritical path\n";
        let mut table = moved_table("cause");
        for part in comparison.causes.iter().filter(|part| part.us.before + part.us.after > 0.0) {
            table.push(row(part.cause.as_str(), part.us));
        }
        text += &table.render();
    }
    text += "\nKernels, largest change first\n";
    let numbers = ["blocks", "total", "→", "change", "", "mean", "→"].map(|name| (name, Side::Right));
    let mut table = Table::new([vec![("kernel", Side::Left)], numbers.to_vec()].concat());
    for kernel in &comparison.kernels {
        let (blocks, mean) = (kernel.blocks, kernel.mean_us);
        let blocks = match blocks.by() {
            0.0 => format!("{}", blocks.after),
            _ => format!("{} → {}", blocks.before, blocks.after),
        };
        let mut cells = vec![printable(&kernel.name), blocks];
        cells.extend(row("", kernel.total_us).into_iter().skip(1));
        cells.extend([time_text(mean.before), time_text(mean.after)]);
        table.push(cells);
    }
    text + &table.render()
}

fn moved_table(what: &'static str) -> Table {
    let numbers = ["before", "after", "change", ""].map(|name| (name, Side::Right));
    Table::new([vec![(what, Side::Left)], numbers.to_vec()].concat())
}

/// A name, both values, and what moved as a time and as a part.
fn row(name: &str, moved: Moved) -> Vec<String> {
    let sign = if moved.by() > 0.0 { "+" } else { "" };
    let share = moved.share().map_or(String::new(), |share| format!("{sign}{}", percent_text(share)));
    let by = format!("{sign}{}", time_text(moved.by()));
    vec![name.to_string(), time_text(moved.before), time_text(moved.after), by, share]
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    over_limit: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_percentage_or_a_fraction_and_nothing_else() {
        assert_eq!((share("5%").unwrap(), share("0.05").unwrap(), share("0").unwrap()), (0.05, 0.05, 0.0));
        for text in ["", "%", "-1%", "nan", "inf", "five"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
