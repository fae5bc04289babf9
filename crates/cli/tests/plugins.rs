//! `--load FILE`: kernels and scenes from shared libraries in C, also in processes that the command starts.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{ALL_FILES, Sandbox, checked, checked_with_children, listed};

/// Builds a plugin with gcc.
fn built(sandbox: &Sandbox, source: &str, name: &str, defines: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = sandbox.path().join(name);
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]);
    gcc.arg(root.join("crates/capi/include")).args(defines).arg(root.join(source)).arg("-o").arg(&library);
    assert!(gcc.status().expect("gcc is installed").success(), "{source}");
    library
}

/// A directory with the plugin of the examples in it.
fn with_example() -> Sandbox {
    let sandbox = Sandbox::new();
    built(&sandbox, "examples/c/plugin.c", "libmine.so", &[]);
    sandbox
}

/// A directory with a plugin in it that is wrong in the way that these macros say; without any its scene crashes.
fn with_wrong(defines: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    built(&sandbox, "tests/c/wrong_plugin.c", "libwrong.so", defines);
    sandbox
}

#[test]
fn a_scene_of_a_plugin_is_listed_and_runs_on_every_chip_with_every_instrument() {
    let sandbox = with_example();
    let list = sandbox.ringlane(&["list", "--load", "libmine.so", "--json"]).json();
    let scenes = list["scenes"].as_array().unwrap();
    let own = scenes.iter().find(|scene| scene["name"] == "squares").expect("it is listed");
    assert_eq!((own["cases"].as_array().unwrap().len(), &own["kernels"][0]["name"]), (2, &"SQUARE_C".into()));
    for platform in ["cpu", "a2a3sim", "a5sim"] {
        let dir = format!("outputs/{platform}");
        let answer = sandbox.ringlane(&[
            "run",
            "squares",
            "--load",
            "libmine.so",
            "--case",
            "large",
            "-p",
            platform,
            "--dfx",
            "-o",
            &dir,
        ]);
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        assert_eq!(listed(&checked(&sandbox.path().join(&dir))), ALL_FILES);
        let rerun = sandbox.ringlane(&["rerun", &dir, "--task", "seq=3", "--load", "./libmine.so"]);
        assert_eq!(rerun.status, 0, "{}{}", rerun.stdout, rerun.stderr);
    }
}

#[test]
fn processes_that_are_started_load_the_same_files() {
    let sandbox = with_example();
    let squares = ["--load", "libmine.so", "run", "squares", "--json"];
    let run = |options: &[&str]| sandbox.ringlane(&[&squares[..], options].concat());
    let both = run(&["--case", "small", "--case", "large", "--jobs", "2"]);
    assert_eq!((both.status, both.json()["runs"].as_array().unwrap().len()), (0, 2), "{}", both.stderr);
    for platform in ["cpu", "a2a3sim"] {
        let alone = run(&["--case", "small", "-p", platform]).output_hash();
        for shape in ["2", "2x2"] {
            assert_eq!(run(&["--case", "small", "-p", platform, "--workers", shape]).output_hash(), alone);
        }
    }
    let answer = run(&["--case", "small", "--workers", "2", "--dfx", "-o", "recorded"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert_eq!(checked_with_children(&sandbox.path().join("recorded")).len(), 5);
}

#[test]
fn parameters_that_the_scene_refuses_are_refused_before_a_run() {
    let sandbox = with_example();
    let answer = sandbox.ringlane(&["run", "squares", "--load", "libmine.so", "--param", "tiles=0"]);
    assert_eq!((answer.status, sandbox.files()), (2, vec!["libmine.so".to_string()]), "{}", answer.stderr);
    assert!(answer.line("error: BadParam: ").contains("`tiles`"));
    assert!(answer.line("hint: ").contains("--param tiles=VALUE"), "{}", answer.stderr);
}

#[test]
fn a_crash_of_a_plugin_ends_its_own_process_only() {
    let sandbox = with_wrong(&["-DPARTS=&parts"]);
    let run = |options: &[&str]| {
        sandbox.ringlane(&[&["run", "crash", "--load", "libwrong.so"][..], options].concat())
    };
    let in_a_process = run(&["--jobs", "2"]);
    assert_eq!(in_a_process.status, 1);
    assert!(in_a_process.line("detail: ").contains("SIGSEGV"), "{}", in_a_process.stderr);
    assert!(
        in_a_process.line("hint: ").contains("libwrong.so crash --case small"),
        "{}",
        in_a_process.stderr
    );
    let in_a_worker = run(&["--workers", "2"]);
    assert_eq!(in_a_worker.status, 1);
    assert!(in_a_worker.stderr.contains("SIGSEGV"), "{}", in_a_worker.stderr);
    let here = run(&[]);
    assert_eq!(here.status, -1, "it ends with the signal");
    assert!(here.line("crash: ").starts_with("SIGSEGV outside of a kernel"), "{}", here.stderr);
}

#[test]
fn a_worker_with_another_build_of_a_plugin_is_refused() {
    let sandbox = with_wrong(&["-DPARTS=&parts", "-DREPLACED_BY=\"libother.so\""]);
    built(&sandbox, "tests/c/wrong_plugin.c", "libother.so", &["-DPARTS=&parts"]);
    let answer = sandbox.ringlane(&["run", "crash", "--load", "libwrong.so", "--workers", "2"]);
    assert_eq!((answer.status, sandbox.files().contains(&"libother.so".to_string())), (1, false));
    assert!(answer.stderr.contains("UnknownCallable"), "{}", answer.stderr);
    assert!(!answer.stderr.contains("SIGSEGV"), "{}", answer.stderr);
}

#[test]
fn files_that_are_no_plugins_and_wrong_plugins_are_refused() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("text.so"), "no library").unwrap();
    for (file, name) in
        [("none.so", "CannotLoadPlugin"), ("text.so", "CannotLoadPlugin"), (".", "CannotLoadPlugin")]
    {
        let answer = sandbox.ringlane(&["list", "--load", file]);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{file}");
        assert!(answer.line("error: ").starts_with(name) && answer.line("detail: ").contains(file));
    }
    for (define, name, command) in [
        ("-DNO_SYMBOL", "NotAPlugin", ["list", "--json"]),
        ("-DVERSION=7", "PluginVersion", ["list", "--json"]),
        ("-DCASES=0", "BadPlugin", ["list", "--json"]),
        ("-DNAME=\"vector\"", "DuplicateScene", ["run", "vector"]),
    ] {
        let answer = with_wrong(&[define]).ringlane(&[&command[..], &["--load", "libwrong.so"]].concat());
        assert!(answer.status == 2 && answer.line("error: ").starts_with(name), "{}", answer.stderr);
    }
    let no_units =
        with_wrong(&["-DPARTS=&parts", "-DUNITS=0"]).ringlane(&["run", "crash", "--load", "libwrong.so"]);
    assert!(no_units.status == 2 && no_units.line("detail: ").contains("units is 0"), "{}", no_units.stderr);
    let few = with_wrong(&["-DPARTS=&parts", "-DBUFFERS=2"]);
    let few = few.ringlane(&["run", "crash", "--load", "libwrong.so", "--workers", "2"]);
    assert!(few.status == 1 && few.stderr.contains("1 buffers; its parts use 2"), "{}", few.stderr);
}
