//! `ringlane swimlane`: the timeline as a Perfetto trace, and the time of each kernel.

use std::path::{Path, PathBuf};
use std::thread;

use clap::ValueEnum;
use ringlane_insight::kernels::{KernelStats, kernels};
use ringlane_insight::timeline::{EdgeOrigin, Timeline};
use ringlane_insight::units::{agreeing, bytes_text, counted, percent_text, time_text};
use ringlane_insight::{InsightError, Instrument, Run, Spread};
use ringlane_report::perfetto::{
    COUNTER_CHANGES_MAX, JSON_FILE_NAME, NodeTrace, PFTRACE_FILE_NAME, ScopeSpans, TraceCounts, TraceSource,
    write_json, write_pftrace,
};
use ringlane_task::Ticks;
use ringlane_trace::ArtifactFile;
use ringlane_trace::scopes::read_scopes;
use ringlane_trace::swimlane::SwimlaneLevel;
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output::{self, path_text, printable, say};
use crate::output_path;
use crate::run_arg::{Needs, RunArg};
use ringlane_insight::text_table::{Side, Table};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --dfx
  $ ringlane swimlane
  $ ringlane swimlane outputs/paged_attention_small_20261115_093012 --format pftrace -o /tmp/run.pftrace
The trace of a run over several workers has one process per worker, with the cores of its chip, on the node's clock.
Open the file at https://ui.perfetto.dev (it stays on your machine) or, JSON only, in chrome://tracing.";

/// The number of workers' runs that cannot be shown and are listed by name; the rest are counted.
const MISSING_MAX: usize = 5;

/// Write the timeline as a Perfetto trace, and print the time of each kernel
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct SwimlaneArgs {
    #[command(flatten)]
    run: RunArg,
    /// Where to write the trace [default: merged_swimlane.json or .pftrace in the run directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Chrome-trace JSON, or Perfetto's native format, which is about ten times smaller
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Json)]
    format: Format,
    /// Print the table as JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Json,
    Pftrace,
}

impl SwimlaneArgs {
    /// Writes the trace, reports its path and what it lacks, and prints the table.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Swimlane))?;
        let path = self.output.clone().unwrap_or_else(|| run.dir.join(self.format.file_name()));
        output_path::check(&run, &path)?;
        let read = read(&run)?;
        let (counts, length) = self.write(&path, &run, &read)?;
        let notes = notes(&run, &read, counts);
        let Read { timeline, node, .. } = read;
        let TraceCounts { slices, arrows, call_arrows, .. } = counts;
        let arrows = arrows + call_arrows;
        let (path, shown) = (path.display().to_string(), path_text(&path));
        say(format_args!("wrote {shown} ({}): {slices} slices, {arrows} arrows", bytes_text(length)));
        notes.iter().for_each(|note| say(format_args!("note: {note}")));
        let stats = kernels(&timeline);
        let text = match self.json {
            true => output::json(&Answer {
                run: run.dir.display().to_string(),
                file: path,
                level: timeline.level.number(),
                clock_freq_hz: timeline.clock_freq_hz,
                makespan_ticks: timeline.makespan,
                cores: timeline.cores.len(),
                slices,
                arrows: counts.arrows,
                notes,
                kernels: &stats,
            }),
            false if !run.has(Instrument::Swimlane) => String::new(),
            false => text(&timeline, &stats),
        };
        let workers = node.filter(|_| !self.json).map(|node| workers_text(&timeline, &node));
        output::results(&(text + &workers.unwrap_or_default()))?;
        Ok(Exit::Ok)
    }

    fn write(&self, path: &Path, run: &Run, read: &Read) -> Result<(TraceCounts, u64), CliError> {
        let mut file = ArtifactFile::at(path)?;
        let title = format!("{} {} on {}", run.manifest.scene, run.manifest.case, run.manifest.platform);
        let Read { timeline, scopes, node } = read;
        let source = TraceSource { title: &title, timeline, scopes: scopes.as_ref(), node: node.as_ref() };
        let written = match self.format {
            Format::Json => write_json(source, &mut file),
            Format::Pftrace => write_pftrace(source, &mut file),
        };
        let counts = written.map_err(|error| file.error(error))?;
        Ok((counts, file.commit()?))
    }
}

/// What `--json` prints; fields may be added, never renamed.
#[derive(Serialize)]
struct Answer<'a> {
    run: String,
    file: String,
    level: u8,
    clock_freq_hz: u64,
    makespan_ticks: Ticks,
    cores: usize,
    slices: u64,
    arrows: u64,
    notes: Vec<String>,
    kernels: &'a [KernelStats],
}

impl Format {
    const fn file_name(self) -> &'static str {
        match self {
            Format::Json => JSON_FILE_NAME,
            Format::Pftrace => PFTRACE_FILE_NAME,
        }
    }
}

/// What a trace is made of.
struct Read {
    timeline: Timeline,
    scopes: Option<ScopeSpans>,
    node: Option<NodeTrace>,
}

/// Reads it, the scopes while the timeline is read. A node whose own timeline was not recorded has its workers'.
fn read(run: &Run) -> Result<Read, InsightError> {
    let node = NodeTrace::read(run)?;
    thread::scope(|threads| {
        let scopes = threads.spawn(|| read_spans(run));
        let timeline = match (run.has(Instrument::Swimlane), &node) {
            (false, Some(_)) => {
                Ok(Timeline::unrecorded(run.manifest.clock_freq_hz, run.manifest.makespan_ticks))
            }
            _ => run.timeline(),
        };
        let scopes = scopes.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Read { timeline: timeline?, scopes: scopes?, node })
    })
}

