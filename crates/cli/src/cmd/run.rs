//! `ringlane run SCENE…`: runs the cases of scenes, writes a directory for each run, prints a summary.
//!
//! ```text
//! check everything ──▶ for each case: directory, rounds, what they recorded, run.json ──▶ summary, exit status
//!                      in turn, or with --jobs side by side
//! ```

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use ringlane_engine::slowdown::Slowdown;
use ringlane_node::remote::RankLink;
use ringlane_scenes::Scene;
use ringlane_task::CallConfig;
use ringlane_trace::RunStatus;

use super::dfx::DfxArgs;
use super::model::ModelArgs;
use super::rings::RingArgs;
use super::size::SizeArgs;
use crate::case_report::CaseReport;
use crate::costs::CostsOut;
use crate::diagnostics::RecordedBy;
use crate::errors::{CliError, Exit, warn};
use crate::execute::{Audience, Setup};
use crate::jobs::{self, Pages, Plan};
use crate::options::{self, Assignment};
use crate::output::{self, say};
use crate::progress::Progress;
use crate::select::{self, Choice};
use crate::signals::{StopSignal, stop_signal};
use crate::summary;
use crate::workers::{self, shape::Shape};
use ringlane::{GraphRuntime, Platform, RunRequest};

const EXAMPLE: &str = "\
Example:
  $ ringlane run vector
  $ ringlane run paged_attention --case small --threads 2 --rounds 5
  $ ringlane run stream --param tasks=100000 --ring-heap 64M --json
  $ ringlane run paged_attention --case large --platform a2a3sim --report
  $ ringlane run paged_attention --case small --dfx
  $ ringlane run cholesky --chip-swimlane=1 --dep-gen --rounds 5
  $ ringlane run paged_attention --case large --platform a2a3sim --workers 2 --report
  $ ringlane run paged_attention --case ragged --dump-tensor=QK,PV:2
  $ ringlane run cholesky --chip-swimlane=1 --costs-out costs.json
  $ ringlane run paged_attention --platform a2a3sim --chip-swimlane --policy critical-path
  $ ringlane run paged_attention --case small --runtime host_build_graph --rounds 5
  $ ringlane run cholesky --platform a5sim --block-dim 8 --scheduler-threads 2
  $ ringlane run moe --case small --scope-stats --pmu --rounds 3 --dfx-rounds all
  $ ringlane run stream --log info,stalls=debug
  $ ringlane run cholesky matmul vector --jobs 4 --dfx
  $ ringlane run all --case small --jobs 2 --platform a5sim
  $ ringlane run squares --load ./libmine.so
Aliases: --enable-chip-swimlane, --enable-l2-swimlane and --enable-profiling (for --chip-swimlane), --enable-pmu,
--enable-dep-gen, --enable-scope-stats, --enable-dump-tensor and --dump-args (for --dump-tensor), with the same values.
Each run's directory is printed on standard error; run.json in it has the run's result and the list of its files.
Ctrl-C stops a run at its next task; a second Ctrl-C stops it immediately. SIGUSR1 prints its current state.";

/// Run the cases of one or more scenes, write a directory for each run, and print a summary
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct RunArgs {
    /// The scenes to run, or `all`; `ringlane list` shows them
    #[arg(value_name = "SCENE", required = true)]
    scenes: Vec<String>,
    /// Run only this case, in each scene that has it (repeatable) [default: all cases]
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Run each case N times; the summary shows the recorded round, or the last one
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    #[arg(value_parser = options::rounds)]
    rounds: u32,
    /// Make a kernel slower: on cpu it spins after its work, on a simulator its cost is multiplied (repeatable)
    #[arg(long, value_name = "KERNEL=2x", value_parser = options::slow)]
    slow: Vec<Slowdown>,
    /// Run up to N cases in parallel, each in its own process
    #[arg(short, long, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    #[arg(value_parser = options::jobs)]
    jobs: u32,
    /// Divide each case among N chips, each in its own process; NxM: among N nodes of M chips each
    #[arg(long, value_name = "N[xM]", allow_negative_numbers = true, value_parser = Shape::parse)]
    workers: Option<Shape>,
    /// Kill a worker that takes longer than this for one part
    #[arg(long, value_name = "SECONDS", default_value = "600", allow_negative_numbers = true)]
    #[arg(value_parser = options::call_timeout)]
    call_timeout: Duration,
    /// The ranks among which a case is divided, if this process is rank 0 of several.
    #[arg(skip)]
    ranks: Option<OverRanks>,
    /// Number of threads on cpu, including the submitting one [default: all cores; with --jobs, each case's share]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = options::threads)]
    threads: Option<i32>,
    /// Seed for the generated inputs
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true)]
    #[arg(value_parser = options::seed)]
    seed: u64,
    /// Set a parameter of the scene (repeatable)
    #[arg(long = "param", value_name = "K=V", value_parser = options::assignment)]
    params: Vec<Assignment>,
    /// The chip to run on
    #[arg(short, long, value_name = "NAME", default_value_t, value_parser = options::platform())]
    platform: Platform,
    /// How the task graph is built
    #[arg(long, value_name = "NAME", default_value_t, value_parser = options::graph_runtime())]
    runtime: GraphRuntime,
    /// With host_build_graph: bytes that the tensors that the graph makes may take; edges are added where needed
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_parser = options::graph_memory)]
    graph_memory: Option<u64>,
    /// Write the run to this directory; for a single case only [default: outputs/<scene>_<case>_<time>]
    #[arg(short, long, value_name = "DIR", value_parser = options::directory)]
    output: Option<PathBuf>,
    /// Write a cost table: the measured durations of the blocks of each task and kernel; needs --chip-swimlane
    #[arg(long, value_name = "FILE")]
    costs_out: Option<PathBuf>,
    /// Print the summary as JSON, and nothing else, on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    dfx: DfxArgs,
    #[command(flatten)]
    rings: RingArgs,
}

