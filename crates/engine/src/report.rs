//! What a run reports: totals after it, and its state while it goes on.

#![forbid(unsafe_code)]

use core::fmt;

use ringlane_task::{Resource, TaskId};

/// Totals of one run.
///
/// ```
/// let report = ringlane_engine::report::RunReport::default();
/// assert_eq!((report.tasks, report.blocks), (0, 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunReport {
    /// Tasks submitted, those without a kernel included.
    pub tasks: u64,
    /// Kernel blocks executed.
    pub blocks: u64,
    /// Scopes that ended, the root included.
    pub scopes: u64,
    /// Tasks whose kernel failed.
    pub failed: u64,
    /// Tasks skipped because they needed what a failed one would have written.
    pub skipped: u64,
    /// The most heap-ring bytes in use at once, over all rings.
    pub peak_heap_bytes: u64,
    /// Time from the start of the orchestration to the last completion, in ticks of the chip's clock.
    pub makespan_ticks: u64,
    /// What the chip's clock said at the start of the orchestration.
    pub started_ticks: u64,
    /// Ticks per second.
    pub clock_freq_hz: u64,
    /// Cores that could run blocks.
    pub cores: u32,
}

/// A run's answer: the orchestration's result and the totals, which exist also after a failure.
#[derive(Debug)]
pub struct Run<R> {
    /// What the orchestration gave, or why the run did not succeed.
    pub result: crate::Result<R>,
    /// The totals.
    pub report: RunReport,
}

/// A task that a core runs at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningTask {
    /// The core.
    pub core: u32,
    /// The task.
    pub task: TaskId,
    /// The name of the kernel.
    pub kernel: &'static str,
}

/// The state of a run that goes on.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Tasks submitted so far.
    pub submitted: u64,
    /// The open scopes, outermost first, as `file:line`.
    pub scopes: Vec<String>,
    /// What each core runs now: core, task and kernel.
    pub running: Vec<(u32, TaskId, String)>,
    /// How full each bounded resource is: ring (`None` for the tensor map), resource, used, capacity.
    pub fill: Vec<(Option<u8>, Resource, u64, u64)>,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} tasks submitted", self.submitted)?;
        for (depth, site) in self.scopes.iter().enumerate() {
            writeln!(f, "scope {depth}: {site}")?;
        }
        for (core, task, kernel) in &self.running {
            writeln!(f, "core {core}: task {task} ({kernel})")?;
        }
        for (ring, resource, used, capacity) in &self.fill {
            match ring {
                Some(ring) => writeln!(f, "ring {ring} {resource}: {used}/{capacity}")?,
                None => writeln!(f, "{resource}: {used}/{capacity}")?,
            }
        }
        Ok(())
    }
}
