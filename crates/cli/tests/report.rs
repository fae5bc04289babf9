//! `ringlane report` and `ringlane run --report`: a page of every run, whole or not at all.

mod common;

use std::fs;

use common::Sandbox;
use serde_json::Value;

#[test]
fn a_run_with_report_records_all_but_the_data_of_tasks_and_says_where_the_page_is() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["run", "cholesky", "--case", "small", "--report", "-o", "out"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.stderr.contains("report: out/report.html ("), "{}", answer.stderr);
    let data = sandbox.page_data("out/report.html");
    assert_eq!(data["manifest"]["dfx_flags"], "0x77");
    assert_eq!(data["timeline"]["blocks"], 20);
    assert!(!data["findings"].as_array().unwrap().is_empty());
    let notes: Vec<_> = data["notes"].as_array().unwrap().iter().map(|note| &note["about"]).collect();
    assert_eq!(notes, ["dump"], "all else is there");
}

#[test]
fn every_observed_round_has_a_page_of_its_own() {
    let sandbox = Sandbox::new();
    let run =
        ["run", "vector", "--case", "small", "--report", "--rounds", "2", "--dfx-rounds", "all", "-o", "out"];
    assert_eq!(sandbox.ringlane(&run).status, 0);
    for round in ["out/round_1/report.html", "out/round_2/report.html"] {
        assert_eq!(sandbox.page_data(round)["timeline"]["level"], 3);
    }
    assert!(!sandbox.path().join("out/report.html").exists());
}

#[test]
fn a_report_of_a_named_run_goes_to_the_given_file_and_standard_output_has_only_its_path() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "-o", "out"]).status, 0);
    let answer = sandbox.ringlane(&["report", "out", "-o", "page.html"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, "page.html\n"), "{}", answer.stderr);
    assert!(answer.stderr.contains("--chip-swimlane records it"), "{}", answer.stderr);
    let data = sandbox.page_data("page.html");
    assert_eq!((&data["manifest"]["scene"], data.get("timeline")), (&Value::from("vector"), None));
}

#[test]
fn a_run_that_the_runtime_stopped_has_a_page_that_says_which_scope_ran_out_of_what() {
    let sandbox = Sandbox::new();
    let run = [
        "run",
        "paged_attention",
        "--case",
        "small",
        "-p",
        "a2a3sim",
        "--ring-task-window",
        "16",
        "--report",
    ];
    let answer = sandbox.ringlane(&[&run[..], &["-o", "out"]].concat());
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let data = sandbox.page_data("out/report.html");
    assert_eq!(data["manifest"]["error"]["name"], "FlowControlDeadlock");
    assert_eq!(data["scopes"]["fatal"]["resource"], "task_window");
}

#[test]
fn a_place_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "-o", "out"]).status, 0);
    let answer = sandbox.ringlane(&["report", "out", "-o", "nowhere/page.html"]);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    assert!(answer.stderr.contains("error: CannotWrite"), "{}", answer.stderr);
    fs::create_dir(sandbox.path().join("taken")).unwrap();
    assert_eq!(sandbox.ringlane(&["report", "out", "-o", "taken"]).status, 1);
    let left: Vec<_> =
        fs::read_dir(sandbox.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[test]
fn what_a_run_recorded_is_not_overwritten_and_what_was_made_of_it_may_be() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "--dfx", "-o", "run"]).status, 0);
    std::os::unix::fs::symlink("run.json", sandbox.path().join("run/link.json")).unwrap();
    let commands: [&[&str]; 5] = [
        &["swimlane", "run"],
        &["deps", "run"],
        &["mermaid", "run"],
        &["report", "run"],
        &["dump", "run", "--export", "npy"],
    ];
    let files = [
        "run/run.json",
        "run/link.json",
        "run/../run/deps.json",
        "run/l2_perf_records.json",
        "run/pmu.csv",
        "run/scope_stats.json",
        "run/tensor_dump/tensor_dump.json",
        "run/tensor_dump/tensor_dump.bin",
    ];
    let read = || files.map(|file| fs::read(sandbox.path().join(file)).unwrap());
    let before = read();
    for command in commands {
        for file in files {
            let answer = sandbox.ringlane(&[command, &["-o", file]].concat());
            assert_eq!(answer.status, 2, "{command:?} -o {file}: {}", answer.stderr);
            assert!(answer.line("error: ").starts_with("OverwritesRun: "), "{}", answer.stderr);
            assert!(answer.line("detail: ").starts_with(&format!("-o {file} is ")), "{}", answer.stderr);
            assert!(answer.line("hint: ").contains("another file"), "{}", answer.stderr);
        }
    }
    assert!(read() == before);
    for command in [&["swimlane", "run"][..], &["deps", "run", "--format", "html"], &["report", "run"]] {
        for _ in 0..2 {
            assert_eq!(sandbox.ringlane(command).status, 0, "{command:?}");
        }
    }
    assert_eq!(sandbox.ringlane(&["check", "run"]).status, 0);
}

#[test]
fn what_other_runs_recorded_is_not_overwritten_either() {
    let sandbox = Sandbox::new();
    let rounds = ["--dep-gen", "--rounds", "2", "--dfx-rounds", "all"];
    assert_eq!(
        sandbox.ringlane(&[&["run", "vector", "--case", "small", "-o", "run"], &rounds[..]].concat()).status,
        0
    );
    for file in ["run/run.json", "run/round_1/run.json", "run/round_1/deps.json"] {
        let before = fs::read(sandbox.path().join(file)).unwrap();
        let answer = sandbox.ringlane(&["mermaid", "run/round_2", "-o", file]);
        assert_eq!(answer.status, 2, "{file}: {}", answer.stderr);
        assert!(answer.line("error: ").starts_with("OverwritesRun: "), "{}", answer.stderr);
        assert_eq!(fs::read(sandbox.path().join(file)).unwrap(), before);
    }
    // The same name where no run is.
    assert_eq!(sandbox.ringlane(&["mermaid", "run/round_2", "-o", "deps.json"]).status, 0);
}

#[test]
fn a_damaged_table_is_a_note_on_the_page_and_no_error() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "cholesky", "--case", "small", "--dfx", "-o", "out"]).status, 0);
    let deps = sandbox.path().join("out/scope_stats.json");
    let size = fs::metadata(&deps).unwrap().len() as usize;
    fs::write(&deps, "x".repeat(size)).unwrap();
    let answer = sandbox.ringlane(&["report", "out"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let data = sandbox.page_data("out/report.html");
    let damaged: Vec<_> =
        data["notes"].as_array().unwrap().iter().filter(|note| note["kind"] == "damaged").collect();
    assert_eq!((damaged.len(), &damaged[0]["about"]), (1, &Value::from("scopes")));
    assert_eq!(data["timeline"]["blocks"], 20, "the rest is shown");
}
