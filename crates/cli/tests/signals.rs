//! Signals: SIGTERM and SIGHUP end a run as Ctrl-C does, commands that read and write files end at once and leave nothing
//! half written, and a kernel that ends its process is named.

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use common::processes::{children, descendants, lives, signal, within};
use common::{ALL_FILES, Answer, Sandbox, checked, listed, odd_scenes};
use ringlane_trace::{RunStatus, check_run};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Whether the tests themselves ignore SIGHUP, under `nohup`: then the commands they start do so too.
fn ignores_hang_ups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 != 0
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Starts the command with scenes that misbehave, and waits until a file is there.
fn start(sandbox: &Sandbox, arguments: &[&str], until: &str) -> Child {
    let child = sandbox.command(&odd_scenes(), arguments).spawn().expect("the command starts");
    within(until, || sandbox.path().join(until).exists());
    child
}

#[track_caller]
fn no_temporary_files(sandbox: &Sandbox) {
    let files = sandbox.files();
    assert!(files.iter().all(|file| !file.ends_with(".tmp")), "{files:?}");
}

const STOPS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

#[test]
fn every_stop_signal_ends_a_run_at_its_next_task_and_what_was_recorded_is_written() {
    for (name, status) in STOPS {
        if name == "HUP" && ignores_hang_ups() {
            continue;
        }
        let sandbox = Sandbox::new();
        let run = ["run", "slow", "-o", "run", "--dfx", "--param", "tasks=1000"];
        let child = start(&sandbox, &run, "run/tensor_dump");
        std::thread::sleep(Duration::from_millis(150));
        signal(child.id(), name);
        let answer = Answer::of(child.wait_with_output().unwrap());
        assert_eq!(answer.status, status, "{name}: {}", answer.stderr);
        let manifest = checked(&sandbox.path().join("run"));
        assert_eq!(
            (manifest.status, listed(&manifest)),
            (RunStatus::Interrupted, ALL_FILES.to_vec()),
            "{name}"
        );
        assert!(manifest.blocks > 0, "{name}");
        no_temporary_files(&sandbox);
    }
}

#[test]
fn sigterm_reaches_every_case_of_a_command_that_runs_them_side_by_side() {
    let sandbox = Sandbox::new();
    let run = ["run", "sleepers", "--jobs", "2", "--param", "tasks=100000", "--dep-gen", "--json"];
    let parent = start(&sandbox, &run, "outputs");
    let runs =
        |sandbox: &Sandbox| sandbox.files().into_iter().filter(|file| file.matches('/').count() == 1).count();
    within("two cases", || runs(&sandbox) == 2 && children(parent.id()).len() == 2);
    std::thread::sleep(Duration::from_millis(300));
    signal(parent.id(), "TERM");
    let answer = Answer::of(parent.wait_with_output().unwrap());
    assert_eq!(answer.status, 143, "{}", answer.stderr);
    let runs = answer.json()["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let manifest = checked(&sandbox.path().join(run["dir"].as_str().unwrap()));
        assert_eq!(manifest.status, RunStatus::Interrupted);
    }
}

#[test]
fn rounds_that_a_signal_ends_are_interrupted_wherever_it_arrives_and_the_command_says_how_many_were_done() {
    let ringlane = Path::new(env!("CARGO_BIN_EXE_ringlane"));
    for (name, status, workers) in
        [("TERM", 143, &[][..]), ("INT", 130, &[]), ("TERM", 143, &["--workers", "2"])]
    {
        let sandbox = Sandbox::new();
        let run = ["run", "vector", "--case", "large", "--rounds", "100000", "--json", "-o", "run"];
        let child = sandbox.command(ringlane, &[&run, workers].concat()).spawn().unwrap();
        within("the run", || sandbox.path().join("run").exists());
        std::thread::sleep(Duration::from_millis(700));
        signal(child.id(), name);
        let answer = Answer::of(child.wait_with_output().unwrap());
        assert_eq!(answer.status, status, "{name}: {}", answer.stderr);
        let json = answer.json();
        assert_eq!(
            (&json["ok"], &json["runs"][0]["status"]),
            (&false.into(), &"interrupted".into()),
            "{json}"
        );
        let manifest = checked(&sandbox.path().join("run"));
        assert_eq!(manifest.status, RunStatus::Interrupted, "{name}");
        assert!(manifest.error.unwrap().detail.contains(" of 100000 rounds were done"), "{}", answer.stderr);
        assert!(answer.line("error: ").starts_with("Interrupted"), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains(" of 100000 rounds were done"), "{}", answer.stderr);
    }
}

