//! Every scene and case gives the same bytes on any number of threads and with small rings.
#![cfg(not(shuttle))]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_scenes::{Golden, Program, Scene, scenes};
use ringlane_task::CallConfig;

fn run(scene: &Scene, case: &ringlane_scenes::Case, config: &CallConfig) -> Golden {
    let params: Vec<(String, String)> =
        if scene.name == "stream" { vec![("tasks".into(), "20000".into())] } else { vec![] };
    let settings = scene.settings(case, &params, 7).unwrap();
    let mut program = (scene.build)(&settings).unwrap();
    run_program(&mut *program, config, &format!("{} {}", scene.name, case.name))
}

fn run_program(program: &mut dyn Program, config: &CallConfig, what: &str) -> Golden {
    let mut buffers = program.buffers().unwrap();
    let mut runtime = CpuRuntime::new(config).unwrap();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    run.result.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    program.golden(&buffers).unwrap()
}

/// Rings of 64 slots and 256 KiB: what a run keeps for each token would not fit.
#[test]
fn a_thousand_tokens_are_right_to_the_last_one_in_rings_of_a_few_tokens() {
    let scene = Scene::find("decode").unwrap();
    let sizes = "layers=1 hidden=16 heads=2 kv_heads=1 head_dim=8 ffn=16 vocab=40 batch=1 context=0 tokens=1000 page=16 span=16";
    let params: Vec<(String, String)> =
        sizes.split(' ').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect();
    let mut program = (scene.build)(&scene.settings(scene.default_case(), &params, 7).unwrap()).unwrap();
    let config =
        CallConfig::default().with_threads(2).with_ring_task_window([64; 4]).with_ring_heap([1 << 18; 4]);
    let golden = run_program(&mut *program, &config, sizes);
    assert!(golden.passed() && golden.checked > 1000, "{golden:?}");
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
