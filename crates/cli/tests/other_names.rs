//! Options as people who come from other systems write them.

mod common;

use common::Sandbox;

/// The `dfx_flags` and the swimlane level of the only run of a command.
#[track_caller]
fn recorded(options: &[&str]) -> (String, u64) {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&[&["run", "vector", "--case", "one"], options].concat());
    assert_eq!(answer.status, 0, "{options:?}: {}", answer.stderr);
    let manifest = sandbox.manifest();
    let text = manifest["dfx_flags"].as_str().expect("flags").to_string();
    (text, manifest["swimlane_level"].as_u64().expect("a level"))
}

#[test]
fn a_level_of_0_is_off_also_after_all_diagnostics() {
    assert_eq!(recorded(&["--chip-swimlane=0"]), ("0x0".to_string(), 0));
    assert_eq!(recorded(&["--dfx", "--chip-swimlane=0"]), ("0x78".to_string(), 0));
    assert_eq!(recorded(&["--dfx", "--chip-swimlane", "0"]), ("0x78".to_string(), 0));
}

#[test]
fn a_level_after_a_space_is_the_level() {
    assert_eq!(recorded(&["--chip-swimlane", "2"]), ("0x3".to_string(), 2));
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["run", "--chip-swimlane", "1", "vector", "--case", "one", "--jobs", "2"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert_eq!(sandbox.manifest()["swimlane_level"], 1);
}

#[test]
fn other_names_of_the_diagnostics_are_understood() {
    for (options, flags) in [
        (&["--enable-profiling"][..], "0x7"),
        (&["--enable-profiling=2"], "0x3"),
        (&["--enable-l2-swimlane", "--enable-dep-gen"], "0x27"),
        (&["--enable-chip-swimlane=1", "--enable-scope-stats"], "0x41"),
        (&["--enable-pmu", "1"], "0x10"),
        (&["--enable-dump-tensor"], "0x8"),
        (&["--dump-args"], "0x8"),
    ] {
        assert_eq!(recorded(options).0, flags, "{options:?}");
    }
    let help = Sandbox::new().ringlane(&["run", "--help"]).stdout;
    for name in
        ["--enable-profiling", "--enable-l2-swimlane", "--enable-pmu", "--enable-dep-gen", "--dump-args"]
    {
        assert!(help.contains(name), "{name} is not in:\n{help}");
    }
}
