//! `ringlane overhead`: the verdict on a run, and where its cores' time went.

use ringlane_insight::critical_path::observed;
use ringlane_insight::overhead::{KindTime, Overhead, Parts, ThreadBudget, overhead};
use ringlane_insight::timeline::Timeline;
use ringlane_insight::units::{percent_text, time_text};
use ringlane_insight::verdict::Verdict;
use ringlane_insight::{Instrument, Spread};
use serde_json::{Value, json};

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
Needs --chip-swimlane=2 at least; with 3 also what each scheduler thread did. docs/commands/overhead.md explains the parts.";

/// Say what limits a run, and where its cores' time went
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct OverheadArgs {
    #[command(flatten)]
    run: RunArg,
    /// As JSON on standard output
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
            true => json_of(&found, verdict.as_ref(), &timeline, &notes),
            false => verdict::text(verdict.as_ref()) + &text_of(&found, &timeline),
        };
        output::results(&text)?;
        Ok(Exit::Ok)
    }
}

fn text_of(found: &Overhead, timeline: &Timeline) -> String {
    let mut text = "\nCore time, of cores × makespan\n".to_string();
    text += &parts_table(&found.kinds, |kind| kind.time).render();
    text += "\nTime on the clock, by what was true of the cores\n";
    text += &parts_table(&found.kinds, |kind| kind.instants).render();
    text += "\nAround each block\n";
    text += &spreads(found, timeline).render();
    if !found.threads.is_empty() {
        text += "\nScheduler threads, of the makespan\n";
        text += &threads(&found.threads, timeline).render();
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

/// The stretches around a block, with what they are.
fn around(found: &Overhead) -> [(&'static str, Spread); 3] {
    [("could run → handed out", found.wait), ("handed out → began", found.head), ("ended → seen", found.tail)]
}

fn spreads(found: &Overhead, timeline: &Timeline) -> Table {
    let numbers = ["mean", "p50", "p95", "max"].map(|name| (name, Side::Right));
    let mut table = Table::new([vec![("", Side::Left)], numbers.to_vec()].concat());
    for (name, spread) in around(found) {
        let mean = timeline.mean_us(spread.mean());
        let ranks = [spread.p50, spread.p95, spread.max].map(|ticks| time_text(timeline.us(ticks)));
        table.push([vec![name.to_string(), time_text(mean)], ranks.to_vec()].concat());
    }
    table
}

fn threads(threads: &[ThreadBudget], timeline: &Timeline) -> Table {
    let phases = threads[0].phases.iter().map(|(phase, _)| (phase.as_str(), Side::Right));
    let mut columns = vec![("thread", Side::Right)];
    columns.extend(phases);
    columns.extend([("elsewhere", Side::Right), ("tasks handed out", Side::Right)]);
    let mut table = Table::new(columns);
    let share =
        |ticks: ringlane_task::Ticks| percent_text(ticks.0 as f64 / timeline.makespan.0.max(1) as f64);
    for thread in threads {
        let mut row = vec![thread.thread.to_string()];
        row.extend(thread.phases.iter().map(|&(_, ticks)| share(ticks)));
        row.extend([share(thread.elsewhere), thread.dispatched.to_string()]);
        table.push(row);
    }
    table
}

fn json_of(found: &Overhead, verdict: Option<&Verdict>, timeline: &Timeline, notes: &[String]) -> String {
    let parts = |parts: &Parts| -> Value {
        let named = parts.named().map(|(name, part)| (name.to_string(), json!(parts.share(part))));
        Value::Object(named.into_iter().collect())
    };
    let kinds = found.kinds.iter().map(|kind| {
        json!({
            "kind": kind.kind.as_str(), "cores": kind.cores,
            "core_time": parts(&kind.time), "instants": parts(&kind.instants),
        })
    });
    let spreads = around(found).map(|(name, spread)| {
        let us = |ticks| timeline.us(ticks);
        let mean = timeline.mean_us(spread.mean());
        json!({
            "stretch": name, "mean_us": mean,
            "p50_us": us(spread.p50), "p95_us": us(spread.p95), "max_us": us(spread.max),
        })
    });
    let threads = found.threads.iter().map(|thread| {
        let named = thread
            .phases
            .iter()
            .map(|(phase, ticks)| (phase.as_str().to_string(), json!(timeline.us(*ticks))));
        json!({
            "thread": thread.thread, "phases_us": Value::Object(named.collect()),
            "elsewhere_us": timeline.us(thread.elsewhere), "dispatched": thread.dispatched,
        })
    });
    let all = json!({
        "verdict": verdict, "makespan_us": timeline.us(found.makespan), "kinds": kinds.collect::<Vec<_>>(),
        "around_blocks": spreads, "threads": threads.collect::<Vec<_>>(), "notes": notes,
    });
    format!("{all}\n")
}
