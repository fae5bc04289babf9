//! `--log` and `RINGLANE_LOG`: what is logged, where to, and what is refused.

mod common;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use common::{Answer, Sandbox};
use ringlane::prelude::*;

const CASE: [&str; 4] = ["run", "vector", "--case", "small"];

/// The lines of the log: time, level, topic, text.
fn logged(answer: &Answer) -> Vec<&str> {
    answer.stderr.lines().filter(|line| line.contains(" ringlane::")).collect()
}

#[track_caller]
fn has(answer: &Answer, parts: &[&str]) {
    let found = logged(answer).iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(found, "no line with {parts:?} in:\n{}", answer.stderr);
}

fn with_environment(sandbox: &Sandbox, value: &str, arguments: &[&str]) -> Answer {
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_ringlane")), arguments);
    Answer::of(command.env("RINGLANE_LOG", value).output().unwrap())
}

#[test]
fn nothing_is_logged_unless_it_is_asked_for() {
    let sandbox = Sandbox::new();
    assert!(logged(&sandbox.ringlane(&CASE)).is_empty());
    assert!(logged(&sandbox.ringlane(&[&CASE[..], &["--log", "off"]].concat())).is_empty());
    assert!(logged(&with_environment(&sandbox, "", &CASE)).is_empty());
    assert!(logged(&with_environment(&sandbox, "error", &CASE)).is_empty());
    // The option outranks the environment.
    let answer = with_environment(&sandbox, "trace", &[&CASE[..], &["--log", "off"]].concat());
    assert!(logged(&answer).is_empty(), "{}", answer.stderr);
}

#[test]
fn runs_begin_and_end_at_info_and_results_are_not_touched() {
    for place in [&["--log", "info", "run"][..], &["run", "--log", "info"]] {
        let sandbox = Sandbox::new();
        let answer = sandbox.ringlane(&[place, &CASE[1..], &["--json"]].concat());
        assert_eq!(answer.json()["ok"], true);
        has(
            &answer,
            &[
                " INFO ringlane::run: a case begins",
                "scene=\"vector\"",
                "case=\"small\"",
                "outputs/vector_small_",
            ],
        );
        has(&answer, &[" INFO ringlane::run: a run begins", "platform=\"cpu\"", "threads="]);
        has(&answer, &[" INFO ringlane::run: a run ended", "tasks=5", "blocks=5", "wall_us="]);
        assert!(logged(&answer).iter().all(|line| !line.contains("DEBUG")), "{}", answer.stderr);
        // No terminal, no colours.
        assert!(!answer.stderr.contains('\u{1b}'), "{:?}", answer.stderr);
    }
}

#[test]
fn a_run_that_fails_is_an_error_of_the_log() {
    let answer = Sandbox::new().odd(&["run", "odd", "--case", "kernel_fails", "--log", "error"]);
    assert_eq!(answer.status, 1);
    has(&answer, &["ERROR ringlane::run: a run failed", "name=\"TaskFailed\""]);
}

#[test]
fn scopes_stalls_rings_and_the_collector_are_logged_at_debug() {
    for platform in ["cpu", "a2a3sim"] {
        let sandbox = Sandbox::new();
        let stream = ["run", "stream", "--case", "short", "--param", "tasks=600", "--platform", platform];
        let small = ["--ring-task-window", "32", "--log", "debug"];
        let answer = sandbox.ringlane(&[&stream[..], &small, &["--scope-stats"]].concat());
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        has(
            &answer,
            &[
                "DEBUG ringlane::scopes: a scope ended",
                "site=crates/scenes/src/stream.rs:",
                "depth=0",
                "tasks=600",
            ],
        );
        has(&answer, &["DEBUG ringlane::stalls: the submitter waited", "resource=task_window", "waited_us="]);
        has(&answer, &["DEBUG ringlane::collector: the collector begins", "kinds=1"]);
        has(&answer, &["DEBUG ringlane::collector: the collector ends"]);
        let answer = sandbox.ringlane(&[
            "run",
            "vector",
            "--case",
            "large",
            "--platform",
            platform,
            "--log",
            "rings=debug",
        ]);
        has(
            &answer,
            &["DEBUG ringlane::rings: a ring grew", "resource=heap", "bytes=2097152", "capacity=268435456"],
        );
        assert!(logged(&answer).iter().all(|line| line.contains("ringlane::rings")), "{}", answer.stderr);
    }
}

