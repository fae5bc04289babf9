//! Writing the dependencies: tasks go straight to the file; tensors and edges, which arise at the same time and
//! stand after them, wait in spools.

use std::io::{self, ErrorKind, Read, Seek, Write};

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
    tensors: Spooled<S>,
    edges: Spooled<S>,
    names: &'a DepsNames,
}

impl<'a, W: Write, S: Read + Write + Seek> DepsWriter<'a, W, S> {
    /// Starts the file; `spools` are empty files of which only a long run uses anything.
    pub fn new(out: W, spools: [S; 2], names: &'a DepsNames) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(VERSION);
        let [tensors, edges] = spools.map(Spooled::new);
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
        let text = self.tensors.row()?;
        text.raw("{\"tensor\":").number(row.tensor.0).raw(",\"bytes\":").number(row.bytes);
        text.raw(",\"origin\":\"").raw(row.origin.as_str()).raw("\"}");
        Ok(())
    }

    /// Writes one edge, in submission order of the task that waits.
    pub fn edge(&mut self, row: &DepsEdge) -> io::Result<()> {
        let text = self.edges.row()?;
        text.raw("{\"pred\":").number(row.pred.0).raw(",\"succ\":").number(row.succ.0);
        text.raw(",\"source\":\"").raw(row.source.as_str()).raw("\"");
        if let Some(cause) = &row.cause {
            text.raw(",\"hazard\":\"").raw(cause.hazard.as_str()).raw("\",\"arg\":").number(cause.arg);
            text.raw(",\"tensor\":").number(cause.tensor.0);
            text.raw(",\"overlap\":\"").raw(cause.overlap.as_str()).raw("\"");
        }
        text.raw("}");
        Ok(())
    }

    /// Puts the parts together and ends the file; `dropped` is how many tasks were lost.
    pub fn finish(mut self, dropped: u64) -> io::Result<DepsCounts> {
        let tasks = RowCounts { collected: self.tasks.rows(0), dropped };
        let counts = DepsCounts { tasks, tensors: self.tensors.rows, edges: self.edges.rows };
        self.tasks.close()?.raw(",\n\"tensors\":[\n");
        self.tasks.flush()?;
        self.tensors.append_to(self.tasks.out())?;
        self.tasks.out().write_all(b"],\n\"edges\":[\n")?;
        self.edges.append_to(self.tasks.out())?;
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

/// Rows that wait for their turn: in memory while they are few, else in a file.
struct Spooled<S> {
    spool: S,
    text: Text,
    spilled: u64,
    rows: u64,
}

impl<S: Read + Write + Seek> Spooled<S> {
    fn new(spool: S) -> Self {
        Spooled { spool, text: Text::default(), spilled: 0, rows: 0 }
    }

    fn row(&mut self) -> io::Result<&mut Text> {
        let before = self.text.bytes().len() as u64;
        self.text.spill(&mut self.spool)?;
        self.spilled += before - self.text.bytes().len() as u64;
        if self.rows > 0 {
            self.text.raw(",\n");
        }
        self.rows += 1;
        Ok(&mut self.text)
    }

    fn append_to(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.spilled > 0 {
            self.spool.rewind()?;
            let copied = io::copy(&mut (&mut self.spool).take(self.spilled), out)?;
            if copied != self.spilled {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        self.text.give(out)
    }
}
