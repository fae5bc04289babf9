//! `[RUN]`: the run that a command is about, named or the newest that has what the command needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ringlane_insight::{Instrument, Run};

use crate::errors::CliError;
use crate::output::{path_text, say};
use crate::rounds::rounds_of;

/// Where `ringlane run` puts its directories if nothing else is said.
pub const OUTPUTS: &str = "outputs";

/// The run a command is about.
#[derive(clap::Args)]
pub struct RunArg {
    /// A run directory, or a file in it [default: the newest run in outputs/ that recorded what is needed]
    #[arg(value_name = "RUN")]
    run: Option<PathBuf>,
}

/// What a command cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The manifest alone.
    Manifest,
    /// Whatever was recorded.
    Recording,
    /// This instrument's file.
    Table(Instrument),
    /// What says which task waits for which: the dependencies, or a swimlane, from level 2 on.
    Graph,
    /// What experiments are made on: the dependencies, and when everything ran.
    Experiments,
}

impl Needs {
    /// The files that will do, the best first.
    fn file_names(self) -> Vec<&'static str> {
        match self {
            Needs::Manifest | Needs::Recording => vec!["run.json"],
            Needs::Table(instrument) => vec![instrument.file_name()],
            Needs::Experiments => vec![Instrument::Deps.file_name()],
            Needs::Graph => vec![Instrument::Deps.file_name(), Instrument::Swimlane.file_name()],
        }
    }

    fn option(self) -> &'static str {
        match self {
            Needs::Manifest | Needs::Recording => "--dfx",
            Needs::Table(instrument) => instrument.option(),
            Needs::Graph => Instrument::Deps.option(),
            Needs::Experiments => "--chip-swimlane=3 --dep-gen",
        }
    }
}

impl RunArg {
    /// Opens the run that is named; without a name the newest that has what is needed, and says which.
    pub fn open(&self, needs: Needs) -> Result<Run, CliError> {
        Ok(Run::open(self.dir(needs)?)?)
    }

    /// The directory of that run, whether or not it can be opened. Of a run whose rounds were all observed it is the last
    /// round, unless one of them is named.
    pub fn dir(&self, needs: Needs) -> Result<PathBuf, CliError> {
        let named = self.run.as_deref().map(named).transpose()?;
        let files = needs.file_names();
        let found = match &named {
            Some(path) => files.iter().find_map(|file| with_file(path, file)).unwrap_or_else(|| path.clone()),
            None => newest(Path::new(OUTPUTS), &files).ok_or_else(|| CliError::NoRecordedRun {
                file: files[0],
                option: needs.option(),
                known: recent(Path::new(OUTPUTS)),
            })?,
        };
        let found = if needs == Needs::Recording { last_round(found) } else { found };
        if named.as_ref() != Some(&found) {
            say(path_text(&found));
        }
        Ok(found)
    }
}

/// A run directory if it has the file, or else its last round that has it.
fn with_file(dir: &Path, file_name: &str) -> Option<PathBuf> {
    let has = |dir: &PathBuf| dir.join(file_name).is_file();
    [dir.to_path_buf()].into_iter().find(has).or_else(|| rounds_of(dir).into_iter().rev().find(has))
}

/// A run that was named on the command line.
fn named(path: &Path) -> Result<PathBuf, CliError> {
    match path.exists() {
        true => Ok(path.to_path_buf()),
        false => Err(CliError::NoSuchRun { path: path.to_path_buf(), known: recent(Path::new(OUTPUTS)) }),
    }
}

/// Opens a run that was named on the command line, or the last of its rounds if all were observed, and says which.
pub fn open_named(path: &Path) -> Result<Run, CliError> {
    let named = RunArg { run: Some(path.to_path_buf()) };
    named.open(Needs::Recording)
}

/// The last round of a run whose rounds were all observed, where its recordings are; otherwise the run itself.
fn last_round(dir: PathBuf) -> PathBuf {
    rounds_of(&dir).pop().unwrap_or(dir)
}

/// The directory below `parent` whose file of one of these names is the newest.
fn newest(parent: &Path, file_names: &[&str]) -> Option<PathBuf> {
    let entries = fs::read_dir(parent).ok()?.flatten().map(|entry| entry.path());
    let found = entries.flat_map(|entry| {
        file_names.iter().filter_map(move |file| {
            let dir = with_file(&entry, file)?;
            Some((modified(&dir.join(file))?, dir))
        })
    });
    // Of several of one instant the last by name: runs of one second are numbered.
    found.max().map(|(_, dir)| dir)
}

/// The newest runs, for an error that says what is there.
fn recent(parent: &Path) -> Vec<String> {
    let dirs = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut runs: Vec<_> = dirs.filter_map(|dir| Some((modified(&dir.join("run.json"))?, dir))).collect();
    runs.sort();
    runs.iter().rev().take(5).map(|(_, dir)| dir.display().to_string()).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_newest_file_of_the_name_decides_not_the_newest_directory() {
        let parent = tempfile::tempdir().unwrap();
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        for (run, file, at) in [("a", "deps.json", 5), ("b", "deps.json", 3), ("c", "run.json", 9)] {
            fs::create_dir_all(parent.path().join(run)).unwrap();
            let file = fs::File::create(parent.path().join(run).join(file)).unwrap();
            file.set_modified(start + Duration::from_secs(at)).unwrap();
        }
        assert_eq!(newest(parent.path(), &["deps.json"]), Some(parent.path().join("a")));
        assert_eq!(newest(parent.path(), &["deps.json", "run.json"]), Some(parent.path().join("c")));
        assert_eq!(newest(parent.path(), &["pmu.csv"]), None);
        assert_eq!(newest(&parent.path().join("nowhere"), &["deps.json"]), None);
        assert_eq!(recent(parent.path()), [parent.path().join("c").display().to_string()]);
    }
}