#[test]
fn what_is_recorded_does_not_depend_on_the_log() {
    let files = |log: &str| {
        let sandbox = Sandbox::new();
        let case =
            ["run", "paged_attention", "--case", "small", "--platform", "a2a3sim", "-o", "run", "--dfx"];
        assert_eq!(sandbox.ringlane(&[&case[..], &["--log", log]].concat()).status, 0);
        let names = ["deps.json", "l2_perf_records.json", "pmu.csv", "scope_stats.json"];
        names.map(|name| fs::read(sandbox.path().join("run").join(name)).unwrap())
    };
    assert!(files("off") == files("trace"));
}

#[test]
fn a_topic_can_have_a_level_of_its_own() {
    let arguments = [&CASE[..], &["--dfx"]].concat();
    let answer = with_environment(&Sandbox::new(), "warn,collector=trace", &arguments);
    has(&answer, &["TRACE ringlane::collector: the collector polls"]);
    assert!(logged(&answer).iter().all(|line| line.contains("ringlane::collector")), "{}", answer.stderr);
}

#[test]
fn buffers_that_go_to_disk_are_logged() {
    let stream = [
        "run",
        "stream",
        "--case",
        "short",
        "--param",
        "tasks=200000",
        "--chip-swimlane=1",
        "--threads",
        "1",
    ];
    let answer = Sandbox::new().ringlane(&[&stream[..], &["--log", "collector=debug"]].concat());
    has(&answer, &["DEBUG ringlane::collector: a buffer goes to disk", "kind=\"blocks\"", "lane=0", "rows="]);
}

#[test]
fn workers_are_logged_and_what_they_log_is_said_with_their_names() {
    let sandbox = Sandbox::new();
    let case = ["run", "paged_attention", "--case", "small", "--workers", "2", "--log", "info"];
    let answer = sandbox.ringlane(&case);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    for worker in ["chip0", "chip1"] {
        let name = format!("name=\"{worker}\"");
        has(&answer, &["INFO ringlane::workers: a process started", &name, "pid="]);
        has(&answer, &["INFO ringlane::workers: a process ended", &name]);
    }
    let theirs = logged(&answer).into_iter().filter(|line| line.starts_with("chip"));
    assert!(theirs.clone().count() >= 2, "{}", answer.stderr);
    assert!(theirs.clone().all(|line| line.contains("ringlane::run: a run ")), "{}", answer.stderr);
}

#[test]
fn cases_side_by_side_log_with_their_names() {
    let answer = Sandbox::new()
        .ringlane(&["--log", "info", "run", "vector", "matmul", "--case", "small", "--jobs", "2"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    for case in ["vector small: ", "matmul small: "] {
        let ended = |line: &&&str| line.starts_with(case) && line.contains("ringlane::run: a run ended");
        assert_eq!(logged(&answer).iter().filter(ended).count(), 1, "{}", answer.stderr);
    }
    has(&answer, &["INFO ringlane::workers: a process started", "name=\"vector small\""]);
}

kernel! { static BUMP = any fn(x: &mut [u32]) { x[0] += 1; } }

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_program_with_a_subscriber_of_its_own_gets_the_events_of_its_runs() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false);
    tracing::subscriber::with_default(subscriber.finish(), || {
        let mut data = Buffers::new();
        let x = data.add(&[1], &[0u32]).unwrap();
        let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(1)).unwrap();
        let run = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            o.submit(&BUMP, [x.inout()]).map(drop)
        });
        run.result.unwrap();
        assert_eq!(data.get::<u32>(x).unwrap(), [1]);
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("ringlane::run: a run begins platform=\"cpu\" threads=1"), "{text}");
    assert!(text.contains("ringlane::run: a run ended tasks=1 blocks=1"), "{text}");
}

#[test]
fn a_bad_value_names_the_option_or_the_variable_and_what_is_allowed() {
    let sandbox = Sandbox::new();
    for value in ["loud", "disk=info", "2", "info,,warn"] {
        let option = sandbox.ringlane(&[&CASE[..], &["--log", value]].concat());
        let variable = with_environment(&sandbox, value, &CASE);
        for (answer, name, hint) in
            [(option, "--log", "--log info"), (variable, "RINGLANE_LOG", "RINGLANE_LOG=info")]
        {
            assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{}", answer.stderr);
            assert!(answer.stderr.starts_with("error: BadValue: "), "{}", answer.stderr);
            let detail = answer.line("detail: ");
            for part in [name, value, "off, error, warn, info, debug, trace", "run, scopes, stalls"] {
                assert!(detail.contains(part), "{detail} does not name {part}");
            }
            assert_eq!(answer.line("hint: "), hint);
        }
    }
    assert!(sandbox.files().is_empty());
}
