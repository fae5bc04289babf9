//! `ringlane overhead`: the verdict on a run, and where its cores' time went.

use ringlane_insight::Instrument;
use ringlane_insight::critical_path::observed;
use ringlane_insight::overhead::{KindTime, Overhead, Parts, overhead};
use ringlane_insight::units::{percent_text, time_text};
use ringlane_insight::verdict::Verdict;
use ringlane_trace::swimlane::Phase;
use serde::Serialize;

use super::{timeline_notes, verdict};
use crate::errors::{CliError, Exit};
use crate::output;
use crate::run_arg::{Needs, RunArg};
use ringlane_insight::text_table::{Side, Table};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --platform a2a3sim --case large --chip-swimlane --dep-gen
  $ ringlane overhead
  $ ringlane overhead --json | jq .verdict
The run needs --chip-swimlane=2 or 3; level 3 also shows the scheduler threads. docs/commands/overhead.md explains the tables.";

/// Show what limits a run, and how its cores spent their time
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct OverheadArgs {
    #[command(flatten)]
    run: RunArg,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

impl OverheadArgs {
    /// Computes and prints.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Swimlane))?;
        let timeline = run.timeline()?;
        let (found, path) = (overhead(&timeline)?, observed(&timeline)?);
        let mut notes = timeline_notes::say_missing(&timeline);
        let verdict = verdict::of(&run, &timeline, &path, &mut notes);
        let text = match self.json {
            true => output::json(&Answer { verdict: verdict.as_ref(), overhead: &found, notes: &notes }),
            false => verdict::text(verdict.as_ref()) + &text_of(&found),
        };
        output::results(&text)?;
        Ok(Exit::Ok)
    }
}

fn text_of(found: &Overhead) -> String {
    let mut text = "\nCore time, of cores × makespan\n".to_string();
    text += &parts_table(&found.kinds, |kind| kind.core_time).render();
    text += "\nWall-clock time, by the state of the cores\n";
    text += &parts_table(&found.kinds, |kind| kind.instants).render();
    text += "\nAround each block\n";
    text += &spreads(found).render();
    if !found.threads.is_empty() {
        text += "\nScheduler threads, of the makespan\n";
        text += &threads(found).render();
    }
    text
}

fn parts_table(kinds: &[KindTime], parts: fn(&KindTime) -> Parts) -> Table {
    let mut columns = vec![("kind", Side::Left), ("cores", Side::Right)];
    columns.extend(Parts::default().named().map(|(name, _)| (name, Side::Right)));
    let mut table = Table::new(columns);
    for kind in kinds {
        let parts = parts(kind);
        let shares = parts.named().map(|(_, part)| percent_text(parts.share(part)));
        let mut row = vec![kind.kind.as_str().to_string(), kind.cores.to_string()];
        row.extend(shares);
        table.push(row);
    }
    table
}

fn spreads(found: &Overhead) -> Table {
    let numbers = ["mean", "p50", "p95", "max"].map(|name| (name, Side::Right));
    let mut table = Table::new([vec![("", Side::Left)], numbers.to_vec()].concat());
    let steps = ["could run → dispatched", "dispatched → started", "ended → noticed"];
    for (name, step) in steps.iter().zip(&found.around_blocks) {
        let times = [step.mean_us, step.p50_us, step.p95_us, step.max_us].map(time_text);
        table.push([vec![name.to_string()], times.to_vec()].concat());
    }
    table
}

fn threads(found: &Overhead) -> Table {
    let mut columns = vec![("thread", Side::Right)];
    columns.extend(Phase::ALL.iter().map(|phase| (phase.as_str(), Side::Right)));
    columns.extend([("elsewhere", Side::Right), ("tasks dispatched", Side::Right)]);
    let mut table = Table::new(columns);
    let share = |us: f64| percent_text(if found.makespan_us > 0.0 { us / found.makespan_us } else { us });
    for thread in &found.threads {
        let mut row = vec![thread.thread.to_string()];
        row.extend(thread.phases_us.values().map(|&us| share(us)));
        row.extend([share(thread.elsewhere_us), thread.dispatched.to_string()]);
        table.push(row);
    }
    table
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    verdict: Option<&'a Verdict>,
    #[serde(flatten)]
    overhead: &'a Overhead,
    notes: &'a [String],
}