fn read_spans(run: &Run) -> Result<Option<ScopeSpans>, InsightError> {
    if !run.has(Instrument::Scopes) {
        return Ok(None);
    }
    let mut spans = ScopeSpans::default();
    read_scopes(run.file(Instrument::Scopes)?, |row| spans.push(&row))?;
    Ok(Some(spans))
}

/// What the trace does not show, and why.
fn notes(run: &Run, read: &Read, counts: TraceCounts) -> Vec<String> {
    let Read { timeline, scopes, node } = read;
    let mut notes = Vec::new();
    let mut note = |is_so: bool, text: String| {
        if is_so {
            notes.push(text);
        }
    };
    let (level, is_recorded) = (timeline.level, run.has(Instrument::Swimlane));
    let unrecorded =
        "the node itself has no l2_perf_records.json: only its workers are shown (--chip-swimlane)";
    note(!is_recorded, unrecorded.into());
    note(
        level == SwimlaneLevel::Blocks && is_recorded,
        "level 1: no ready tasks, no scheduler lanes, no orchestrator, no ring fill (--chip-swimlane=3)"
            .into(),
    );
    note(
        level == SwimlaneLevel::Tasks,
        "level 2: no scheduler lanes, no orchestrator, no ring fill (--chip-swimlane=3)".into(),
    );
    let engine = "no deps.json: arrows show only the edges that the engine wired, none from tasks that were already done (--dep-gen)";
    note(timeline.edge_origin == EdgeOrigin::Engine, engine.into());
    note(
        timeline.edge_origin == EdgeOrigin::Nowhere && is_recorded,
        "no deps.json: no arrows (--dep-gen)".into(),
    );
    let hidden = (timeline.edges.len() as u64).saturating_sub(counts.arrows);
    note(
        hidden > 0,
        format!(
            "{} {} no arrow: a task at one end ran no block, and its ready time was not recorded",
            counted(hidden, "edge"),
            agreeing(hidden, "has", "have")
        ),
    );
    note(scopes.is_none(), "no scope_stats.json: no scopes (--scope-stats)".into());
    note(
        counts.thinned > 0,
        format!(
            "{} with more than {COUNTER_CHANGES_MAX} changes sampled at intervals",
            counted(counts.thinned, "counter")
        ),
    );
    let lost = [
        ("block", timeline.counts.blocks.dropped),
        ("task", timeline.lost_tasks),
        ("phase", timeline.counts.phases.dropped),
        ("submit", timeline.counts.submits.dropped),
        ("copy row", timeline.counts.copies.dropped),
    ];
    for (what, lost) in lost {
        let (rows, were) = (counted(lost, what), agreeing(lost, "was", "were"));
        note(lost > 0, format!("{rows} {were} lost when the run was recorded (--overflow block)"));
    }
    let missing: Vec<&String> = node.iter().flat_map(NodeTrace::missing).collect();
    for what in missing.iter().take(MISSING_MAX) {
        note(true, format!("not shown: {what}"));
    }
    let more = missing.len().saturating_sub(MISSING_MAX) as u64;
    note(more > 0, format!("not shown: {}", counted(more, "more run")));
    let status = run.manifest.status.as_str();
    note(status != "ok", format!("the run ended early ({status}), and so does the trace"));
    notes
}

fn workers_text(timeline: &Timeline, node: &NodeTrace) -> String {
    let (calls, workers) = (counted(node.calls() as u64, "call"), counted(node.workers() as u64, "worker"));
    format!("{calls} of {workers} in {}\n", time_text(timeline.us(timeline.makespan)))
}

fn text(timeline: &Timeline, stats: &[KernelStats]) -> String {
    let columns = [
        "count", "total", "mean", "p50", "p95", "max", "head", "head p95", "tail", "tail p95", "of cores",
        "of busy",
    ];
    let right = columns.map(|name| (name, Side::Right));
    let mut table =
        Table::new([("kernel", Side::Left), ("on", Side::Left)].into_iter().chain(right).collect());
    let us = |ticks: f64| timeline.mean_us(ticks);
    let spread = |spread: Option<Spread>| match spread {
        Some(spread) => [time_text(us(spread.mean())), time_text(us(spread.p95.0 as f64))],
        None => ["-".to_string(), "-".to_string()],
    };
    for kernel in stats {
        let duration = kernel.duration;
        let times = [
            duration.total as f64,
            duration.mean(),
            duration.p50.0 as f64,
            duration.p95.0 as f64,
            duration.max.0 as f64,
        ];
        let mut row =
            vec![printable(&kernel.name), printable(&kernel.core_type), kernel.duration.count.to_string()];
        row.extend(times.map(|ticks| time_text(us(ticks))));
        row.extend(spread(kernel.head).into_iter().chain(spread(kernel.tail)));
        row.extend([kernel.core_share, kernel.busy_share].map(percent_text));
        table.push(row);
    }
    let busy = stats.iter().map(|kernel| kernel.core_share).sum();
    let blocks: u64 = stats.iter().map(|kernel| kernel.duration.count).sum();
    let cores = timeline.core_counts();
    let kinds: Vec<_> = cores.kinds().map(|kind| format!("{} {}", cores.of(kind), kind.as_str())).collect();
    table.render()
        + &format!(
            "{blocks} blocks in {} on {} cores, which were busy {} of the time\n",
            time_text(timeline.us(timeline.makespan)),
            kinds.join(" + "),
            percent_text(busy)
        )
}
