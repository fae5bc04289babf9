//! `ringlane rerun`: one task again, alone, from its captured arguments.

use std::time::Duration;

use ringlane_engine::api::kernel::{Kernel, registered_kernels};
use ringlane_graph::rerun::{CapturedTask, Difference, OutputComparison, Rerun, RerunError, Rerunned};
use ringlane_insight::dump::describe_shape;
use ringlane_insight::units::{counted, time_text};
use ringlane_insight::{Instrument, Run, parse_task};
use ringlane_scenes::Scene;
use ringlane_task::{Scalar, TaskId};
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::options;
use crate::output::{self, printable};
use crate::run_arg::{Needs, RunArg};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --case small --dump-tensor --dep-gen -o outputs/recorded
  $ ringlane dump outputs/recorded --kernel SOFTMAX
  $ ringlane rerun outputs/recorded --task 1:5
  $ ringlane rerun outputs/recorded --task seq=12 --times 1000
  $ gdb --args ringlane rerun outputs/recorded --task 1:5
  $ perf record ringlane rerun outputs/recorded --task 1:5 --times 100000
The kernel is called on this thread, without a runtime around it, and its outputs are compared bit for bit with those
that were captured. Exit status: 0 all outputs are equal, 1 one differs or the kernel fails, 2 the task cannot be run again.";

/// Run one task again, alone, from its captured arguments, and compare what it makes
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct RerunArgs {
    #[command(flatten)]
    run: RunArg,
    /// The task: its id, ring:number, seq=N for its place in submission order, or its label
    #[arg(long, value_name = "ID", required = true, allow_negative_numbers = true)]
    task: String,
    /// Call it N times, and print the shortest and the median time
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    #[arg(value_parser = options::times)]
    times: u32,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

impl RerunArgs {
    /// Runs the task, and prints what came of it.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Dump))?;
        let task = self.task(&run)?;
        let scene = Scene::find(&run.manifest.scene).ok();
        let all = registered_kernels();
        let find = |name: &str| kernel_of(scene, &all, name);
        let known = || all.iter().map(|kernel| kernel.name()).collect();
        let mut rerun = Rerun::new(&run, task, find, known)?;
        let result = rerun.run(self.times)?;
        let answer = Answer::of(rerun.task(), &result);
        output::results(&if self.json { output::json(&answer) } else { answer.text() })?;
        Ok(if result.is_equal() { Exit::Ok } else { Exit::Failed })
    }

    /// The task that is named.
    fn task(&self, run: &Run) -> Result<TaskId, CliError> {
        if let Ok(task) = parse_task(&self.task) {
            return Ok(task);
        }
        let allowed = "a task id, ring:number, seq=N, or the label of one task";
        let refused = |hint: String| CliError::bad_value("--task", &self.task, allowed, hint);
        let usual = || refused("--task 1:3, --task seq=12 or --task \"layer 3\"".to_string());
        if !run.has(Instrument::Deps) {
            return Err(RerunError::NoDeps { dir: run.dir.clone() }.into());
        }
        let tasks = run.dependencies()?.tasks;
        if let Some(seq) = self.task.strip_prefix("seq=") {
            let seq: u64 = seq.parse().map_err(|_| usual())?;
            let found = tasks.iter().find(|task| task.seq.0 == seq);
            let last = tasks.len().saturating_sub(1);
            let hint = || refused(format!("the run has tasks from seq=0 to seq={last}"));
            return found.map(|task| task.task_id).ok_or_else(hint);
        }
        let is_named = |label: &str| label == self.task;
        let mut named = tasks.iter().filter(|task| task.label.as_deref().is_some_and(is_named));
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(only.task_id),
            (Some(first), Some(second)) => {
                let [first, second] = [first, second].map(|task| task.task_id);
                Err(refused(format!("several tasks have this label: --task {first}, --task {second}, …")))
            }
            (None, _) => Err(usual()),
        }
    }
}

