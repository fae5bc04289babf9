//! `-o FILE` of the commands that read a run: anywhere, but not onto what the run recorded, which cannot be made again.

use std::fs;
use std::path::{Path, PathBuf};

use ringlane_insight::{Instrument, Run};
use ringlane_trace::dump;

use crate::errors::CliError;

/// Refuses a path that is a file of the run. What commands make of a run may be made anew.
pub fn check(run: &Run, output: &Path) -> Result<(), CliError> {
    let given = place_of(output);
    let is_given = |file: &&str| place_of(&run.dir.join(file)) == given;
    match recorded().find(is_given) {
        None => Ok(()),
        Some(file) => {
            let (output, run) = (output.to_path_buf(), run.dir.clone());
            Err(CliError::OverwritesRun { output, file, run })
        }
    }
}

/// The files that a run writes, below its directory.
fn recorded() -> impl Iterator<Item = &'static str> {
    let tables = Instrument::ALL.into_iter().map(Instrument::file_name);
    ["run.json", dump::BIN_FILE_NAME].into_iter().chain(tables)
}

/// Where a path leads, by whatever links and detours; of a file that is not there yet, where it would be.
fn place_of(path: &Path) -> PathBuf {
    let beside = || {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(dir).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_path_buf())
}
