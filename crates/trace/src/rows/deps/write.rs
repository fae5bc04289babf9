//! Writing the dependencies: tasks go straight to the file; tensors and edges, which arise at the same time and
//! stand after them, wait in spools.

use std::convert::Infallible;
use std::io::{self, ErrorKind, Read, Seek, Write};

use ringlane_task::{Access, SiteId};

use super::memo::{Around, Memo, bytes_of};
use super::spool::Waiting;
use super::{
    DepsArg, DepsCounts, DepsEdge, DepsTaskRow, DepsTensor, Inference, KernelRow, LaneKernel, RowCounts,
    VERSION,
};
use crate::rows::ViewRow;
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
///     inference: Inference::FromArguments, kernels: &[], args: &[], label: None,
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
    task_forms: Memo<TaskForm, Box<[u8]>>,
    arg_forms: Memo<ArgForm, Around>,
}

/// Where a task comes from and what it runs: many tasks have the same.
struct TaskForm {
    site: SiteId,
    inference: Inference,
    kernels: Box<[LaneKernel]>,
}

/// What many arguments have in common: all but the tensor and the offset.
struct ArgForm {
    index: u32,
    access: Access,
    view: ViewRow,
}

impl<'a, W: Write, S: Read + Write + Seek> DepsWriter<'a, W, S> {
    /// Starts the file; `spools` are empty files of which only a long run uses anything.
    pub fn new(out: W, spools: [S; 2], names: &'a DepsNames) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(VERSION);
        let [tensors, edges] = spools.map(Waiting::new);
        let tasks = Sections::new(out, head, OPENINGS);
        DepsWriter { tasks, tensors, edges, names, task_forms: Memo::default(), arg_forms: Memo::default() }
    }

    /// Writes one task, in submission order. Sites and kernels that have no name are refused.
    pub fn task(&mut self, row: &DepsTaskRow<'_>) -> io::Result<()> {
        let DepsWriter { tasks, names, task_forms, arg_forms, .. } = self;
        let form = task_text(task_forms, names, row)?;
        let text = tasks.row(0)?;
        text.raw("{\"task_id\":").number(row.task_id.0).raw(",\"seq\":").number(row.seq.0);
        text.raw(",\"block_num\":").number(row.block_num).raw(",\"scope\":").number(row.scope.0);
        text.push_bytes(form);
        for (place, arg) in row.args.iter().enumerate() {
            if place > 0 {
                text.raw(",");
            }
            let form = arg_text(arg_forms, arg);
            text.push_bytes(&form.before).number(arg.tensor.0);
            text.push_bytes(&form.after).number(arg.view.offset).raw("}");
        }
        match row.label {
            Some(label) => text.raw("],\"label\":").string(label).raw("}"),
            None => text.raw("]}"),
        };
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

/// A task's text from its site to the start of its arguments.
#[inline]
fn task_text<'m>(
    task_forms: &'m mut Memo<TaskForm, Box<[u8]>>,
    names: &DepsNames,
    row: &DepsTaskRow<'_>,
) -> io::Result<&'m [u8]> {
    let first = row.kernels.first().map_or(u32::MAX, |kernel| kernel.func_id.0);
    let is_it = |known: &TaskForm| {
        known.site == row.site && known.inference == row.inference && *known.kernels == *row.kernels
    };
    let make = || -> io::Result<_> {
        let text = write_task_form(names, row)?;
        Ok((TaskForm { site: row.site, inference: row.inference, kernels: row.kernels.into() }, text))
    };
    let text = task_forms.get(u64::from(row.site.0) << 32 | u64::from(first), is_it, make)?;
    Ok(text)
}

fn write_task_form(names: &DepsNames, row: &DepsTaskRow<'_>) -> io::Result<Box<[u8]>> {
    let site = names.sites.get(row.site.0 as usize).ok_or_else(|| unnamed("site"))?;
    if row.kernels.iter().any(|kernel| kernel_of(names, kernel).is_none()) {
        return Err(unnamed("kernel"));
    }
    Ok(bytes_of(|text| {
        let manual = Text::truth(row.inference == Inference::Manual);
        text.raw(",\"site\":").raw(site).raw(",\"manual\":").raw(manual);
        text.raw(",\"kernels\":").list(row.kernels, |text, kernel| {
            text.raw("{").raw(kernel_of(names, kernel).unwrap_or_default());
            text.raw(",\"lane\":").number(kernel.lane).raw("}");
        });
        text.raw(",\"args\":[");
    }))
}

/// What stands around the tensor of an argument.
#[inline]
fn arg_text<'m>(forms: &'m mut Memo<ArgForm, Around>, arg: &DepsArg) -> &'m Around {
    let hash = arg.view.form_hash() ^ (u64::from(arg.index) << 8 | arg.access as u64);
    let is_it = |known: &ArgForm| {
        known.index == arg.index && known.access == arg.access && known.view.has_form_of(&arg.view)
    };
    let make = || {
        let before = bytes_of(|text| {
            text.raw("{\"index\":").number(arg.index).raw(",\"access\":\"").raw(arg.access.as_str());
            text.raw("\",\"tensor\":");
        });
        let after = bytes_of(|text| arg.view.write_form(text.raw(",")));
        let form = ArgForm { index: arg.index, access: arg.access, view: arg.view };
        Ok::<_, Infallible>((form, Around { before, after }))
    };
    let Ok(text) = forms.get(hash, is_it, make);
    text
}

fn kernel_of<'n>(names: &'n DepsNames, kernel: &LaneKernel) -> Option<&'n str> {
    let name = names.kernels.get(kernel.func_id.0 as usize)?;
    (!name.is_empty()).then_some(name)
}

fn unnamed(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("a task has a {what} without a name"))
}
