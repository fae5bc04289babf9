//! Plugins in C: one that works, as a scene on several chips, and wrong ones, each of which is a named error.

use std::path::{Path, PathBuf};
use std::process::Command;

use ringlane::engine::api::buffers::Buffers;
use ringlane::prelude::*;
use ringlane_capi::plugin;

/// Builds a plugin with gcc.
fn built(source: &str, name: &str, defines: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.so"));
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]);
    gcc.arg(root.join("crates/capi/include")).args(defines).arg(root.join(source)).arg("-o").arg(&library);
    let status = gcc.status().expect("gcc is installed");
    assert!(status.success(), "{source}");
    library
}

#[test]
fn a_scene_of_a_plugin_runs_on_every_chip_and_is_checked() {
    let library = built("examples/c/plugin.c", "mine", &[]);
    plugin::load(&library).unwrap();
    plugin::load(&library).unwrap();
    let scene = Scene::find("squares").unwrap();
    assert_eq!(ringlane::scenes::scenes().iter().filter(|scene| scene.name == "squares").count(), 1);
    assert_eq!((scene.kernels[0].name(), scene.cases.len()), ("SQUARE_C", 2));
    for platform in [Platform::Cpu, Platform::A2a3sim, Platform::A5sim] {
        for case in scene.cases {
            let settings = scene.settings(case, &[], 7).unwrap();
            let mut program = (scene.build)(&settings).unwrap();
            let mut data: Buffers<'_> = program.buffers().unwrap();
            let config = CallConfig::default().with_threads(i32::from(platform == Platform::Cpu) * 2);
            let mut runtime = Runtime::on(platform).with(&config).unwrap();
            let run = runtime.run(&mut data, |o| program.orchestrate(o));
            run.result.unwrap();
            let golden = program.golden(&data).unwrap();
            assert!(golden.passed() && program.outputs().len() == 1, "{platform} {}: {golden:?}", case.name);
        }
    }
    let user = [("tiles".to_string(), "0".to_string())];
    let settings = scene.settings(scene.default_case(), &user, 7).unwrap();
    let error = (scene.build)(&settings).err().expect("the plugin refuses it");
    assert!(error.name() == "BadParam" && error.detail().contains("tiles=0"), "{}", error.detail());
}

#[test]
fn a_wrong_plugin_is_a_named_error() {
    let refused = |path: &Path| plugin::load(path).unwrap_err();
    let wrong = |name: &str, defines: &[&str]| refused(&built("tests/c/wrong_plugin.c", name, defines));
    assert_eq!(refused(Path::new("/no/such/file.so")).name(), "CannotLoadPlugin");
    assert_eq!(refused(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).name(), "CannotLoadPlugin");
    assert_eq!(wrong("no_symbol", &["-DNO_SYMBOL"]).name(), "NotAPlugin");
    assert_eq!(wrong("version", &["-DVERSION=7"]).name(), "PluginVersion");
    for (name, define) in [
        ("null_table", "-DNULL_TABLE"),
        ("short_table", "-DSIZE=8"),
        ("no_name", "-DNAME=NULL"),
        ("no_function", "-DORCHESTRATE=NULL"),
        ("no_case", "-DCASES=0"),
    ] {
        let error = wrong(name, &[define]);
        assert_eq!(error.name(), "BadPlugin", "{error}");
    }
    assert!(Scene::find("crash").is_err());
}
