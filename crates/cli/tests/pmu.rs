//! `ringlane pmu`: counters by kernel, what follows from them, and where they come from.

mod common;

use std::fs;

use common::Sandbox;
use common::expected::expect;

fn run(sandbox: &Sandbox, dir: &str, more: &[&str]) {
    let arguments = [&["run", "paged_attention", "--case", "small", "-o", dir][..], more].concat();
    let answer = sandbox.ringlane(&arguments);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
}

/// Puts another pmu.csv into a run, and what run.json says of it.
fn replace(sandbox: &Sandbox, dir: &str, csv: &str, source: &str) {
    let manifest = sandbox.path().join(dir).join("run.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["pmu"] = serde_json::json!({"source": source, "group": 3});
    for file in json["files"].as_array_mut().unwrap() {
        if file["path"] == "pmu.csv" {
            file["bytes"] = csv.len().into();
        }
    }
    fs::write(&manifest, json.to_string()).unwrap();
    fs::write(sandbox.path().join(dir).join("pmu.csv"), csv).unwrap();
}

const HEAD: &str = "thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles";

#[test]
fn the_text_of_a_modelled_chip() {
    let sandbox = Sandbox::new();
    run(&sandbox, "r", &["-p", "a2a3sim", "--pmu", "--dep-gen"]);
    let answer = sandbox.ringlane(&["pmu", "r"]);
    assert_eq!((answer.status, &*answer.stderr), (0, ""));
    expect("pmu_pipe", &answer.stdout);
    // The names are the same wherever they come from; without any of these files, kernels are shown by number.
    run(&sandbox, "s", &["-p", "a2a3sim", "--pmu", "--chip-swimlane"]);
    run(&sandbox, "d", &["-p", "a2a3sim", "--pmu", "--dump-tensor"]);
    assert_eq!(sandbox.ringlane(&["pmu", "s"]).stdout, answer.stdout);
    assert_eq!(sandbox.ringlane(&["pmu", "d"]).stdout, answer.stdout);
    run(&sandbox, "n", &["-p", "a2a3sim", "--pmu"]);
    assert!(sandbox.ringlane(&["pmu", "n"]).stdout.contains("func 3  aiv"));
}

#[test]
fn every_block_is_counted_once_on_the_machine_itself_and_the_source_is_stated() {
    let sandbox = Sandbox::new();
    let stderr = sandbox
        .ringlane(&["run", "paged_attention", "--case", "small", "-o", "r", "--pmu", "--dep-gen"])
        .stderr;
    let found = sandbox.ringlane(&["pmu", "r", "--json"]).json();
    let blocks: u64 =
        found["kernels"].as_array().unwrap().iter().map(|row| row["blocks"].as_u64().unwrap()).sum();
    assert_eq!(blocks, sandbox.manifest()["blocks"]);
    let text = sandbox.ringlane(&["pmu", "r"]).stdout;
    match found["source"].as_str().unwrap() {
        "tsc" => {
            assert!(text.starts_with("No processor counters: cycles are ticks of the run's clock"), "{text}");
            assert!(!text.contains("What follows"), "{text}");
            // One line, with the name by which docs/errors.md has it.
            let warnings = || stderr.lines().filter(|line| line.starts_with("warning: "));
            assert!(
                warnings().all(|line| line.starts_with("warning: PmuUnavailable: no processor counters: "))
            );
            assert_eq!((warnings().count(), stderr.contains("hint:")), (1, false), "{stderr}");
            assert_eq!(found["kernels"][0]["ratios"]["instructions/cycle"], serde_json::Value::Null);
        }
        source => {
            assert_eq!(source, "perf_event");
            assert!(text.contains("instructions/cycle"), "{text}");
        }
    }
}

#[test]
fn ratios_of_counted_rows_are_right_and_rows_without_counters_are_kept_apart() {
    let sandbox = Sandbox::new();
    run(&sandbox, "r", &["--pmu", "--dep-gen"]);
    let rows = "0,0,0,0,cpu,100,250,50,5,3\n0,0,1,0,cpu,300,350,50,0,3\n1,1,2,0,cpu,7777,0,0,0,0\n0,0,3,1,cpu,50,0,0,0,3\n";
    replace(&sandbox, "r", &format!("{HEAD},instructions,branches,branch_misses,event_type\n{rows}"), "tsc");
    expect("pmu_branch", &sandbox.ringlane(&["pmu", "r"]).stdout);
    let found = sandbox.ringlane(&["pmu", "r", "--json"]).json();
    let row = found["kernels"].as_array().unwrap().iter().find(|row| row["cycles"]["sum"] == 400).unwrap();
    assert_eq!(row["ratios"]["instructions/cycle"], 1.5);
    assert_eq!(row["ratios"]["branch_misses/branches"], 0.05);
    assert_eq!(row["sums"]["branch_misses"], 5);
}

#[test]
fn files_that_are_not_counters_are_reported_and_a_missing_one_does_not_panic() {
    let sandbox = Sandbox::new();
    run(&sandbox, "r", &["--pmu"]);
    for (csv, detail) in [
        ("".to_string(), "it has no line of column names"),
        ("a,b\n1,2\n".to_string(), "there is no column \"thread_id\""),
        (format!("{HEAD},event_type\n1,2\n"), "row 1: 2 fields for 7 columns"),
        (format!("{HEAD},event_type\n0,0,0,0,cpu,-5,1\n"), "row 1: pmu_total_cycles \"-5\" is not a number"),
    ] {
        replace(&sandbox, "r", &csv, "perf_event");
        let answer = sandbox.ringlane(&["pmu", "r"]);
        assert_eq!((answer.status, &*answer.stdout), (2, ""), "{csv}");
        assert!(answer.line("detail: ").contains(detail), "{csv}: {}", answer.stderr);
    }
    replace(&sandbox, "r", &format!("{HEAD},event_type\n"), "perf_event");
    let answer = sandbox.ringlane(&["pmu", "r"]);
    assert!(answer.status == 0 && answer.stdout.ends_with("no blocks\n"), "{}", answer.stdout);
    let odd = format!(
        "{HEAD},x\x1b[1m_bytes,event_type\n0,0,0,9,c\x07pu,18446744073709551615,1,1\n0,0,0,9,c\x07pu,5,1,1\n"
    );
    replace(&sandbox, "r", &odd, "other\x1b");
    let answer = sandbox.ringlane(&["pmu", "r"]);
    assert!(answer.status == 0 && !answer.stdout.contains(['\x1b', '\x07']), "{}", answer.stdout);
    assert!(answer.stdout.contains("18446744073709551620"), "{}", answer.stdout);
    let answer = sandbox.ringlane(&["pmu", "nowhere"]);
    assert_eq!(answer.status, 2);
    run(&sandbox, "s", &["--scope-stats"]);
    assert_eq!(sandbox.ringlane(&["pmu", "s"]).line("hint: "), "repeat the run with --pmu");
}
