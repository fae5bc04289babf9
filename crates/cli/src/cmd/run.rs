//! `ringlane run SCENE`: runs a scene's cases, writes one directory for each, prints a summary.
//!
//! ```text
//! check everything ──▶ for each case: directory, rounds, what they recorded, run.json ──▶ summary, exit status
//! ```

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use ringlane_insight::units::bytes_text;
use ringlane_probe::RecordingProblem;
use ringlane_task::{CallConfig, Resource};
use ringlane_trace::RunStatus;

use super::dfx::DfxArgs;
use super::model::ModelArgs;
use crate::costs::CostsOut;
use crate::errors::{CliError, Exit, print, warn};
use crate::execute::{Outcome, Setup, execute};
use crate::monitor::Monitor;
use crate::options::{self, Assignment, GraphRuntime, PerRing};
use crate::output::{self, say};
use crate::progress::Progress;
use crate::runtime::{self, Platform};
use crate::select::{self, Job};
use crate::summary;

const EXAMPLE: &str = "\
Example:
  $ ringlane run vector
  $ ringlane run paged_attention --case small --threads 2 --rounds 5
  $ ringlane run stream --param tasks=100000 --ring-heap 64M --json
  $ ringlane run paged_attention --case large --platform a2a3sim --report
  $ ringlane run paged_attention --case small --dfx
  $ ringlane run cholesky --chip-swimlane=1 --dep-gen --rounds 5
  $ ringlane run paged_attention --case ragged --dump-tensor=QK,PV:2
  $ ringlane run cholesky --chip-swimlane=1 --costs-out costs.json
  $ ringlane run paged_attention --platform a2a3sim --chip-swimlane --policy critical-path
  $ ringlane run moe --case small --scope-stats --pmu --rounds 3 --dfx-rounds all
A run's directory is named on standard error; run.json in it tells how the run went and which files it left.
Ctrl-C ends a run at its next task (again: at once); SIGUSR1 prints what it is doing.";

/// Run a scene's cases, write one directory for each, and print a summary
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct RunArgs {
    /// The scene; `list` shows them
    scene: String,
    /// This case only (repeatable) [default: all cases]
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Repeat each case; the last round is reported, or the one that is observed
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    #[arg(value_parser = options::rounds)]
    rounds: u32,
    /// Threads of the cpu, the submitting one included [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::threads)]
    threads: Option<i32>,
    /// Seed of the inputs
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true)]
    #[arg(value_parser = options::seed)]
    seed: u64,
    /// A parameter of the scene (repeatable)
    #[arg(long = "param", value_name = "K=V", value_parser = options::assignment)]
    params: Vec<Assignment>,
    /// What to run on
    #[arg(short, long, value_name = "NAME", default_value_t)]
    platform: Platform,
    /// How the graph is built
    #[arg(long, value_name = "NAME", default_value_t)]
    runtime: GraphRuntime,
    /// Exact directory for one case [default: outputs/<scene>_<case>_<time>]
    #[arg(short, long, value_name = "DIR", value_parser = options::directory)]
    output: Option<PathBuf>,
    /// Write what the blocks of each kernel took; needs --chip-swimlane
    #[arg(long, value_name = "FILE")]
    costs_out: Option<PathBuf>,
    /// The summary as JSON on standard output, and nothing else there
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    dfx: DfxArgs,
    #[command(flatten)]
    rings: RingArgs,
}

/// Capacities; each is a power of two, for all four rings or one for each.
#[derive(clap::Args)]
#[command(next_help_heading = "Capacities (N for all rings, or N,N,N,N; bytes take K, M, G)")]
struct RingArgs {
    /// Tasks that a ring holds [default: 16384]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::TaskWindow))]
    ring_task_window: Option<PerRing>,
    /// Bytes of outputs that a ring holds [default: 256M]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::Heap))]
    ring_heap: Option<PerRing>,
    /// Dependency entries that a ring holds [default: 65536]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::DepPool))]
    ring_dep_pool: Option<PerRing>,
    /// Bytes of arguments that a ring holds [default: 8M]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    #[arg(value_parser = options::per_ring(Resource::Args))]
    ring_args: Option<PerRing>,
    /// Entries of the tensor map, for all rings together [default: 65536]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::tensormap)]
    tensormap: Option<u32>,
}

impl RingArgs {
    fn apply(&self, config: CallConfig) -> CallConfig {
        let narrow = |given: Option<PerRing>| given.map(PerRing::narrow).unwrap_or_default();
        config
            .with_ring_task_window(narrow(self.ring_task_window))
            .with_ring_heap(self.ring_heap.map(|heap| heap.0).unwrap_or_default())
            .with_ring_dep_pool(narrow(self.ring_dep_pool))
            .with_ring_args(narrow(self.ring_args))
            .with_tensormap(self.tensormap.unwrap_or_default())
    }
}

