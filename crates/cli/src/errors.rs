//! The errors of a command line, how an error is printed, and its exit status.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use ringlane_capi::plugin::PluginError;
use ringlane_chip_cuda::error::DeviceError;
use ringlane_chip_sim::spec::SpecError;
use ringlane_graph::ReplayError;
use ringlane_graph::import::ImportError;
use ringlane_graph::rerun::RerunError;
use ringlane_insight::InsightError;
use ringlane_node::NodeError;
use ringlane_node::remote::RemoteError;
use ringlane_scenes::{SceneError, scenes};
use ringlane_task::{ConfigError, Explain};
use ringlane_trace::{TraceError, os_hint};
use serde::{Deserialize, Serialize};

use crate::cmd::DumpError;
use crate::costs::CostsError;
use crate::output::{printable, say};
use crate::select::Choice;
use crate::signals::{StopSignal, stop_signal};
use crate::suggest::nearest;
use crate::workers::shape::Shape;
use ringlane::{Platform, RequestError, SetupError};

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// Success: 0.
    Ok,
    /// A run or a check failed: 1.
    Failed,
    /// Wrong usage or bad input: 2.
    Usage,
    /// A signal stopped it: 128 plus its number, 130 after Ctrl-C.
    Interrupted(StopSignal),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Interrupted(signal) => signal.exit_status(),
        })
    }
}

/// Prints an error as every error is printed: what happened, the numbers, what to do.
pub fn print(error: &dyn Explain) {
    say(lines("error", error));
}

/// Prints a problem that does not end the command, in the same form.
pub fn warn(problem: &dyn Explain) {
    say(lines("warning", problem));
}

/// The three lines of an error or a warning. Names in them may be from a file.
pub fn lines(kind: &str, error: &dyn Explain) -> String {
    let (what, detail, hint) = (error.summary(), error.detail(), error.hint());
    let [what, detail, hint] = [what, detail, hint].map(|line| printable(&line));
    format!("{kind}: {}: {what}\ndetail: {detail}\nhint: {hint}", error.name())
}

