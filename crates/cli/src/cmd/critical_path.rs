//! `ringlane critical-path`: the makespan broken down by cause.

use ringlane_insight::Instrument;
use ringlane_insight::critical_path::{
    CauseTime, CriticalPath, LongestPath, PathAnswer, Segment, longest, observed,
};
use ringlane_insight::timeline::Timeline;
use ringlane_insight::units::{counted, percent_text, time_text};
use ringlane_insight::verdict::Verdict;
use ringlane_task::Ticks;
use serde::Serialize;

use super::{timeline_notes, verdict};
use crate::errors::{CliError, Exit};
use crate::output::{self, printable};
use crate::run_arg::{Needs, RunArg};
use ringlane_insight::text_table::{Side, Table};

const EXAMPLE: &str = "\
Example:
  $ ringlane run cholesky --chip-swimlane --dep-gen
  $ ringlane critical-path
  $ ringlane critical-path --segments | head -20
docs/commands/critical-path.md explains the causes.";

/// Show what limits a run, and break its makespan down by cause along the critical path
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct CriticalPathArgs {
    #[command(flatten)]
    run: RunArg,
    /// Print every segment of the path in order of time, one per line
    #[arg(long)]
    segments: bool,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

impl CriticalPathArgs {
    /// Computes and prints.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Swimlane))?;
        let timeline = run.timeline()?;
        let (path, floor) = (observed(&timeline)?, longest(&timeline));
        let mut notes = timeline_notes::say_missing(&timeline);
        let verdict = verdict::of(&run, &timeline, &path, &mut notes);
        let text = match (self.json, self.segments) {
            (true, _) => output::json(&Answer {
                verdict: verdict.as_ref(),
                path: PathAnswer::of(&path, &floor, &timeline),
                notes: &notes,
            }),
            (false, true) => path.segments.iter().map(|segment| line(segment, &timeline)).collect(),
            (false, false) => {
                format!("{}\n{}", verdict::text(verdict.as_ref()), text_of(&path, &floor, &timeline))
            }
        };
        output::results(&text)?;
        Ok(Exit::Ok)
    }
}

fn text_of(path: &CriticalPath, floor: &LongestPath, timeline: &Timeline) -> String {
    let whole = path.whole();
    let share = |ticks: Ticks| percent_text(ticks.0 as f64 / whole.0.max(1) as f64);
    let mut causes = Table::new(vec![
        ("cause", Side::Left),
        ("time", Side::Right),
        ("share", Side::Right),
        ("segments", Side::Right),
    ]);
    for CauseTime { cause, ticks, segments, .. } in path.causes() {
        let name = cause.as_str().to_string();
        causes.push(vec![name, time_text(timeline.us(ticks)), share(ticks), segments.to_string()]);
    }
    let sum =
        vec!["makespan".into(), time_text(timeline.us(whole)), share(whole), path.segments.len().to_string()];
    causes.push(sum);
    let mut kernels = Table::new(vec![
        ("kernel", Side::Left),
        ("on the path", Side::Right),
        ("share", Side::Right),
        ("blocks", Side::Right),
    ]);
    for (kernel, ticks, blocks) in path.kernels() {
        let name = printable(timeline.kernel_name(kernel));
        kernels.push(vec![name, time_text(timeline.us(ticks)), share(ticks), blocks.to_string()]);
    }
    format!(
        "{}\n{}\nLongest chain by duration: {} in {}, the lower bound with unlimited cores; the run took {:.2} times that\n",
        causes.render(),
        kernels.render(),
        time_text(timeline.us(floor.ticks)),
        counted(floor.tasks.len() as u64, "task"),
        whole.0 as f64 / floor.ticks.0.max(1) as f64
    )
}

/// One segment, as a line: when, how long, why, and of what.
fn line(segment: &Segment, timeline: &Timeline) -> String {
    let task = segment.task.map_or(String::new(), |task| format!("  task {}", timeline.task(task).task_id));
    let kernel = segment
        .kernel
        .map_or(String::new(), |kernel| format!("  {}", printable(timeline.kernel_name(kernel))));
    let label = segment.task.and_then(|task| timeline.label(task));
    let label = label.map_or(String::new(), |label| printable(&format!(" {label:?}")));
    let core = segment.core.map_or(String::new(), |core| format!("  core {core}"));
    format!(
        "{:>14}  {:>12}  {:<22}{task}{kernel}{label}{core}\n",
        segment.start,
        segment.ticks(),
        segment.cause.as_str()
    )
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    verdict: Option<&'a Verdict>,
    #[serde(flatten)]
    path: PathAnswer<'a>,
    notes: &'a [String],
}
