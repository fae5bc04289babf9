//! The first case of every scene on this machine's threads, streamed and captured: small enough for ThreadSanitizer.

#[path = "common/mod.rs"]
mod common;

use std::panic::Location;

use common::runtime_with;
use ringlane_chip_cuda::CudaRuntime;
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_scenes::{Scene, scenes};
use ringlane_task::{CallConfig, Explain};

/// How a scene is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Streamed,
    Captured,
}

/// Runs the first case of a scene; false if it reads values, so that it cannot be captured.
fn run(scene: &Scene, runtime: &mut CudaRuntime, mode: Mode) -> bool {
    let case = scene.default_case();
    let params: &[(String, String)] =
        if scene.name == "stream" { &[("tasks".into(), "2000".into())] } else { &[] };
    let settings = scene.settings(case, params, 7).unwrap();
    let mut program = (scene.build)(&settings).unwrap();
    let mut buffers = program.buffers().unwrap();
    let run = match mode {
        Mode::Streamed => {
            runtime.run_at(Location::caller(), &mut buffers, &(), |o| program.orchestrate(o)).result
        }
        Mode::Captured => {
            let captured = runtime.capture_at(Location::caller(), &buffers, None, |o| program.orchestrate(o));
            match captured {
                Err(error) if error.name() == "ReadInCapture" => return false,
                captured => captured
                    .and_then(|(_, mut graph)| runtime.replay_at(&mut graph, &mut buffers, &()).result),
            }
        }
    };
    run.unwrap_or_else(|error| panic!("{} {} {mode:?}: {error:?}", scene.name, case.name));
    let golden = program.golden(&buffers).unwrap();
    assert!(golden.failed == 0 && golden.checked > 0, "{} {} {mode:?}: {golden:?}", scene.name, case.name);
    true
}

#[test]
fn the_first_case_of_every_scene_is_right_streamed_and_captured() {
    for mode in [Mode::Streamed, Mode::Captured] {
        let Some(mut runtime) = runtime_with(&CallConfig::default(), None) else { return };
        let mut ran = 0;
        for scene in scenes() {
            ran += u32::from(run(scene, &mut runtime, mode));
        }
        assert!(ran >= 8, "{ran} scenes {mode:?}");
    }
}
