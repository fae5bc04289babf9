//! The whole command on the toy chip: its crate and one line of registration are all that it takes.

use std::path::PathBuf;
use std::process::Command;

use ringlane_scenes::scenes;
use ringlane_trace::{Manifest, RunStatus};
use tempfile::TempDir;

/// Standard output of the command with the toy chip; it must succeed.
#[track_caller]
fn toy(dir: &TempDir, arguments: &[&str]) -> String {
    let tests = std::env::current_exe().unwrap();
    let command: PathBuf = tests.parent().unwrap().with_file_name("examples").join("toy");
    assert!(command.exists(), "{}: build it with `cargo build -p toy-chip --examples`", command.display());
    let output = Command::new(command).args(arguments).current_dir(dir.path()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{arguments:?}: {stdout}\n{stderr}");
    stdout
}

#[test]
fn list_shows_the_chip() {
    let listed = toy(&TempDir::new().unwrap(), &["list"]);
    assert!(listed.lines().any(|line| line.split_whitespace().eq(["toy", "available"])), "{listed}");
}

#[test]
fn every_scene_runs_with_every_diagnostic_and_what_it_leaves_passes_the_check() {
    let files = [
        "tensor_dump/tensor_dump.bin",
        "deps.json",
        "l2_perf_records.json",
        "tensor_dump/tensor_dump.json",
        "pmu.csv",
        "scope_stats.json",
    ];
    for scene in scenes() {
        let (dir, case) = (TempDir::new().unwrap(), scene.default_case().name);
        let fewer = if scene.name == "stream" { &["--param", "tasks=2000"][..] } else { &[] };
        let run = ["run", scene.name, "--case", case, "-p", "toy", "--dfx", "-o", "run"];
        toy(&dir, &[&run[..], fewer].concat());
        let manifest = Manifest::read(dir.path().join("run")).unwrap();
        assert_eq!((manifest.status, manifest.platform.as_str()), (RunStatus::Ok, "toy"), "{}", scene.name);
        let golden = manifest.golden.as_ref().expect("the values were compared");
        assert!(golden.failed == 0 && golden.checked > 0, "{}: {golden:?}", scene.name);
        for file in files {
            let listed = manifest.files.iter().find(|listed| listed.path == file);
            assert!(listed.is_some_and(|listed| listed.incomplete.is_none()), "{}: {file}", scene.name);
        }
        toy(&dir, &["check", "run"]);
    }
}
