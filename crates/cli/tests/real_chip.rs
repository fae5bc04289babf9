//! What needs the real engine: deadlocks found by structure, runs ended at the next task, and
//! totals that count.

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use common::{Answer, Sandbox, odd_scenes};

/// A scope that does not fit stops at once and names what is full; the hinted option, pasted, passes.
#[track_caller]
fn deadlocks_and_the_hint_helps(case: &str, option: &str, value: &str, resource: &str) {
    let sandbox = Sandbox::new();
    let run = ["run", "flat", "--case", case, option, value];
    let answer = sandbox.odd(&run);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    assert!(answer.line("error: ").starts_with("FlowControlDeadlock: "), "{}", answer.stderr);
    let detail = answer.line("detail: ");
    assert!(detail.contains("odd_scenes.rs:") && detail.contains(resource), "{detail}");
    let hint = answer.line("hint: ");
    let words: Vec<&str> = hint.split([' ', ',', ';', '`']).collect();
    let at =
        words.iter().position(|word| *word == option).unwrap_or_else(|| panic!("{hint} names no {option}"));
    assert_eq!(sandbox.manifest()["status"], "fatal");
    let again = Sandbox::new().odd(&["run", "flat", "--case", case, option, words[at + 1]]);
    assert_eq!(again.status, 0, "{}", again.stderr);
}

#[test]
fn a_scope_that_does_not_fit_is_a_deadlock_whose_hint_passes() {
    for case in ["twenty", "hundred"] {
        deadlocks_and_the_hint_helps(case, "--ring-task-window", "16", "16/16");
    }
    deadlocks_and_the_hint_helps("hundred", "--ring-args", "1024", "args");
}

#[test]
fn ctrl_c_ends_a_run_at_its_next_task() {
    let sandbox = Sandbox::new();
    let arguments = ["run", "slow", "-o", "run", "--param", "tasks=2000", "--json"];
    let child = sandbox.command(&odd_scenes(), &arguments).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let start = Instant::now();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    assert!(answer.stderr.contains("Ctrl-C again"), "{}", answer.stderr);
    assert_eq!(answer.json()["runs"][0]["status"], "interrupted");
    assert_eq!(sandbox.manifest()["error"]["name"], "Interrupted");
}

#[test]
fn totals_count_and_threads_are_those_asked_for() {
    let answer = Sandbox::new().ringlane(&["run", "vector", "--case", "small", "--threads", "2", "--json"]);
    let run = &answer.json()["runs"][0];
    assert_eq!((&run["threads"], &run["tasks"], &run["blocks"]), (&2.into(), &5.into(), &5.into()));
    assert_eq!(run["scopes"], 2);
    assert!(run["ns_per_task"].as_f64().unwrap() > 0.0 && run["makespan_us"].as_f64().unwrap() > 0.0);
}
