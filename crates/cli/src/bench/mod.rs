//! The runtime's own benchmarks.
//!
//! ```text
//! workload ──▶ graph ──▶ submit (or check) ──▶ measure ──▶ rows ──▶ table · JSON
//! ```
//! Workloads, sizes, random numbers and the length of a task are those of the peers that Ringlane is compared with,
//! so that both sides' numbers can be put side by side.

mod check;
mod error;
mod graph;
mod kernels;
pub mod limits;
mod measure;
mod rows;
mod spin;
mod submit;
mod workload;
mod workloads;

use std::time::Duration;

use ringlane_task::CallConfig;

pub use error::BenchError;
pub use rows::Results;
pub use workload::{Spin, Workload};

use crate::progress::{Bar, Progress};
use crate::runtime::{Platform, Runtime};
use rows::Row;

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Group {
    /// The six workloads, from the first submit to the last completion.
    #[default]
    Workloads,
}

/// Whether a workload is measured, or runs with tasks that check their place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Measured.
    Measure,
    /// Checked.
    Verify,
}

/// What a command asks for.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Which benchmarks.
    pub group: Group,
    /// Measured or checked.
    pub mode: Mode,
    /// Which workloads.
    pub workloads: Vec<Workload>,
    /// Numbers of threads, the submitting one included.
    pub threads: Vec<u32>,
    /// Lengths of the tasks.
    pub spins: Vec<Spin>,
    /// Time for all repetitions together.
    pub time: Option<Duration>,
}

impl Bench {
    /// Measures.
    pub fn run(&self, progress: Progress) -> Result<Results, BenchError> {
        let mut lab = Lab { progress, bar: None, runtimes: Vec::new(), results: Results::default() };
        match (self.group, self.mode) {
            (Group::Workloads, Mode::Measure) => workloads::measure(self, &mut lab)?,
            (Group::Workloads, Mode::Verify) => workloads::verify(self, &mut lab)?,
        }
        Ok(lab.results)
    }

    /// The time for the repetitions of each of so many measurements.
    fn time_of_each(&self, measurements: usize) -> Duration {
        self.time.map_or(limits::MEASUREMENT_TIME, |time| time / measurements.max(1) as u32)
    }
}

/// What the measurements of one command share: a runtime for each number of threads, and the results so far.
struct Lab {
    progress: Progress,
    bar: Option<Bar>,
    runtimes: Vec<Runtime>,
    results: Results,
}

impl Lab {
    /// The runtime with so many threads, for a measurement of this name; the others sleep.
    fn begin(&mut self, name: &str, threads: u32) -> Result<&mut Runtime, BenchError> {
        let bar = Bar::start(self.progress, &format!("{name}, {threads} threads"));
        bar.update(self.results.rows.iter().map(|row| row.tasks).sum());
        self.bar = Some(bar);
        let known = self.runtimes.iter().position(|runtime| runtime.threads() == threads);
        let index = match known {
            Some(index) => index,
            None => {
                let config = CallConfig::default().with_workers(threads as i32);
                self.runtimes.push(Runtime::on(Platform::Cpu).with(&config)?);
                self.runtimes.len() - 1
            }
        };
        Ok(&mut self.runtimes[index])
    }

    /// Keeps a result.
    fn done(&mut self, row: Row) {
        if let Some(bar) = self.bar.take() {
            bar.clear();
        }
        self.results.rows.push(row);
    }
}
