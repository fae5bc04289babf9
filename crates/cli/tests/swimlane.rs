//! `ringlane swimlane`: both formats read back and compared with the run's tables, the table, and what is missing.

mod common;
mod trace;

use std::fs;
use std::path::Path;

use common::{Answer, Sandbox};
use ringlane_insight::{Instrument, Run};
use ringlane_trace::swimlane::{self, BlockRow};
use trace::{Trace, chrome, perfetto};

fn passed(answer: Answer) -> Answer {
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer
}

/// Makes both traces of a run and checks them against its tables.
fn check_both(sandbox: &Sandbox, run: &str) -> (Trace, Trace, Answer) {
    let dir = sandbox.path().join(run);
    let opened = Run::open(&dir).unwrap();
    let timeline = opened.timeline().unwrap();
    let scopes = if opened.has(Instrument::Scopes) { opened.scopes().unwrap().scopes.len() } else { 0 };
    let answer = passed(sandbox.ringlane(&["swimlane", run]));
    passed(sandbox.ringlane(&["swimlane", run, "--format", "pftrace"]));
    let frequency = u128::from(timeline.clock_freq_hz);
    let ns = |ticks: u64| ((u128::from(ticks) * 1_000_000_000 + frequency / 2) / frequency) as u64;
    let json = chrome::read(&fs::read_to_string(dir.join("merged_swimlane.json")).unwrap());
    json.check(&timeline, scopes, ns);
    let native = perfetto::read(&fs::read(dir.join("merged_swimlane.pftrace")).unwrap());
    native.check(&timeline, scopes, ns);
    (json, native, answer)
}

#[test]
fn every_block_edge_phase_and_submit_is_in_both_traces_at_every_level() {
    let sandbox = Sandbox::new();
    for platform in ["cpu", "a2a3sim"] {
        for scene in ["paged_attention", "cholesky"] {
            for level in ["1", "2", "3"] {
                for others in [&[][..], &["--dep-gen", "--scope-stats"]] {
                    let run = format!("{platform}_{scene}_{level}_{}", others.len());
                    let swimlane = format!("--chip-swimlane={level}");
                    let mut arguments =
                        vec!["run", scene, "--case", "small", "-p", platform, "-o", &run, &swimlane];
                    arguments.extend(others);
                    passed(sandbox.ringlane(&arguments));
                    let (_, _, answer) = check_both(&sandbox, &run);
                    assert_eq!(answer.stderr.contains("no orchestrator"), level != "3", "{}", answer.stderr);
                    assert_eq!(answer.stderr.contains("no scope_stats.json"), others.is_empty());
                    assert_eq!(answer.stderr.contains("no deps.json"), others.is_empty());
                    assert_eq!(answer.stderr.contains("no arrows"), others.is_empty() && level == "1");
                }
            }
        }
    }
}

#[test]
fn a_ring_that_is_full_is_seen_and_a_chip_that_copies_shows_its_copies() {
    let sandbox = Sandbox::new();
    let arguments = ["run", "matmul", "--case", "small", "-p", "a5sim", "--dfx", "-o", "full"];
    passed(sandbox.ringlane(&[&arguments[..], &["--ring-task-window", "4"]].concat()));
    let (json, native, _) = check_both(&sandbox, "full");
    for trace in [json, native] {
        let waits =
            trace.in_lane("orchestrator").into_iter().filter(|slice| slice.name == "ring full").count();
        assert!(waits > 0);
        let highest = trace.counters.iter().filter(|counter| counter.name.contains("in flight"));
        assert!(highest.map(|counter| counter.value).fold(0.0, f64::max) <= 4.0);
        assert!(trace.in_lane("copies").iter().any(|copy| copy.args["bytes"] > 0));
    }
}

/// Gives kernels other names in a run's swimlane.
fn rename(dir: &Path, names: &[(&str, &str)]) {
    let path = dir.join(swimlane::FILE_NAME);
    let mut text = fs::read_to_string(&path).unwrap();
    for (from, to) in names {
        let (from, to) =
            (format!("\"name\":\"{from}\""), format!("\"name\":{}", serde_json::to_string(to).unwrap()));
        assert!(text.contains(&from));
        text = text.replace(&from, &to);
    }
    fs::write(&path, &text).unwrap();
    let manifest = dir.join("run.json");
    let mut json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    let files = json["files"].as_array_mut().unwrap();
    let entry = files.iter_mut().find(|entry| entry["path"] == swimlane::FILE_NAME).unwrap();
    entry["bytes"] = text.len().into();
    fs::write(manifest, json.to_string()).unwrap();
}

