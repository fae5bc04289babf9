//! Every scene passes its golden, gives the same bytes for the same seed, and fails its golden if anything differs.

mod support;

use std::collections::BTreeSet;
use std::time::Instant;

use ringlane_engine::oracle;
use ringlane_engine::prelude::*;
use ringlane_scenes::{Scene, scenes};
use support::{Run, run, run_with};

/// Runs every case of a scene and prints its result, for `--nocapture`.
fn every_case_passes(name: &str) {
    let scene = Scene::find(name).unwrap();
    for case in scene.usual_cases() {
        let start = Instant::now();
        let Run { golden, elapsed, .. } = run(scene, case, 1);
        println!("{name} {}: ran {elapsed:?}, all {:?}, {golden:?}", case.name, start.elapsed());
        assert!(golden.passed(), "{name} {}: {golden:?}", case.name);
    }
}

#[test]
fn every_case_of_cholesky_passes() {
    every_case_passes("cholesky");
}

#[test]
fn every_case_of_decode_passes() {
    every_case_passes("decode");
}

#[test]
fn every_case_of_fanin_passes() {
    every_case_passes("fanin");
}

#[test]
fn every_case_of_heat_passes() {
    every_case_passes("heat");
}

#[test]
fn every_case_of_matmul_passes() {
    every_case_passes("matmul");
}

#[test]
fn every_case_of_moe_passes() {
    every_case_passes("moe");
}

#[test]
fn every_case_of_paged_attention_passes() {
    every_case_passes("paged_attention");
}

#[test]
fn every_case_of_stream_passes() {
    every_case_passes("stream");
}

#[test]
fn every_case_of_vector_passes() {
    every_case_passes("vector");
}

#[test]
fn every_case_of_wavefront_passes() {
    every_case_passes("wavefront");
}

/// Any tile, from a cell to more than the grid, with any halo: narrower and wider than the tile, the grid and the time.
#[test]
fn no_tile_and_no_halo_changes_a_bit_of_heat() {
    let scene = Scene::find("heat").unwrap();
    for (n, steps) in [("3", "1"), ("4", "3"), ("19", "7"), ("32", "12")] {
        let mut hashes = BTreeSet::new();
        for tile in ["1", "2", "5", "8", "16", "40"] {
            for halo in ["1", "2", "3", "4", "7", "12", "50", "16384"] {
                let params = [("n", n), ("steps", steps), ("tile", tile), ("halo", halo)];
                let golden = run_with(scene, scene.default_case(), &params, 3).golden;
                assert!(golden.passed(), "{params:?}: {golden:?}");
                hashes.insert(golden.output_hash);
            }
        }
        assert_eq!(hashes.len(), 1, "{n} × {n}, {steps} steps");
    }
}

#[test]
fn the_golden_passes_for_every_seed() {
    for scene in scenes() {
        for seed in (0..20).chain([u64::MAX]) {
            let golden = run(scene, scene.default_case(), seed).golden;
            assert!(golden.passed(), "{} with seed {seed}: {golden:?}", scene.name);
        }
    }
}

#[test]
fn the_seed_determines_the_hash() {
    for scene in scenes() {
        let hash = |seed| run(scene, scene.default_case(), seed).golden.output_hash;
        assert_eq!(hash(1), hash(1), "{}", scene.name);
        assert_ne!(hash(1), hash(2), "{}", scene.name);
    }
}

kernel! { static DAMAGE_F32 = any fn(x: &mut [f32], at: u32) { x[at as usize] += 1.0; } }
kernel! { static DAMAGE_I32 = any fn(x: &mut [i32], at: u32) { x[at as usize] += 1; } }
kernel! { static DAMAGE_U32 = any fn(x: &mut [u32], at: u32) { x[at as usize] ^= 1; } }

/// Changes one element of an output, with a task.
fn damage(buffers: &mut Buffers<'_>, output: BufferId, fraction: (u64, u64)) {
    oracle::run(buffers, |o| {
        let output = o.external(output)?;
        let at = (output.view().elements() - 1) * fraction.0 / fraction.1;
        let kernel = match output.dtype() {
            DType::Float32 => &DAMAGE_F32,
            DType::Int32 => &DAMAGE_I32,
            DType::UInt32 => &DAMAGE_U32,
            other => panic!("no damage for {other}"),
        };
        o.submit(kernel, [output.inout(), scalar(at as u32)]).map(drop)
    })
    .unwrap();
}

#[test]
fn one_damaged_value_anywhere_fails_the_golden() {
    for scene in scenes() {
        for fraction in [(0, 1), (1, 3), (1, 2), (1, 1)] {
            let Run { program, mut buffers, golden, .. } = run(scene, scene.default_case(), 1);
            for output in program.outputs() {
                damage(&mut buffers, output, fraction);
            }
            let damaged = program.golden(&buffers).unwrap();
            assert_eq!(damaged.failed, program.outputs().len() as u64, "{} {fraction:?}", scene.name);
            assert!(!damaged.passed());
            assert_ne!(damaged.output_hash, golden.output_hash, "{}", scene.name);
        }
    }
}

#[test]
fn a_run_that_does_nothing_fails_the_golden() {
    for scene in scenes() {
        let settings = scene.settings(scene.default_case(), &[], 1).unwrap();
        let mut program = (scene.build)(&settings).unwrap();
        let buffers = program.buffers().unwrap();
        assert!(!program.golden(&buffers).unwrap().passed(), "{}", scene.name);
    }
}
