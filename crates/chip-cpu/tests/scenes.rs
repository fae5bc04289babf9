//! Every scene and case gives the same bytes on any number of threads and with small rings.
#![cfg(not(shuttle))]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_scenes::{Golden, Scene, scenes};
use ringlane_task::CallConfig;

fn run(scene: &Scene, case: &ringlane_scenes::Case, config: &CallConfig) -> Golden {
    let params: Vec<(String, String)> =
        if scene.name == "stream" { vec![("tasks".into(), "20000".into())] } else { vec![] };
    let settings = scene.settings(case, &params, 7).unwrap();
    let mut program = (scene.build)(&settings).unwrap();
    let mut buffers = program.buffers().unwrap();
    let mut runtime = CpuRuntime::new(config).unwrap();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    run.result.unwrap_or_else(|error| panic!("{} {}: {error:?}", scene.name, case.name));
    program.golden(&buffers).unwrap()
}

fn all_cases(config: impl Fn(i32) -> CallConfig) {
    for scene in scenes() {
        for case in scene.usual_cases() {
            let goldens = [1, 2, 4].map(|threads| run(scene, case, &config(threads)));
            for golden in &goldens {
                assert!(golden.failed == 0 && golden.checked > 0, "{} {}: {golden:?}", scene.name, case.name);
                assert_eq!(golden.output_hash, goldens[0].output_hash, "{} {}", scene.name, case.name);
            }
        }
    }
}

#[test]
fn every_case_gives_equal_bytes_on_one_two_and_four_threads() {
    all_cases(|threads| CallConfig::default().with_threads(threads));
}

#[test]
fn every_case_fits_a_window_of_64() {
    all_cases(|threads| CallConfig::default().with_threads(threads).with_ring_task_window([64; 4]));
}
