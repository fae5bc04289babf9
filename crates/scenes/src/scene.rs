//! A scene: a program with parameters, cases, seeded inputs and a golden.

use core::panic::Location;

use ringlane_engine::prelude::*;

use crate::error::{SceneError, SceneResult};
use crate::golden::Golden;
use crate::parts::Parts;
use crate::registry::scenes;
use crate::settings::Settings;
use crate::shares::Shares;

/// A parameter of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name, as in `--param NAME=VALUE`.
    pub name: &'static str,
    /// The value if neither the user nor the case sets one.
    pub default: &'static str,
    /// Its meaning. A parameter without a description is hidden: it can be set, but is not listed.
    pub about: &'static str,
}

impl Param {
    /// Whether it is only for tests, such as an injected bug.
    pub const fn is_hidden(&self) -> bool {
        self.about.is_empty()
    }
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
///
/// ```
/// use ringlane_engine::prelude::*;
/// use ringlane_scenes::{Case, Golden, Param, Program, Scene, Tolerance};
///
/// kernel! { static SQUARE = aiv fn(x: &mut [f32]) { x.iter_mut().for_each(|x| *x *= *x); } }
///
/// struct Squares { n: u32, x: Option<BufferId> }
///
/// impl Program for Squares {
///     fn buffers(&mut self) -> Result<Buffers<'static>> {
///         let mut data = Buffers::new();
///         let x: Vec<f32> = (0..self.n).map(|i| i as f32).collect();
///         self.x = Some(data.add(&[self.n], &x)?);
///         Ok(data)
///     }
///     fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
///         let x = o.external(self.x.expect("made by `buffers`"))?;
///         o.submit(&SQUARE, [x.inout()]).map(drop)
///     }
///     fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
///         let want: Vec<f64> = (0..self.n).map(|i| (i as f64).powi(2)).collect();
///         Ok(Golden::compare(data.get::<f32>(self.x.expect("made by `buffers`"))?, &want, Tolerance::EXACT))
///     }
/// }
///
/// ringlane_engine::inventory::submit! { Scene {
///     site: std::panic::Location::caller(),
///     name: "squares",
///     about: "squares of the first numbers",
///     params: &[Param { name: "n", default: "8", about: "how many" }],
///     cases: &[Case { name: "small", about: "a few", set: &[] }],
///     kernels: &[&SQUARE],
///     build: &|settings| Ok(Box::new(Squares { n: settings.u32("n", 1..=1000)?, x: None })),
/// } }
/// assert!(Scene::find("squares").is_ok());
/// ```
#[derive(Clone, Copy)]
pub struct Scene {
    /// Where it is declared: the name of the root scope of its runs.
    pub site: &'static Location<'static>,
    /// Its name.
    pub name: &'static str,
    /// What it computes.
    pub about: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Its cases, at least one; the first is the default.
    pub cases: &'static [Case],
    /// The kernels that its tasks run, so that they can be listed before a run.
    pub kernels: &'static [&'static Kernel],
    /// Builds the program for some settings; refuses impossible ones.
    pub build: &'static BuildProgram,
}

/// Builds the program of a scene for some settings.
pub type BuildProgram = dyn Fn(&Settings) -> SceneResult<Box<dyn Program>> + Send + Sync;

impl core::fmt::Debug for Scene {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Scene({})", self.name)
    }
}

/// A scene with its settings, ready to run.
pub trait Program {
    /// Creates the inputs and the space for the outputs; called once before each run.
    fn buffers(&mut self) -> Result<Buffers<'static>>;
    /// Submits the tasks.
    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()>;
    /// Compares the buffers after the run with the expected result.
    fn golden(&self, buffers: &Buffers<'_>) -> Result<Golden>;
    /// Whether there are values to compare: a replayed graph computes none.
    fn has_golden(&self) -> bool {
        true
    }
    /// The buffers that hold the results, once [`buffers`](Self::buffers) has created them.
    fn outputs(&self) -> Vec<BufferId> {
        Vec::new()
    }
    /// Whether it takes so much memory or time that its case runs only if it is named.
    fn is_large(&self) -> bool {
        false
    }
    /// How to divide it into parts for several chips; `None` if that is not possible.
    fn parts(&self) -> Option<&dyn Parts> {
        None
    }
    /// How several chips run it together; `None` if they cannot.
    fn shares(&self) -> Option<&dyn Shares> {
        None
    }
}

impl Scene {
    /// The scene of this name, or an error that lists all scenes.
    pub fn find(name: &str) -> SceneResult<&'static Scene> {
        let all = scenes();
        let unknown = || SceneError::UnknownScene {
            name: name.to_string(),
            known: all.iter().map(|s| s.name).collect(),
        };
        all.iter().copied().find(|s| s.name == name).ok_or_else(unknown)
    }

