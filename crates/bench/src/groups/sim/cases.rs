//! Which case of each scene is measured: large enough to fill the cores where the scene can, and over in a second.

use ringlane_scenes::{Case, Program, Scene};

use crate::Mode;
use crate::error::BenchError;

/// The cases to measure. Other scenes are measured with their default case.
const CASES: [(&str, &str); 8] = [
    ("cholesky", "large"),
    ("fanin", "large"),
    ("matmul", "large"),
    ("moe", "large"),
    ("paged_attention", "long"),
    ("stream", "short"),
    ("vector", "large"),
    ("wavefront", "large"),
];

/// A program whose schedule must come near the best possible where control is free.
pub struct Judged {
    scene: &'static str,
    case: &'static str,
    set: &'static [(&'static str, &'static str)],
}

/// Large against the cores, or no schedule could come near its bound: in `cholesky` and in the second `wavefront` the cores are
/// what is short, in the first `wavefront` it is the path through the graph. Judged in small modes as well.
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
    /// Parameters that are not those of the case.
    set: &'static [(&'static str, &'static str)],
}

impl Subject {
    /// The case of a scene to measure, or a small one to verify with.
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

    /// The case, and what is not as in it.
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
