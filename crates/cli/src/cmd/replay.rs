//! `ringlane replay`: a recorded or imported graph on another chip, or for real.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::spec;
use ringlane_engine::chip_runtime::ChipOptions;
use ringlane_graph::import::Scale;
use ringlane_graph::portable::{PortableRun, Target};
use ringlane_insight::Instrument;
use ringlane_insight::units::{counted, microseconds, time_text};
use ringlane_task::{CallConfig, ChipSpec, DfxFlags, HostMemory};
use serde::Serialize;
use std::sync::Arc;

use super::rings::RingArgs;
use super::run::exit_of;
use super::size::SizeArgs;
use crate::case_report::CaseReport;
use crate::diagnostics::DfxRounds;
use crate::errors::{CliError, Exit};
use crate::execute::{Audience, Setup};
use crate::jobs::{self, Pages, Plan};
use crate::options;
use crate::output::{self, path_text, say};
use crate::progress::Progress;
use crate::replayed_case::case_of;
use crate::run_arg::{Needs, RunArg};
use crate::summary;
use ringlane::{GraphRuntime, Platform, RunRequest};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --case small --chip-swimlane=1 --dep-gen -o outputs/recorded
  $ ringlane replay outputs/recorded -p a5sim
  $ ringlane chips show a2a3sim > mine.toml
  $ ringlane replay outputs/recorded -p mine.toml --policy critical-path --report
  $ ringlane import montage.json -o outputs/montage
  $ ringlane replay outputs/montage -p cpu --threads 8 --scale 1s=1ms
Blocks take as long as they took and compute nothing: in virtual time on a modelled chip, by spinning on cpu.
docs/commands/replay.md says what is kept of a run.";

/// What is recorded of a replay: it computes no values, and counts nothing.
const RECORDED: DfxFlags = DfxFlags::SWIMLANE_PHASES.with(DfxFlags::DEPS).with(DfxFlags::SCOPES);

/// The chip of a graph that was never run.
const CHIP_OF_IMPORTED: &str = "a2a3sim";

/// Run a recorded or imported graph on another chip, or for real
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ReplayArgs {
    #[command(flatten)]
    run: RunArg,
    /// The chip: cpu, a2a3sim, a5sim, or a file that describes one [default: that of the recording; of an import a2a3sim]
    #[arg(short, long, value_name = "NAME|FILE")]
    platform: Option<String>,
    /// Number of threads on cpu, including the submitting one [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = options::threads)]
    threads: Option<i32>,
    /// Make all durations longer or shorter: 1s=1us makes a second a microsecond
    #[arg(long, value_name = "TIME=TIME", allow_hyphen_values = true)]
    scale: Option<String>,
    /// Replay N times; the summary shows the last one
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    #[arg(value_parser = options::rounds)]
    rounds: u32,
    /// How the task graph is built
    #[arg(long, value_name = "NAME", default_value_t, value_parser = options::graph_runtime())]
    runtime: GraphRuntime,
    /// Which ready task runs next, on a modelled chip [default: fifo]
    #[arg(long, value_name = "NAME", value_parser = policy())]
    policy: Option<PolicyName>,
    /// Write report.html and print its path
    #[arg(long)]
    report: bool,
    /// Write the run to this directory [default: outputs/<scene>_<case>_<time>]
    #[arg(short, long, value_name = "DIR", value_parser = options::directory)]
    output: Option<PathBuf>,
    /// Print the summary as JSON, and nothing else, on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    rings: RingArgs,
}

fn policy() -> impl TypedValueParser<Value = PolicyName> {
    let names = PossibleValuesParser::new(PolicyName::ALL.map(PolicyName::as_str));
    names.map(|name| PolicyName::from_name(&name).expect("one of the names"))
}

/// What was replayed; fields may be added, never renamed.
#[derive(Clone, Serialize)]
struct Replayed {
    /// The run.
    dir: String,
    /// Where it was recorded; `imported` if it never ran.
    platform: String,
    /// How long it took there.
    recorded_us: Option<f64>,
    work_us: f64,
    longest_path_us: f64,
    /// Tasks that were added.
    joins: u64,
}

