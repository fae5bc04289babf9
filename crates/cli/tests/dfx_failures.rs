//! Recorded runs that do not end well: what was recorded is written all the same, and is true as far as it goes.

mod common;

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use common::{ALL_FILES, Answer, Sandbox, checked, listed, odd_scenes};
use ringlane_task::{Resource, RingIndex, ScopeId};
use ringlane_trace::deps::Deps;
use ringlane_trace::dump::Dump;
use ringlane_trace::scopes::{ScopeRow, Scopes};
use ringlane_trace::swimlane::Swimlane;
use ringlane_trace::{Manifest, RunStatus};

/// Runs a case that fails with all instruments on; all files are there, and true.
#[track_caller]
fn fails(arguments: &[&str], status: RunStatus, error: &str) -> (Sandbox, Manifest) {
    let sandbox = Sandbox::new();
    let answer = sandbox.odd(&[&["run", "-o", "run", "--dfx", "--threads", "2"], arguments].concat());
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    assert!(answer.line("error: ").starts_with(&format!("{error}: ")), "{}", answer.stderr);
    let manifest = checked(&sandbox.path().join("run"));
    assert_eq!(listed(&manifest), ALL_FILES);
    assert_eq!((manifest.status, manifest.error.as_ref().unwrap().name.as_str()), (status, error));
    (sandbox, manifest)
}

fn scopes(sandbox: &Sandbox) -> Scopes {
    Scopes::read(sandbox.path().join("run/scope_stats.json")).unwrap()
}

#[test]
fn a_kernel_that_fails_leaves_the_files_of_what_ran() {
    for case in ["kernel_fails", "kernel_panics"] {
        let (sandbox, manifest) = fails(&["odd", "--case", case], RunStatus::Failed, "TaskFailed");
        assert_eq!((manifest.tasks, manifest.blocks, manifest.skipped), (3, 1, 2));
        let swimlane = Swimlane::read(sandbox.path().join("run/l2_perf_records.json")).unwrap();
        assert_eq!((swimlane.blocks.len(), swimlane.tasks.len()), (1, 3));
        let deps = Deps::read(sandbox.path().join("run/deps.json")).unwrap();
        assert_eq!((deps.tasks.len(), deps.edges.len()), (3, 2));
        assert_eq!((scopes(&sandbox).scopes.len(), &scopes(&sandbox).head.fatal), (2, &None));
        // Of a failed task what it read is known; of a skipped one, nothing.
        let dump = Dump::read(sandbox.path().join("run/tensor_dump/tensor_dump.json")).unwrap();
        assert!(dump.records.iter().all(|record| record.task_id == dump.tasks[0].task_id), "{dump:?}");
    }
}

#[test]
fn an_orchestration_that_fails_or_panics_leaves_the_files_of_what_ran() {
    let failed = fails(&["odd", "--case", "orchestration_fails"], RunStatus::Failed, "UserError").1;
    assert_eq!((failed.tasks, failed.blocks, failed.scopes), (3, 3, 2));
    let panicked = fails(&["odd", "--case", "orchestration_panics"], RunStatus::Fatal, "ProgramPanicked");
    let (sandbox, manifest) = panicked;
    assert_eq!((manifest.tasks, manifest.scopes, manifest.cores), (3, 2, 2));
    assert!(manifest.makespan_ticks > 0);
    assert_eq!(scopes(&sandbox).scopes.len(), 2);
}

#[test]
fn a_golden_that_differs_or_panics_harms_no_file() {
    for (case, error) in [("golden_differs", "GoldenMismatch"), ("golden_panics", "ProgramPanicked")] {
        let manifest = fails(&["odd", "--case", case], RunStatus::Failed, error).1;
        assert_eq!((manifest.tasks, manifest.blocks), (3, 3));
    }
}

