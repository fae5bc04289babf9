//! What can be wrong with the choice of a scene, a case or a parameter; told before anything runs.

use ringlane_engine::prelude::{Error, Explain};

/// What choosing a scene and its settings answers.
pub type SceneResult<T> = core::result::Result<T, SceneError>;

/// Why a scene cannot be run as asked.
///
/// ```
/// use ringlane_engine::prelude::Explain;
/// use ringlane_scenes::Scene;
/// let error = Scene::find("vectro").unwrap_err();
/// assert_eq!(error.name(), "UnknownScene");
/// assert!(error.hint().contains("vector"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// No scene has this name.
    #[error("there is no scene `{name}`")]
    UnknownScene {
        /// The name asked for.
        name: String,
        /// The scenes there are.
        known: Vec<&'static str>,
    },
    /// The scene has no case of this name.
    #[error("the scene `{scene}` has no case `{name}`")]
    UnknownCase {
        /// The scene.
        scene: &'static str,
        /// The name asked for.
        name: String,
        /// The cases there are.
        known: Vec<&'static str>,
    },
    /// The scene has no parameter of this name.
    #[error("the scene `{scene}` has no parameter `{name}`")]
    UnknownParam {
        /// The scene.
        scene: &'static str,
        /// The name asked for.
        name: String,
        /// The parameters there are.
        known: Vec<&'static str>,
    },
    /// The scene has no kernel of this name.
    #[error("the scene `{scene}` has no kernel `{name}`")]
    UnknownKernel {
        /// The scene.
        scene: &'static str,
        /// The name asked for.
        name: String,
        /// The kernels there are.
        known: Vec<&'static str>,
    },
    /// A parameter's value is not one of those allowed.
    #[error("the parameter `{name}` cannot be `{value}`")]
    BadParam {
        /// The parameter.
        name: String,
        /// The value given.
        value: String,
        /// What it can be.
        allowed: String,
    },
}

impl Explain for SceneError {
    fn name(&self) -> &'static str {
        match self {
            SceneError::UnknownScene { .. } => "UnknownScene",
            SceneError::UnknownCase { .. } => "UnknownCase",
            SceneError::UnknownParam { .. } => "UnknownParam",
            SceneError::UnknownKernel { .. } => "UnknownKernel",
            SceneError::BadParam { .. } => "BadParam",
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
        }
    }

    fn hint(&self) -> String {
        match self {
            SceneError::UnknownScene { known, .. } => format!("the scenes: {}", list(known)),
            SceneError::UnknownCase { known, .. } => format!("its cases: {}", list(known)),
            SceneError::UnknownParam { known, .. } => format!("its parameters: {}", list(known)),
            SceneError::UnknownKernel { known, .. } => format!("its kernels: {}", list(known)),
            SceneError::BadParam { name, allowed, .. } => {
                format!("give `--param {name}=VALUE` with {allowed}")
            }
        }
    }
}

/// So that a scene's code can use `?` on settings wherever the engine's result is asked for.
impl From<SceneError> for Error {
    fn from(error: SceneError) -> Self {
        Error::user(format_args!("{error} ({}; {})", error.detail(), error.hint()))
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}
