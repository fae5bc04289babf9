//! One task again, from the arguments that were captured of it, compared with what it made then.
//!
//! ```text
//! deps.json          kernels, blocks, views, accesses ──┐
//! tensor_dump.json   scalars, which bytes were captured ─┼─▶ Rerun ──▶ calls ──▶ equal, or the first difference
//! tensor_dump.bin    bytes of inputs and of outputs ─────┘
//! ```
//! Nothing else of the program runs: a kernel can be watched by a debugger or a profiler without it.

mod captured;
mod compare;
mod error;

use std::time::Duration;

use ringlane_engine::alone::{AloneArg, TaskAlone};
use ringlane_engine::api::kernel::Kernel;
use ringlane_engine::api::launch::Launch;
use ringlane_insight::Run;
use ringlane_task::{Access, DType, TaskId};

pub use captured::{CapturedArg, CapturedTask};
pub use compare::{Difference, OutputComparison};
pub use error::RerunError;

/// The byte that memory has which is written but not read, in a second call: what a kernel leaves alone keeps it.
const FILL: u8 = 0xff;

/// A task that can be run again.
pub struct Rerun {
    task: CapturedTask,
    alone: TaskAlone<'static>,
}

/// What came of the calls.
#[derive(Clone, Debug)]
pub struct Rerunned {
    /// Each output against what was captured, in the order of arguments.
    pub outputs: Vec<OutputComparison>,
    /// How long each call took.
    pub calls: Vec<Duration>,
    /// Whether all calls gave the same bits.
    pub is_repeatable: bool,
}

impl Rerunned {
    /// Whether all outputs are as they were captured, in every call.
    pub fn is_equal(&self) -> bool {
        self.is_repeatable && self.outputs.iter().all(|output| output.differing == 0)
    }
}

impl Rerun {
    /// Prepares a task of a run. `find` gives the kernel of a name, and `known` the names that it knows.
    pub fn new(
        run: &Run,
        task: TaskId,
        find: impl Fn(&str) -> Option<&'static Kernel>,
        known: impl FnOnce() -> Vec<&'static str>,
    ) -> Result<Self, RerunError> {
        let task = CapturedTask::read(run, task)?;
        let mut lanes = [None; 3];
        for (lane, name) in task.lanes.iter().enumerate() {
            let Some(name) = name else { continue };
            let Some(kernel) = find(name) else {
                return Err(RerunError::UnknownKernel { kernel: name.clone(), known: known() });
            };
            lanes[lane] = Some(kernel);
        }
        let launch = match lanes {
            [Some(only), None, None] => Launch::from(only),
            [aic, first, second] => {
                let aiv: Vec<&'static Kernel> = [first, second].into_iter().flatten().collect();
                Launch::mixed(aic, &aiv)
            }
        };
        let args: Vec<AloneArg> = task.args.iter().map(CapturedArg::alone).collect();
        let alone = TaskAlone::new(&launch.blocks(task.blocks), &task.tensors, &args)?;
        Ok(Rerun { task, alone })
    }

    /// The task.
    pub fn task(&self) -> &CapturedTask {
        &self.task
    }

    /// Calls it this often, and compares what it makes with what was captured.
    pub fn run(&mut self, times: u32) -> Result<Rerunned, RerunError> {
        let mut calls = Vec::with_capacity(times as usize);
        self.prepare(0, Inputs::All)?;
        calls.push(self.call()?);
        let first: Vec<Vec<u8>> = self.outputs().map(|arg| self.alone.read(arg)).collect();
        let mut is_repeatable = true;
        for _ in 1..times {
            self.prepare(0, Inputs::Written)?;
            calls.push(self.call()?);
            is_repeatable &= self.outputs().zip(&first).all(|(arg, first)| self.alone.read(arg) == *first);
        }
        let outputs = self.compare(first)?;
        Ok(Rerunned { outputs, calls, is_repeatable })
    }

    fn call(&mut self) -> Result<Duration, RerunError> {
        let title = self.task.title();
        self.alone.run().map_err(|error| RerunError::KernelFailed { task: title, cause: error.0 })
    }

    /// The arguments that the task writes.
    fn outputs(&self) -> impl Iterator<Item = usize> + use<> {
        let written = |(arg, given): (usize, &CapturedArg)| given.after().is_some().then_some(arg);
        self.task.args.iter().enumerate().filter_map(written).collect::<Vec<_>>().into_iter()
    }

    /// Sets what the task reads, and all of what it writes.
    fn prepare(&mut self, fill: u8, inputs: Inputs) -> Result<(), RerunError> {
        for (arg, given) in self.task.args.iter().enumerate() {
            let CapturedArg::Tensor { view, access, before, .. } = given else { continue };
            let bytes = match before {
                Some(_) if inputs == Inputs::Written && !access.writes() => continue,
                Some(bytes) => bytes.clone(),
                None => vec![fill_of(view.dtype(), fill, *access); view.bytes() as usize],
            };
            let wrong = |wrong| RerunError::BadPayload { task: self.task.title(), arg, wrong };
            self.alone.write(arg, &bytes).map_err(wrong)?;
        }
        Ok(())
    }

    /// What each output is against what was captured.
    fn compare(&mut self, first: Vec<Vec<u8>>) -> Result<Vec<OutputComparison>, RerunError> {
        let outputs: Vec<usize> = self.outputs().collect();
        let differs =
            outputs.iter().zip(&first).any(|(&arg, now)| self.task.args[arg].after() != Some(&now[..]));
        let keeps =
            |arg: &CapturedArg| matches!(arg, CapturedArg::Tensor { access: Access::OutputExisting, .. });
        let mut second = first.clone();
        // Memory that was there before the task: what the kernel left alone in it was not captured.
        if differs && self.task.args.iter().any(keeps) {
            self.prepare(FILL, Inputs::Written)?;
            self.call()?;
            second = outputs.iter().map(|&arg| self.alone.read(arg)).collect();
        }
        let compared = outputs.iter().zip(first).zip(second).map(|((&arg, first), second)| {
            let given = &self.task.args[arg];
            let unwritten = if keeps(given) { Some((second, FILL)) } else { None };
            OutputComparison::of(arg, given, &first, unwritten)
        });
        Ok(compared.collect())
    }
}

/// Which arguments are set before a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inputs {
    /// All of them.
    All,
    /// Those that the call before may have changed.
    Written,
}

/// A byte that memory which only a kernel writes has before: fresh outputs are zero.
fn fill_of(dtype: DType, fill: u8, access: Access) -> u8 {
    match (access, dtype) {
        (Access::OutputExisting, DType::Bool) => fill & 1,
        (Access::OutputExisting, _) => fill,
        _ => 0,
    }
}
