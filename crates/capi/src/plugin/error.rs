//! Why a plugin cannot be used.

use std::path::PathBuf;

use ringlane::task::Explain;

use crate::abi::RL_ABI_VERSION;

/// Why a plugin cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PluginError {
    /// The file cannot be loaded.
    CannotLoad { path: PathBuf, reason: String },
    /// The file is not a plugin.
    NotAPlugin { path: PathBuf },
    /// The plugin has another version of the ABI.
    Version { path: PathBuf, version: u32 },
    /// The table of the plugin is not valid.
    BadTable { path: PathBuf, detail: String },
}

ringlane::task::explained_error!(PluginError);

impl Explain for PluginError {
    fn name(&self) -> &'static str {
        match self {
            PluginError::CannotLoad { .. } => "CannotLoadPlugin",
            PluginError::NotAPlugin { .. } => "NotAPlugin",
            PluginError::Version { .. } => "PluginVersion",
            PluginError::BadTable { .. } => "BadPlugin",
        }
    }

    fn summary(&self) -> String {
        match self {
            PluginError::CannotLoad { .. } => "a plugin cannot be loaded",
            PluginError::NotAPlugin { .. } => "a shared library is not a plugin",
            PluginError::Version { .. } => "a plugin has another version",
            PluginError::BadTable { .. } => "the table of a plugin is not valid",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            PluginError::CannotLoad { path, reason } => format!("{}: {reason}", path.display()),
            PluginError::NotAPlugin { path } => {
                format!("{} does not export `ringlane_plugin_v1`", path.display())
            }
            PluginError::Version { path, version } => {
                format!("{}: version {version}; this build has {RL_ABI_VERSION}", path.display())
            }
            PluginError::BadTable { path, detail } => format!("{}: {detail}", path.display()),
        }
    }

    fn hint(&self) -> String {
        match self {
            PluginError::CannotLoad { .. } => "give the path of a shared library for this machine",
            PluginError::NotAPlugin { .. } => "export it as in examples/c/plugin.c, with C linkage",
            PluginError::Version { .. } => "compile it with the ringlane.h of this build",
            PluginError::BadTable { .. } => "correct the table that `ringlane_plugin_v1` returns",
        }
        .to_string()
    }
}
