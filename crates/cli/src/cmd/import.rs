//! `ringlane import`: a task graph of another tool as a run directory.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use ringlane_graph::import::limits::CLOCK_FREQ_HZ;
use ringlane_graph::import::{
    Format, ImportOptions, ImportedGraph, KernelBy, Scale, Skipped, import, input_files, scene_name,
    write_run,
};
use ringlane_insight::units::{agreeing, counted, microseconds, time_text};
use ringlane_trace::{RunDir, UtcTime};
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output::{self, path_text, say};
use crate::progress::{ByteBar, Progress};
use crate::run_arg::OUTPUTS;
use crate::signals::{Inbox, is_stop_asked};

const EXAMPLE: &str = "\
Example:
  $ ringlane import montage.json --scale 1s=1us
  $ printf 'digraph { load [weight=3]; blur_1 [weight=5]; blur_2 [weight=5]; load -> {blur_1 blur_2} }' > blur.dot
  $ ringlane import blur.dot -o blur
  $ ringlane deps blur
  $ ringlane import traces/ --format csv --json | jq .tasks
Formats: wfformat (WfCommons instances), chakra (execution traces, protobuf or JSON), dot (digraphs; weight or duration
in µs), csv (tasks.csv with id, duration_us; edges.csv with pred, succ), trace (Chrome trace events with flow arrows).
The directory has a run.json with the status `imported` and a deps.json in which each task has its duration.";

/// Import a task graph of another tool as a run directory
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ImportArgs {
    /// The file; for csv, tasks.csv or the directory that it is in
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format [default: detected]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatArg>,
    /// How long a time of the file becomes: 1s=1us makes a second a microsecond
    #[arg(long, value_name = "TIME=TIME", default_value = "1s=1s", allow_hyphen_values = true)]
    scale: String,
    /// What the kernel of a task is: its kind, or its name
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = KernelByArg::Kind)]
    kernel_by: KernelByArg,
    /// Chrome traces: also keep the order of the slices on each lane (pid and tid)
    #[arg(long)]
    lane_order: bool,
    /// The directory to write [default: outputs/<file>_<format>_<time>]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

/// A format, by the name that it has everywhere.
#[derive(Clone, Copy, Debug)]
struct FormatArg(Format);

impl ValueEnum for FormatArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FormatArg; Format::ALL.len()] = {
            let mut all = [FormatArg(Format::Dot); Format::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = FormatArg(Format::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KernelByArg {
    Kind,
    Name,
}

/// What was imported; fields may be added, never renamed.
#[derive(Serialize)]
struct Summary<'a> {
    dir: String,
    scene: &'a str,
    format: &'static str,
    detected: bool,
    tasks: u64,
    edges: usize,
    kernels: usize,
    work_us: f64,
    longest_path_us: f64,
    skipped: Skipped,
}

impl ImportArgs {
    /// Imports the file, and prints where the directory is.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let options = self.options()?;
        let started_at = UtcTime::now();
        // A directory that cannot be used is refused before a long read.
        let dir = self.output.as_ref().map(RunDir::create_exact).transpose()?;
        let graph = match self.read(&options) {
            Ok(graph) => graph,
            Err(error) => {
                dir.into_iter().for_each(RunDir::abandon);
                return Err(error);
            }
        };
        let dir = match dir {
            Some(dir) => dir,
            None => {
                let file = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
                RunDir::create_unique(OUTPUTS, &scene_name(&file), graph.format().as_str(), started_at)?
            }
        };
        let manifest = match write_run(&graph, &options, &dir, started_at) {
            Ok(manifest) => manifest,
            Err(error) => {
                dir.abandon();
                return Err(error.into());
            }
        };
        self.report(&graph, dir.path(), &manifest.scene)?;
        Ok(Exit::Ok)
    }

    fn options(&self) -> Result<ImportOptions, CliError> {
        let scale: Scale = self.scale.parse()?;
        let kernel_by = match self.kernel_by {
            KernelByArg::Kind => KernelBy::Kind,
            KernelByArg::Name => KernelBy::Name,
        };
        Ok(ImportOptions { scale, kernel_by, lane_order: self.lane_order })
    }

    fn read(&self, options: &ImportOptions) -> Result<ImportedGraph, CliError> {
        let format = self.format.map(|format| format.0);
        let sizes = input_files(&self.file, format).into_iter().filter_map(|file| file.metadata().ok());
        let progress = if self.json { Progress::Hidden } else { Progress::for_people() };
        let bar = ByteBar::start(progress, "reading", sizes.map(|file| file.len()).sum());
        // While it is open, a stop signal is heeded here, and the directory is taken back.
        let _inbox = Inbox::open()?;
        let mut watch = |bytes| {
            bar.advance(bytes);
            if is_stop_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let graph = import(&self.file, format, options, &mut watch);
        bar.clear();
        Ok(graph?)
    }

    fn report(&self, graph: &ImportedGraph, dir: &Path, scene: &str) -> Result<(), CliError> {
        let tasks = graph.tasks().len() as u64;
        let us = |ticks: u64| microseconds(ticks as f64, CLOCK_FREQ_HZ);
        let (work_us, longest_path_us) = (us(graph.work_ticks()), us(graph.longest_path_ticks()));
        let (edges, kernels) = (graph.edges().len(), graph.kernels().len());
        if self.json {
            return output::results(&output::json(&Summary {
                dir: dir.display().to_string(),
                scene,
                format: graph.format().as_str(),
                detected: self.format.is_none(),
                tasks,
                edges,
                kernels,
                work_us,
                longest_path_us,
                skipped: graph.skipped(),
            }));
        }
        let format = graph.format();
        if self.format.is_none() {
            say(format_args!("{}: {} (--format {format})", path_text(&self.file), format.about()));
        }
        say(format_args!(
            "{}, {}, {}; work {}, longest path {}",
            counted(tasks, "task"),
            counted(edges as u64, "edge"),
            counted(kernels as u64, "kernel"),
            time_text(work_us),
            time_text(longest_path_us)
        ));
        notes(graph.skipped());
        output::results(&format!("{}\n", path_text(dir)))
    }
}

/// What was left out.
fn notes(Skipped { events, arrows }: Skipped) {
    if events > 0 {
        let (events, were) = (counted(events, "other event"), agreeing(events, "was", "were"));
        say(format_args!("note: {events} {were} skipped: only slices and arrows make a graph"));
    }
    if arrows > 0 {
        let (ends, are) = (counted(arrows, "arrow"), agreeing(arrows, "was", "were"));
        say(format_args!("note: {ends} {are} skipped: an arrow has to begin and to end in two slices"));
    }
}
