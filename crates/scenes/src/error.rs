//! Errors in the choice of a scene, a case or a parameter, reported before anything runs.

use ringlane_engine::prelude::{Error, Explain};
use ringlane_task::Reader;

/// The result of choosing a scene and its settings.
pub type SceneResult<T> = core::result::Result<T, SceneError>;

/// Why a scene cannot be run as requested.
///
/// ```
/// use ringlane_engine::prelude::Explain;
/// use ringlane_scenes::Scene;
/// let error = Scene::find("vectro").unwrap_err();
/// assert_eq!(error.name(), "UnknownScene");
/// assert!(error.hint().contains("vector"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneError {
    /// No scene has this name.
    UnknownScene {
        /// The requested name.
        name: String,
        /// The existing scenes.
        known: Vec<&'static str>,
    },
    /// The scene has no case of this name.
    UnknownCase {
        /// The scene.
        scene: &'static str,
        /// The requested name.
        name: String,
        /// The existing cases.
        known: Vec<&'static str>,
    },
    /// The scene has no parameter of this name.
    UnknownParam {
        /// The scene.
        scene: &'static str,
        /// The requested name.
        name: String,
        /// The existing parameters.
        known: Vec<&'static str>,
    },
    /// The scene has no kernel of this name.
    UnknownKernel {
        /// The scene.
        scene: &'static str,
        /// The requested name.
        name: String,
        /// The existing kernels.
        known: Vec<&'static str>,
    },
    /// The value of a parameter is not allowed.
    BadParam {
        /// The parameter.
        name: String,
        /// The given value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// The default of a parameter is not allowed in combination with the given parameters.
    ParamsDisagree {
        /// The case.
        case: &'static str,
        /// The given parameters, as `NAME=VALUE`.
        given: Vec<String>,
        /// The parameter whose value comes from the case or the scene.
        name: String,
        /// That value.
        value: String,
        /// The values that the given parameters allow.
        allowed: String,
    },
    /// The scene refuses its settings for a reason of its own.
    Refused {
        /// The scene.
        scene: &'static str,
        /// Its reason.
        reason: String,
    },
    /// The file that a parameter names cannot be read.
    UnreadableFile {
        /// The parameter.
        name: String,
        /// The file.
        path: String,
        /// The system's error message.
        reason: String,
    },
}

impl SceneError {
    /// Turns an error about a parameter that the user did not set into one about the parameters that the user set.
    pub fn caused_by(self, case: &'static str, user: &[(String, String)]) -> Self {
        match self {
            SceneError::BadParam { name, value, allowed }
                if !user.is_empty() && user.iter().all(|(given, _)| *given != name) =>
            {
                let given = user.iter().map(|(name, value)| format!("{name}={value}")).collect();
                SceneError::ParamsDisagree { case, given, name, value, allowed }
            }
            error => error,
        }
    }
}

ringlane_task::explained_error!(SceneError);

impl Explain for SceneError {
    fn name(&self) -> &'static str {
        match self {
            SceneError::UnknownScene { .. } => "UnknownScene",
            SceneError::UnknownCase { .. } => "UnknownCase",
            SceneError::UnknownParam { .. } => "UnknownParam",
            SceneError::UnknownKernel { .. } => "UnknownKernel",
            SceneError::BadParam { .. } | SceneError::ParamsDisagree { .. } => "BadParam",
            SceneError::Refused { .. } => "SceneRefused",
            SceneError::UnreadableFile { .. } => "UnreadableFile",
        }
    }

    fn summary(&self) -> String {
        match self {
            SceneError::UnknownScene { name, .. } => format!("there is no scene `{name}`"),
            SceneError::UnknownCase { scene, name, .. } => {
                format!("the scene `{scene}` has no case `{name}`")
            }
            SceneError::UnknownParam { scene, name, .. } => {
                format!("the scene `{scene}` has no parameter `{name}`")
            }
            SceneError::UnknownKernel { scene, name, .. } => {
                format!("the scene `{scene}` has no kernel `{name}`")
            }
            SceneError::BadParam { name, value, .. } => format!("the parameter `{name}` cannot be `{value}`"),
            SceneError::ParamsDisagree { case, given, .. } => {
                format!("the case `{case}` cannot have `{}`", given.join("`, `"))
            }
            SceneError::Refused { scene, .. } => format!("the scene `{scene}` refuses its settings"),
            SceneError::UnreadableFile { name, .. } => {
                format!("the file that the parameter `{name}` names cannot be read")
            }
        }
    }

    fn detail(&self) -> String {
        match self {
            SceneError::UnknownScene { name, .. }
            | SceneError::UnknownCase { name, .. }
            | SceneError::UnknownParam { name, .. }
            | SceneError::UnknownKernel { name, .. } => format!("given: `{name}`"),
            SceneError::BadParam { name, value, allowed } => {
                format!("{name}={value}; allowed: {allowed}")
            }
            SceneError::ParamsDisagree { case, given, name, value, allowed } => format!(
                "{} with {name}={value}, the value in the case {case}; allowed with it: {allowed}",
                given.join(", ")
            ),
            SceneError::Refused { reason, .. } => reason.clone(),
            SceneError::UnreadableFile { name, path, reason } => format!("{name}={path}: {reason}"),
        }
    }

    fn hint(&self) -> String {
        match self {
            SceneError::UnknownScene { known, .. } => format!("the scenes: {}", list(known)),
            SceneError::UnknownCase { known, .. } => format!("its cases: {}", list(known)),
            SceneError::UnknownParam { known, .. } => format!("its parameters: {}", list(known)),
            SceneError::UnknownKernel { known, .. } => format!("its kernels: {}", list(known)),
            SceneError::BadParam { name, allowed, .. } => {
                format!("set {}; allowed: {allowed}", assignment(name))
            }
            SceneError::ParamsDisagree { given, name, allowed, .. } => format!(
                "also set {} (allowed: {allowed}), or choose a case that {} fits",
                assignment(name),
                given.join(", ")
            ),
            SceneError::Refused { .. } => format!("choose other parameters: {}", assignment("NAME")),
            SceneError::UnreadableFile { name, .. } => {
                format!("set {} to an existing, readable file", assignment(name))
            }
        }
    }
}

/// Lets a scene's code use `?` on settings where the engine's result is expected.
impl From<SceneError> for Error {
    fn from(error: SceneError) -> Self {
        Error::user(error)
    }
}

/// How a user sets a parameter.
fn assignment(name: &str) -> String {
    match Reader::current() {
        Reader::Program => format!("`{name}` in `Settings::params`"),
        Reader::Command => format!("`--param {name}=VALUE`"),
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}
