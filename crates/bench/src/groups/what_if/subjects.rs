//! The programs whose predictions are checked: the workloads, and scenes with tasks of 10 µs and more.

use ringlane::Runtime;
use ringlane_engine::report::RunReport;
use ringlane_scenes::{Program, Scene, SceneError};

use crate::accuracy::Made;
use crate::error::BenchError;
use crate::graph::Graph;
use crate::spin::{self, Calibration};
use crate::submit::{self, Data};
use crate::workload::{Spin, Workload};

/// A case of a scene, with some parameters.
pub type SceneCase = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Cases whose tasks take 10 µs and more on a core of today, and that take a second at most.
pub const SCENES: [SceneCase; 8] = [
    ("cholesky", "large", &[]),
    ("fanin", "large", &[]),
    ("heat", "large", &[]),
    ("matmul", "large", &[]),
    ("moe", "large", &[("tokens", "2048")]),
    ("paged_attention", "long", &[("batch", "4")]),
    ("vector", "large", &[]),
    ("wavefront", "large", &[]),
];

/// A program to record and to run again.
pub struct Subject {
    /// Its name in the table.
    pub name: String,
    kind: Kind,
}

enum Kind {
    Workload { graph: Graph, data: Data, iterations: u64 },
    Scene(Box<dyn Program>),
}

impl Subject {
    /// A workload with tasks of this length.
    pub fn workload(workload: Workload, spin: Spin, calibration: Calibration) -> Result<Self, BenchError> {
        let graph = workload.graph(workload.size(spin));
        let data = Data::of(&graph)?;
        let kind = Kind::Workload { graph, data, iterations: calibration.iterations(spin) };
        Ok(Subject { name: format!("{} {} µs", workload.as_str(), spin.us()), kind })
    }

    /// A case of a scene.
    pub fn scene((scene, case, set): SceneCase) -> Result<Self, BenchError> {
        let make = || -> Result<Box<dyn Program>, SceneError> {
            let scene = Scene::find(scene)?;
            let set: Vec<_> = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            (scene.build)(&scene.settings(scene.case(case)?, &set, 0)?)
        };
        let name =
            set.iter().fold(format!("{scene} {case}"), |name, (key, value)| format!("{name} {key}={value}"));
        Ok(Subject { name, kind: Kind::Scene(make().map_err(BenchError::Scene)?) })
    }

    /// What it is made of.
    pub fn made(&self) -> Made {
        match &self.kind {
            Kind::Workload { .. } => Made::Workload,
            Kind::Scene(_) => Made::Scene,
        }
    }

    /// Runs it, on new buffers where it has contents.
    pub fn run(&mut self, runtime: &mut Runtime) -> Result<RunReport, BenchError> {
        let run = match &mut self.kind {
            Kind::Workload { graph, data, iterations } => {
                spin::set_iterations(*iterations);
                let (buffers, ids) = data.parts();
                runtime.run(buffers, |o| {
                    let handles = ids.handles(o)?;
                    submit::plain(o, &graph.tasks, &handles)
                })
            }
            Kind::Scene(program) => {
                let mut buffers = program.buffers()?;
                runtime.run(&mut buffers, |o| program.orchestrate(o))
            }
        };
        run.result?;
        Ok(run.report)
    }
}