    /// The case that runs if none is chosen.
    pub fn default_case(&self) -> &'static Case {
        &self.cases[0]
    }

    /// The cases that run if none is named: all but those of [large](Program::is_large) programs.
    ///
    /// ```
    /// use ringlane_scenes::Scene;
    /// let scene = Scene::find("decode")?;
    /// assert!(scene.usual_cases().all(|case| case.name != "qwen3_0.6b"));
    /// assert!(scene.case("qwen3_0.6b").is_ok());
    /// # Ok::<(), ringlane_scenes::SceneError>(())
    /// ```
    pub fn usual_cases(&self) -> impl Iterator<Item = &'static Case> + use<'_> {
        let is_large = |case| {
            let program = self.settings(case, &[], 0).and_then(|settings| (self.build)(&settings));
            program.is_ok_and(|program| program.is_large())
        };
        self.cases.iter().filter(move |case| !is_large(case))
    }

    /// The case of this name, or an error that lists all cases.
    pub fn case(&self, name: &str) -> SceneResult<&'static Case> {
        self.cases.iter().find(|case| case.name == name).ok_or_else(|| SceneError::UnknownCase {
            scene: self.name,
            name: name.to_string(),
            known: self.cases.iter().map(|case| case.name).collect(),
        })
    }

    /// The kernel of this name, or an error that lists all kernels.
    ///
    /// ```
    /// use ringlane_scenes::Scene;
    /// let scene = Scene::find("paged_attention")?;
    /// assert_eq!(scene.kernel("QK")?.arity(), 4);
    /// assert!(scene.kernel("GEMM").is_err());
    /// # Ok::<(), ringlane_scenes::SceneError>(())
    /// ```
    pub fn kernel(&self, name: &str) -> SceneResult<&'static Kernel> {
        let found = self.kernels.iter().copied().find(|kernel| kernel.name() == name);
        found.ok_or_else(|| SceneError::UnknownKernel {
            scene: self.name,
            name: name.to_string(),
            known: self.kernels.iter().map(|kernel| kernel.name()).collect(),
        })
    }

    /// The parameters that are listed for users.
    pub fn listed_params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().filter(|param| !param.is_hidden())
    }

    /// The settings of one run: the defaults, then those of the case, then those of the user. An unknown parameter is
    /// refused; a hidden one has no default, so that it is absent from the records of runs without it.
    pub fn settings(&self, case: &Case, user: &[(String, String)], seed: u64) -> SceneResult<Settings> {
        let defaults = self.listed_params().map(|p| (p.name, p.default));
        let given = user.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut settings = Settings { seed, ..Settings::default() };
        for (name, value) in defaults.chain(case.set.iter().copied()).chain(given) {
            if !self.params.iter().any(|p| p.name == name) {
                return Err(self.unknown_param(name));
            }
            settings.params.insert(name.to_string(), value.to_string());
        }
        Ok(settings)
    }

    fn unknown_param(&self, name: &str) -> SceneError {
        let known = self.listed_params().map(|p| p.name).collect();
        SceneError::UnknownParam { scene: self.name, name: name.to_string(), known }
    }
}

/// Unwraps an id that `buffers` created, or returns an error if it was not called.
pub(crate) fn made<T: Copy>(ids: &Option<T>) -> Result<T> {
    ids.ok_or_else(|| Error::user("the program's buffers are asked for before they are made"))
}
