//! An unchanged replay of a recorded run takes exactly as long as the run.

use std::sync::Arc;

use ringlane::graph::recorded::Recorded;
use ringlane::graph::replay::Replayable;
use ringlane::prelude::*;
use ringlane::scenes::scenes;
use ringlane::{Model, PolicyName, SimOptions};

/// The cases that run quickly.
fn cases(scene: &Scene) -> impl Iterator<Item = &'static Case> {
    scene.cases.iter().filter(|case| !["large", "long", "fine", "scopes"].contains(&case.name))
}

/// Records a case; the directory is removed with the returned value.
fn record(platform: Platform, scene: &Scene, case: &Case, flags: DfxFlags, model: Model) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let params: Vec<(String, String)> =
        if scene.name == "stream" { vec![("tasks".into(), "3000".into())] } else { vec![] };
    let mut program = (scene.build)(&scene.settings(case, &params, 7).unwrap()).unwrap();
    let mut buffers = program.buffers().unwrap();
    let config = CallConfig::default().with_dfx_flags(flags);
    let mut config = config;
    config.set_output_prefix(dir.path().join("run").to_str().unwrap()).unwrap();
    let mut runtime = Runtime::on(platform).model(model).with(&config).unwrap();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    run.result.unwrap_or_else(|error| panic!("{} {}: {error}", scene.name, case.name));
    dir
}

fn assert_exact(dir: &tempfile::TempDir, what: &str) {
    let recorded = Recorded::read(dir.path().join("run")).unwrap_or_else(|error| panic!("{what}: {error}"));
    let replayable = Replayable::new(&recorded.program);
    let replayed = replayable.replay(&recorded.setup, Arc::new(recorded.costs.clone()));
    let replayed = replayed.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(replayed.makespan_ticks, recorded.manifest.makespan_ticks, "{what}");
}

const ENOUGH: DfxFlags = DfxFlags::SWIMLANE_PHASES.with(DfxFlags::DEPS);
const ALL: DfxFlags = ENOUGH.with(DfxFlags::SCOPES).with(DfxFlags::PMU).with(DfxFlags::DUMP);

#[test]
fn an_unchanged_replay_of_every_scene_takes_as_long_as_the_run_to_the_tick() {
    for scene in scenes() {
        for case in cases(scene) {
            for platform in [Platform::A2a3sim, Platform::A5sim] {
                for flags in [ENOUGH, ALL] {
                    let dir = record(platform, scene, case, flags, Model::default());
                    assert_exact(&dir, &format!("{} {} {platform:?} {flags}", scene.name, case.name));
                }
            }
        }
    }
}

#[test]
fn a_replay_has_the_policy_and_the_faults_of_the_run() {
    for scene in scenes().into_iter().filter(|scene| ["cholesky", "moe", "wavefront"].contains(&scene.name)) {
        for policy in PolicyName::ALL {
            for chaos in [None, Some(2)] {
                let options = SimOptions { policy, chaos, ..SimOptions::default() };
                let model = Model { options, ..Model::default() };
                let dir = record(Platform::A2a3sim, scene, scene.default_case(), ENOUGH, model);
                assert_exact(&dir, &format!("{} {policy} {chaos:?}", scene.name));
            }
        }
    }
}