#[test]
fn sigterm_ends_a_run_over_workers_and_its_processes() {
    let sandbox = Sandbox::new();
    let run = [
        "run",
        "matmul",
        "--case",
        "large",
        "--workers",
        "2",
        "--dep-gen",
        "--rounds",
        "100000",
        "-o",
        "out",
    ];
    let run = sandbox.command(Path::new(env!("CARGO_BIN_EXE_ringlane")), &run).spawn().unwrap();
    within("two chips and a function", || descendants(run.id()).len() == 3);
    std::thread::sleep(Duration::from_millis(500));
    let workers = descendants(run.id());
    signal(run.id(), "TERM");
    let answer = Answer::of(run.wait_with_output().unwrap());
    assert_eq!(answer.status, 143, "{}", answer.stderr);
    assert!(sandbox.path().join("out/run.json").exists(), "{}", answer.stderr);
    within("the end of all workers", || !workers.iter().any(|&pid| lives(pid)));
}

#[test]
fn a_command_that_ignores_hang_ups_goes_on_when_its_terminal_is_closed() {
    let sandbox = Sandbox::new();
    let script =
        format!("trap '' HUP; exec '{}' run slow -o run --dep-gen --param tasks=50", odd_scenes().display());
    let child = sandbox.command(Path::new("sh"), &["-c", &script]).spawn().unwrap();
    within("the run", || sandbox.path().join("run").exists());
    std::thread::sleep(Duration::from_millis(100));
    signal(child.id(), "HUP");
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert_eq!(checked(&sandbox.path().join("run")).status, RunStatus::Ok);
}

#[test]
fn a_second_signal_ends_a_recorded_run_at_once_names_what_is_not_written_and_leaves_no_temporary_file() {
    let sandbox = Sandbox::new();
    let run = [
        "run",
        "slow",
        "-o",
        "run",
        "--dfx",
        "--costs-out",
        "f.json",
        "--param",
        "tasks=1",
        "--param",
        "ms=60000",
    ];
    let child = start(&sandbox, &run, "run/tensor_dump");
    std::thread::sleep(Duration::from_millis(150));
    signal(child.id(), "INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(child.id(), "TERM");
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 143, "{}", answer.stderr);
    for file in ["run/run.json", "run/deps.json", "f.json"] {
        assert!(answer.stderr.contains(&format!("{file} was not written\n")), "{file}: {}", answer.stderr);
    }
    no_temporary_files(&sandbox);
    assert!(!sandbox.path().join("run/run.json").exists());
}

#[test]
fn a_signal_while_the_files_of_a_run_are_written_ends_that_and_run_json_says_what_is_missing() {
    let ringlane = Path::new(env!("CARGO_BIN_EXE_ringlane"));
    // More and more tasks, until the files take longer to write than the signal takes to come.
    for tasks in [20_000, 80_000, 320_000, 1_280_000] {
        let sandbox = Sandbox::new();
        let tasks = format!("tasks={tasks}");
        let run = ["run", "stream", "--case", "short", "--param", &tasks, "--dfx", "-o", "run"];
        let child = sandbox.command(ringlane, &run).spawn().unwrap();
        // The captured bytes get their name first, when the run is over.
        within("the export", || sandbox.path().join("run/tensor_dump/tensor_dump.bin").exists());
        signal(child.id(), "INT");
        let answer = Answer::of(child.wait_with_output().unwrap());
        if answer.status == 0 {
            continue;
        }
        assert_eq!(answer.status, 130, "{}", answer.stderr);
        no_temporary_files(&sandbox);
        let dir = sandbox.path().join("run");
        let manifest = checked(&dir);
        let unwritten: Vec<_> = manifest.files.iter().filter(|file| file.incomplete.is_some()).collect();
        if unwritten.is_empty() {
            continue;
        }
        assert_eq!((manifest.status, manifest.golden.is_none()), (RunStatus::Interrupted, true));
        for file in unwritten {
            assert_eq!(
                (file.incomplete.as_deref(), file.collected),
                (Some("interrupted"), Some(0)),
                "{file:?}"
            );
            assert!(answer.stderr.contains(&file.path), "{}: {}", file.path, answer.stderr);
        }
        assert!(!check_run(&dir).unwrap().incomplete.is_empty());
        return;
    }
    panic!("the signal was never in time");
}

