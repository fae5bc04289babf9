//! `--jobs N`: cases side by side, each in a process of its own.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::process::Child;
use std::time::Duration;

use common::processes::{children, lives, signal, within};
use common::{Answer, Sandbox, odd_scenes};
use serde_json::Value;

/// Eight small cases of three scenes.
const EIGHT: [&str; 14] = [
    "run", "vector", "matmul", "cholesky", "--case", "small", "--case", "one", "--case", "ragged", "--case",
    "deep", "--case", "one_tile",
];

/// A run's directory without the time of its start: what two commands have in common.
fn name_of(dir: &str) -> String {
    let name = dir.strip_prefix("outputs/").expect("below outputs/");
    let (name, rest) = name.split_once("_20").unwrap_or((name, ""));
    format!("{name}{}", rest.find('/').map_or("", |at| &rest[at..]))
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    let mut names: Vec<_> =
        sandbox.files().iter().filter(|path| *path != "outputs").map(|path| name_of(path)).collect();
    names.sort();
    names
}

fn runs(answer: &Answer) -> Vec<Value> {
    answer.json()["runs"].as_array().expect("runs").clone()
}

/// What must be the same however the cases are run: all but times, memory and where the time is part of a name.
fn lasting(mut run: Value) -> Value {
    for field in ["wall_us", "makespan_us", "ns_per_task", "peak_rss_bytes"] {
        run[field] = Value::Null;
    }
    run["dir"] = name_of(run["dir"].as_str().unwrap()).into();
    run
}

/// Runs cases sequentially and in parallel, with the same options, and checks that they report the same and write the same
/// files.
fn in_both_ways(arguments: &[&str], jobs: &str) -> [(Sandbox, Vec<Value>); 2] {
    let both = ["1", jobs].map(|jobs| {
        let sandbox = Sandbox::new();
        let answer = sandbox.ringlane(&[arguments, &["--json", "--jobs", jobs]].concat());
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        let runs = runs(&answer);
        (sandbox, runs)
    });
    let [(in_turn, one), (side_by_side, other)] = &both;
    let [one, other] = [one, other].map(|runs| runs.iter().cloned().map(lasting).collect::<Vec<_>>());
    assert_eq!(one, other);
    assert_eq!(names(in_turn), names(side_by_side));
    both
}

fn read(sandbox: &Sandbox, run: &Value, file: &str) -> Vec<u8> {
    let path = sandbox.path().join(run["dir"].as_str().unwrap()).join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn side_by_side_on_the_cpu_cases_compute_the_same_and_leave_the_same_files() {
    let [(in_turn, first), (side_by_side, second)] =
        in_both_ways(&[&EIGHT[..], &["--threads", "1", "--dfx"]].concat(), "4");
    assert_eq!(first.len(), 8);
    let mut clocks = BTreeSet::new();
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(one["golden"]["output_hash"], other["golden"]["output_hash"]);
        for file in ["deps.json", "tensor_dump/tensor_dump.bin"] {
            assert!(read(&in_turn, one, file) == read(&side_by_side, other, file), "{file} of {one}");
        }
        let manifest = common::checked(&side_by_side.path().join(other["dir"].as_str().unwrap()));
        clocks.insert(manifest.clock_freq_hz);
    }
    // Measured once, as in turn: else no two would be the same.
    assert_eq!(clocks.len(), 1, "{clocks:?}");
}

#[test]
fn side_by_side_on_a_simulator_every_file_is_the_same_byte_for_byte_but_for_times_of_this_machine() {
    let [(in_turn, first), (side_by_side, second)] =
        in_both_ways(&[&EIGHT[..], &["--platform", "a2a3sim", "--chaos", "3", "--dfx"]].concat(), "3");
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(one["makespan_us"], other["makespan_us"]);
        for file in common::ALL_FILES {
            assert!(read(&in_turn, one, file) == read(&side_by_side, other, file), "{file} of {one}");
        }
        let [mut one, mut other] = [read(&in_turn, one, "run.json"), read(&side_by_side, other, "run.json")]
            .map(|bytes| serde_json::from_slice::<Value>(&bytes).unwrap());
        for time in ["started_at", "wall_us", "dfx_cost"] {
            (one[time], other[time]) = (Value::Null, Value::Null);
        }
        assert_eq!(one, other);
    }
}

