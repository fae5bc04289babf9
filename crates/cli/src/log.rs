//! The log: `--log LEVEL` and `RINGLANE_LOG`, to standard error.
//!
//! ```text
//! info                       every topic at this level
//! warn,collector=debug       one topic at another
//! ```
//! The libraries emit events of `tracing`; a program without a subscriber pays a load and a comparison for each, and none is on the
//! way of a task. The command subscribes here, and hands what it was asked for on to the processes that it starts.

use std::ffi::OsString;
use std::io::{IsTerminal, stderr};
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ringlane_node::ProcessObserver;
use ringlane_task::topics;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

use crate::errors::CliError;
use crate::jobs::{Printed, Screen};

/// The option.
const OPTION: &str = "--log";
/// The environment variable that is used where the option is not given.
const VARIABLE: &str = "RINGLANE_LOG";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What is logged.
#[derive(Clone, Debug, PartialEq)]
pub struct LogFilter {
    targets: Targets,
    /// As it was given.
    text: String,
}

/// What was asked for, once it is on.
static ON: OnceLock<LogFilter> = OnceLock::new();

impl LogFilter {
    /// Reads the value of the option.
    pub fn parse(text: &str) -> Result<Self, CliError> {
        Self::read(text).ok_or_else(|| refused(OPTION, text, "--log info"))
    }

    /// What the environment asks for, if it does.
    fn from_environment() -> Result<Option<Self>, CliError> {
        let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
        let text = text.to_string_lossy();
        Self::read(&text).map(Some).ok_or_else(|| refused(VARIABLE, &text, "RINGLANE_LOG=info"))
    }

    fn read(text: &str) -> Option<Self> {
        let mut targets = Targets::new();
        for directive in text.split(',') {
            let (target, level) = match directive.split_once('=') {
                Some((topic, level)) => (target_of(topic)?, level),
                None => (topics::PREFIX, directive),
            };
            let level = LevelFilter::from_str(LEVELS.into_iter().find(|known| *known == level)?).ok()?;
            targets = targets.with_target(target, level);
        }
        Some(LogFilter { targets, text: text.to_string() })
    }
}

/// The target of a topic, by its name alone or in full.
fn target_of(topic: &str) -> Option<&'static str> {
    let name = topic.strip_prefix(topics::PREFIX).unwrap_or(topic);
    topics::ALL.into_iter().find(|target| target.strip_prefix(topics::PREFIX) == Some(name))
}

fn refused(option: &str, text: &str, hint: &str) -> CliError {
    let topics: Vec<&str> =
        topics::ALL.iter().filter_map(|target| target.strip_prefix(topics::PREFIX)).collect();
    let allowed = format!(
        "{}; or TOPIC=LEVEL, several with commas, with a topic of {}",
        LEVELS.join(", "),
        topics.join(", ")
    );
    CliError::bad_value(option, text, allowed, hint)
}

/// Turns the log on, if the option or the environment asks for it. The option outranks the environment.
pub fn start(option: Option<&LogFilter>) -> Result<(), CliError> {
    let filter = match option {
        Some(filter) => Some(filter.clone()),
        None => LogFilter::from_environment()?,
    };
    let Some(filter) = filter else { return Ok(()) };
    let lines = tracing_subscriber::fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let subscriber = tracing_subscriber::registry().with(lines).with(filter.targets.clone());
    // A program that has a subscriber of its own keeps it.
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        let _ = ON.set(filter);
    }
    Ok(())
}

/// The option again, for a process that is started with arguments of its own.
pub fn arguments() -> Vec<OsString> {
    ON.get().map(|filter| vec![OPTION.into(), filter.text.clone().into()]).unwrap_or_default()
}

/// Says what a worker prints line by line, with its name, if the log is on: its own log is among that.
pub fn relay(worker: &str) -> Option<Arc<dyn ProcessObserver>> {
    ON.get().map(|_| Arc::new(Relay(Mutex::new(Printed::by(worker)))) as Arc<dyn ProcessObserver>)
}

#[derive(Debug)]
struct Relay(Mutex<Printed>);

impl ProcessObserver for Relay {
    fn printed(&self, printed: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(printed, &Screen::none());
    }

    fn ended(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).finish(&Screen::none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Explain;
    use tracing::Level;

    fn enabled(text: &str, target: &str, level: Level) -> bool {
        LogFilter::parse(text).unwrap().targets.would_enable(target, &level)
    }

    #[test]
    fn a_level_is_for_every_topic_and_a_topic_can_have_its_own() {
        for target in topics::ALL {
            assert!(enabled("info", target, Level::INFO) && !enabled("info", target, Level::DEBUG));
            assert!(!enabled("off", target, Level::ERROR));
        }
        let text = "warn,collector=trace,ringlane::run=off";
        assert!(enabled(text, topics::COLLECTOR, Level::TRACE) && enabled(text, topics::STALLS, Level::WARN));
        assert!(!enabled(text, topics::RUN, Level::ERROR) && !enabled(text, topics::STALLS, Level::INFO));
        assert!(!enabled("trace", "another_library", Level::ERROR));
    }

    #[test]
    fn anything_else_is_refused_with_the_option_and_what_is_allowed() {
        for text in ["", "loud", "INFO", "2", "collector", "disk=info", "info,", "run=", "run=loud"] {
            let error = LogFilter::parse(text).unwrap_err();
            assert_eq!((error.name(), error.hint().as_str()), ("BadValue", "--log info"), "{text}");
            let detail = error.detail();
            for part in ["--log", text, "off, error, warn, info, debug, trace", "collector"] {
                assert!(detail.contains(part), "{detail} does not name {part}");
            }
        }
    }
}