impl Replayed {
    fn of(run: &PortableRun) -> Self {
        let (manifest, us) = (&run.manifest, |ps: u128| ps as f64 / 1e6);
        let recorded = microseconds(manifest.makespan_ticks as f64, manifest.clock_freq_hz);
        Replayed {
            dir: run.dir.display().to_string(),
            platform: manifest.platform.clone(),
            recorded_us: (!run.is_imported()).then_some(recorded),
            work_us: us(run.work_ps()),
            longest_path_us: us(run.longest_path_ps()),
            joins: run.joins,
        }
    }

    fn text(&self) -> String {
        let recorded = self.recorded_us.map_or("never run".to_string(), |us| {
            format!("{} when it was recorded on {}", time_text(us), self.platform)
        });
        let joins = match self.joins {
            0 => String::new(),
            joins => format!("; {} for tasks with many predecessors", counted(joins, "join")),
        };
        format!(
            "replayed {}: {recorded}; work {}, longest path {}{joins}\n",
            path_text(Path::new(&self.dir)),
            time_text(self.work_us),
            time_text(self.longest_path_us)
        )
    }
}

/// The chip of a replay.
struct Chip {
    platform: Platform,
    /// If it is not the platform's own.
    spec: Option<ChipSpec>,
}

/// Whether blocks can take recorded durations on a platform: on threads of this machine they spin, on a modelled chip they
/// take virtual time.
fn can_replay(platform: &Platform) -> bool {
    let capabilities = platform.capabilities();
    capabilities.host_threads || capabilities.spec.is_some()
}

