//! The case of each scene that is measured: large enough to fill the cores if the scene can, and finished within a
//! second.

use ringlane_scenes::{Case, Program, Scene};

use crate::Mode;
use crate::error::BenchError;

/// The cases to measure. Other scenes are measured with their default case.
const CASES: [(&str, &str); 9] = [
    ("cholesky", "large"),
    ("fanin", "large"),
    ("heat", "large"),
    ("matmul", "large"),
    ("moe", "large"),
    ("paged_attention", "long"),
    ("stream", "short"),
    ("vector", "large"),
    ("wavefront", "large"),
];

/// A program whose schedule must be close to the best possible one if control is free.
pub struct Judged {
    scene: &'static str,
    case: &'static str,
    set: &'static [(&'static str, &'static str)],
}

/// Large compared with the cores, or no schedule could be close to its bound: in `cholesky` and in the second
/// `wavefront` the cores are the limit, in the first `wavefront` the path through the graph. Also measured with
/// `--verify`.
pub const JUDGED: [Judged; 3] = [
    Judged { scene: "cholesky", case: "large", set: &[] },
    Judged { scene: "wavefront", case: "large", set: &[] },
    Judged { scene: "wavefront", case: "large", set: &[("tile", "64")] },
];

impl Judged {
    /// Whether it is a program of this scene.
    pub fn is_of(&self, scene: &Scene) -> bool {
        self.scene == scene.name
    }

    /// The program of its scene.
    pub fn subject(&self, scene: &'static Scene) -> Result<Subject, BenchError> {
        let case = scene.case(self.case).map_err(BenchError::Scene)?;
        Ok(Subject { scene, case, set: self.set })
    }
}

/// A program to measure.
pub struct Subject {
    /// Its scene.
    pub scene: &'static Scene,
    case: &'static Case,
    /// Parameters that differ from the case.
    set: &'static [(&'static str, &'static str)],
}

impl Subject {
    /// The case of a scene to measure, or a small one to verify.
    pub fn of(scene: &'static Scene, mode: Mode) -> Result<Self, BenchError> {
        let listed = CASES.iter().find(|(name, _)| *name == scene.name).map(|(_, case)| *case);
        // The default case of `stream` is its longest.
        let listed = listed.filter(|_| mode == Mode::Measure || scene.name == "stream");
        let case = match listed {
            Some(name) => scene.case(name).map_err(BenchError::Scene)?,
            None => scene.default_case(),
        };
        Ok(Subject { scene, case, set: &[] })
    }

    /// The case, and the parameters that differ from it.
    pub fn label(&self) -> String {
        self.set
            .iter()
            .fold(self.case.name.to_string(), |label, (name, value)| format!("{label} {name}={value}"))
    }

    /// The program, with the inputs of seed 0.
    pub fn program(&self) -> Result<Box<dyn Program>, BenchError> {
        let set: Vec<_> =
            self.set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let settings = self.scene.settings(self.case, &set, 0).map_err(BenchError::Scene)?;
        (self.scene.build)(&settings).map_err(BenchError::Scene)
    }
}