#[test]
fn a_run_keeps_the_program_that_was_started_for_it_also_side_by_side() {
    for jobs in ["1", "2"] {
        let sandbox = Sandbox::new();
        let arguments = ["run", "vector", "--case", "small", "--case", "one", "--json", "--jobs", jobs];
        let ringlane = env!("CARGO_BIN_EXE_ringlane").to_string();
        let own = odd_scenes().display().to_string();
        for (answer, program) in [(sandbox.ringlane(&arguments), ringlane), (sandbox.odd(&arguments), own)] {
            for run in runs(&answer) {
                let manifest: Value = serde_json::from_slice(&read(&sandbox, &run, "run.json")).unwrap();
                assert_eq!(manifest["program"], program.as_str(), "--jobs {jobs}");
            }
        }
    }
}

#[test]
fn the_summary_has_the_order_of_the_cases_whichever_ends_first() {
    let sandbox = Sandbox::new();
    // The first takes far longer than the others.
    let answer = sandbox.odd(&[
        "run", "slow", "flat", "odd", "--case", "short", "--case", "twenty", "--case", "nothing", "-j", "3",
    ]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let rows: Vec<_> = answer.stdout.lines().skip(2).map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(rows, ["slow short", "flat twenty", "odd nothing"]);
}

#[test]
fn cases_that_fail_report_the_same_errors_in_parallel() {
    let failing = ["kernel_fails", "orchestration_panics", "golden_differs", "buffers_panic", "nothing"];
    let cases: Vec<_> = failing.iter().flat_map(|case| ["--case", case]).collect();
    let [one, other] = ["1", "3"].map(|jobs| {
        let answer = Sandbox::new()
            .odd(&[&["run", "odd", "--json", "--threads", "1", "--jobs", jobs][..], &cases].concat());
        assert_eq!(answer.status, 1, "{}", answer.stderr);
        let mut said: Vec<_> =
            answer.stderr.lines().filter(|line| line.starts_with("error: ")).map(String::from).collect();
        said.sort();
        (runs(&answer).into_iter().map(lasting).collect::<Vec<_>>(), said)
    });
    assert_eq!(one, other);
    assert_eq!(one.1.len(), 4);
}

#[test]
fn a_case_that_takes_its_process_down_is_a_failed_case_and_the_others_run() {
    let sandbox = Sandbox::new();
    let cases = ["--case", "kernel_aborts", "--case", "nothing", "--case", "kernel_prints"];
    let answer = sandbox.odd(&[&["run", "odd", "--json", "--jobs", "2"][..], &cases].concat());
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let runs = runs(&answer);
    let statuses: Vec<_> = runs.iter().map(|run| run["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["failed", "ok", "ok"]);
    let (error, dir) = (&runs[0]["error"], runs[0]["dir"].as_str().unwrap());
    let detail = error["detail"].as_str().unwrap();
    assert_eq!(error["name"], "CaseDied");
    for part in [
        "odd kernel_aborts: process ",
        "signal 6 (SIGABRT)",
        "captured output: the kernel was asked to abort",
        dir,
    ] {
        assert!(detail.contains(part), "{detail}");
    }
    assert!(error["hint"].as_str().unwrap().contains("run odd --case kernel_aborts"), "{error}");
    assert!(answer.line("error: ").starts_with("CaseDied: "), "{}", answer.stderr);
    assert!(sandbox.path().join(dir).is_dir() && !sandbox.path().join(dir).join("run.json").exists());
    // What a process prints is said line by line, with its name, and never on standard output.
    assert_eq!(answer.line("odd kernel_prints: "), "a kernel printed this");
}

/// Starts sleepers side by side and waits until each has a directory.
fn start_sleepers(sandbox: &Sandbox, jobs: usize, options: &[&str]) -> Child {
    let number = jobs.to_string();
    let arguments = [&["run", "sleepers", "--json", "--jobs", &number][..], options].concat();
    let parent = sandbox.command(&odd_scenes(), &arguments).spawn().expect("the command starts");
    within("a directory for each", || {
        fs::read_dir(sandbox.path().join("outputs")).is_ok_and(|dirs| dirs.count() == jobs)
    });
    // The child creates the directory just before tasks run, and reports it to the parent.
    std::thread::sleep(Duration::from_millis(100));
    parent
}

#[test]
fn a_case_that_is_killed_is_a_failed_case_and_the_others_run() {
    let sandbox = Sandbox::new();
    let parent = start_sleepers(&sandbox, 2, &["--case", "one", "--case", "two", "--param", "tasks=150"]);
    let processes = children(parent.id());
    assert_eq!(processes.len(), 2);
    signal(processes[0], "KILL");
    let answer = Answer::of(parent.wait_with_output().unwrap());
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let mut statuses: Vec<_> =
        runs(&answer).iter().map(|run| run["status"].as_str().unwrap().to_string()).collect();
    statuses.sort();
    assert_eq!(statuses, ["failed", "ok"]);
    assert!(answer.line("detail: ").contains("signal 9 (SIGKILL)"), "{}", answer.stderr);
    assert!(answer.line("hint: ").contains("--jobs"), "{}", answer.stderr);
}

#[test]
fn ctrl_c_reaches_every_case_which_writes_what_it_has() {
    let sandbox = Sandbox::new();
    let parent = start_sleepers(&sandbox, 3, &["--param", "tasks=100000", "--dep-gen"]);
    let processes = children(parent.id());
    assert_eq!(processes.len(), 3);
    signal(parent.id(), "INT");
    let answer = Answer::of(parent.wait_with_output().unwrap());
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    assert!(processes.iter().all(|&pid| !lives(pid)), "an orphan");
    let runs = runs(&answer);
    // The fourth was not started any more.
    assert_eq!(runs.len(), 3);
    for run in &runs {
        let manifest = common::checked(&sandbox.path().join(run["dir"].as_str().unwrap()));
        assert_eq!((manifest.status.as_str(), &run["status"]), ("interrupted", &"interrupted".into()));
        assert_eq!(common::listed(&manifest), ["deps.json"]);
    }
    assert_eq!(answer.stderr.matches("interrupted: the cases end").count(), 1, "{}", answer.stderr);
}

#[test]
fn after_ctrl_c_a_case_that_stays_in_its_task_is_killed() {
    let sandbox = Sandbox::new();
    let parent = start_sleepers(&sandbox, 2, &["--param", "tasks=1", "--param", "ms=100000"]);
    signal(parent.id(), "INT");
    let answer = Answer::of(parent.wait_with_output().unwrap());
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    for run in runs(&answer) {
        assert_eq!((&run["status"], &run["error"]["name"]), (&"interrupted".into(), &"Interrupted".into()));
        assert!(!sandbox.path().join(run["dir"].as_str().unwrap()).join("run.json").exists());
    }
}

#[test]
fn a_second_ctrl_c_ends_the_command_and_its_processes_at_once() {
    let sandbox = Sandbox::new();
    let parent = start_sleepers(&sandbox, 2, &["--param", "tasks=1", "--param", "ms=100000"]);
    let processes = children(parent.id());
    signal(parent.id(), "INT");
    std::thread::sleep(Duration::from_millis(200));
    signal(parent.id(), "INT");
    let answer = Answer::of(parent.wait_with_output().unwrap());
    assert_eq!((answer.status, answer.stdout.as_str()), (130, ""), "{}", answer.stderr);
    within("the end of all", || processes.iter().all(|&pid| !lives(pid)));
}

#[test]
fn a_command_that_is_killed_leaves_no_process() {
    let sandbox = Sandbox::new();
    let parent = start_sleepers(&sandbox, 3, &["--param", "tasks=100000"]);
    let processes = children(parent.id());
    assert_eq!(processes.len(), 3);
    signal(parent.id(), "KILL");
    parent.wait_with_output().unwrap();
    within("the end of all", || processes.iter().all(|&pid| !lives(pid)));
}

#[test]
fn sigusr1_asks_every_case() {
    let sandbox = Sandbox::new();
    let parent = start_sleepers(&sandbox, 2, &["--case", "one", "--case", "two", "--param", "tasks=150"]);
    signal(parent.id(), "USR1");
    let answer = Answer::of(parent.wait_with_output().unwrap());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    for case in ["one", "two"] {
        let said = answer
            .stderr
            .lines()
            .any(|line| line.starts_with(&format!("sleepers {case}: ")) && line.ends_with("tasks submitted"));
        assert!(said, "{}", answer.stderr);
    }
}

#[test]
fn rounds_pages_and_costs_come_of_cases_side_by_side_too() {
    let sandbox = Sandbox::new();
    let options = ["--rounds", "3", "--chip-swimlane=1", "--report", "--costs-out", "costs.json", "-j", "2"];
    let answer = sandbox.ringlane(&[&["run", "vector", "matmul", "--case", "small"][..], &options].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.stdout.lines().next().unwrap().contains("median"), "{}", answer.stdout);
    assert_eq!(answer.stderr.lines().filter(|line| line.starts_with("report: outputs/")).count(), 2);
    assert_eq!(sandbox.files().iter().filter(|name| name.ends_with("/report.html")).count(), 2);
    let costs = fs::read_to_string(sandbox.path().join("costs.json")).unwrap();
    assert!(costs.contains("MATMUL") && costs.contains("VECTOR_ADD"), "{costs}");
}

#[test]
fn one_case_may_have_a_directory_by_name_and_several_may_not() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small", "-o", "here", "--jobs", "4"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert_eq!(sandbox.files(), ["here", "here/run.json"]);
    let answer =
        Sandbox::new().ringlane(&["run", "vector", "matmul", "--case", "small", "-o", "here", "-j2"]);
    assert_eq!(answer.status, 2);
    assert!(answer.line("error: ").starts_with("OneDirectory: "), "{}", answer.stderr);
    assert!(answer.line("hint: ").contains("vector --case small"), "{}", answer.stderr);
}

#[test]
fn what_refuses_a_case_in_turn_refuses_it_side_by_side() {
    let refused = ["1", "2"].map(|jobs| {
        let sandbox = Sandbox::new();
        fs::write(sandbox.path().join("outputs"), "a file").unwrap();
        let answer = sandbox.ringlane(&["run", "vector", "--jobs", jobs]);
        assert_eq!(answer.stdout, "");
        let mut lines: Vec<_> = answer.stderr.lines().map(String::from).collect();
        lines.dedup();
        (answer.status, lines)
    });
    assert_eq!(refused[0], refused[1]);
    assert_eq!(refused[0].0, 2, "{refused:?}");
}

#[test]
fn a_number_of_jobs_that_is_none_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    for (value, hint) in [("0", "1"), ("-1", "1"), ("x", "1"), ("2000", "256"), ("1.5", "1"), ("", "1")] {
        let answer = sandbox.ringlane(&["run", "vector", "--jobs", value]);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{value}");
        assert!(answer.line("error: ").starts_with("BadValue: "), "{}", answer.stderr);
        let detail = answer.line("detail: ");
        assert!(detail.contains("--jobs") && detail.contains("from 1 to 256"), "{detail}");
        assert_eq!(answer.line("hint: "), format!("--jobs {hint}"));
    }
    // What only a parent gives, given by hand.
    for (value, name) in [("x", "BadUsage"), ("1", "NoMailbox"), ("99", "NoMailbox")] {
        let answer = sandbox.ringlane(&["worker", "--job-fd", value]);
        assert_eq!(answer.status, 2);
        assert!(answer.line("error: ").starts_with(name), "{}", answer.stderr);
    }
    assert!(sandbox.files().is_empty());
}

#[test]
fn the_cores_are_shared_among_the_cases_unless_threads_are_asked_for() {
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    for (options, threads) in [
        (&["--jobs", "1"][..], cores),
        (&["--jobs", "2"], (cores / 2).max(1)),
        // Two cases are never more than two at once.
        (&["--jobs", "200"], (cores / 2).max(1)),
        (&["--jobs", "2", "--threads", "3"], 3),
    ] {
        let answer = Sandbox::new()
            .ringlane(&[&["run", "vector", "matmul", "--case", "small", "--json"], options].concat());
        for run in runs(&answer) {
            assert_eq!(run["threads"], threads, "{options:?}");
        }
    }
}

#[test]
fn help_shows_how() {
    let help = Sandbox::new().ringlane(&["run", "--help"]).stdout;
    for part in ["-j, --jobs <N>", "--jobs 4 --dfx", "run all --case small", "<SCENE>..."] {
        assert!(help.contains(part), "{part} is not in:\n{help}");
    }
}
