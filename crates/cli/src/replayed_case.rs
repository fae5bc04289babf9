//! A graph that is run again, as a case: everything that runs and records cases runs it too.

use ringlane_engine::prelude::{BufferId, Buffers, Error, Orch, Result};
use ringlane_graph::portable::PortableRun;
use ringlane_graph::replay::{ReplayBuffers, Replayable};
use ringlane_scenes::{Case, Golden, Program, Scene, SceneError, Settings};
use ringlane_task::Explain;

use crate::select::SelectedCase;

/// Characters of a name that becomes part of the name of a directory.
const NAME_CHARS_MAX: usize = 64;

/// A graph as a program.
struct ReplayedProgram {
    run: PortableRun,
    /// The buffers of the round.
    ids: Vec<BufferId>,
}

impl Program for ReplayedProgram {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let replayable = Replayable::new(&self.run.program).map_err(refused)?;
        let ReplayBuffers { buffers, ids } = replayable.buffers().map_err(refused)?;
        self.ids = ids;
        Ok(buffers)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let replayable = Replayable::new(&self.run.program).map_err(refused)?;
        replayable.orchestrate(&self.ids, o, std::panic::Location::caller())
    }

    fn golden(&self, _: &Buffers<'_>) -> Result<Golden> {
        Ok(Golden::default())
    }

    fn has_golden(&self) -> bool {
        false
    }
}

fn refused(error: impl Explain) -> Error {
    Error::user(error.detail())
}

/// A run as a case of the same name. Its parameters are those of the run, and the ones given here.
pub fn case_of(run: PortableRun, more: &[(&str, String)]) -> SelectedCase {
    let [scene, case] = [&run.manifest.scene, &run.manifest.case].map(|name| plain_name(name));
    let mut params = run.manifest.params.clone();
    params.extend(more.iter().map(|(name, value)| (name.to_string(), value.clone())));
    let settings = Settings { seed: run.manifest.seed, params };
    // A command replays one run: what lives as long as the process is one name of each.
    let case = Case { name: case.leak(), about: "a replayed graph", set: &[] };
    let cases: &'static [Case] = vec![case].leak();
    let scene: &'static Scene = Box::leak(Box::new(Scene {
        site: std::panic::Location::caller(),
        name: scene.leak(),
        about: "a replayed graph",
        params: &[],
        cases,
        kernels: &[],
        build: &|_| Err(SceneError::UnknownScene { name: "a replayed graph".to_string(), known: Vec::new() }),
    }));
    SelectedCase {
        scene,
        case: &cases[0],
        settings,
        program: Box::new(ReplayedProgram { run, ids: Vec::new() }),
    }
}

/// A name of a file, in characters that a directory may have.
fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).take(NAME_CHARS_MAX).collect();
    if name.is_empty() { "graph".to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_file_cannot_lead_out_of_the_directory_of_runs() {
        assert_eq!(plain_name("../../etc"), "______etc");
        assert_eq!(plain_name(""), "graph");
        assert_eq!(plain_name("paged_attention"), "paged_attention");
        assert_eq!(plain_name(&"x".repeat(1000)).len(), NAME_CHARS_MAX);
    }
}
