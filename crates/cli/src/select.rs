//! From names on the command line to programs: which scene, which cases, which parameters.
//!
//! All of it happens before anything is written or run, so that a typing error costs nothing.

use std::fmt;

use ringlane_engine::slowdown::Slowdown;
use ringlane_scenes::{Case, Program, Scene, Settings, scenes};

use crate::errors::CliError;
use crate::options::Assignment;
use crate::suggest::nearest;
use crate::workers::shape::{Below, Shape};

/// One case, ready to run.
pub struct SelectedCase {
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

/// A case of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The scene.
    pub scene: &'static Scene,
    /// The case of it.
    pub case: &'static Case,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.scene.name, self.case.name)
    }
}

/// The name that selects every scene, unless a scene has this name.
pub const ALL: &str = "all";

/// The cases that a command line names, scene by scene in the order of their names and each once.
///
/// Of several scenes, those that have a case run it: a case that none has is refused, and so is a scene that has none of the
/// cases, unless it came with [`ALL`].
pub fn choices(scene_names: &[String], case_names: &[String]) -> Result<Vec<Choice>, CliError> {
    let scenes = scenes_of(scene_names)?;
    for name in case_names {
        match scenes.as_slice() {
            [only] => drop(only.case(name)?),
            several if several.iter().any(|scene| scene.case(name).is_ok()) => {}
            several => return Err(case_of_none(several, name)),
        }
    }
    let mut choices = Vec::new();
    for scene in scenes {
        let had = case_names.iter().filter(|name| scene.case(name).is_ok()).cloned().collect::<Vec<_>>();
        match case_names.first().filter(|_| had.is_empty()) {
            Some(name) if scene_names.iter().any(|given| given == scene.name) => drop(scene.case(name)?),
            Some(_) => {}
            None => choices.extend(cases(scene, &had)?.into_iter().map(|case| Choice { scene, case })),
        }
    }
    Ok(choices)
}

/// Why a case that none of several scenes has is refused; with the cases that some have, each once.
fn case_of_none(scenes: &[&'static Scene], name: &str) -> CliError {
    let mut known: Vec<&'static str> = Vec::new();
    for case in scenes.iter().flat_map(|scene| scene.cases) {
        if !known.contains(&case.name) {
            known.push(case.name);
        }
    }
    CliError::CaseOfNone {
        name: name.to_string(),
        scenes: scenes.iter().map(|scene| scene.name).collect(),
        known,
    }
}

/// The scenes of these names, each once.
fn scenes_of(names: &[String]) -> Result<Vec<&'static Scene>, CliError> {
    let known = self::names();
    let mut found: Vec<&'static Scene> = Vec::new();
    for name in names {
        let is_all = name == ALL && !known.contains(&ALL);
        let meant = if is_all { known.clone() } else { vec![name.as_str()] };
        for name in meant {
            let scene = scene(name)?;
            if !found.iter().any(|known| known.name == scene.name) {
                found.push(scene);
            }
        }
    }
    Ok(found)
}

