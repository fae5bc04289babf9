//! Writing the dependencies: tasks go straight to the file; tensors and edges, which arise at the same time and
//! come after them, wait in spools.

use std::io::{self, ErrorKind, Read, Seek, Write};

use ringlane_task::{KernelId, SiteId};

use super::spool::Waiting;
use super::{BufferRow, DepsCounts, DepsEdge, DepsStep, DepsTask, DepsTensor, KernelRow, RowCounts, VERSION};
use crate::rows::field::Field;
use crate::rows::sections::Sections;
use crate::text::Text;

/// The names of a run, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct DepsNames {
    sites: Vec<String>,
    /// Sorted by their numbers.
    kernels: Vec<KernelRow>,
}

impl DepsNames {
    /// `sites` by the numbers of sites, `kernels` in any order.
    pub fn new<S: AsRef<str>>(sites: &[S], kernels: &[KernelRow]) -> Self {
        let sites = sites.iter().map(|site| site.as_ref().to_string()).collect();
        let mut kernels = kernels.to_vec();
        kernels.sort_by_key(|kernel| kernel.func_id);
        DepsNames { sites, kernels }
    }

    /// The name of a site; one that has none is refused.
    pub fn site(&self, site: SiteId) -> io::Result<&str> {
        self.sites.get(site.0 as usize).map(String::as_str).ok_or_else(|| unnamed("site"))
    }

    /// A kernel; one that has no name is refused.
    pub fn kernel(&self, kernel: KernelId) -> io::Result<&KernelRow> {
        let found = self.kernels.binary_search_by_key(&kernel, |row| row.func_id);
        found.map(|at| &self.kernels[at]).map_err(|_| unnamed("kernel"))
    }
}

fn unnamed(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("a task has a {what} without a name"))
}

/// Writes `deps.json`. Tasks, tensors and edges may be given in any mixture; each kind keeps its order.
///
/// ```
/// use std::io::Cursor;
/// use ringlane_task::SiteId;
/// use ringlane_trace::deps::{DepsNames, DepsTask, DepsWriter};
/// let mut text = Vec::new();
/// let names = DepsNames::new(&["src/lib.rs:7"], &[]);
/// let mut writer = DepsWriter::new(&mut text, [Cursor::new(Vec::new()), Cursor::new(Vec::new())]);
/// writer.task(&DepsTask { site: names.site(SiteId(0))?.into(), block_num: 1, ..DepsTask::default() })?;
/// assert_eq!(writer.finish(0)?.tasks.collected, 1);
/// assert!(String::from_utf8(text).unwrap().contains(r#""site":"src/lib.rs:7","manual":false,"kernels":[]"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct DepsWriter<W, S> {
    tasks: Sections<W>,
    tensors: Waiting<S>,
    edges: Waiting<S>,
    /// What was recorded of the program beside its submits.
    program: Option<(Vec<BufferRow>, Vec<DepsStep<'static>>)>,
}

impl<W: Write, S: Read + Write + Seek> DepsWriter<W, S> {
    /// Starts the file; `spools` are empty files of which only a long run uses anything.
    pub fn new(out: W, spools: [S; 2]) -> Self {
        let mut head = Text::default();
        head.raw("{\"version\":").number(VERSION);
        let [tensors, edges] = spools.map(Waiting::new);
        let tasks = Sections::new(out, head, vec![",\n\"tasks\":[\n".to_string()]);
        DepsWriter { tasks, tensors, edges, program: None }
    }

    /// Writes one task, in submission order.
    pub fn task(&mut self, row: &DepsTask<'_>) -> io::Result<()> {
        row.write(self.tasks.row(0)?);
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

    /// Adds the external buffers, and what the orchestration did after its last submit.
    pub fn program(&mut self, buffers: Vec<BufferRow>, last_steps: Vec<DepsStep<'static>>) {
        self.program = Some((buffers, last_steps));
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
        if let Some((buffers, last_steps)) = &self.program {
            tail.raw("\"buffers\":").list(buffers, |text, row| row.write(text));
            tail.raw(",\n\"last_steps\":").list(last_steps, |text, row| row.write(text)).raw(",\n");
        }
        tasks.write(&mut tail);
        tail.raw("}\n").give(self.tasks.out())?;
        self.tasks.finish()?;
        Ok(counts)
    }
}