#[test]
fn a_signal_ends_commands_that_wait_for_the_reader_of_what_they_write() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "--dfx", "-o", "run"]).status, 0);
    fifo(&sandbox.path().join("pipe"));
    for command in ["report", "swimlane", "deps", "mermaid"] {
        for (name, status) in [("INT", 130), ("TERM", 143)] {
            let arguments = [command, "run", "-o", "pipe"];
            let child =
                sandbox.command(Path::new(env!("CARGO_BIN_EXE_ringlane")), &arguments).spawn().unwrap();
            // Signals are caught before anything else is done; what is opened then waits for a reader.
            let is_caught = || {
                let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
                let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
                u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << 14) != 0
            };
            within("a handler", is_caught);
            signal(child.id(), name);
            let answer = Answer::of(child.wait_with_output().unwrap());
            assert_eq!(answer.status, status, "{command} {name}: {}", answer.stderr);
            no_temporary_files(&sandbox);
        }
    }
}

#[test]
fn a_signal_while_a_page_is_made_leaves_no_part_of_it() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "--dfx", "-o", "run"]).status, 0);
    // What the page is made of comes from a pipe into which nobody writes.
    let table = sandbox.path().join("run/l2_perf_records.json");
    let entry = |bytes| format!("\"path\":\"l2_perf_records.json\",\"bytes\":{bytes},");
    let manifest = fs::read_to_string(sandbox.path().join("run/run.json")).unwrap();
    let as_long = entry(fs::metadata(&table).unwrap().len());
    assert!(manifest.contains(&as_long), "{manifest}");
    fs::write(sandbox.path().join("run/run.json"), manifest.replace(&as_long, &entry(0))).unwrap();
    fs::remove_file(&table).unwrap();
    fifo(&table);
    let child =
        sandbox.command(Path::new(env!("CARGO_BIN_EXE_ringlane")), &["report", "run"]).spawn().unwrap();
    let is_begun = || sandbox.files().iter().any(|file| file.starts_with("run/.report.html"));
    within("a page that is begun", is_begun);
    signal(child.id(), "INT");
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    assert!(answer.stderr.contains("interrupted: run/report.html was not written\n"), "{}", answer.stderr);
    no_temporary_files(&sandbox);
    assert!(!sandbox.path().join("run/report.html").exists());
}

#[test]
fn a_kernel_that_ends_its_process_is_named_with_its_task_and_the_run_directory() {
    for platform in ["cpu", "a2a3sim", "a5sim"] {
        for (way, name, ends) in [
            ("kernel_faults", "SIGSEGV", 11),
            // Rust's own handler names the thread and aborts.
            ("kernel_overflows", "SIGSEGV", 6),
            ("kernel_aborts", "SIGABRT", 6),
        ] {
            let sandbox = Sandbox::new();
            let way = format!("way={way}");
            let run = ["run", "odd", "--case", "nothing", "--param", &way, "-p", platform, "-o", "some/run"];
            let output = sandbox.command(&odd_scenes(), &run).output().unwrap();
            assert_eq!(output.status.signal(), Some(ends), "{platform} {way}");
            let stderr = String::from_utf8(output.stderr).unwrap();
            let lines: Vec<_> = stderr.lines().filter(|line| line.starts_with("crash: ")).collect();
            let [line] = lines[..] else { panic!("{platform} {way}: {stderr}") };
            let begin = format!("crash: {name} in kernel ODD of task 1:0 on core ");
            assert!(line.starts_with(&begin), "{line}");
            assert!(line.ends_with("; run directory some/run, without run.json"), "{line}");
        }
    }
}

#[test]
fn a_crash_is_named_by_the_thread_it_is_on_also_where_others_run_tasks() {
    let sandbox = Sandbox::new();
    let run = [
        "run",
        "odd",
        "--case",
        "nothing",
        "--param",
        "way=kernel_faults",
        "--threads",
        "4",
        "--dfx",
        "-o",
        "run",
    ];
    let output = sandbox.command(&odd_scenes(), &run).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.signal(), Some(11), "{stderr}");
    assert!(stderr.contains("crash: SIGSEGV in kernel ODD of task 1:0 on core "), "{stderr}");
}
