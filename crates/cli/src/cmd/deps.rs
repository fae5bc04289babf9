//! `ringlane deps` and `ringlane mermaid`: which task waits for which, and why.

use std::io::{self, BufWriter, ErrorKind, Write, stdout};
use std::path::PathBuf;

use clap::ValueEnum;
use ringlane_insight::deps::{REDUCTION_STEPS_MAX, TaskGraph, reduce};
use ringlane_insight::timeline::TaskIndex;
use ringlane_insight::units::{agreeing, counted};
use ringlane_insight::{InsightError, Instrument, Run, task_name};
use ringlane_report::graph::{
    HTML_NODES_MAX, MERMAID_EDGES_MAX, MERMAID_NODES_MAX, Picture, Shown, task_text, write_dot, write_html,
    write_kernels, write_mermaid, write_text,
};
use ringlane_task::TaskId;
use ringlane_trace::ArtifactFile;

use crate::errors::{CliError, Exit};
use crate::options;
use crate::output::{path_text, say};
use crate::output_path;
use crate::run_arg::{Needs, RunArg};

/// The page's name in the run directory.
const HTML_FILE_NAME: &str = "deps.html";

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --dep-gen
  $ ringlane deps | grep 'SOFTMAX) ->'
  $ ringlane deps --reduce --format dot | dot -Tsvg > deps.svg
  $ ringlane deps --task 1:7
  $ ringlane deps --format html
  $ ringlane deps --collapse --format dot | dot -Tsvg > kernels.svg
Format of a line: pred(seq,kernel) -> succ(seq,kernel) source hazard arg tensor overlap
html shows one node per kernel above 10000 tasks, mermaid above 300 tasks or 500 edges.";

const MERMAID_EXAMPLE: &str = "\
Example:
  $ ringlane run cholesky --dep-gen
  $ ringlane mermaid
  $ ringlane mermaid outputs/cholesky_small_20261115_093012 --reduce -o graph.mmd
Without deps.json it shows the edges that the engine wired, from a swimlane of level 2 or 3.
Above 300 tasks or 500 edges it shows one node per kernel.";

/// Show which tasks depend on which, and why
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct DepsArgs {
    #[command(flatten)]
    run: RunArg,
    /// The output format; html is written to deps.html in the run directory
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    graph: GraphArgs,
    /// Show one task, its neighbours and the tensor regions they share; ID is a task id or ring:number
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = options::task)]
    #[arg(conflicts_with_all = ["collapse", "no_collapse"])]
    task: Option<TaskId>,
}

/// Show the executed graph as a Mermaid flowchart
#[derive(clap::Args)]
#[command(after_help = MERMAID_EXAMPLE)]
pub struct MermaidArgs {
    #[command(flatten)]
    run: RunArg,
    #[command(flatten)]
    graph: GraphArgs,
}

#[derive(clap::Args)]
struct GraphArgs {
    /// Leave out edges that other edges imply (transitive reduction)
    #[arg(long)]
    reduce: bool,
    /// Show one node per kernel, and the number of edges between each pair
    #[arg(long, conflicts_with = "no_collapse")]
    collapse: bool,
    /// Show every task, however large the graph is
    #[arg(long)]
    no_collapse: bool,
    /// The file to write to [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Html,
    Dot,
    Mermaid,
}

impl DepsArgs {
    /// Reads the dependencies and shows them.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Deps))?;
        let graph = recorded(&run)?;
        show(&run, &graph, self.format, &self.graph, self.task)
    }
}

impl MermaidArgs {
    /// Reads the dependencies, or without them the edges of the swimlane, and shows them as a flowchart.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Graph)?;
        let has = |instrument| run.entry(instrument).is_some();
        let graph = match has(Instrument::Swimlane) && !has(Instrument::Deps) {
            true => wired(&run)?,
            false => recorded(&run)?,
        };
        show(&run, &graph, Format::Mermaid, &self.graph, None)
    }
}

/// The graph of the recorded dependencies.
fn recorded(run: &Run) -> Result<TaskGraph, CliError> {
    let disagree = |what| InsightError::FilesDisagree { dir: run.dir.clone(), what };
    Ok(TaskGraph::new(run.dependencies()?).map_err(disagree)?)
}

/// The graph of what the engine wired.
fn wired(run: &Run) -> Result<TaskGraph, CliError> {
    let timeline = run.timeline()?;
    let graph = TaskGraph::wired(&timeline)?;
    say(format_args!(
        "note: these are the edges that the engine wired; --dep-gen also records those from tasks that were already done"
    ));
    let dropped = timeline.counts.edges.dropped;
    if dropped > 0 {
        let (edges, were) = (counted(dropped, "edge"), agreeing(dropped, "was", "were"));
        say(format_args!("note: {edges} {were} lost when the run was recorded"));
    }
    Ok(graph)
}

