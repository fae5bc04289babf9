//! Writing the dependencies: tasks go straight to the file; tensors and edges, which arise at the same time and
//! stand after them, wait in spools.

use std::io::{self, ErrorKind, Read, Seek, Write};

use super::spool::Waiting;
use super::{
    DepsArg, DepsCounts, DepsEdge, DepsTaskRow, DepsTensor, Inference, KernelRow, LaneKernel, RowCounts,
    VERSION,
};
use crate::rows::sections::Sections;
use crate::text::Text;

const OPENINGS: &[&str] = &[",\n\"tasks\":[\n"];

/// The names of a run, made into JSON once: a task's row copies them.
#[derive(Clone, Debug, Default)]
pub struct DepsNames {
    /// By site.
    sites: Vec<String>,
    /// By kernel, everything but the lane.
    kernels: Vec<String>,
}

impl DepsNames {
    /// `sites` by the numbers of sites, `kernels` in any order.
    pub fn new<S: AsRef<str>>(sites: &[S], kernels: &[KernelRow]) -> Self {
        let quoted = |site: &S| json(|text| text.string(site.as_ref()));
        let mut names = DepsNames { sites: sites.iter().map(quoted).collect(), kernels: Vec::new() };
        for kernel in kernels {
            let index = kernel.func_id.0 as usize;
            if names.kernels.len() <= index {
                names.kernels.resize(index + 1, String::new());
            }
            names.kernels[index] = json(|text| kernel.write(text));
        }
        names
    }
}

fn json(write: impl FnOnce(&mut Text) -> &mut Text) -> String {
    let mut text = Text::default();
    write(&mut text);
    String::from_utf8_lossy(text.bytes()).into_owned()
}

/// Writes `deps.json`. Tasks, tensors and edges may be given in any mixture; each kind keeps its order.
///
/// ```
/// use std::io::Cursor;
/// use ringlane_task::{ScopeId, Seq, SiteId, TaskId};
/// use ringlane_trace::deps::{DepsNames, DepsTaskRow, DepsWriter, Inference};
/// let mut text = Vec::new();
/// let names = DepsNames::new(&["src/lib.rs:7"], &[]);
/// let spools = [Cursor::new(Vec::new()), Cursor::new(Vec::new())];
/// let mut writer = DepsWriter::new(&mut text, spools, &names);
/// writer.task(&DepsTaskRow {
///     task_id: TaskId(0), seq: Seq(0), block_num: 1, scope: ScopeId(0), site: SiteId(0),
///     inference: Inference::FromArguments, kernels: &[], args: &[],
/// })?;
/// assert_eq!(writer.finish(0)?.tasks.collected, 1);
/// assert!(String::from_utf8(text).unwrap().contains(r#""site":"src/lib.rs:7","manual":false,"kernels":[]"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct DepsWriter<'a, W, S> {
    tasks: Sections<W>,
    tensors: Waiting<S>,
    edges: Waiting<S>,
    names: &'a DepsNames,
}

impl<'a, W: Write, S: Read + Write + Seek> DepsWriter<'a, W, S> {
    /// Starts the file; `spools` are empty files of which only a long run uses anything.
    pub fn new(out: W, spools: [S; 2], names: &'a DepsNames) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(VERSION);
        let [tensors, edges] = spools.map(Waiting::new);
        DepsWriter { tasks: Sections::new(out, head, OPENINGS), tensors, edges, names }
    }

    /// Writes one task, in submission order. Sites and kernels that have no name are refused.
    pub fn task(&mut self, row: &DepsTaskRow<'_>) -> io::Result<()> {
        let site = self.names.sites.get(row.site.0 as usize).ok_or_else(|| unnamed("site"))?;
        if row.kernels.iter().any(|kernel| kernel_of(self.names, kernel).is_none()) {
            return Err(unnamed("kernel"));
        }
        let text = self.tasks.row(0)?;
        text.raw("{\"task_id\":").number(row.task_id.0).raw(",\"seq\":").number(row.seq.0);
        text.raw(",\"block_num\":").number(row.block_num).raw(",\"scope\":").number(row.scope.0);
        text.raw(",\"site\":")
            .raw(site)
            .raw(",\"manual\":")
            .raw(Text::truth(row.inference == Inference::Manual));
        text.raw(",\"kernels\":").list(row.kernels, |text, kernel| {
            text.raw("{").raw(kernel_of(self.names, kernel).unwrap_or_default());
            text.raw(",\"lane\":").number(kernel.lane).raw("}");
        });
        text.raw(",\"args\":").list(row.args, write_arg).raw("}");
        Ok(())
    }

    /// Writes one tensor, in the order of numbers.
    pub fn tensor(&mut self, row: &DepsTensor) -> io::Result<()> {
        self.tensors.push(row)
    }

    /// Writes one edge, in submission order of the task that waits.
    pub fn edge(&mut self, row: &DepsEdge) -> io::Result<()> {
        self.edges.push(row)
    }

    /// Puts the parts together and ends the file; `dropped` is how many tasks were lost.
    pub fn finish(mut self, dropped: u64) -> io::Result<DepsCounts> {
        let tasks = RowCounts { collected: self.tasks.rows(0), dropped };
        let counts = DepsCounts { tasks, tensors: self.tensors.rows, edges: self.edges.rows };
        self.tasks.close()?.raw(",\n\"tensors\":[\n");
        self.tasks.flush()?;
        self.tensors.write_to::<DepsTensor>(self.tasks.out())?;
        self.tasks.out().write_all(b"],\n\"edges\":[\n")?;
        self.edges.write_to::<DepsEdge>(self.tasks.out())?;
        let mut tail = Text::default();
        tail.raw("],\n");
        tasks.write(&mut tail);
        tail.raw("}\n").give(self.tasks.out())?;
        self.tasks.finish()?;
        Ok(counts)
    }
}

fn write_arg(text: &mut Text, arg: &DepsArg) {
    text.raw("{\"index\":").number(arg.index).raw(",\"access\":\"").raw(arg.access.as_str());
    text.raw("\",\"tensor\":").number(arg.tensor.0).raw(",");
    arg.view.write(text);
    text.raw("}");
}

fn kernel_of<'n>(names: &'n DepsNames, kernel: &LaneKernel) -> Option<&'n str> {
    let name = names.kernels.get(kernel.func_id.0 as usize)?;
    (!name.is_empty()).then_some(name)
}

fn unnamed(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("a task has a {what} without a name"))
}
