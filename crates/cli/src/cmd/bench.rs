//! `ringlane bench [GROUP]`: the runtime's own benchmarks.

use std::time::Duration;

use crate::errors::{CliError, Exit, print};
use crate::options;
use crate::output;
use crate::progress::{Bar, Progress};
use ringlane::Platform;
use ringlane_bench::limits::SECONDS_MAX;
use ringlane_bench::{Bench, Group, Mode, Spin, Workload};

const EXAMPLE: &str = "\
Example:
  $ ringlane bench --workload random --threads 1,2 --spin 0,1
  $ ringlane bench --verify
  $ ringlane bench overlap --json
  $ ringlane bench dfx --threads 2 --spin 1
  $ ringlane bench sim
  $ ringlane bench mailbox
  $ ringlane bench cuda --workload cholesky --spin 0,1
  $ ringlane bench what-if --threads 1,2,4
Times are nanoseconds per task, from the first submit to the last completion, including submission, dependency inference
and scopes. Compare medians; `cargo xtask peers` compares them with other runtimes.";

/// Benchmark the runtime itself
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct BenchArgs {
    /// What to measure
    #[arg(default_value = "workloads")]
    group: Group,
    /// Run only this workload (repeatable) [default: all; for dfx: random]
    #[arg(long = "workload", value_name = "NAME")]
    workloads: Vec<Workload>,
    /// Numbers of threads, including the submitting one [default: 1,2; for what-if: 1,2,4; 1 for groups that measure a single thread]
    #[arg(long, value_name = "N,N", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = options::threads)]
    threads: Vec<i32>,
    /// Microseconds of work per task: 0, 1, 10, 100 [default: 0; for dfx: 1,10; for what-if: 10,100; for cuda: 0,1,10]
    #[arg(long, value_name = "US,US", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = spin)]
    spin: Vec<Spin>,
    /// Seconds for all repetitions together [default: 0.3 per measurement]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    #[arg(value_parser = seconds)]
    seconds: Option<Duration>,
    /// Run small sizes whose tasks check that all their predecessors have run; for sim, check the computed values
    #[arg(long)]
    verify: bool,
    /// The platform of the group cuda: `cuda-host` tests it without a GPU
    #[arg(short, long, value_name = "NAME", value_parser = options::platform(), hide = true)]
    platform: Option<Platform>,
    /// Print the results as JSON, and nothing else, on standard output
    #[arg(long)]
    json: bool,
}

impl BenchArgs {
    /// Measures, and prints what came out.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let bench = self.bench()?;
        let progress = if self.json { Progress::Hidden } else { Progress::for_people() };
        match bench.run(&mut Line { progress, bar: None }) {
            Ok(results) => {
                output::results(&if self.json { results.json() } else { results.text() })?;
                Ok(if results.are_sound() { Exit::Ok } else { Exit::Failed })
            }
            Err(error) => {
                print(&error);
                Ok(Exit::Failed)
            }
        }
    }

    fn bench(&self) -> Result<Bench, CliError> {
        self.check_options()?;
        let (all, dfx) = (self.workloads.is_empty(), self.group == Group::Dfx);
        // The overhead of diagnostics does not depend on the shape of the graph: one workload is enough unless more are named.
        let usual = |workload: &Workload| all && (!dfx || *workload == Workload::Random);
        let wanted = |workload: &Workload| usual(workload) || self.workloads.contains(workload);
        let usual_spins = match self.group {
            Group::Dfx => vec![Spin::Us1, Spin::Us10],
            Group::WhatIf => vec![Spin::Us10, Spin::Us100],
            Group::Cuda => vec![Spin::Empty, Spin::Us1, Spin::Us10],
            _ => vec![Spin::Empty],
        };
        let usual_threads: &[i32] = match self.group {
            Group::WhatIf => &[1, 2, 4],
            group if group.takes_threads() => &[1, 2],
            _ => &[1],
        };
        let threads = if self.threads.is_empty() { usual_threads } else { &self.threads };
        Ok(Bench {
            group: self.group,
            mode: if self.verify { Mode::Verify } else { Mode::Measure },
            workloads: Workload::ALL.into_iter().filter(wanted).collect(),
            threads: threads.iter().map(|&threads| threads as u32).collect(),
            spins: if self.spin.is_empty() { usual_spins } else { self.spin.clone() },
            time: self.seconds,
            device: self.platform.unwrap_or_else(|| Platform::named("cuda").unwrap_or(Platform::Cpu)),
        })
    }

    /// Refuses options that would change nothing.
    fn check_options(&self) -> Result<(), CliError> {
        let group = self.group;
        let works = self.spin.iter().any(|&spin| spin != Spin::Empty);
        let refused = [
            ("--workload", !self.workloads.is_empty() && !group.takes_workloads()),
            ("--threads", self.threads.iter().any(|&threads| threads != 1) && !group.takes_threads()),
            ("--spin", works && (self.verify || !group.takes_spins())),
            ("--platform", self.platform.is_some() && group != Group::Cuda),
            ("--verify", self.verify && !group.takes_verify()),
        ];
        let refused = refused.iter().find(|(_, is_refused)| *is_refused);
        refused.map_or(Ok(()), |(option, _)| {
            let mode = if self.verify && group.takes_verify() { " --verify" } else { "" };
            Err(CliError::BadUsage {
                detail: format!("`bench {}{mode}` does not take {option}", group.as_str()),
                usage: format!("leave {option} out"),
            })
        })
    }
}

/// The progress line of a benchmark.
struct Line {
    progress: Progress,
    bar: Option<Bar>,
}

impl ringlane_bench::Progress for Line {
    fn begin(&mut self, name: &str, tasks: u64) {
        let bar = Bar::start(self.progress, name);
        bar.update(tasks, 0);
        self.bar = Some(bar);
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.clear();
        }
    }
}

fn spin(text: &str) -> Result<Spin, CliError> {
    let known = Spin::ALL.into_iter().find(|spin| spin.us().to_string() == text);
    known.ok_or_else(|| {
        CliError::bad_value("--spin", text, "0, 1, 10, 100, or several with commas", "--spin 0,1")
    })
}

fn seconds(text: &str) -> Result<Duration, CliError> {
    let value = text.parse().ok().filter(|value| (0.0..=SECONDS_MAX).contains(value));
    let allowed = format!("a number from 0 to {SECONDS_MAX}");
    value
        .map(Duration::from_secs_f64)
        .ok_or_else(|| CliError::bad_value("--seconds", text, allowed, "--seconds 2"))
}
