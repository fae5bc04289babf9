//! The runtime's own benchmarks.
//!
//! ```text
//! workload ──▶ graph ──▶ submit (or check) ──▶ measure ──▶ rows ──▶ table · JSON
//! ```
//! Workloads, sizes, random numbers and the length of a task are those of the peers that Ringlane is compared with,
//! so that the numbers are comparable.
// Three files may contain unsafe code: `allocations.rs` is an allocator, `deferred.rs` a chip, and in `spin.rs` the
// work of a measured task is a few instructions.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod accuracy;
mod allocations;
mod check;
mod deferred;
mod echo;
mod error;
mod graph;
mod groups;
mod kernels;
pub mod limits;
mod measure;
mod modelled;
mod rows;
mod scratch;
mod spin;
mod submit;
mod workload;

use std::time::Duration;

use ringlane_task::CallConfig;

pub use allocations::CountingAllocator;
pub use error::BenchError;
pub use rows::Results;
pub use workload::{Spin, Workload};

use ringlane::{Platform, Runtime};
use rows::{Row, Target};

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Group {
    /// Six task graphs, timed from the first submit to the last completion.
    #[default]
    Workloads,
    /// The same graphs captured once and replayed: a built graph run again.
    Replay,
    /// Only the submits of one scope, with no task running.
    Submit,
    /// Tensor-map lookups and inserts with 10 to 10^5 live views of ten patterns.
    Overlap,
    /// Runs of 10^4 to 10^7 tasks.
    Scaling,
    /// Allocations per task after start-up.
    Alloc,
    /// Bytes of memory per task in flight.
    Memory,
    /// The overhead of each diagnostic, compared with a run without diagnostics.
    Dfx,
    /// The modelled chips: every scene and policy compared with the lower bound, and the speed of the model itself.
    Sim,
    /// A call to a child process through its mailbox, compared with a pipe and a Unix socket.
    Mailbox,
    /// The six task graphs on a GPU, streamed and replayed, and a product on tensor cores, compared with CUDA graphs of the same tasks.
    Cuda,
    /// Predictions of `what-if` from recordings on this machine, compared with real runs.
    WhatIf,
}

impl Group {
    /// Its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Group::Workloads => "workloads",
            Group::Replay => "replay",
            Group::Submit => "submit",
            Group::Overlap => "overlap",
            Group::Scaling => "scaling",
            Group::Alloc => "alloc",
            Group::Memory => "memory",
            Group::Dfx => "dfx",
            Group::Sim => "sim",
            Group::Mailbox => "mailbox",
            Group::Cuda => "cuda",
            Group::WhatIf => "what-if",
        }
    }

    /// Whether it measures workloads, so that some can be chosen.
    pub const fn takes_workloads(self) -> bool {
        !matches!(self, Group::Overlap | Group::Scaling | Group::Sim | Group::Mailbox)
    }

    /// Whether it can run at a small size and check the results.
    pub const fn takes_verify(self) -> bool {
        matches!(self, Group::Workloads | Group::Sim)
    }

    /// Whether its tasks do work.
    pub const fn takes_spins(self) -> bool {
        matches!(self, Group::Workloads | Group::Replay | Group::Dfx | Group::Cuda | Group::WhatIf)
    }

    /// Whether it measures more than the submitting thread.
    pub const fn takes_threads(self) -> bool {
        !matches!(
            self,
            Group::Submit | Group::Overlap | Group::Memory | Group::Sim | Group::Mailbox | Group::Cuda
        )
    }
}

/// Whether a workload is measured, or runs with tasks that check their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Measured.
    Measure,
    /// Checked.
    Verify,
}

/// The request of a command.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Which benchmarks.
    pub group: Group,
    /// Measured or checked.
    pub mode: Mode,
    /// Which workloads.
    pub workloads: Vec<Workload>,
    /// Numbers of threads, including the submitting one.
    pub threads: Vec<u32>,
    /// Lengths of the tasks.
    pub spins: Vec<Spin>,
    /// Time for all repetitions together.
    pub time: Option<Duration>,
    /// The platform of `cuda`: another one for tests.
    pub device: Platform,
}