impl ReplayArgs {
    /// Reads the graph, runs it and prints a summary.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let scale: Option<Scale> = self.scale.as_deref().map(str::parse).transpose()?;
        let mut run = PortableRun::read(self.run.dir(Needs::Table(Instrument::Deps))?)?;
        let chip = self.chip(&run)?;
        if chip.platform.capabilities().host_threads {
            // Before there is a second thread, the one that waits for signals.
            ringlane_chip_cpu::prepare_process();
        }
        if let Some(scale) = &scale {
            run.scale(scale);
        }
        if let Some(spec) = chip.spec.clone().or_else(|| chip.platform.modelled()) {
            run.count_time_in(spec.counter_hz);
        }
        run.check(self.target(chip.platform))?;
        let request = self.request(&run, chip)?;
        let replayed = Replayed::of(&run);
        let plan = self.plan(run, request);
        let ended = jobs::in_turn(vec![plan])?;
        if !ended.case_report.is_empty() {
            output::results(&self.summary(&ended.case_report, &replayed))?;
        }
        match (ended.refusal, ended.interrupted) {
            (Some(refusal), _) => {
                say(refusal.text);
                Ok(refusal.exit)
            }
            (None, Some(signal)) => Ok(Exit::Interrupted(signal)),
            (None, None) => Ok(exit_of(&ended.case_report)),
        }
    }

    /// The chip that is named, or that of the recording, if durations can be replayed on it.
    fn chip(&self, run: &PortableRun) -> Result<Chip, CliError> {
        let Some(name) = &self.platform else {
            let recorded = Platform::named(&run.manifest.platform).filter(|_| !run.is_imported());
            let own = recorded.filter(can_replay).map_or(CHIP_OF_IMPORTED, Platform::as_str);
            let platform = Platform::named(own).ok_or_else(|| self.unknown_platform(own))?;
            return Ok(Chip {
                platform,
                spec: run.manifest.model.as_ref().and_then(|model| model.spec.clone()),
            });
        };
        if let Some(platform) = Platform::named(name).filter(can_replay) {
            return Ok(Chip { platform, spec: None });
        }
        if !Path::new(name).exists() {
            return Err(self.unknown_platform(name));
        }
        let spec = spec::load(Path::new(name))?;
        let like = match spec.host_memory {
            HostMemory::Mapped => "a2a3sim",
            HostMemory::Copied => "a5sim",
        };
        let platform = Platform::named(like).ok_or_else(|| self.unknown_platform(like))?;
        Ok(Chip { platform, spec: Some(spec) })
    }

    fn unknown_platform(&self, name: &str) -> CliError {
        let known = Platform::all().into_iter().filter(can_replay).map(Platform::as_str).collect::<Vec<_>>();
        let allowed = format!("{}, or a file that describes a chip", known.join(", "));
        CliError::bad_value("--platform", name, allowed, format!("--platform {CHIP_OF_IMPORTED}"))
    }

    fn target(&self, platform: Platform) -> Target {
        if !platform.capabilities().host_threads {
            return Target::Model;
        }
        let all = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        Target::Threads(self.threads.map_or_else(all, |threads| threads as u32))
    }

    /// What the run is asked for.
    fn request(&self, run: &PortableRun, chip: Chip) -> Result<RunRequest, CliError> {
        let Chip { platform, spec } = chip;
        let capabilities = platform.capabilities();
        if self.threads.is_some() && !capabilities.host_threads {
            return Err(CliError::NotOnSimulators { option: "--threads", platform });
        }
        if self.policy.is_some() && capabilities.spec.is_none() {
            return Err(CliError::OnlyOnSimulators { option: "--policy", platform });
        }
        let config =
            CallConfig::default().with_seed(run.manifest.seed).with_threads(self.threads.unwrap_or(0));
        let mut config = self.rings.apply(config);
        fill(&mut config, run)?;
        ringlane::check(platform, &config).map_err(CliError::Setup)?;
        let config = self.size.apply(config, platform, spec.as_ref())?.with_dfx_flags(RECORDED);
        let durations = Some(Arc::new(run.durations.clone()));
        let policy = self.policy.map(PolicyName::as_str);
        let options = ChipOptions { spec, policy, durations, ..ChipOptions::default() };
        let request = RunRequest::on(platform).with_config(config).with_options(options);
        Ok(RunRequest { runtime: self.runtime, ..request })
    }

    fn plan(&self, run: PortableRun, request: RunRequest) -> Plan {
        let mut params = vec![("replayed", run.dir.display().to_string())];
        params.extend(self.scale.clone().map(|scale| ("scale", scale)));
        if run.joins > 0 {
            params.push(("joins", run.joins.to_string()));
        }
        let setup = Setup {
            request,
            dfx_rounds: DfxRounds::Last,
            workers: None,
            rounds: self.rounds,
            output: self.output.clone(),
            pages: if self.report { Pages::Written } else { Pages::None },
            progress: if self.json { Progress::Hidden } else { Progress::for_people() },
            audience: Audience::People,
        };
        Plan { job: case_of(run, &params), setup: Rc::new(setup) }
    }

    fn summary(&self, reports: &[CaseReport], replayed: &Replayed) -> String {
        if !self.json {
            return summary::table(reports) + &replayed.text();
        }
        #[derive(Serialize)]
        struct More<'a> {
            replayed: &'a Replayed,
        }
        summary::json_with(reports, Some(More { replayed }))
    }
}

/// Fills in the capacities that no option sets: those of the recording, or as many as an imported graph needs.
fn fill(config: &mut CallConfig, run: &PortableRun) -> Result<(), CliError> {
    let rings = run.rings()?;
    let each = |given: &mut [u32; 4], enough: [u32; 4]| {
        if *given == [0; 4] {
            *given = enough;
        }
    };
    each(&mut config.ring_task_window, rings.task_window);
    each(&mut config.ring_dep_pool, rings.dep_pool);
    each(&mut config.ring_args, rings.args);
    if config.ring_heap == [0; 4] {
        config.ring_heap = rings.heap;
    }
    if config.tensormap == 0 {
        config.tensormap = rings.tensormap;
    }
    Ok(())
}