#[test]
fn names_that_would_break_out_of_their_place_stay_in_it() {
    let sandbox = Sandbox::new();
    passed(sandbox.ringlane(&[
        "run",
        "paged_attention",
        "--case",
        "small",
        "-p",
        "a2a3sim",
        "--chip-swimlane",
        "-o",
        "odd",
    ]));
    let names = [("QK", "\"><script>alert(1)</script>"), ("PV", "a,b\nc\u{1b}[31m"), ("SOFTMAX", "")];
    rename(&sandbox.path().join("odd"), &names);
    let (_, _, answer) = check_both(&sandbox, "odd");
    assert!(
        answer.stdout.contains("a,b\\nc\\u{1b}[31m") && !answer.stdout.contains('\u{1b}'),
        "{}",
        answer.stdout
    );
    let text = fs::read_to_string(sandbox.path().join("odd/merged_swimlane.json")).unwrap();
    assert!(!text.contains("<script>"));
}

#[test]
fn the_table_is_the_same_every_time_on_a_simulator() {
    let sandbox = Sandbox::new();
    passed(sandbox.ringlane(&[
        "run",
        "paged_attention",
        "--case",
        "small",
        "-p",
        "a2a3sim",
        "--dfx",
        "-o",
        "run",
    ]));
    let answer = passed(sandbox.ringlane(&["swimlane", "run", "-o", "elsewhere.json"]));
    let expected = include_str!("snapshots/swimlane.txt");
    assert_eq!(answer.stdout, expected, "{}", answer.stdout);
    assert!(answer.stderr.starts_with("wrote elsewhere.json ("), "{}", answer.stderr);
    assert!(!sandbox.path().join("run/merged_swimlane.json").exists());
    let json = passed(sandbox.ringlane(&["swimlane", "run", "--json"])).json();
    assert_eq!(json["kernels"][0]["name"], "UPDATE");
    let share: f64 =
        json["kernels"].as_array().unwrap().iter().map(|k| k["busy_share"].as_f64().unwrap()).sum();
    assert!((share - 1.0).abs() < 1e-9);
}

#[test]
fn the_numbers_of_a_kernel_are_those_of_its_blocks() {
    let sandbox = Sandbox::new();
    passed(sandbox.ringlane(&["run", "cholesky", "--case", "small", "--chip-swimlane=2", "-o", "run"]));
    let timeline = Run::open(sandbox.path().join("run")).unwrap().timeline().unwrap();
    let json = passed(sandbox.ringlane(&["swimlane", "run", "--json"])).json();
    let kernels = json["kernels"].as_array().unwrap();
    assert_eq!(kernels.iter().map(|kernel| kernel["count"].as_u64().unwrap()).sum::<u64>(), 20);
    for kernel in kernels {
        let of_kernel = |block: &&BlockRow| u64::from(block.func_id.0) == kernel["func_id"].as_u64().unwrap();
        let sorted = |value: fn(&BlockRow) -> u64| {
            let mut values: Vec<u64> = timeline.blocks.iter().filter(of_kernel).map(value).collect();
            values.sort_unstable();
            values
        };
        let columns = [
            (kernel, sorted(|block| block.end.0 - block.start.0)),
            (&kernel["head"], sorted(|block| block.start.0 - block.dispatch.0)),
            (&kernel["tail"], sorted(|block| block.finish.0 - block.end.0)),
        ];
        for (shown, values) in columns {
            let rank = |percent: usize| values[(values.len() * percent).div_ceil(100) - 1];
            let expected = [rank(50), rank(95), rank(100)];
            assert_eq!(["p50", "p95", "max"].map(|name| shown[name].as_u64().unwrap()), expected);
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            assert!((shown["mean"].as_f64().unwrap() - mean).abs() < 1e-6);
        }
    }
}

#[test]
fn a_run_that_was_stopped_is_shown_as_far_as_it_came() {
    let sandbox = Sandbox::new();
    let arguments = ["run", "cholesky", "--case", "small", "-p", "a2a3sim", "--dfx", "-o", "fatal"];
    assert_eq!(sandbox.ringlane(&[&arguments[..], &["--ring-task-window", "4"]].concat()).status, 1);
    let (json, _, answer) = check_both(&sandbox, "fatal");
    assert!(answer.stderr.contains("the run ended early (fatal)"), "{}", answer.stderr);
    assert!(json.in_lane("scopes").iter().any(|scope| scope.args.get("open") == Some(&1)));
}

#[test]
fn a_run_without_a_swimlane_and_an_output_that_cannot_be_written_are_reported() {
    let sandbox = Sandbox::new();
    passed(sandbox.ringlane(&["run", "vector", "--case", "small", "--dep-gen", "-o", "deps_only"]));
    let answer = sandbox.ringlane(&["swimlane", "deps_only"]);
    assert_eq!((answer.status, answer.line("hint: ")), (2, "repeat the run with --chip-swimlane"));
    passed(sandbox.ringlane(&["run", "vector", "--case", "small", "--chip-swimlane", "-o", "run"]));
    let answer = sandbox.ringlane(&["swimlane", "run", "-o", "no/such/dir.json"]);
    assert_eq!(answer.status, 1);
    assert!(answer.line("error: ").starts_with("CannotWrite"), "{}", answer.stderr);
    passed(sandbox.ringlane(&["swimlane", "run", "-o", "/dev/null"]));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    assert!(sandbox.files().iter().all(|file| !file.contains(".tmp")));
}
