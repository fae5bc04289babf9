//! Task graphs of other tools, as run directories.
//!
//! ```text
//! file ──▶ Input ──▶ wfformat | chakra | dot | csv | trace ──▶ GraphBuilder ──▶ ImportedGraph ──▶ deps.json, run.json
//!          (bytes)    readers, one pass, nothing of the file kept   (ids, edges)    (topological order)
//! ```
//!
//! Readers are streaming: memory grows with the tasks, the edges and their names, within [`limits`], and not with the file. Every
//! problem of a file is an [`ImportError`] that names the place.
//!
//! ```
//! use ringlane_graph::import::{Format, ImportOptions, read};
//! let dot = "digraph { a [weight=2]; b [weight=3]; a -> b }";
//! let graph = read(Format::Dot, "ab.dot", dot.as_bytes(), &ImportOptions::default())?;
//! assert_eq!(graph.edges(), [(0, 1)]);
//! assert_eq!(graph.tasks().map(|task| task.ticks).collect::<Vec<_>>(), [2000, 3000]);
//! # Ok::<(), ringlane_graph::import::ImportError>(())
//! ```

#![forbid(unsafe_code)]

mod builder;
mod chakra;
mod csv;
mod dot;
mod error;
mod format;
mod graph;
mod input;
mod json;
mod kind;
pub mod limits;
mod names;
mod order;
mod place;
mod scale;
mod trace;
mod wfformat;
mod write;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub use error::ImportError;
pub use format::Format;
pub use graph::{ImportedGraph, ImportedTask, Skipped};
pub use input::Watch;
pub use kind::kind_of_name;
pub use place::Place;
pub use scale::Scale;
pub use write::{scene_name, write_run};

use builder::GraphBuilder;
use input::Input;

/// What the kernel of a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelBy {
    /// Its kind, where the format has one; otherwise its name without the number at the end ([`kind_of_name`]).
    #[default]
    Kind,
    /// Its name.
    Name,
}

/// How a file is imported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// How much longer or shorter tasks become.
    pub scale: Scale,
    /// What kernels are.
    pub kernel_by: KernelBy,
    /// Chrome traces: whether slices of a lane also wait for the slice before them there.
    pub lane_order: bool,
}

/// The tables of [`Format::Csv`], in one directory.
const TASKS_CSV: &str = "tasks.csv";
const EDGES_CSV: &str = "edges.csv";

/// Imports a file, or for [`Format::Csv`] a directory. Without a format, it is detected by the name and the first bytes.
pub fn import(
    path: &Path,
    format: Option<Format>,
    options: &ImportOptions,
    watch: &mut Watch<'_>,
) -> Result<ImportedGraph, ImportError> {
    let is_dir = path.is_dir();
    let tasks = if is_dir { path.join(TASKS_CSV) } else { path.to_path_buf() };
    if is_dir && format.is_none_or(|format| format == Format::Csv) && !tasks.exists() {
        return Err(ImportError::MissingFile { path: tasks, what: "the tasks of a directory" });
    }
    let mut input = open(&tasks, watch)?;
    let format = match format {
        Some(format) => format,
        None if is_dir => Format::Csv,
        None => Format::detect(&tasks, input.start()?)
            .ok_or_else(|| ImportError::UnknownFormat { path: path.to_path_buf() })?,
    };
    if format != Format::Csv {
        return read_input(format, input, options);
    }
    let mut graph = GraphBuilder::new(format, input.cursor(), options);
    csv::read_tasks(&mut input.into_text()?, &mut graph)?;
    let edges = tasks.with_file_name(EDGES_CSV);
    if !edges.exists() {
        return Err(ImportError::MissingFile { path: edges, what: "the edges" });
    }
    csv::read_edges(&mut open(&edges, watch)?.into_text()?, &mut graph)?;
    graph.finish()
}

fn open<'w>(path: &Path, watch: &'w mut Watch<'_>) -> Result<Input<'w>, ImportError> {
    let unreadable = |source| ImportError::UnreadableInput { path: path.to_path_buf(), source };
    let file = File::open(path).map_err(unreadable)?;
    let is_dir = file.metadata().map_err(unreadable)?.is_dir();
    if is_dir {
        return Err(unreadable(ErrorKind::IsADirectory.into()));
    }
    Ok(Input::new(&path.display().to_string(), Box::new(file), watch))
}

/// Reads a graph of a format from bytes, of which errors speak as `name`. Tables need two sources: see [`read_tables`].
pub fn read(
    format: Format,
    name: &str,
    from: impl Read,
    options: &ImportOptions,
) -> Result<ImportedGraph, ImportError> {
    let mut watch = |_| ControlFlow::Continue(());
    read_input(format, Input::new(name, Box::new(from), &mut watch), options)
}

fn read_input(
    format: Format,
    input: Input<'_>,
    options: &ImportOptions,
) -> Result<ImportedGraph, ImportError> {
    let mut graph = GraphBuilder::new(format, input.cursor(), options);
    match format {
        Format::WfFormat => wfformat::read(&mut input.into_text()?, graph),
        Format::Chakra => chakra::read(input, graph),
        Format::Dot => dot::read(&mut input.into_text()?, graph),
        Format::Trace => trace::read(&mut input.into_text()?, graph),
        Format::Csv => {
            csv::read_tasks(&mut input.into_text()?, &mut graph)?;
            graph.finish()
        }
    }
}

/// Reads tables from bytes: tasks, and the edges between them.
///
/// ```
/// use ringlane_graph::import::{ImportOptions, read_tables};
/// let (tasks, edges) = ("id,duration_us\na,2\nb,3\n", "pred,succ\na,b\n");
/// let graph = read_tables(tasks.as_bytes(), edges.as_bytes(), &ImportOptions::default())?;
/// assert_eq!(graph.longest_path_ticks(), 5000);
/// # Ok::<(), ringlane_graph::import::ImportError>(())
/// ```
pub fn read_tables(
    tasks: impl Read,
    edges: impl Read,
    options: &ImportOptions,
) -> Result<ImportedGraph, ImportError> {
    let mut watch = |_| ControlFlow::Continue(());
    let input = Input::new(TASKS_CSV, Box::new(tasks), &mut watch);
    let mut graph = GraphBuilder::new(Format::Csv, input.cursor(), options);
    csv::read_tasks(&mut input.into_text()?, &mut graph)?;
    let mut watch = |_| ControlFlow::Continue(());
    let input = Input::new(EDGES_CSV, Box::new(edges), &mut watch);
    csv::read_edges(&mut input.into_text()?, &mut graph)?;
    graph.finish()
}

/// The files that an import reads, for those who want to know how large they are.
pub fn input_files(path: &Path, format: Option<Format>) -> Vec<PathBuf> {
    let is_table = path.is_dir() || path.extension().is_some_and(|extension| extension == "csv");
    match format {
        None | Some(Format::Csv) if is_table => {
            let tasks = if path.is_dir() { path.join(TASKS_CSV) } else { path.to_path_buf() };
            vec![tasks.with_file_name(EDGES_CSV), tasks]
        }
        _ => vec![path.to_path_buf()],
    }
}
