//! What can be wrong with a command line, how an error is printed, and which exit status follows.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use ringlane_chip_sim::spec::SpecError;
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
use crate::signals::StopSignal;
use crate::suggest::nearest;
use ringlane::{Platform, RequestError, SetupError};

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// All well: 0.
    Ok,
    /// A run or a check failed: 1.
    Failed,
    /// Wrong usage or bad input: 2.
    Usage,
    /// A signal stopped it: 128 and its number, 130 after Ctrl-C.
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

/// Prints what went wrong without ending anything, in the same form.
pub fn warn(problem: &dyn Explain) {
    say(lines("warning", problem));
}

/// The three lines of an error or a warning. Names in them may be from a file.
pub fn lines(kind: &str, error: &dyn Explain) -> String {
    let (what, detail, hint) = (error.summary(), error.detail(), error.hint());
    let [what, detail, hint] = [what, detail, hint].map(|line| printable(&line));
    format!("{kind}: {}: {what}\ndetail: {detail}\nhint: {hint}", error.name())
}

/// Why the command does not do what it was asked.
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
    /// Something that must be there is not.
    MissingArgument { what: String, usage: String },
    /// Anything else that the parser of the command line does not like.
    BadUsage { detail: String, usage: String },
    /// No scene is named.
    MissingScene { known: Vec<&'static str> },
    /// A scene, case or parameter is not there, or a parameter cannot have its value.
    Scene(#[from] SceneError),
    /// A case is none of any of the scenes.
    CaseOfNone { name: String, scenes: Vec<&'static str>, known: Vec<&'static str> },
    /// Two scenes have one name.
    DuplicateScene { name: &'static str },
    /// One directory is given for several cases.
    OneDirectory { choices: Vec<Choice> },
    /// A runtime with these capacities cannot be had.
    Setup(SetupError),
    /// The run directory cannot be made or written.
    Trace(#[from] TraceError),
    /// An option of simulators is given for another platform.
    OnlyOnSimulators { option: &'static str, platform: Platform },
    /// An option of the machine's own cores is given for a simulator.
    NotOnSimulators { option: &'static str, platform: Platform },
    /// An option of runs over workers is given for another.
    OnlyWithWorkers { option: &'static str },
    /// A scene cannot be shared out to workers.
    NotDivisible { scene: &'static str, known: Vec<&'static str> },
    /// A chip's file cannot be used.
    Chip(#[from] SpecError),
    /// What a run is asked for cannot be read.
    Request(RequestError),
    /// Costs cannot be used or recorded.
    Costs(#[from] CostsError),
    /// A run that is named is not there.
    NoSuchRun { path: PathBuf, known: Vec<String> },
    /// No run is named, and none has what is needed.
    NoRecordedRun { file: &'static str, option: &'static str, known: Vec<String> },
    /// What is to be written would take the place of what was recorded.
    OverwritesRun { output: PathBuf, file: &'static str, run: PathBuf },
    /// A run cannot be explained.
    Insight(#[from] InsightError),
    /// Captured arguments cannot be shown, exported or compared.
    Dump(#[from] DumpError),
    /// A worker cannot serve.
    Node(NodeError),
    /// The ranks of an MPI run are not there, or no longer.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    Remote(RemoteError),
    /// A worker is neither that of a node nor a rank among others.
    NoRanks { ranks: u32 },
    /// This command was built without MPI.
    #[cfg_attr(feature = "mpi", allow(dead_code))]
    NoMpi,
    /// An option cannot be had over ranks.
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
            // Processes or descriptors cannot be had: nothing is wrong with what was asked for.
            CliError::Node(NodeError::CannotStart { .. }) => Exit::Failed,
            CliError::Costs(error) => error.exit(),
            // What was asked for is well, and the machine does not let it be written.
            CliError::Trace(TraceError::CannotWrite { .. })
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
            CliError::NotDivisible { .. } => "NotDivisible",
            CliError::Chip(error) => error.name(),
            CliError::Request(error) => error.name(),
            CliError::Costs(error) => error.name(),
            CliError::NoSuchRun { .. } => "NoSuchRun",
            CliError::NoRecordedRun { .. } => "NoRecordedRun",
            CliError::OverwritesRun { .. } => "OverwritesRun",
            CliError::Insight(error) => error.name(),
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
            CliError::BadUsage { .. } => "the command line cannot be understood",
            CliError::MissingScene { .. } => "a scene must be named",
            CliError::Scene(error) => return error.summary(),
            CliError::CaseOfNone { name, .. } => return format!("none of the scenes has the case `{name}`"),
            CliError::DuplicateScene { .. } => "two scenes have the same name",
            CliError::OneDirectory { .. } => "one directory cannot hold several cases",
            CliError::Setup(error) => return error.summary(),
            CliError::Trace(error) => return error.summary(),
            CliError::OnlyOnSimulators { .. } => "an option is for simulators",
            CliError::NotOnSimulators { .. } => "an option is for the machine's own cores",
            CliError::OnlyWithWorkers { .. } => "an option is for runs over workers",
            CliError::NotDivisible { .. } => "a scene cannot be run in parts",
            CliError::Chip(error) => return error.summary(),
            CliError::Request(error) => return error.summary(),
            CliError::Costs(error) => return error.summary(),
            CliError::NoSuchRun { .. } => "there is no such run",
            CliError::NoRecordedRun { .. } => "no run has what this needs",
            CliError::OverwritesRun { .. } => "the output would overwrite what a run recorded",
            CliError::Insight(error) => return error.summary(),
            CliError::Dump(error) => return error.summary(),
            CliError::Node(error) => return error.summary(),
            CliError::Remote(error) => return error.summary(),
            CliError::NoRanks { .. } => "a worker has nobody to work for",
            CliError::NoMpi => "this command was built without MPI",
            CliError::NotWithRanks { .. } => "an option is not for runs over ranks",
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
                format!("{given}; there are: {}", known.join(", "))
            }
            CliError::MissingArgument { what, .. } => what.clone(),
            CliError::BadUsage { detail, .. } => detail.clone(),
            CliError::MissingScene { known } => format!("there are: {}", listed(known)),
            CliError::Scene(error) => error.detail(),
            CliError::CaseOfNone { name, scenes, .. } => {
                format!("given: `{name}`; the scenes: {}", listed(scenes))
            }
            CliError::DuplicateScene { name } => name.to_string(),
            CliError::OneDirectory { choices } => {
                let cases: Vec<_> = choices.iter().map(ToString::to_string).collect();
                format!("-o names one directory, these are {} cases: {}", cases.len(), listed(&cases))
            }
            CliError::Setup(error) => error.detail(),
            CliError::Trace(error) => error.detail(),
            CliError::NotOnSimulators { option, platform } => {
                format!("{option} with --platform {platform}, which is one thread of this machine")
            }
            CliError::OnlyOnSimulators { option, platform } => {
                format!("{option} with --platform {platform}, which is no modelled chip")
            }
            CliError::OnlyWithWorkers { option } => format!("{option} without --workers"),
            CliError::NotDivisible { scene, known } => {
                format!("--workers and {scene}; these can be: {}", known.join(", "))
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
            CliError::Dump(error) => error.detail(),
            CliError::Node(error) => error.detail(),
            CliError::Remote(error) => error.detail(),
            CliError::NoRanks { ranks: 0 } => "neither --mailbox-fd nor mpirun".to_string(),
            CliError::NoRanks { ranks } => format!("{ranks} rank; rank 0 needs others that work"),
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
            | CliError::BadUsage { usage, .. } => match usage.as_str() {
                "" => "--help says what is needed".to_string(),
                usage => format!("{usage}; --help says more"),
            },
            CliError::UnknownCommand { .. } => "--help says what each of them does".to_string(),
            CliError::MissingScene { known } => {
                format!("name one, as in `ringlane run {}`", known.first().unwrap_or(&"SCENE"))
            }
            CliError::Scene(error) => match meant(error) {
                Some(meant) => format!("did you mean {meant}? {}", error.hint()),
                None => error.hint(),
            },
            CliError::CaseOfNone { name, known, .. } => {
                let meant = nearest(name, known).map(|near| format!("did you mean --case {near}? "));
                format!("{}cases that some have: {}", meant.unwrap_or_default(), listed(known))
            }
            CliError::DuplicateScene { .. } => "rename one of them".to_string(),
            CliError::OneDirectory { choices } => one_of(choices),
            CliError::Setup(error) => error.hint(),
            CliError::Trace(error) => error.hint(),
            CliError::NotOnSimulators { option, .. } => format!("--platform cpu, or leave out {option}"),
            CliError::OnlyOnSimulators { option, .. } => format!("--platform a2a3sim, or leave out {option}"),
            CliError::OnlyWithWorkers { .. } => "add --workers 2, or leave it out".to_string(),
            CliError::NotDivisible { .. } => "leave out --workers, or implement `Program::parts`".to_string(),
            CliError::Chip(error) => error.hint(),
            CliError::Request(error) => error.hint(),
            CliError::Costs(error) => error.hint(),
            CliError::NoSuchRun { known, .. } => match known.first() {
                Some(newest) => format!("name a run directory, as in {newest}"),
                None => "`ringlane run SCENE --dfx` makes one in outputs/".to_string(),
            },
            CliError::NoRecordedRun { option, .. } => {
                format!("make one with `ringlane run SCENE {option}`, or name the run's directory")
            }
            CliError::OverwritesRun { .. } => "-o another file; what was recorded stays as it is".to_string(),
            CliError::Insight(error) => error.hint(),
            CliError::Dump(error) => error.hint(),
            CliError::Node(error) => error.hint(),
            CliError::Remote(error) => error.hint(),
            CliError::NoRanks { .. } => {
                "a node starts its workers itself; ranks: `mpirun -n 4 ringlane worker -- run SCENE`".to_string()
            }
            CliError::NoMpi => {
                "`cargo build --release -p ringlane-cli --features mpi`; on one machine, `ringlane run SCENE --workers N`"
                    .to_string()
            }
            CliError::NotWithRanks { option: "--workers" } => {
                "give it before the `--`: it is how many chips each rank has".to_string()
            }
            CliError::NotWithRanks { .. } => "leave it out".to_string(),
            CliError::CannotPrint(_) => "is there space where standard output goes?".to_string(),
            CliError::NoSignals(error) => {
                os_hint(error).unwrap_or("does the machine allow signal handlers?").to_string()
            }
        }
    }
}

/// The name that was probably meant, as it would be given.
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
        | SceneError::UnreadableFile { .. } => None,
    }
}

/// How one case is asked for instead of several.
fn one_of(choices: &[Choice]) -> String {
    match choices {
        [] => "name a scene".to_string(),
        [first, rest @ ..] if rest.iter().all(|other| other.scene.name == first.scene.name) => {
            format!("--case {}", first.case.name)
        }
        [first, ..] => {
            format!("one scene and one case, as in `{} --case {}`", first.scene.name, first.case.name)
        }
    }
}

fn listed(names: &[impl AsRef<str>]) -> String {
    match names {
        [] => "none".to_string(),
        names => names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "),
    }
}
