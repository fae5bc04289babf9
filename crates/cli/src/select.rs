//! From names on the command line to programs: which scene, which cases, which parameters.
//!
//! All of it happens before anything is written or run, so that a slip costs nothing.

use ringlane_scenes::{Case, Program, Scene, Settings, scenes};

use crate::errors::CliError;
use crate::options::Assignment;

/// One case, ready to run.
pub struct Job {
    /// The scene.
    pub scene: &'static Scene,
    /// The case of it.
    pub case: &'static Case,
    /// Its parameters and seed.
    pub settings: Settings,
    /// The program made from them.
    pub program: Box<dyn Program>,
}

/// The names of all scenes.
pub fn names() -> Vec<&'static str> {
    scenes().iter().map(|scene| scene.name).collect()
}

/// The scene with this name.
pub fn scene(name: &str) -> Result<&'static Scene, CliError> {
    let scene = Scene::find(name)?;
    let is_only = names().iter().filter(|known| **known == name).count() == 1;
    if is_only { Ok(scene) } else { Err(CliError::DuplicateScene { name: scene.name }) }
}

/// The cases with these names, in that order and each once; all of them if none is named.
pub fn cases(scene: &'static Scene, names: &[String]) -> Result<Vec<&'static Case>, CliError> {
    if names.is_empty() {
        return Ok(scene.cases.iter().collect());
    }
    let mut found: Vec<&'static Case> = Vec::new();
    for name in names {
        let case = scene.case(name)?;
        if !found.iter().any(|known| known.name == case.name) {
            found.push(case);
        }
    }
    Ok(found)
}

/// Makes the program of a case; the scene may refuse the parameters.
pub fn job(
    scene: &'static Scene,
    case: &'static Case,
    params: &[Assignment],
    seed: u64,
) -> Result<Job, CliError> {
    let params: Vec<_> = params.iter().map(|param| (param.name.clone(), param.value.clone())).collect();
    let settings = scene.settings(case, &params, seed)?;
    let program = (scene.build)(&settings)?;
    Ok(Job { scene, case, settings, program })
}
