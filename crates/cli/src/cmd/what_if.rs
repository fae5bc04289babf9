//! `ringlane what-if`: what each change of a recorded run would gain.

use std::path::PathBuf;

use ringlane::{GraphRuntime, keep_experiment};
use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::spec;
use ringlane_graph::ReplayError;
use ringlane_graph::recorded::GraphBuild;
use ringlane_graph::what_if::limits::{CORES_MAX, THREADS_MAX};
use ringlane_graph::what_if::{
    Change, Experiment, Laboratory, Outcome, Subject, WhatIf, parse, what_if, what_if_one,
};
use ringlane_insight::text_table::{Side, Table};
use ringlane_insight::units::{percent_text, time_text};
use ringlane_trace::RunDir;

use super::rings::RingArgs;
use crate::errors::{CliError, Exit};
use crate::options;
use crate::output::{self, path_text, printable, say};
use crate::progress::{Progress, Steps};
use crate::run_arg::{Needs, RunArg};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention -p a2a3sim --chip-swimlane=3 --dep-gen
  $ ringlane what-if
  $ ringlane what-if --kernel PV=0.5x --cores aic=36,aiv=72 --keep outputs/faster
Without a change, it tries about thirty of them and ranks their gains. docs/commands/what-if.md says how exact they are.";

/// Replay a recorded run in virtual time, and show what each change would gain
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct WhatIfArgs {
    #[command(flatten)]
    run: RunArg,
    #[command(flatten)]
    changes: ChangeArgs,
    /// Write the experiment as a run directory, for report, compare and check
    #[arg(long, value_name = "DIR", value_parser = options::directory)]
    keep: Option<PathBuf>,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What is changed, all of it together.
#[derive(clap::Args)]
#[command(next_help_heading = "Changes, made together")]
struct ChangeArgs {
    /// Blocks of a kernel take this multiple of their time, or this time (repeatable)
    #[arg(long, value_name = "NAME=0.5x|NAME=3us", value_parser = kernel)]
    kernel: Vec<Change>,
    /// A submit takes this multiple of its time: 0x is free
    #[arg(long, value_name = "0.5x", value_parser = submit)]
    submit: Option<Change>,
    /// Copies between host and chip take this multiple of their time
    #[arg(long, value_name = "0.5x", value_parser = copies)]
    copies: Option<Change>,
    /// Everything that a scheduler does takes this multiple of its time
    #[arg(long, value_name = "0.5x", value_parser = scheduler)]
    scheduler: Option<Change>,
    /// Number of scheduler threads
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = schedulers)]
    schedulers: Option<Change>,
    /// Numbers of cores
    #[arg(long, value_name = "aic=36,aiv=72|threads=16|sms=264", value_parser = cores)]
    cores: Option<Change>,
    /// The memory's bandwidth is this multiple of the chip's
    #[arg(long, value_name = "2x", value_parser = memory)]
    memory: Option<Change>,
    /// Which ready task runs next
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// How the task graph is built
    #[arg(long, value_name = "NAME", value_parser = options::graph_runtime())]
    runtime: Option<GraphRuntime>,
    /// Another chip: a file, as `ringlane chips show` prints one
    #[arg(long, value_name = "FILE")]
    chip: Option<PathBuf>,
    /// Leave out edges: those with a cause (raw, waw, war, explicit), or those between tasks of two kernels (repeatable)
    #[arg(long, value_name = "CAUSE|A->B")]
    drop_edges: Vec<String>,
    #[command(flatten)]
    rings: RingArgs,
}

impl WhatIfArgs {
    /// Replays and prints.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let changes = self.changes.all()?;
        if changes.is_empty() && self.keep.is_some() {
            let hint = "add a change, for example --kernel NAME=0.5x";
            return Err(CliError::bad_value("--keep", "without a change", "one experiment to keep", hint));
        }
        let subject = Subject::read(self.run.dir(Needs::Experiments)?)?;
        let laboratory = subject.laboratory()?;
        let answer = if changes.is_empty() {
            self.table(&subject, &*laboratory)?
        } else {
            self.one(&subject, &*laboratory, Experiment { changes })?
        };
        if self.json {
            output::results(&output::json(&answer))?;
        } else {
            answer.notes.iter().for_each(|note| say(format_args!("note: {}", printable(note))));
            output::results(&text_of(&answer))?;
        }
        Ok(Exit::Ok)
    }

    /// The default experiments.
    fn table(&self, subject: &Subject, laboratory: &dyn Laboratory) -> Result<WhatIf, CliError> {
        let experiments = subject.experiments();
        let progress = if self.json { Progress::Hidden } else { Progress::for_people() };
        let steps = Steps::start(progress, "experiments", experiments.len());
        let answer = what_if(laboratory, &experiments, |done| steps.update(done));
        steps.clear();
        Ok(answer?)
    }

    /// One experiment. What is wrong with it is an error.
    fn one(
        &self,
        subject: &Subject,
        laboratory: &dyn Laboratory,
        experiment: Experiment,
    ) -> Result<WhatIf, CliError> {
        let answer = what_if_one(laboratory, &experiment)?;
        if let Some(path) = &self.keep {
            let Subject::Chip(recorded) = subject else {
                return Err(ReplayError::Impossible {
                    what: "--keep with a run of cpu, cuda or several workers: the answer is how long, not what every core does"
                        .to_string(),
                    hint: "name a run on a2a3sim or a5sim, or leave out --keep".to_string(),
                }
                .into());
            };
            let dir = RunDir::create_exact(path)?;
            keep_experiment(recorded, &experiment, &dir)?;
            say(path_text(dir.path()));
        }
        Ok(answer)
    }
}