/// Why the command fails.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A value of an option is not one of those allowed.
    BadValue { option: String, value: String, allowed: String, hint: String },
    /// A capacity is refused.
    BadCapacity { option: &'static str, value: String, error: ConfigError },
    /// An option does not exist.
    UnknownOption { given: String, similar: Option<String>, usage: String },
    /// A command does not exist.
    UnknownCommand { given: String, similar: Option<String>, known: Vec<String> },
    /// A required argument is missing.
    MissingArgument { what: String, usage: String },
    /// Any other error of the command line parser.
    BadUsage { detail: String, usage: String },
    /// A device cannot be used.
    Device(DeviceError),
    /// A plugin cannot be loaded.
    Plugin(#[from] PluginError),
    /// No scene is named.
    MissingScene { known: Vec<&'static str> },
    /// A scene, case or parameter does not exist, or a parameter cannot have its value.
    Scene(#[from] SceneError),
    /// None of the scenes has the case.
    CaseOfNone { name: String, scenes: Vec<&'static str>, known: Vec<&'static str> },
    /// Two scenes have one name.
    DuplicateScene { name: &'static str },
    /// One directory is given for several cases.
    OneDirectory { choices: Vec<Choice> },
    /// A runtime with these settings cannot be created.
    Setup(SetupError),
    /// The run directory cannot be created or written.
    Trace(#[from] TraceError),
    /// An option of simulators is given for another platform.
    OnlyOnSimulators { option: &'static str, platform: Platform },
    /// An option of the machine's own cores is given for a simulator.
    NotOnSimulators { option: &'static str, platform: Platform },
    /// An option of runs over workers is given for another.
    OnlyWithWorkers { option: &'static str },
    /// An option of captured graphs is given for a streamed run.
    OnlyWithGraphs { option: &'static str },
    /// A scene that the chips of one node share, and nodes of nodes.
    OneLevelOnly { scene: &'static str, workers: Shape },
    /// A scene cannot be divided among workers.
    NotDivisible { scene: &'static str, known: Vec<&'static str> },
    /// A chip's file cannot be used.
    Chip(#[from] SpecError),
    /// A run request cannot be read.
    Request(RequestError),
    /// Costs cannot be used or recorded.
    Costs(#[from] CostsError),
    /// The named run does not exist.
    NoSuchRun { path: PathBuf, known: Vec<String> },
    /// No run is named, and none has the required file.
    NoRecordedRun { file: &'static str, option: &'static str, known: Vec<String> },
    /// The output would overwrite a recorded file.
    OverwritesRun { output: PathBuf, file: &'static str, run: PathBuf },
    /// A run cannot be analysed.
    Insight(#[from] InsightError),
    /// A file cannot be imported.
    Import(#[from] ImportError),
    /// A run cannot be replayed, or an experiment cannot be made.
    Replay(#[from] ReplayError),
    /// A task cannot be run again.
    Rerun(#[from] RerunError),
    /// Captured arguments cannot be shown, exported or compared.
    Dump(#[from] DumpError),
    /// A worker cannot serve.
    Node(NodeError),
    /// The ranks of an MPI run are missing or lost.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    Remote(RemoteError),
    /// A worker was started neither by a node nor as one of several ranks.
    NoRanks { ranks: u32 },
    /// This command was built without MPI.
    #[cfg_attr(feature = "mpi", allow(dead_code))]
    NoMpi,
    /// An option cannot be used in a run over ranks.
    NotWithRanks { option: &'static str },
    /// Results cannot be printed.
    CannotPrint(io::Error),
    /// Signals cannot be caught.
    NoSignals(io::Error),
}

impl CliError {
    /// A value that an option does not take.
    pub fn bad_value(option: &str, value: &str, allowed: impl Into<String>, hint: impl Into<String>) -> Self {
        let (option, value) = (option.to_string(), value.to_string());
        CliError::BadValue { option, value, allowed: allowed.into(), hint: hint.into() }
    }

    /// The exit status that follows.
    pub fn exit(&self) -> Exit {
        match self {
            CliError::CannotPrint(_) | CliError::NoSignals(_) | CliError::Remote(_) => Exit::Failed,
            // The system is out of processes or descriptors; the command line is valid.
            CliError::Node(NodeError::CannotStart { .. }) => Exit::Failed,
            CliError::Costs(error) => error.exit(),
            // The run can be read, and its kernel fails.
            CliError::Rerun(RerunError::KernelFailed { .. }) => Exit::Failed,
            CliError::Import(ImportError::ImportInterrupted { .. }) => {
                stop_signal().map_or(Exit::Failed, Exit::Interrupted)
            }
            // The command line is valid; the system cannot write the file.
            CliError::Trace(TraceError::CannotWrite { .. })
            | CliError::Import(ImportError::Trace(TraceError::CannotWrite { .. }))
            | CliError::Dump(DumpError::CannotExport { .. }) => Exit::Failed,
            _ => Exit::Usage,
        }
    }
}

ringlane_task::display_explained!(CliError);

impl Explain for CliError {
    fn name(&self) -> &'static str {
        match self {
            CliError::BadValue { .. } => "BadValue",
            CliError::BadCapacity { error, .. } => error.name(),
            CliError::UnknownOption { .. } => "UnknownOption",
            CliError::UnknownCommand { .. } => "UnknownCommand",
            CliError::MissingArgument { .. } => "MissingArgument",
            CliError::BadUsage { .. } => "BadUsage",
            CliError::MissingScene { .. } => "MissingScene",
            CliError::Scene(error) => error.name(),
            CliError::CaseOfNone { .. } => "UnknownCase",
            CliError::DuplicateScene { .. } => "DuplicateScene",
            CliError::OneDirectory { .. } => "OneDirectory",
            CliError::Setup(error) => error.name(),
            CliError::Trace(error) => error.name(),
            CliError::OnlyOnSimulators { .. } => "OnlyOnSimulators",
            CliError::NotOnSimulators { .. } => "NotOnSimulators",
            CliError::OnlyWithWorkers { .. } => "OnlyWithWorkers",
            CliError::OnlyWithGraphs { .. } => "OnlyWithGraphs",
            CliError::OneLevelOnly { .. } => "OneLevelOnly",
            CliError::NotDivisible { .. } => "NotDivisible",
            CliError::Chip(error) => error.name(),
            CliError::Request(error) => error.name(),
            CliError::Costs(error) => error.name(),
            CliError::NoSuchRun { .. } => "NoSuchRun",
            CliError::NoRecordedRun { .. } => "NoRecordedRun",
            CliError::OverwritesRun { .. } => "OverwritesRun",
            CliError::Insight(error) => error.name(),
            CliError::Import(error) => error.name(),
            CliError::Replay(error) => error.name(),
            CliError::Rerun(error) => error.name(),
            CliError::Device(error) => error.name(),
            CliError::Plugin(error) => error.name(),
            CliError::Dump(error) => error.name(),
            CliError::Node(error) => error.name(),
            CliError::Remote(error) => error.name(),
            CliError::NoRanks { .. } => "NoRanks",
            CliError::NoMpi => "NoMpi",
            CliError::NotWithRanks { .. } => "NotWithRanks",
            CliError::CannotPrint(_) => "CannotPrint",
            CliError::NoSignals(_) => "NoSignals",
        }
    }

    fn summary(&self) -> String {
        match self {
            CliError::BadValue { option, .. } if !option.starts_with('-') => {
                "an argument has a value that is not allowed"
            }
            CliError::BadValue { .. } => "an option has a value that is not allowed",
            CliError::BadCapacity { error, .. } => return error.summary(),
            CliError::UnknownOption { .. } => "there is no such option",
            CliError::UnknownCommand { .. } => "there is no such command",
            CliError::MissingArgument { .. } => "an argument is missing",
            CliError::BadUsage { .. } => "the command line is not valid",
            CliError::MissingScene { .. } => "no scene was named",
            CliError::Scene(error) => return error.summary(),
            CliError::CaseOfNone { name, .. } => return format!("none of the scenes has the case `{name}`"),
            CliError::DuplicateScene { .. } => "two scenes have the same name",
            CliError::OneDirectory { .. } => "one directory cannot hold several cases",
            CliError::Setup(error) => return error.summary(),
            CliError::Trace(error) => return error.summary(),
            CliError::OnlyOnSimulators { .. } => "an option applies only to simulators",
            CliError::NotOnSimulators { .. } => "an option does not apply to simulators",
            CliError::OnlyWithWorkers { .. } => "an option applies only to runs over workers",
            CliError::OnlyWithGraphs { .. } => "an option applies only to captured graphs",
            CliError::OneLevelOnly { .. } => "a scene cannot be divided among nodes of nodes",
            CliError::NotDivisible { .. } => "a scene cannot be divided among workers",
            CliError::Chip(error) => return error.summary(),
            CliError::Request(error) => return error.summary(),
            CliError::Costs(error) => return error.summary(),
            CliError::NoSuchRun { .. } => "there is no such run",
            CliError::NoRecordedRun { .. } => "no run recorded what this command needs",
            CliError::OverwritesRun { .. } => "the output would overwrite a file that a run recorded",
            CliError::Insight(error) => return error.summary(),
            CliError::Import(error) => return error.summary(),
            CliError::Replay(error) => return error.summary(),
            CliError::Rerun(error) => return error.summary(),
            CliError::Device(error) => return error.summary(),
            CliError::Plugin(error) => return error.summary(),
            CliError::Dump(error) => return error.summary(),
            CliError::Node(error) => return error.summary(),
            CliError::Remote(error) => return error.summary(),
            CliError::NoRanks { .. } => "a worker was started without a node or other ranks",
            CliError::NoMpi => "this command was built without MPI",
            CliError::NotWithRanks { .. } => "an option cannot be used in a run over ranks",
            CliError::CannotPrint(_) => "results cannot be printed",
            CliError::NoSignals(_) => "signals cannot be caught",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            CliError::BadValue { option, value, allowed, .. } => {
                format!("{option} {value:?}; allowed: {allowed}")
            }
            CliError::BadCapacity { option, value, error } => format!("{option} {value}: {}", error.detail()),
            CliError::UnknownOption { given, .. } => given.clone(),
            CliError::UnknownCommand { given, known, .. } => {
                format!("{given}; known commands: {}", known.join(", "))
            }
            CliError::MissingArgument { what, .. } => what.clone(),
            CliError::BadUsage { detail, .. } => detail.clone(),
            CliError::MissingScene { known } => format!("known scenes: {}", listed(known)),
            CliError::Scene(error) => error.detail(),
            CliError::CaseOfNone { name, scenes, .. } => {
                format!("given: `{name}`; the scenes: {}", listed(scenes))
            }
            CliError::DuplicateScene { name } => name.to_string(),
            CliError::OneDirectory { choices } => {
                let cases: Vec<_> = choices.iter().map(ToString::to_string).collect();
                format!("-o names one directory, but there are {} cases: {}", cases.len(), listed(&cases))
            }
            CliError::Setup(error) => error.detail(),
            CliError::Trace(error) => error.detail(),
            CliError::NotOnSimulators { option, platform } => {
                format!("{option} with --platform {platform}, which runs on one thread of this machine")
            }
            CliError::OnlyOnSimulators { option, platform } => {
                format!("{option} with --platform {platform}, which is not a modelled chip")
            }
            CliError::OnlyWithWorkers { option } => format!("{option} without --workers"),
            CliError::OnlyWithGraphs { option } => format!("{option} without --runtime host_build_graph"),
            CliError::OneLevelOnly { scene, workers } => {
                format!("--workers {workers} with {scene}, every step of which needs results of all chips")
            }
            CliError::NotDivisible { scene, known } => {
                format!("--workers with {scene}; scenes that can be divided: {}", known.join(", "))
            }
            CliError::Chip(error) => error.detail(),
            CliError::Request(error) => error.detail(),
            CliError::Costs(error) => error.detail(),
            CliError::NoSuchRun { path, known } => {
                format!("{} does not exist; the newest runs: {}", path.display(), listed(known))
            }
            CliError::NoRecordedRun { file, known, .. } => {
                format!("no outputs/*/{file}; the newest runs: {}", listed(known))
            }
            CliError::OverwritesRun { output, file, run } => {
                format!("-o {} is {file} of the run {}", output.display(), run.display())
            }
            CliError::Insight(error) => error.detail(),
            CliError::Import(error) => error.detail(),
            CliError::Replay(error) => error.detail(),
            CliError::Rerun(error) => error.detail(),
            CliError::Device(error) => error.detail(),
            CliError::Plugin(error) => error.detail(),
            CliError::Dump(error) => error.detail(),
            CliError::Node(error) => error.detail(),
            CliError::Remote(error) => error.detail(),
            CliError::NoRanks { ranks: 0 } => "neither --mailbox-fd nor mpirun was used".to_string(),
            CliError::NoRanks { ranks } => format!("{ranks} rank; rank 0 needs other ranks as workers"),
            CliError::NoMpi => "`ringlane worker` without --mailbox-fd is a rank of an MPI run".to_string(),
            CliError::NotWithRanks { option } => format!("{option} in a run over ranks"),
            CliError::CannotPrint(error) | CliError::NoSignals(error) => error.to_string(),
        }
    }

    fn hint(&self) -> String {
        match self {
            CliError::BadValue { hint, .. } => hint.clone(),
            CliError::BadCapacity { error, .. } => error.hint(),
            CliError::UnknownOption { similar: Some(similar), .. }
            | CliError::UnknownCommand { similar: Some(similar), .. } => format!("did you mean {similar}?"),
            CliError::UnknownOption { usage, .. }
            | CliError::MissingArgument { usage, .. }
            | CliError::BadUsage { usage, .. } => see_help(usage),
            CliError::UnknownCommand { .. } => "--help describes each of them".to_string(),
            CliError::MissingScene { known } => {
                format!("name one, for example `ringlane run {}`", known.first().unwrap_or(&"SCENE"))
            }
            CliError::Scene(error) => match meant(error) {
                Some(meant) => format!("did you mean {meant}? {}", error.hint()),
                None => error.hint(),
            },
            CliError::CaseOfNone { name, known, .. } => {
                let meant = nearest(name, known).map(|near| format!("did you mean --case {near}? "));
                format!("{}cases of these scenes: {}", meant.unwrap_or_default(), listed(known))
            }
            CliError::DuplicateScene { .. } => "rename one of them".to_string(),
            CliError::OneDirectory { choices } => one_of(choices),
            CliError::Setup(error) => error.hint(),
            CliError::Trace(error) => error.hint(),
            CliError::NotOnSimulators { option, .. } => format!("use --platform cpu, or leave out {option}"),
            CliError::OnlyOnSimulators { option, .. } => {
                format!("use --platform a2a3sim, or leave out {option}")
            }
            CliError::OnlyWithWorkers { option } => format!("add --workers 2, or leave out {option}"),
            CliError::OnlyWithGraphs { option } => {
                format!("add --runtime host_build_graph, or leave out {option}")
            }
            CliError::OneLevelOnly { workers, .. } => format!("--workers {}", workers.chips()),
            CliError::NotDivisible { .. } => "leave out --workers, or implement `Program::parts`".to_string(),
            CliError::Chip(error) => error.hint(),
            CliError::Request(error) => error.hint(),
            CliError::Costs(error) => error.hint(),
            CliError::NoSuchRun { known, .. } => match known.first() {
                Some(newest) => format!("name a run directory, for example {newest}"),
                None => "`ringlane run SCENE --dfx` records one in outputs/".to_string(),
            },
            CliError::NoRecordedRun { option, .. } => {
                format!("record one with `ringlane run SCENE {option}`, or name a run's directory")
            }
            CliError::OverwritesRun { .. } => {
                "name another file with -o; recorded files are never overwritten".to_string()
            }
            CliError::Insight(error) => error.hint(),
            CliError::Import(error) => error.hint(),
            CliError::Replay(error) => error.hint(),
            CliError::Rerun(error) => error.hint(),
            CliError::Device(error) => error.hint(),
            CliError::Plugin(error) => error.hint(),
            CliError::Dump(error) => error.hint(),
            CliError::Node(error) => error.hint(),
            CliError::Remote(error) => error.hint(),
            CliError::NoRanks { .. } => START_RANKS.to_string(),
            CliError::NoMpi => BUILD_WITH_MPI.to_string(),
            CliError::NotWithRanks { option: "--workers" } => {
                "put it before the `--`, where it sets the number of chips of each rank".to_string()
            }
            CliError::NotWithRanks { .. } => "leave it out".to_string(),
            CliError::CannotPrint(_) => "check where standard output goes, and the space there".to_string(),
            CliError::NoSignals(error) => {
                os_hint(error).unwrap_or("check that this environment allows signal handlers").to_string()
            }
        }
    }
}

/// Where to read how a command is used.
fn see_help(usage: &str) -> String {
    if usage.is_empty() { "see --help".to_string() } else { format!("{usage}; see --help") }
}

/// How ranks are started.
const START_RANKS: &str =
    "a node starts its workers itself; start ranks with `mpirun -n 4 ringlane worker -- run SCENE`";

/// How the command gets MPI.
const BUILD_WITH_MPI: &str = "build it with `cargo build --release -p ringlane-cli --features mpi`; on one machine, use `ringlane run SCENE --workers N`";

/// The name that was probably meant, as an option.
fn meant(error: &SceneError) -> Option<String> {
    match error {
        SceneError::UnknownScene { name, known } => {
            let is_case = scenes().iter().any(|scene| scene.case(name).is_ok());
            nearest(name, known).map(str::to_string).or_else(|| is_case.then(|| format!("--case {name}")))
        }
        SceneError::UnknownCase { name, known, .. } => {
            nearest(name, known).map(|near| format!("--case {near}"))
        }
        SceneError::UnknownParam { name, known, .. } => {
            nearest(name, known).map(|near| format!("--param {near}=VALUE"))
        }
        SceneError::UnknownKernel { name, known, .. } => {
            nearest(name, known).map(|near| format!("--dump-tensor={near}"))
        }
        SceneError::BadParam { .. }
        | SceneError::ParamsDisagree { .. }
        | SceneError::Refused { .. }
        | SceneError::UnreadableFile { .. } => None,
    }
}

/// How to name one case instead of several.
fn one_of(choices: &[Choice]) -> String {
    match choices {
        [] => "name a scene".to_string(),
        [first, rest @ ..] if rest.iter().all(|other| other.scene.name == first.scene.name) => {
            format!("--case {}", first.case.name)
        }
        [first, ..] => {
            format!(
                "name one scene and one case, for example `{} --case {}`",
                first.scene.name, first.case.name
            )
        }
    }
}

fn listed(names: &[impl AsRef<str>]) -> String {
    match names {
        [] => "none".to_string(),
        names => names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "),
    }
}
