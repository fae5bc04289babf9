//! The built-in scenes, run from Python.

use pyo3::prelude::*;
use ringlane::engine::Result;
use ringlane::prelude::{Program, Scene};

use crate::error::OrRaise;

/// A scene with its settings.
pub fn program(
    name: &str,
    case: Option<&str>,
    params: &[(String, String)],
    seed: u64,
) -> PyResult<(&'static Scene, String, Box<dyn Program>)> {
    let scene = Scene::find(name).or_raise()?;
    let case = case.map_or(Ok(scene.default_case()), |case| scene.case(case)).or_raise()?;
    let settings = scene.settings(case, params, seed).or_raise()?;
    Ok((scene, case.name.to_string(), (scene.build)(&settings).or_raise()?))
}

/// Compares the results with the known answer: what is wrong, in words.
pub fn wrong(program: &dyn Program, buffers: &ringlane::prelude::Buffers<'_>) -> Result<Option<String>> {
    let golden = program.golden(buffers)?;
    Ok((!golden.passed()).then(|| format!("{golden:?}")))
}