/// The ranks of an MPI run, and what each of them has.
#[derive(Clone)]
pub struct OverRanks {
    /// All ranks but this one.
    pub links: Vec<RankLink>,
    /// What each of them has.
    pub each: Shape,
}

impl OverRanks {
    /// The most chips on one host.
    fn chips_of_a_host(&self) -> usize {
        let host = |link: &RankLink| link.peer().host.clone();
        let on = |wanted: &RankLink| self.links.iter().filter(|link| host(link) == host(wanted)).count();
        let ranks = self.links.iter().map(on).max().unwrap_or(1);
        ranks.saturating_mul(self.each.chips() as usize)
    }
}

impl RunArgs {
    /// Runs the cases.
    pub fn execute(&self) -> Result<Exit, CliError> {
        if self.platform.capabilities().host_threads {
            // Before there is a second thread, the one that waits for signals.
            ringlane_chip_cpu::prepare_process();
        }
        let plans = self.plans(&self.choices()?)?;
        let Some(setup) = plans.first().map(|plan| plan.setup.clone()) else { return Ok(Exit::Ok) };
        let costs_out = self.costs_out.as_deref();
        let costs_out = costs_out.map(|path| CostsOut::reserve(path, &setup.request.config)).transpose()?;
        self.warn_of_unused_costs(&plans);
        let ended = match self.jobs {
            1 => jobs::in_turn(plans)?,
            workers => jobs::side_by_side(plans, workers as usize, setup.progress)?,
        };
        if !ended.case_report.is_empty() {
            output::results(&self.summary(&ended.case_report))?;
        }
        match (ended.refusal, ended.interrupted) {
            (Some(refusal), _) => {
                say(refusal.text);
                Ok(refusal.exit)
            }
            (None, Some(signal)) => Ok(Exit::Interrupted(signal)),
            (None, None) => finish(&ended.case_report, &setup, costs_out),
        }
    }

