//! What can go wrong in a task itself, as opposed to what a task finds.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a task could not be completed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {verb} {path}")]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    /// A program could not be started.
    #[error("cannot start `{program}`")]
    Start { program: String, source: io::Error },
    /// A program ended with another status than 0.
    #[error("`{command}` failed")]
    Failed { command: String, status: String, output: String },
    /// A program printed something else than the JSON it promises.
    #[error("{what} is not the JSON it should be")]
    Json { what: String, source: serde_json::Error },
    /// A folder that should hold the peers does not.
    #[error("{path} holds no peers")]
    NoPeers { path: PathBuf, missing: &'static str },
    /// A workload that does not exist.
    #[error("no workload is called `{name}`")]
    NoWorkload { name: String, known: String },
}

/// What every fallible function of a task returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Names the file that an input or output error is about.
    pub fn file(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::File { verb, path, source }
    }

    /// 2 for what the caller can fix on the command line, 1 for other failures.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::NoPeers { .. } | Error::NoWorkload { .. } => 2,
            _ => 1,
        }
    }

    /// One line that says what happened, one with the detail, one with what to do.
    pub fn report(&self) -> String {
        let (detail, hint) = match self {
            Error::File { source, .. } => {
                (source.to_string(), "check that the path exists and its permissions")
            }
            Error::Start { source, .. } => (source.to_string(), "install the program or put it on PATH"),
            Error::Failed { status, output, .. } => {
                (format!("{status} {}", output.trim()), "run the command by hand")
            }
            Error::Json { source, .. } => {
                (source.to_string(), "compare with the format in the docs of `--json`")
            }
            Error::NoPeers { missing, .. } => {
                (format!("{missing} is not there"), "pass the folder with --peers DIR")
            }
            Error::NoWorkload { known, .. } => {
                (format!("known are {known}"), "name some of these, with commas")
            }
        };
        format!("error: {self}\ndetail: {detail}\nhint: {hint}")
    }
}

/// Runs a program to its end and returns what it wrote to standard output; its standard error passes through.
pub fn output_of(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::Start { program, source })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let tail = text.lines().next_back().unwrap_or_default().to_string();
    Err(Error::Failed { command: shown(command), status: output.status.to_string(), output: tail })
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_named_with_its_arguments_status_and_last_line() {
        let error = output_of(Command::new("sh").args(["-c", "echo so; exit 3"])).unwrap_err();
        let report = error.report();
        assert!(
            report.starts_with("error: `sh -c echo so; exit 3` failed\ndetail: exit status: 3 so\nhint: ")
        );
        assert_eq!(error.exit_status(), 1);
    }

    #[test]
    fn a_program_that_is_missing_is_an_error_with_a_hint() {
        let error = output_of(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.report().contains("hint: install"));
    }
}
