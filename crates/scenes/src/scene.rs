//! What a scene is: a program with parameters, cases, seeded inputs and a golden answer.

use std::collections::BTreeMap;

use ringlane_engine::prelude::*;

/// A parameter of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name, as in `--param NAME=VALUE`.
    pub name: &'static str,
    /// The value used when none is given, unless the case sets its own.
    pub default: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// A case: a scene with some parameters set.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name, as in `--case NAME`.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// The parameters it sets.
    pub set: &'static [(&'static str, &'static str)],
}

/// A program with a known answer; registered with [`inventory`](ringlane_engine::inventory).
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Its name.
    pub name: &'static str,
    /// What it computes.
    pub about: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Its cases; the first is the default.
    pub cases: &'static [Case],
    /// Makes the program for some settings; refuses impossible ones.
    pub build: fn(&Settings) -> Result<Box<dyn Program>>,
}

ringlane_engine::inventory::collect!(Scene);

/// One run's worth of a scene.
pub trait Program {
    /// Makes the inputs and the space for the outputs; called once before each run.
    fn buffers(&mut self) -> Result<Buffers<'static>>;
    /// Submits the tasks.
    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()>;
    /// Compares what the run left in the buffers with the known answer.
    fn golden(&self, buffers: &Buffers<'_>) -> Result<Golden>;
}

/// The verdict on a run's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Golden {
    /// Values compared.
    pub checked: u64,
    /// Values outside the tolerance.
    pub failed: u64,
    /// The largest deviation.
    pub max_abs_error: f64,
    /// A hash of the output bytes: equal runs have equal hashes.
    pub output_hash: String,
}

/// A scene's parameters and seed for one run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Seed of the inputs.
    pub seed: u64,
    /// Parameter values by name: defaults, then the case's, then the user's.
    pub params: BTreeMap<String, String>,
}
