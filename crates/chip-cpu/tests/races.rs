//! The first case of every scene, three times on each of several numbers of threads: small enough for ThreadSanitizer.
#![cfg(not(shuttle))]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_scenes::{Scene, scenes};
use ringlane_task::CallConfig;

fn run(scene: &Scene, runtime: &mut CpuRuntime) {
    let case = scene.default_case();
    let params: &[(String, String)] =
        if scene.name == "stream" { &[("tasks".into(), "2000".into())] } else { &[] };
    let settings = scene.settings(case, params, 7).unwrap();
    let mut program = (scene.build)(&settings).unwrap();
    let mut buffers = program.buffers().unwrap();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    run.result.unwrap_or_else(|error| panic!("{} {}: {error:?}", scene.name, case.name));
    let golden = program.golden(&buffers).unwrap();
    assert!(golden.failed == 0 && golden.checked > 0, "{} {}: {golden:?}", scene.name, case.name);
}

#[test]
fn small_cases_of_every_scene_are_right_on_two_and_four_threads_with_small_and_large_rings() {
    for (threads, window) in [(2, 64), (4, 64), (2, 16384), (4, 16384)] {
        let config = CallConfig::default().with_threads(threads).with_ring_task_window([window; 4]);
        let mut runtime = CpuRuntime::new(&config).unwrap();
        for scene in scenes() {
            (0..3).for_each(|_| run(scene, &mut runtime));
        }
    }
}