#[test]
fn a_deadlock_reports_which_scope_on_which_ring_exhausted_which_resource() {
    let flat = ["flat", "--case", "twenty", "--ring-task-window", "16"];
    let (sandbox, manifest) = fails(&flat, RunStatus::Fatal, "FlowControlDeadlock");
    let Scopes { head, scopes } = scopes(&sandbox);
    let fatal = head.fatal.unwrap();
    assert_eq!(
        (fatal.scope, fatal.ring, fatal.resource),
        (ScopeId(1), Some(RingIndex(1)), Resource::TaskWindow)
    );
    assert_eq!((fatal.used, fatal.capacity, fatal.need), (16, 16, 20));
    let open: Vec<_> = scopes.iter().map(|scope| (scope.scope, scope.depth, scope.exit)).collect();
    assert_eq!(open, [(ScopeId(1), 1, None), (ScopeId(0), 0, None)]);
    let inner: &ScopeRow<'_> = &scopes[0];
    assert_eq!((&inner.site, inner.task_window[1].peak, inner.tasks), (&fatal.site, 16, 16));
    assert!(fatal.site.contains("odd_scenes.rs:"), "{}", fatal.site);
    assert!(manifest.error.unwrap().detail.contains(&*fatal.site));
    let text = std::fs::read_to_string(sandbox.path().join("run/scope_stats.json")).unwrap();
    assert_eq!(text.matches("\"open\":true").count(), 2, "{text}");
}

#[test]
fn the_need_of_a_fatal_scope_is_the_capacity_that_suffices() {
    for tasks in ["17", "33", "100"] {
        let param = format!("tasks={tasks}");
        let flat = ["flat", "--case", "twenty", "--param", &param];
        let (sandbox, _) = fails(
            &[&flat[..], &["--ring-task-window", "16"]].concat(),
            RunStatus::Fatal,
            "FlowControlDeadlock",
        );
        let need = scopes(&sandbox).head.fatal.unwrap().need;
        assert_eq!(need.to_string(), tasks);
        let window = need.next_power_of_two().to_string();
        let again = [&["run", "-o", "again", "--dfx", "--ring-task-window", &window], &flat[..]].concat();
        assert_eq!(sandbox.odd(&again).status, 0);
        checked(&sandbox.path().join("again"));
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill exists").success());
}

/// Starts the slow scene and waits until some of its tasks have run.
fn start_slow(sandbox: &Sandbox, dir: &Path, options: &[&str]) -> Child {
    let arguments = [&["run", "slow", "-o", "run", "--dfx", "--param", "tasks=1000"][..], options].concat();
    let child = sandbox.command(&odd_scenes(), &arguments).spawn().expect("the command starts");
    let start = Instant::now();
    // The first file of a recording is made right before the run begins.
    while !dir.join("tensor_dump").exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "the run does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(150));
    child
}

#[test]
fn ctrl_c_in_the_middle_of_a_recorded_run_leaves_the_files_of_what_ran() {
    for threads in ["1", "3"] {
        let sandbox = Sandbox::new();
        let dir = sandbox.path().join("run");
        let child = start_slow(&sandbox, &dir, &["--threads", threads]);
        interrupt(&child);
        let answer = Answer::of(child.wait_with_output().unwrap());
        assert_eq!(answer.status, 130, "{}", answer.stderr);
        let manifest = checked(&dir);
        assert_eq!((manifest.status, listed(&manifest)), (RunStatus::Interrupted, ALL_FILES.to_vec()));
        let ran = manifest.blocks;
        assert!(ran > 0 && ran < manifest.tasks, "{ran} of {}", manifest.tasks);
        let swimlane = Swimlane::read(dir.join("l2_perf_records.json")).unwrap();
        assert_eq!(swimlane.blocks.len() as u64, ran);
        let deps = Deps::read(dir.join("deps.json")).unwrap();
        assert_eq!(deps.tasks.len() as u64, manifest.tasks);
    }
}

#[test]
fn ctrl_c_while_all_rounds_are_observed_leaves_each_round_true() {
    let sandbox = Sandbox::new();
    let rounds = ["--param", "ms=1", "--param", "tasks=20", "--rounds", "100000", "--dfx-rounds", "all"];
    let child = start_slow(&sandbox, &sandbox.path().join("run/round_2"), &rounds);
    interrupt(&child);
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    checked(&sandbox.path().join("run"));
    let rounds = std::fs::read_dir(sandbox.path().join("run")).unwrap().map(|entry| entry.unwrap().path());
    let rounds: Vec<_> = rounds.filter(|path| path.is_dir()).collect();
    assert!(rounds.len() >= 2);
    for round in rounds {
        checked(&round);
    }
}