    /// The same over ranks, which are its workers.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub fn execute_over(mut self, ranks: OverRanks) -> Result<Exit, CliError> {
        let given = [("--workers", self.workers.is_some()), ("--jobs", self.jobs != 1)];
        if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(CliError::NotWithRanks { option });
        }
        self.ranks = Some(ranks);
        self.execute()
    }

    /// The workers of a rank.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub fn plan_of_a_rank(&self, shape: &Shape) -> workers::Plan {
        workers::Plan { shape: shape.clone(), call_timeout: self.call_timeout, ranks: Vec::new() }
    }

    /// The workers among which a case is divided, if there are any.
    fn shape(&self) -> Option<Shape> {
        match &self.ranks {
            Some(ranks) => Some(ranks.each.under(ranks.links.len() as u32)),
            None => self.workers.clone(),
        }
    }

    /// The cases to run, in order.
    fn choices(&self) -> Result<Vec<Choice>, CliError> {
        let choices = select::choices(&self.scenes, &self.cases)?;
        if self.output.is_some() && choices.len() != 1 {
            return Err(CliError::OneDirectory { choices });
        }
        Ok(choices)
    }

    /// The cases, with how they are run. Everything that a command line can get wrong is found here.
    fn plans(&self, choices: &[Choice]) -> Result<Vec<Plan>, CliError> {
        let jobs = choices.iter().map(|choice| select::job(*choice, &self.params, self.seed));
        let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
        if let Some(shape) = self.shape() {
            jobs.iter().try_for_each(|job| select::check_divisible(job, &shape))?;
        }
        let request = self.request(choices.len())?;
        let mut plans: Vec<Plan> = Vec::new();
        for job in jobs {
            let setup = match plans.last() {
                Some(last) if last.job.scene.name == job.scene.name => last.setup.clone(),
                _ => Rc::new(self.setup(job.scene, request.clone())?),
            };
            plans.push(Plan { job, setup });
        }
        Ok(plans)
    }

    /// What all cases are asked for, but for the diagnostics, which name kernels of a scene.
    fn request(&self, cases: usize) -> Result<RunRequest, CliError> {
        let (config, mut options) = (self.config(cases)?, self.model.options(self.platform)?);
        options.slow = self.slow.clone();
        let config = self.size.apply(config, self.platform, options.spec.as_ref())?;
        if self.graph_memory.is_some() && self.runtime != GraphRuntime::HostBuildGraph {
            return Err(CliError::OnlyWithGraphs { option: "--graph-memory" });
        }
        let request = RunRequest::on(self.platform).with_config(config).with_options(options);
        Ok(RunRequest { runtime: self.runtime, graph_memory: self.graph_memory, ..request })
    }

    fn config(&self, cases: usize) -> Result<CallConfig, CliError> {
        if self.threads.is_some() && !self.platform.capabilities().host_threads {
            return Err(CliError::NotOnSimulators { option: "--threads", platform: self.platform });
        }
        let threads = self.threads.unwrap_or_else(|| self.threads_of_a_case(cases));
        let config = self.rings.apply(CallConfig::default().with_seed(self.seed).with_threads(threads));
        ringlane::check(self.platform, &config).map_err(CliError::Setup)?;
        Ok(config)
    }

    /// Cases that run in parallel share the cores: with more threads than cores, every case would wait for the others and
    /// their times would be meaningless. 0 is all cores.
    fn threads_of_a_case(&self, cases: usize) -> i32 {
        let chips = match &self.ranks {
            Some(ranks) => ranks.chips_of_a_host(),
            None => self.workers.as_ref().map_or(1, |shape| shape.chips() as usize),
        };
        let at_once = (self.jobs as usize).min(cases).saturating_mul(chips);
        if at_once <= 1 || !self.platform.capabilities().host_threads {
            return 0;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        i32::try_from(cores / at_once).unwrap_or(i32::MAX).max(1)
    }

    fn setup(&self, scene: &'static Scene, request: RunRequest) -> Result<Setup, CliError> {
        select::check_slow(scene, &self.slow)?;
        let ranks = self.ranks.as_ref().map(|ranks| ranks.links.clone()).unwrap_or_default();
        let workers = self.shape().map(|shape| workers::Plan { ranks, ..self.plan_of_a_rank(&shape) });
        let of = if workers.is_some() { RecordedBy::Node } else { RecordedBy::Chip };
        Ok(Setup {
            request: self.dfx.apply(request, scene, of)?,
            dfx_rounds: self.dfx.rounds(),
            workers,
            rounds: self.rounds,
            output: self.output.clone(),
            pages: if self.dfx.report() { Pages::Written } else { Pages::None },
            progress: if self.json { Progress::Hidden } else { Progress::for_people() },
            audience: Audience::People,
        })
    }

    /// Warns once for each scene.
    fn warn_of_unused_costs(&self, plans: &[Plan]) {
        for of_one_scene in plans.chunk_by(|one, other| one.job.scene.name == other.job.scene.name) {
            let Plan { job, setup } = &of_one_scene[0];
            if let Some(unused) = self.model.unused_costs(&setup.request.options, job.scene) {
                warn(&unused);
            }
        }
    }

    fn summary(&self, runs: &[CaseReport]) -> String {
        if self.json { summary::json(runs) } else { summary::table(runs) }
    }
}

/// Records costs, if requested and if all runs succeeded, and returns the exit status.
fn finish(runs: &[CaseReport], setup: &Setup, costs_out: Option<CostsOut>) -> Result<Exit, CliError> {
    let exit = exit_of(runs);
    match costs_out {
        Some(out) if exit == Exit::Ok => out.write(runs, setup)?,
        Some(_) => say("no costs were written, because not all runs succeeded"),
        None => {}
    }
    Ok(exit)
}

/// The exit status that follows from runs.
pub fn exit_of(runs: &[CaseReport]) -> Exit {
    let has = |status| runs.iter().any(|case_report| case_report.manifest.status == status);
    if has(RunStatus::Interrupted) {
        Exit::Interrupted(stop_signal().unwrap_or(StopSignal::Interrupt))
    } else if has(RunStatus::Failed) || has(RunStatus::Fatal) {
        Exit::Failed
    } else {
        Exit::Ok
    }
}