/// The kernel of a name: the scene's, or any in this program.
fn kernel_of(scene: Option<&Scene>, all: &[&'static Kernel], name: &str) -> Option<&'static Kernel> {
    let own = scene.and_then(|scene| scene.kernels.iter().copied().find(|kernel| kernel.name() == name));
    own.or_else(|| all.iter().copied().find(|kernel| kernel.name() == name))
}

/// What `--json` prints; fields may be added, never renamed.
#[derive(Serialize)]
struct Answer<'a> {
    task: String,
    task_id: u64,
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    kernels: Vec<&'a str>,
    blocks: u32,
    equal: bool,
    repeatable: bool,
    outputs: Vec<OutputAnswer<'a>>,
    calls: usize,
    min_us: f64,
    median_us: f64,
}

#[derive(Serialize)]
struct OutputAnswer<'a> {
    arg: usize,
    access: &'static str,
    dtype: &'static str,
    shape: &'a [u64],
    elements: u64,
    differing: u64,
    unwritten: u64,
    first: Option<FirstAnswer<'a>>,
}

#[derive(Serialize)]
struct FirstAnswer<'a> {
    at: &'a [u64],
    captured: String,
    now: String,
    captured_bits: String,
    now_bits: String,
}

fn bits(value: Scalar) -> String {
    format!("{:#0width$x}", value.bits(), width = 2 + 2 * value.dtype().size_bytes())
}

impl<'a> OutputAnswer<'a> {
    fn of(output: &'a OutputComparison) -> Self {
        let first = output.first.as_ref().map(|Difference { at, captured, now }| FirstAnswer {
            at,
            captured: captured.to_string(),
            now: now.to_string(),
            captured_bits: bits(*captured),
            now_bits: bits(*now),
        });
        let OutputComparison { arg, access, dtype, elements, differing, unwritten, .. } = *output;
        let (access, dtype, shape) = (access.as_str(), dtype.as_str(), &*output.shape);
        OutputAnswer { arg, access, dtype, shape, elements, differing, unwritten, first }
    }

    fn text(&self) -> String {
        let OutputAnswer { arg, access, dtype, shape, elements, differing, unwritten, first } = self;
        let mut text = format!("  arg {arg} ({access}, {dtype} {}): ", describe_shape(shape));
        match first {
            None if unwritten == elements => text += "not written",
            None => text += &format!("equal, {}", counted(elements - unwritten, "element")),
            Some(FirstAnswer { at, captured, now, captured_bits, now_bits }) => {
                text += &format!(
                    "{differing} of {} differ, the first at {at:?}: {captured} captured, {now} now ({captured_bits}, {now_bits})",
                    counted(*elements, "element")
                );
            }
        }
        if *unwritten > 0 {
            text += &format!("; {unwritten} are not written by the kernel and not compared");
        }
        text + "\n"
    }
}

impl<'a> Answer<'a> {
    fn of(task: &'a CapturedTask, result: &'a Rerunned) -> Self {
        let us = |time: &Duration| time.as_nanos() as f64 / 1e3;
        let mut calls: Vec<f64> = result.calls.iter().map(us).collect();
        calls.sort_by(f64::total_cmp);
        let (middle, is_even) = (calls.len() / 2, calls.len().is_multiple_of(2));
        let median = if is_even { (calls[middle - 1] + calls[middle]) / 2.0 } else { calls[middle] };
        Answer {
            task: task.title(),
            task_id: task.task.0,
            seq: task.seq.0,
            label: task.label.as_deref(),
            kernels: task.lanes.iter().flatten().map(String::as_str).collect(),
            blocks: task.blocks,
            equal: result.is_equal(),
            repeatable: result.is_repeatable,
            outputs: result.outputs.iter().map(OutputAnswer::of).collect(),
            calls: calls.len(),
            min_us: calls[0],
            median_us: median,
        }
    }

    fn text(&self) -> String {
        let blocks = counted(u64::from(self.blocks) * self.kernels.len() as u64, "block");
        let mut text = format!("task {}: seq {}, {blocks}\n", printable(&self.task), self.seq);
        self.outputs.iter().for_each(|output| text += &output.text());
        if self.outputs.is_empty() {
            text += "  it has no outputs to compare\n";
        }
        if !self.repeatable {
            text += "  calls with the same arguments give different bits\n";
        }
        let (min, median) = (time_text(self.min_us), time_text(self.median_us));
        text += &match self.calls {
            1 => format!("one call took {min}\n"),
            calls => format!("{calls} calls: shortest {min}, median {median}\n"),
        };
        text
    }
}
