//! `-o FILE` of the commands that read a run: anywhere, but not onto what a run recorded, which cannot be made again.

use std::fs;
use std::path::{Path, PathBuf};

use ringlane_insight::{Instrument, Run};
use ringlane_trace::dump;

use crate::errors::CliError;

const MANIFEST: &str = "run.json";

/// Refuses a path that is a file of this run or, by its name, of any other: of another round, of the run that has the rounds.
/// What commands make of a run may be made anew.
pub fn check(run: &Run, output: &Path) -> Result<(), CliError> {
    let given = place_of(output);
    let owner = |file: &str| match place_of(&run.dir.join(file)) == given {
        true => Some(run.dir.clone()),
        false => run_around(&given, file),
    };
    match recorded().find_map(|file| Some((file, owner(file)?))) {
        None => Ok(()),
        Some((file, run)) => Err(CliError::OverwritesRun { output: output.to_path_buf(), file, run }),
    }
}

/// The files that a run writes, below its directory.
fn recorded() -> impl Iterator<Item = &'static str> {
    let tables = Instrument::ALL.into_iter().map(Instrument::file_name);
    [MANIFEST, dump::BIN_FILE_NAME].into_iter().chain(tables)
}

/// The run directory that a place of this name is in, if there is a run.
fn run_around(place: &Path, file: &str) -> Option<PathBuf> {
    let dir = place.ends_with(file).then(|| place.ancestors().nth(Path::new(file).components().count()));
    dir.flatten().filter(|dir| dir.join(MANIFEST).is_file()).map(Path::to_path_buf)
}

/// Where a path leads, by whatever links and detours; of a file that is not there yet, where it would be.
fn place_of(path: &Path) -> PathBuf {
    let beside = || {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(dir).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_path_buf())
}