impl ChangeArgs {
    /// All changes that were asked for.
    fn all(&self) -> Result<Vec<Change>, CliError> {
        let mut changes = self.kernel.clone();
        let Self { submit, copies, scheduler, schedulers, cores, memory, .. } = self;
        let options = [submit, copies, scheduler, schedulers, cores, memory];
        changes.extend(options.into_iter().flatten().cloned());
        if let Some(name) = &self.policy {
            let known = PolicyName::ALL.map(PolicyName::as_str).join(", ");
            let policy = PolicyName::from_name(name);
            let refused = || CliError::bad_value("--policy", name, known, "--policy critical-path");
            changes.push(Change::Policy(policy.ok_or_else(refused)?));
        }
        if let Some(path) = &self.chip {
            changes.push(Change::Chip(Box::new(spec::load(path)?)));
        }
        changes.extend(self.runtime.map(|runtime| Change::Build(build_of(runtime))));
        changes.extend(self.rings.changes());
        changes.extend(self.drop_edges.iter().map(|text| match parse::edge(text) {
            Some((before, after)) => Change::DropBetween(before, after),
            None => Change::DropCause(text.clone()),
        }));
        Ok(changes)
    }
}

/// How a runtime builds graphs.
fn build_of(runtime: GraphRuntime) -> GraphBuild {
    match runtime {
        GraphRuntime::TensormapAndRingbuffer => GraphBuild::Streamed,
        GraphRuntime::HostBuildGraph => GraphBuild::Captured { memory_limit: None },
    }
}

fn kernel(text: &str) -> Result<Change, CliError> {
    let allowed = "a kernel with a factor or a time: NAME=0.5x or NAME=3us";
    let refused = || CliError::bad_value("--kernel", text, allowed, "--kernel NAME=0.5x");
    parse::kernel(text).map(|(name, time)| Change::Kernel(name, time)).ok_or_else(refused)
}

fn submit(text: &str) -> Result<Change, CliError> {
    factor("--submit", text).map(Change::Submit)
}

fn copies(text: &str) -> Result<Change, CliError> {
    factor("--copies", text).map(Change::Copies)
}

fn scheduler(text: &str) -> Result<Change, CliError> {
    factor("--scheduler", text).map(Change::Scheduler)
}

fn memory(text: &str) -> Result<Change, CliError> {
    let refused = || CliError::bad_value("--memory", text, "a factor above 0 such as 2x", "--memory 2x");
    parse::rate(text).map(Change::Memory).ok_or_else(refused)
}

fn factor(option: &str, text: &str) -> Result<f64, CliError> {
    let refused =
        || CliError::bad_value(option, text, "a factor such as 0x or 0.5x", format!("{option} 0.5x"));
    parse::factor(text).ok_or_else(refused)
}

fn schedulers(text: &str) -> Result<Change, CliError> {
    let most = spec::SCHEDULERS_MAX as u32;
    let count = text.parse().ok().filter(|count| (1..=most).contains(count));
    let refused = || {
        CliError::bad_value(
            "--schedulers",
            text,
            format!("a whole number from 1 to {most}"),
            "--schedulers 3",
        )
    };
    count.map(Change::Schedulers).ok_or_else(refused)
}

fn cores(text: &str) -> Result<Change, CliError> {
    parse::cores(text).map(Change::Cores).map_err(|part| {
        let allowed = format!(
            "aic and aiv with numbers from 1 to {CORES_MAX}, or on cpu threads with one from 1 to {THREADS_MAX}, or on cuda sms with one \
             from 1 to {CORES_MAX}; {part:?} is not that"
        );
        let of_others = [("threads", "--cores threads=16"), ("sms", "--cores sms=264")];
        let hint = of_others.into_iter().find(|(kind, _)| text.starts_with(kind));
        let hint = hint.map_or("--cores aic=36,aiv=72", |(_, hint)| hint);
        CliError::bad_value("--cores", text, allowed, hint)
    })
}

/// The answer as text: its line, the replay against the recording, the experiments, the bound.
fn text_of(answer: &WhatIf) -> String {
    let baseline = &answer.baseline;
    let mut text = format!(
        "{}\nrecorded {}, replayed {} (error {})\n\n",
        printable(&answer.sentence),
        time_text(baseline.recorded_us),
        time_text(baseline.replayed_us),
        percent_text(baseline.error)
    );
    let columns = [("experiment", Side::Left), ("makespan", Side::Right), ("gain", Side::Right)];
    let mut table = Table::new(columns.to_vec());
    for Outcome { name, makespan_us, gain, .. } in &answer.experiments {
        table.push(vec![printable(name), time_text(*makespan_us), percent_text(*gain)]);
    }
    text += &table.render();
    text += &format!(
        "\nNo schedule of these blocks on these cores is shorter than {}, a gain of {}\n",
        time_text(answer.bound_us),
        percent_text(answer.bound_gain)
    );
    text
}
