//! Scenes, cases and parameters are found by name; an unknown name is refused with a list of the known ones.

use ringlane_engine::prelude::*;
use ringlane_scenes::{Scene, SceneError, scenes};

const NAMES: [&str; 10] = [
    "cholesky",
    "decode",
    "fanin",
    "heat",
    "matmul",
    "moe",
    "paged_attention",
    "stream",
    "vector",
    "wavefront",
];

#[test]
fn all_ten_scenes_survive_the_linker() {
    assert_eq!(scenes().iter().map(|scene| scene.name).collect::<Vec<_>>(), NAMES);
}

#[test]
fn the_kernels_of_all_scenes_survive_the_linker() {
    let names: Vec<_> = ringlane_engine::api::kernel::registered_kernels().iter().map(|k| k.name()).collect();
    for kernel in ["ALIGN", "DIFFUSE", "GATE", "GATHER_68", "GEMM", "MATMUL", "QK", "STEP", "VECTOR_ADD"] {
        assert!(names.contains(&kernel), "{kernel} of {names:?}");
    }
    let mut unique = names.clone();
    unique.dedup();
    assert_eq!(unique, names, "no two kernels share a name");
}

#[test]
fn every_case_sets_only_parameters_that_the_scene_has_and_can_be_built() {
    for scene in scenes() {
        for case in scene.cases {
            let settings = scene.settings(case, &[], 0).unwrap();
            assert!((scene.build)(&settings).is_ok(), "{} {}", scene.name, case.name);
            assert_eq!(scene.case(case.name).unwrap().name, case.name);
        }
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let scene = Scene::find("matmul").unwrap();
    let unknown = Scene::find("matmull").unwrap_err();
    assert_eq!((unknown.name(), unknown.hint().contains("wavefront")), ("UnknownScene", true));
    let unknown = scene.case("huge").unwrap_err();
    assert_eq!((unknown.name(), unknown.hint().contains("ragged")), ("UnknownCase", true));
    let unknown = scene.kernel("GEMM").unwrap_err();
    assert_eq!(
        (unknown.name(), unknown.hint().as_str()),
        ("UnknownKernel", "its kernels: MATMUL, MATMUL_BF16")
    );
    let user = [("tiles".to_string(), "4".to_string())];
    let unknown = scene.settings(scene.default_case(), &user, 0).unwrap_err();
    assert_eq!((unknown.name(), unknown.hint().contains("k_tile")), ("UnknownParam", true));
    assert!(unknown.detail().contains("tiles"));
}

/// The scene's error for one parameter on top of its default case.
fn build(scene: &str, name: &str, value: &str) -> Option<SceneError> {
    let scene = Scene::find(scene).unwrap();
    let user = [(name.to_string(), value.to_string())];
    let settings = scene.settings(scene.default_case(), &user, 0).unwrap();
    (scene.build)(&settings).err()
}

#[test]
fn a_bad_value_is_refused_with_its_name_and_what_is_allowed() {
    let bad = [
        ("vector", "n", "0"),
        ("vector", "chunks", "61"),
        ("matmul", "tile", "-3"),
        ("matmul", "k", "1.5"),
        ("matmul", "n_tile", "16385"),
        ("matmul", "dtype", "f16"),
        ("cholesky", "n", ""),
        ("wavefront", "rows", "many"),
        ("heat", "n", "2"),
        ("heat", "steps", "0"),
        ("heat", "tile", "0"),
        ("heat", "halo", "0"),
        ("heat", "halo", "16385"),
        ("paged_attention", "batch", "99999999999999999999"),
        ("paged_attention", "context", "0"),
        ("fanin", "tensors", "64"),
        ("stream", "tasks", "0"),
        ("moe", "experts", "1"),
        ("decode", "hidden", "65"),
        ("decode", "heads", "3"),
        ("decode", "head_dim", "12"),
        ("decode", "experts", "1"),
        ("decode", "layers", "0"),
        ("decode", "context", "65537"),
        ("decode", "tokens", "16385"),
        ("moe", "hot", "1"),
        ("moe", "hot", "9"),
    ];
    for (scene, name, value) in bad {
        let error = build(scene, name, value).unwrap_or_else(|| panic!("{scene} takes {name}={value}"));
        assert_eq!(error.name(), "BadParam");
        assert_eq!(error.summary(), format!("the parameter `{name}` cannot be `{value}`"));
        assert!(error.detail().contains("allowed"), "{}", error.detail());
        assert!(error.hint().contains(&format!("set `{name}` in `Settings::params`")), "{}", error.hint());
    }
}

#[test]
fn a_context_for_which_no_span_is_large_enough_asks_for_larger_pages() {
    let error = build("decode", "context", "65536").unwrap();
    assert!(matches!(&error, SceneError::BadParam { name, .. } if name == "page"), "{error:?}");
    assert!(error.detail().contains("at least 11, with span=64"), "{}", error.detail());
    let error = build("decode", "context", "1600").unwrap();
    assert!(error.detail().contains("at least 3, so that"), "{}", error.detail());
}

#[test]
fn the_user_overrides_the_case_which_overrides_the_default() {
    let scene = Scene::find("stream").unwrap();
    let case = scene.case("short").unwrap();
    assert_eq!(scene.settings(case, &[], 0).unwrap().text("tasks"), "10007");
    let user = [("tasks".to_string(), "5".to_string())];
    assert_eq!(scene.settings(case, &user, 0).unwrap().text("tasks"), "5");
    assert_eq!(scene.settings(scene.default_case(), &[], 0).unwrap().text("tasks"), "10000000");
}

#[test]
fn a_program_without_buffers_is_refused() {
    for scene in scenes() {
        let settings = scene.settings(scene.default_case(), &[], 0).unwrap();
        let program = (scene.build)(&settings).unwrap();
        let error =
            ringlane_engine::oracle::run(&mut Buffers::new(), |o| program.orchestrate(o)).unwrap_err();
        assert_eq!(error.name(), "UserError", "{}", scene.name);
        assert!(program.outputs().is_empty());
    }
}