impl RunArgs {
    /// Runs the cases.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let (jobs, setup) = (self.jobs()?, self.setup()?);
        let costs_out = self.costs_out.as_deref();
        let costs_out = costs_out.map(|path| CostsOut::reserve(path, &setup.diagnostics)).transpose()?;
        if let Some(unused) = self.model.unused_costs(&setup.model, select::scene(&self.scene)?) {
            warn(&unused);
        }
        let monitor = Monitor::start()?;
        let (mut outcomes, mut refused) = (Vec::new(), None);
        for job in jobs {
            match execute(job, &setup, &monitor) {
                Ok(outcome) => {
                    tell(&outcome);
                    if self.dfx.report() {
                        refused = super::report::write_pages(&outcome.dir).err();
                    }
                    outcomes.push(outcome);
                }
                // What there is of the cases before it is still told.
                Err(error) => refused = Some(error),
            }
            if refused.is_some() || monitor.interrupted() {
                break;
            }
        }
        if !outcomes.is_empty() {
            output::results(&self.summary(&outcomes))?;
        }
        match refused {
            Some(error) => Err(error),
            None if monitor.interrupted() => Ok(Exit::Interrupted),
            None => finish(&outcomes, &setup, costs_out),
        }
    }

    /// The programs to run, in order. Everything that names can get wrong is found here.
    fn jobs(&self) -> Result<Vec<Job>, CliError> {
        let scene = select::scene(&self.scene)?;
        let cases = select::cases(scene, &self.cases)?;
        if self.output.is_some() && cases.len() != 1 {
            let cases = cases.iter().map(|case| case.name).collect();
            return Err(CliError::OneDirectory { scene: scene.name, cases });
        }
        cases.into_iter().map(|case| select::job(scene, case, &self.params, self.seed)).collect()
    }

    fn setup(&self) -> Result<Setup, CliError> {
        if self.threads.is_some() && self.platform.is_modelled() {
            return Err(CliError::NotOnSimulators { option: "--threads", platform: self.platform });
        }
        let config = CallConfig::default().with_seed(self.seed).with_workers(self.threads.unwrap_or(0));
        let config = self.rings.apply(config);
        runtime::check(self.platform, &config).map_err(CliError::Setup)?;
        Ok(Setup {
            diagnostics: self.dfx.diagnostics(select::scene(&self.scene)?, self.platform)?,
            platform: self.platform,
            model: self.model.model(self.platform)?,
            runtime: self.runtime,
            config,
            rounds: self.rounds,
            output: self.output.clone(),
            progress: if self.json { Progress::Hidden } else { Progress::for_people() },
        })
    }

    fn summary(&self, outcomes: &[Outcome]) -> String {
        if self.json { summary::json(outcomes) } else { summary::table(outcomes) }
    }
}

/// Warns of what a recording lacks; of the processor's counters in one line, and once.
fn warn_of(problem: &RecordingProblem) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let RecordingProblem::Pmu(why) = problem else { return warn(problem) };
    if !TOLD.swap(true, Ordering::Relaxed) {
        say(format_args!("warning: {why}; pmu.csv has ticks of the clock instead"));
    }
}

/// Says where a run's files are, and why it did not end well.
fn tell(outcome: &Outcome) {
    let (manifest, dir) = (&outcome.manifest, outcome.dir.display());
    let peak = bytes_text(outcome.peak_rss_bytes);
    say(format_args!("{} {}: {dir} (peak memory {peak})", manifest.scene, manifest.case));
    outcome.recorded.iter().flat_map(|recorded| &recorded.problems).for_each(warn_of);
    if let Some(totals) = &outcome.modelled {
        totals.draws.iter().for_each(|draw| say(format_args!("chaos: {draw}")));
        let untold = totals.draw_count - totals.draws.len() as u64;
        if untold > 0 {
            say(format_args!("chaos: and {untold} more"));
        }
    }
    if let Some(failure) = &outcome.failure {
        print(&*failure.error);
    }
}

/// Records costs, if that was asked for and all runs went well, and tells how the command ends.
fn finish(outcomes: &[Outcome], setup: &Setup, costs_out: Option<CostsOut>) -> Result<Exit, CliError> {
    let exit = exit_of(outcomes);
    match costs_out {
        Some(out) if exit == Exit::Ok => out.write(outcomes, setup)?,
        Some(_) => say("no costs are written: not all runs went well"),
        None => {}
    }
    Ok(exit)
}

fn exit_of(outcomes: &[Outcome]) -> Exit {
    let has = |status| outcomes.iter().any(|outcome| outcome.manifest.status == status);
    if has(RunStatus::Interrupted) {
        Exit::Interrupted
    } else if has(RunStatus::Failed) || has(RunStatus::Fatal) {
        Exit::Failed
    } else {
        Exit::Ok
    }
}
