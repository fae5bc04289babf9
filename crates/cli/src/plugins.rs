//! `--load FILE`: kernels and scenes from shared libraries.
//!
//! ```text
//! --load libmine.so ─▶ loaded here ─▶ its scenes are among all scenes ─▶ processes that are started get --load as well
//! ```
//! The build of a plugin is part of what identifies this program, so that a worker with another build of it is refused.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ringlane_capi::plugin::{self, PluginError};

use crate::errors::CliError;
use crate::output::path_text;

const OPTION: &str = "--load";

/// The files that are loaded, with absolute paths.
static LOADED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Loads plugins, each once.
pub fn load(files: &[PathBuf]) -> Result<(), CliError> {
    files.iter().try_for_each(|file| load_one(file))
}

fn load_one(file: &Path) -> Result<(), CliError> {
    let cannot = |error: std::io::Error| PluginError::CannotLoad {
        path: file.to_path_buf(),
        reason: error.to_string(),
    };
    let whole = file.canonicalize().map_err(cannot)?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if loaded.contains(&whole) {
        return Ok(());
    }
    plugin::load(&whole)?;
    ringlane_node::note_plugin(&whole).map_err(CliError::Node)?;
    loaded.push(whole);
    Ok(())
}

/// The options again, as a part of a command line that is shown.
pub fn option_text() -> String {
    let loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    loaded.iter().map(|file| format!(" {OPTION} {}", path_text(file))).collect()
}

/// The options again, for a process that is started with arguments of its own.
pub fn arguments() -> Vec<OsString> {
    let loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    loaded.iter().flat_map(|file| [OPTION.into(), file.clone().into()]).collect()
}