impl Bench {
    /// Runs the measurements, and reports progress.
    pub fn run(&self, progress: &mut dyn Progress) -> Result<Results, BenchError> {
        spin::set_iterations(0);
        let mut session = Session { progress, runtimes: Vec::new(), results: Results::default() };
        match (self.group, self.mode) {
            (Group::Workloads, Mode::Measure) => groups::workloads::measure(self, &mut session)?,
            (Group::Workloads, Mode::Verify) => groups::workloads::verify(self, &mut session)?,
            (Group::Replay, _) => groups::replay::measure(self, &mut session)?,
            (Group::Submit, _) => groups::submit::measure(self, &mut session)?,
            (Group::Overlap, _) => groups::overlap::measure(self, &mut session)?,
            (Group::Scaling, _) => groups::scaling::measure(self, &mut session)?,
            (Group::Alloc, _) => groups::alloc::measure(self, &mut session)?,
            (Group::Memory, _) => groups::memory::measure(self, &mut session)?,
            (Group::Dfx, _) => groups::dfx::measure(self, &mut session)?,
            (Group::Sim, _) => groups::sim::measure(self, &mut session)?,
            (Group::Mailbox, _) => groups::mailbox::measure(self, &mut session)?,
            (Group::Cuda, _) => groups::cuda::measure(self, &mut session)?,
            (Group::WhatIf, _) => groups::what_if::measure(self, &mut session)?,
        }
        Ok(session.results)
    }

    /// The time for the repetitions of each of `measurements` measurements.
    fn time_of_each(&self, measurements: usize) -> Duration {
        self.time.map_or(limits::MEASUREMENT_TIME, |time| time / measurements.max(1) as u32)
    }
}

/// Receives the progress of a benchmark.
pub trait Progress {
    /// A measurement begins; the earlier ones ran `tasks` tasks.
    fn begin(&mut self, name: &str, tasks: u64);
    /// It has ended.
    fn end(&mut self);
}

/// State that the measurements of one command share: a runtime for each number of threads, and the results so far.
struct Session<'a> {
    progress: &'a mut dyn Progress,
    runtimes: Vec<Runtime>,
    results: Results,
}

impl Session<'_> {
    /// Begins a measurement of this name.
    fn begin(&mut self, name: &str, threads: u32) {
        let tasks = self.results.rows.iter().map(|row| row.tasks).sum();
        self.progress.begin(&format!("{name}, --threads {threads}"), tasks);
    }

    /// The runtime with `threads` threads, for a measurement of this name that begins; the others sleep.
    fn runtime(&mut self, name: &str, threads: u32) -> Result<&mut Runtime, BenchError> {
        self.begin(name, threads);
        let known = self.runtimes.iter().position(|runtime| runtime.threads() == threads);
        let index = match known {
            Some(index) => index,
            None => {
                let config = CallConfig::default().with_threads(threads as i32);
                self.runtimes.push(Runtime::on(Platform::Cpu).with(&config)?);
                self.runtimes.len() - 1
            }
        };
        Ok(&mut self.runtimes[index])
    }

    /// Stores a result.
    fn done(&mut self, row: Row) {
        self.progress.end();
        self.results.rows.push(row);
    }
    /// Stores a target for the last `rows` rows.
    fn judge(&mut self, target: Target, rows: usize) {
        let first = self.results.rows.len().saturating_sub(rows);
        let target = target.judged_by(&self.results.rows[first..]);
        self.results.bars.push(target);
    }

    /// Stores a target for the rows with these names, some of which may be disturbed.
    fn judge_by(&mut self, target: Target, names: &[String]) {
        let target = target.judged_by(self.results.rows.iter().filter(|row| names.contains(&row.name)));
        self.results.bars.push(target);
    }
}
