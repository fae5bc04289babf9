//! Runs that fail, in every way a scene can fail, and people who interrupt them.

mod common;

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use common::{Answer, Sandbox, odd_scenes};

/// Runs a case that must fail: exit 1, the error's three lines, the same in `run.json`, and no panic's noise.
#[track_caller]
fn fails(case: &str, status: &str, name: &str, detail: &str) {
    let sandbox = Sandbox::new();
    let answer = sandbox.odd(&["run", "odd", "--case", case, "--json"]);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    assert!(answer.line("error: ").starts_with(&format!("{name}: ")), "{}", answer.stderr);
    assert!(answer.line("detail: ").contains(detail), "{}", answer.stderr);
    assert!(
        !answer.stderr.contains("thread '") && !answer.stderr.contains("RUST_BACKTRACE"),
        "{}",
        answer.stderr
    );
    let manifest = sandbox.manifest();
    assert_eq!((&manifest["status"], &manifest["error"]["name"]), (&status.into(), &name.into()));
    let summary = answer.json();
    assert_eq!(summary["ok"], false);
    let run = &summary["runs"][0];
    assert_eq!((&run["status"], &run["error"]), (&manifest["status"], &manifest["error"]));
    for part in ["detail", "hint"] {
        assert!(!run["error"][part].as_str().unwrap().is_empty(), "{run}");
    }
}

#[test]
fn a_kernel_that_fails_or_panics_fails_its_run() {
    fails("kernel_fails", "failed", "TaskFailed", "the kernel was asked to fail");
    fails("kernel_panics", "failed", "TaskFailed", "the kernel was asked to panic");
    // The panic's own line, not only that of the submit.
    fails(
        "kernel_panics",
        "failed",
        "TaskFailed",
        "the kernel panicked at crates/cli/examples/odd_scenes.rs:",
    );
}

#[test]
fn an_error_is_printed_with_its_name_once() {
    let sandbox = Sandbox::new();
    let answer = sandbox.odd(&["run", "odd", "--case", "kernel_fails"]);
    assert_eq!(answer.line("error: "), "TaskFailed: a task failed");
    assert_eq!(answer.stderr.matches("TaskFailed").count(), 1, "{}", answer.stderr);
}

#[test]
fn a_failed_task_and_why_the_orchestration_gave_up_are_both_reported() {
    let sandbox = Sandbox::new();
    let way = "way=kernel_fails_and_orchestration_gives_up";
    let answer = sandbox.odd(&["run", "odd", "--case", "nothing", "--param", way]);
    assert_eq!((answer.status, answer.line("error: ")), (1, "TaskFailed: a task failed"));
    let (detail, hint) = (answer.line("detail: "), answer.line("hint: "));
    assert!(
        detail.contains("the kernel was asked to fail") && detail.contains("; and TaskTooLarge: "),
        "{detail}"
    );
    assert!(hint.contains("for TaskTooLarge: rerun with --ring-heap 536870912 "), "{hint}");
    let error = &sandbox.manifest()["error"];
    assert_eq!((error["detail"].as_str(), error["hint"].as_str()), (Some(detail), Some(hint)));
}

#[test]
fn a_nan_in_a_golden_is_called_nan() {
    let sandbox = Sandbox::new();
    let answer = sandbox.odd(&["run", "odd", "--case", "nothing", "--param", "way=golden_is_nan"]);
    assert!(answer.line("error: ").starts_with("GoldenMismatch"), "{}", answer.stderr);
    assert!(
        answer.line("detail: ").contains("NaN") && answer.line("hint: ").contains("NaN"),
        "{}",
        answer.stderr
    );
    assert_eq!(sandbox.manifest()["golden"]["max_abs_error"], "NaN");
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["run", "paged_attention", "--case", "small", "--param", "plant=nan"]);
    assert!(answer.line("detail: ").contains(" of them NaN"), "{}", answer.stderr);
    assert!(answer.line("hint: ").contains("ringlane dump bad"), "{}", answer.stderr);
}

#[test]
fn an_orchestration_that_fails_or_panics_is_reported_as_such() {
    fails("orchestration_fails", "failed", "UserError", "the orchestration was asked to fail");
    fails("orchestration_panics", "fatal", "ProgramPanicked", "odd_scenes.rs");
}

#[test]
fn a_golden_that_differs_or_panics_fails_its_run() {
    fails("golden_differs", "failed", "GoldenMismatch", "1 of 1 values");
    fails("golden_panics", "failed", "ProgramPanicked", "the golden was asked to panic");
    fails("buffers_panic", "fatal", "ProgramPanicked", "the inputs were asked to panic");
}

#[test]
fn the_cases_after_a_failed_one_still_run() {
    let sandbox = Sandbox::new();
    let answer = sandbox.odd(&["run", "odd", "--case", "kernel_panics", "--case", "nothing", "--json"]);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let summary = answer.json();
    let statuses: Vec<_> =
        summary["runs"].as_array().unwrap().iter().map(|run| run["status"].clone()).collect();
    assert_eq!(statuses, ["failed", "ok"]);
    assert_eq!(summary["ok"], false);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.command(&odd_scenes(), &["list"]).spawn().unwrap();
    drop(child.stdout.take());
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
}

fn signal(child: &Child, name: &str) {
    let sent =
        Command::new("kill").args(["-s", name, &child.id().to_string()]).status().expect("kill exists");
    assert!(sent.success());
}

/// Starts the slow scene and waits until it runs: its directory is there.
fn start_slow(sandbox: &Sandbox, options: &[&str]) -> Child {
    let arguments = [&["run", "slow", "-o", "run", "--threads", "1"][..], options].concat();
    let child = sandbox.command(&odd_scenes(), &arguments).spawn().expect("the command starts");
    let start = Instant::now();
    while !sandbox.path().join("run").exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "the run does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    child
}

#[test]
fn sigusr1_prints_the_status_and_the_run_goes_on() {
    let sandbox = Sandbox::new();
    let child = start_slow(&sandbox, &["--param", "tasks=100"]);
    signal(&child, "USR1");
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.stderr.contains("tasks submitted"), "{}", answer.stderr);
    assert_eq!(sandbox.manifest()["status"], "ok");
}

#[test]
fn ctrl_c_ends_the_rounds_writes_the_manifest_and_exits_130() {
    let sandbox = Sandbox::new();
    let child = start_slow(&sandbox, &["--rounds", "1000"]);
    signal(&child, "INT");
    let start = Instant::now();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    assert!(start.elapsed() < Duration::from_secs(10));
    let status = sandbox.manifest()["status"].clone();
    assert!(status == "ok" || status == "interrupted", "{status}");
}

#[test]
fn a_second_ctrl_c_exits_at_once() {
    let sandbox = Sandbox::new();
    let child = start_slow(&sandbox, &["--param", "tasks=1", "--param", "ms=60000"]);
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "INT");
    let start = Instant::now();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(sandbox.files(), ["run"], "a run that died has no run.json");
}