fn show(
    run: &Run,
    graph: &TaskGraph,
    format: Format,
    args: &GraphArgs,
    task: Option<TaskId>,
) -> Result<Exit, CliError> {
    let output = args.output.clone().or((format == Format::Html).then(|| run.dir.join(HTML_FILE_NAME)));
    output.iter().try_for_each(|output| output_path::check(run, output))?;
    let task = task.map(|id| found(graph, id)).transpose()?;
    if graph.lost > 0 {
        let (lost, were) = (counted(graph.lost, "task"), agreeing(graph.lost, "was", "were"));
        let their = agreeing(graph.lost, "its", "their");
        say(format_args!("note: {lost} {were} lost when the run was recorded; {their} edges are missing"));
    }
    let all = graph.edges.len();
    let edges: Vec<_> = match args.reduce {
        true => reduce(graph.tasks.len(), &graph.edges).map_err(|_| too_large(graph))?,
        false => graph.edges.pairs().collect(),
    };
    if args.reduce {
        say(format_args!("{} of {all} edges; the others follow from them", edges.len()));
    }
    let view = View { run, graph, edges: &edges, task, collapse: args.collapse() };
    write_to(output, |out| view.write(format, out))?;
    Ok(Exit::Ok)
}

/// What is shown, of which run.
struct View<'a> {
    run: &'a Run,
    graph: &'a TaskGraph,
    edges: &'a [(TaskIndex, TaskIndex)],
    task: Option<TaskIndex>,
    collapse: Collapse,
}

/// Whether tasks of one kernel are one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Collapse {
    Always,
    Never,
    /// If the graph is larger than the format is good for.
    Large,
}

impl GraphArgs {
    const fn collapse(&self) -> Collapse {
        match (self.collapse, self.no_collapse) {
            (true, _) => Collapse::Always,
            (false, true) => Collapse::Never,
            (false, false) => Collapse::Large,
        }
    }
}

impl View<'_> {
    fn write(&self, format: Format, mut out: &mut dyn Write) -> io::Result<()> {
        let manifest = &self.run.manifest;
        let title = format!("{} {}", manifest.scene, manifest.case);
        match (format, self.task) {
            (Format::Text, Some(task)) => out.write_all(task_text(self.graph, task).as_bytes()),
            (Format::Text, None) if self.collapse == Collapse::Always => {
                write_kernels(self.graph, self.edges, &mut out)
            }
            (Format::Text, None) => write_text(self.graph, self.edges, &mut out),
            (Format::Dot, _) => write_dot(&self.picture(usize::MAX, usize::MAX).0, &title, &mut out),
            (Format::Mermaid, _) => {
                let (picture, _) = self.picture(MERMAID_NODES_MAX, MERMAID_EDGES_MAX);
                write_mermaid(&picture, &title, &mut out)
            }
            (Format::Html, _) => {
                let (picture, note) = self.picture(HTML_NODES_MAX, usize::MAX);
                write_html(&picture, self.graph, &title, &note, &mut out)
            }
        }
    }

    /// The picture with at most this many nodes and edges, and what it leaves out, which is also said.
    fn picture(&self, nodes_max: usize, edges_max: usize) -> (Picture, String) {
        let (tasks, edges) = (self.graph.tasks.len(), self.edges.len());
        let shown = match self.task {
            Some(task) => Shown::Around(task),
            None if self.collapse == Collapse::Always => Shown::Kernels,
            None if self.collapse == Collapse::Never => Shown::Tasks,
            None if tasks > nodes_max || edges > edges_max => Shown::Kernels,
            None => Shown::Tasks,
        };
        let picture = Picture::new(self.graph, self.edges, shown);
        if shown != Shown::Kernels {
            if picture.links.len() > edges_max {
                say(format_args!(
                    "note: Mermaid draws more than {edges_max} edges only if its `maxEdges` is raised"
                ));
            }
            return (picture, String::new());
        }
        let (tasks, edges) = (counted(tasks as u64, "task"), counted(edges as u64, "edge"));
        let nodes = counted(picture.nodes.len() as u64, "node");
        let note = format!("{tasks} and {edges}, collapsed by kernel into {nodes}");
        say(format_args!("note: {note}"));
        (picture, note)
    }
}

/// Writes to a file, or to standard output if none is given; a closed pipe there is not an error.
fn write_to(
    path: Option<PathBuf>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
        return match write(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::CannotPrint(error)),
            _ => Ok(()),
        };
    };
    let mut file = ArtifactFile::at(&path)?;
    write(&mut file).map_err(|error| file.error(error))?;
    file.commit()?;
    say(format_args!("wrote {}", path_text(&path)));
    Ok(())
}

fn found(graph: &TaskGraph, id: TaskId) -> Result<TaskIndex, CliError> {
    graph.find(id).ok_or_else(|| {
        let allowed = match graph.tasks.first() {
            Some(first) => {
                format!(
                    "one of the {}, such as {}",
                    counted(graph.tasks.len() as u64, "task"),
                    task_name(first.task_id)
                )
            }
            None => "none: the run has no tasks".to_string(),
        };
        CliError::bad_value("--task", &task_name(id), allowed, "`ringlane deps` lists tasks with edges")
    })
}

fn too_large(graph: &TaskGraph) -> CliError {
    let (tasks, edges) = (graph.tasks.len(), graph.edges.len());
    let allowed = format!(
        "graphs that reduce within {REDUCTION_STEPS_MAX} steps; this one has {tasks} tasks and {edges} edges"
    );
    CliError::bad_value("--reduce", "", allowed, "leave out --reduce")
}