/// The cases with these names, in that order and each once; if none is named, all but the large ones.
fn cases(scene: &'static Scene, names: &[String]) -> Result<Vec<&'static Case>, CliError> {
    if names.is_empty() {
        return Ok(scene.usual_cases().collect());
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
    Choice { scene, case }: Choice,
    params: &[Assignment],
    seed: u64,
) -> Result<SelectedCase, CliError> {
    let params: Vec<_> = params.iter().map(|param| (param.name.clone(), param.value.clone())).collect();
    let settings = scene.settings(case, &params, seed)?;
    let program = (scene.build)(&settings).map_err(|error| error.caused_by(case.name, &params))?;
    Ok(SelectedCase { scene, case, settings, program })
}

/// Refuses to slow down a kernel that a scene does not have.
pub fn check_slow(scene: &Scene, slow: &[Slowdown]) -> Result<(), CliError> {
    let known: Vec<_> = scene.kernels.iter().map(|kernel| kernel.name()).collect();
    match slow.iter().find(|slow| !known.contains(&slow.kernel.as_str())) {
        Some(slow) => {
            let (name, kernels) = (&slow.kernel, known.join(", "));
            let near = nearest(name, &known).or(known.first().copied()).unwrap_or("KERNEL");
            let hint = format!("--slow {near}={}x", slow.factor);
            Err(CliError::bad_value("--slow", name, format!("kernels of {}: {kernels}", scene.name), hint))
        }
        None => Ok(()),
    }
}

/// Refuses a case that cannot be divided among workers, or not among these.
pub fn check_divisible(job: &SelectedCase, workers: &Shape) -> Result<(), CliError> {
    if let Some(shares) = job.program.shares() {
        return match workers.below() {
            Below::Chips(chips) => Ok(shares.check(chips)?),
            Below::Nodes(..) => {
                Err(CliError::OneLevelOnly { scene: job.scene.name, workers: workers.clone() })
            }
        };
    }
    if job.program.parts().is_some() {
        return Ok(());
    }
    let divisible = |scene: &&'static Scene| {
        let settings = scene.settings(scene.default_case(), &[], 0).ok();
        let program = settings.and_then(|settings| (scene.build)(&settings).ok());
        program.is_some_and(|program| program.parts().is_some() || program.shares().is_some())
    };
    let known = scenes().iter().copied().filter(divisible).map(|scene| scene.name).collect();
    Err(CliError::NotDivisible { scene: job.scene.name, known })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Explain;

    fn chosen(scenes: &[&str], cases: &[&str]) -> Result<Vec<String>, CliError> {
        let [scenes, cases] =
            [scenes, cases].map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
        Ok(choices(&scenes, &cases)?.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn cases_come_scene_by_scene_in_the_order_of_their_names_and_each_once() {
        let expected = ["matmul small", "matmul deep", "vector small"];
        assert_eq!(chosen(&["matmul", "vector", "matmul"], &["small", "deep", "small"]).unwrap(), expected);
        let vector: Vec<_> =
            scene("vector").unwrap().usual_cases().map(|case| format!("vector {}", case.name)).collect();
        assert_eq!(chosen(&["vector"], &[]).unwrap(), vector);
    }

    #[test]
    fn all_is_every_scene_and_those_without_the_case_are_left_out() {
        let all = chosen(&["all"], &[]).unwrap();
        assert_eq!(all.len(), scenes().iter().map(|scene| scene.usual_cases().count()).sum::<usize>());
        assert_eq!(chosen(&["all"], &["one_tile"]).unwrap(), ["cholesky one_tile"]);
        let first = chosen(&["vector", "all"], &["small"]).unwrap();
        assert!(first[0] == "vector small" && first.len() > 4, "{first:?}");
    }

    #[test]
    fn a_large_case_runs_only_if_it_is_named() {
        assert!(!chosen(&["decode"], &[]).unwrap().contains(&"decode qwen3_0.6b".to_string()));
        assert_eq!(chosen(&["all"], &["qwen3_0.6b"]).unwrap(), ["decode qwen3_0.6b"]);
    }

    #[test]
    fn a_case_that_no_scene_has_and_a_scene_that_has_no_case_are_refused() {
        assert!(chosen(&["vector", "matmul"], &["small", "nope"]).is_err());
        assert!(chosen(&["cholesky", "vector"], &["one_tile"]).is_err());
        let error = chosen(&["all"], &["nope"]).unwrap_err();
        assert_eq!(
            (error.name(), &*error.summary()),
            ("UnknownCase", "none of the scenes has the case `nope`")
        );
        assert!(error.detail().starts_with("given: `nope`; the scenes: cholesky, "), "{}", error.detail());
        assert!(error.hint().starts_with("cases of these scenes: small, one_tile, "), "{}", error.hint());
        let error = chosen(&["vector", "matmul"], &["smal"]).unwrap_err();
        assert!(error.hint().starts_with("did you mean --case small? "), "{}", error.hint());
        assert!(chosen(&["all", "vectro"], &[]).is_err());
    }
}
