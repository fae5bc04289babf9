//! `ringlane replay`: recorded and imported graphs on every chip.

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::processes::{signal, within};
use common::{Answer, Sandbox, checked, listed};
use ringlane_trace::RunStatus;
use ringlane_trace::deps::Deps;
use ringlane_trace::swimlane::Swimlane;
use serde_json::Value;

const CHIPS: [&str; 3] = ["a2a3sim", "a5sim", "cpu"];

#[track_caller]
fn well(answer: Answer) -> Answer {
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer
}

/// A sandbox with tables of tasks and edges, imported as `graph`.
fn imported(tasks: &str, edges: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("tables")).unwrap();
    fs::write(sandbox.path().join("tables/tasks.csv"), tasks).unwrap();
    fs::write(sandbox.path().join("tables/edges.csv"), edges).unwrap();
    well(sandbox.ringlane(&["import", "tables", "-o", "graph"]));
    sandbox
}

/// What a program is, without the places in its source: tasks, and why they wait.
fn program_of(sandbox: &Sandbox, run: &str) -> Deps {
    let mut deps = Deps::read(sandbox.path().join(run)).unwrap();
    deps.tasks.iter_mut().for_each(|task| task.site = "".into());
    let steps =
        deps.tasks.iter_mut().filter_map(|task| task.before.as_mut()).flat_map(|steps| steps.to_mut());
    steps.chain(&mut deps.last_steps).for_each(|step| step.site = None);
    deps
}

#[test]
fn an_imported_graph_runs_on_every_chip_with_its_kernels_labels_and_edges() {
    let tasks = "id,name,kind,duration_us\na,\"quote \"\" and\nline\",load,3\nb,b,blur,0\nc,c,blur,40\n";
    let sandbox = imported(tasks, "pred,succ\na,b\na,c\nb,c\n");
    for chip in CHIPS {
        let out = format!("on_{chip}");
        let threads: &[&str] = if chip == "cpu" { &["--threads", "2"] } else { &[] };
        let replay = [&["replay", "graph", "-p", chip, "-o", &out, "--json"], threads].concat();
        let answer = well(sandbox.ringlane(&replay));
        let replayed = &answer.json()["replayed"];
        assert_eq!((&replayed["recorded_us"], &replayed["work_us"]), (&Value::Null, &43.0.into()));
        let dir = sandbox.path().join(&out);
        let manifest = checked(&dir);
        assert_eq!(listed(&manifest), ["deps.json", "l2_perf_records.json", "scope_stats.json"]);
        assert_eq!((manifest.tasks, &*manifest.platform, manifest.status), (3, chip, RunStatus::Ok));
        assert_eq!((&*manifest.scene, &*manifest.params["replayed"]), ("tables", "graph"));
        let deps = Deps::read(&dir).unwrap();
        let pairs: Vec<_> = deps.edges.iter().map(|edge| (edge.pred.0, edge.succ.0)).collect();
        assert_eq!(pairs, [(0, 1), (0, 2), (1, 2)]);
        let labels: Vec<_> = deps.tasks.iter().map(|task| task.label.as_deref()).collect();
        assert_eq!(labels, [Some("quote \" and\nline"), Some("b"), Some("c")]);
        let lanes = Swimlane::read(&dir).unwrap();
        let longest = lanes.blocks.iter().map(|block| block.duration().0).max().unwrap();
        let least = 40 * manifest.clock_freq_hz / 1_000_000;
        assert!(longest + 1 >= least, "{chip}: {longest} ticks of at least {least}");
        let makespan = manifest.makespan_ticks as f64 / manifest.clock_freq_hz as f64 * 1e6;
        assert!(makespan >= 43.0, "{chip}: {makespan}");
    }
    assert!(well(sandbox.ringlane(&["what-if", "on_a5sim"])).stdout.contains("(error 0.0 %)"));
}

#[test]
fn a_recorded_program_is_submitted_as_it_was_on_any_chip_and_by_either_runtime() {
    let sandbox = Sandbox::new();
    let run =
        ["run", "paged_attention", "--case", "small", "--dep-gen", "--chip-swimlane=1", "-o", "recorded"];
    well(sandbox.ringlane(&[&run[..], &["-p", "a2a3sim", "--runtime", "host_build_graph"]].concat()));
    let recorded = program_of(&sandbox, "recorded");
    for (chip, runtime) in [
        ("a2a3sim", "tensormap_and_ringbuffer"),
        ("a5sim", "host_build_graph"),
        ("cpu", "tensormap_and_ringbuffer"),
        ("cpu", "host_build_graph"),
    ] {
        let out = format!("{chip}_{runtime}");
        let replay = ["replay", "recorded", "-p", chip, "--runtime", runtime, "-o", &out];
        let answer = well(sandbox.ringlane(&replay));
        assert!(answer.stdout.contains("when it was recorded on a2a3sim"), "{}", answer.stdout);
        let manifest = checked(&sandbox.path().join(&out));
        assert_eq!((&*manifest.runtime, &manifest.golden), (runtime, &None));
        let mut replayed = program_of(&sandbox, &out);
        // A time of the chip's own counter.
        for steps in replayed.tasks.iter_mut().filter_map(|task| task.before.as_mut()) {
            steps.to_mut().iter_mut().for_each(|step| step.ticks = None);
        }
        assert!(replayed == recorded, "{out}");
    }
}

#[test]
fn a_replay_on_the_chip_of_the_recording_takes_as_long_and_can_be_replayed_and_changed() {
    let sandbox = Sandbox::new();
    let chips = well(sandbox.ringlane(&["chips", "show", "a5sim"])).stdout;
    fs::write(sandbox.path().join("mine.toml"), chips.replace("clusters = 36", "clusters = 5")).unwrap();
    let run = [
        "run",
        "cholesky",
        "--case",
        "small",
        "-p",
        "a5sim",
        "--chip",
        "mine.toml",
        "--policy",
        "critical-path",
    ];
    let record = ["--chip-swimlane=3", "--dep-gen", "--scope-stats", "-o", "recorded"];
    well(sandbox.ringlane(&[&run[..], &record].concat()));
    well(sandbox.ringlane(&["replay", "recorded", "--policy", "critical-path", "-o", "again"]));
    well(sandbox.ringlane(&[
        "replay",
        "again",
        "-p",
        "mine.toml",
        "--policy",
        "critical-path",
        "-o",
        "twice",
    ]));
    let [recorded, again, twice] =
        ["recorded", "again", "twice"].map(|run| checked(&sandbox.path().join(run)));
    assert_eq!(
        (again.makespan_ticks, twice.makespan_ticks),
        (recorded.makespan_ticks, recorded.makespan_ticks)
    );
    assert_eq!(twice.cores, 15);
    let longer = [
        "replay",
        "recorded",
        "--scale",
        "1s=10s",
        "--policy",
        "critical-path",
        "--rounds",
        "2",
        "-o",
        "longer",
    ];
    well(sandbox.ringlane(&longer));
    let longer = checked(&sandbox.path().join("longer"));
    assert!(longer.makespan_ticks > recorded.makespan_ticks && longer.params["scale"] == "1s=10s");
}

#[test]
fn a_task_with_more_predecessors_than_a_submit_may_name_follows_joins() {
    let leaves = 2_500;
    let tasks: String = (0..=leaves).map(|task| format!("{task},join,1\n")).collect();
    let edges: String = (0..leaves).map(|task| format!("{task},{leaves}\n")).collect();
    let sandbox = imported(&format!("id,kind,duration_us\n{tasks}"), &format!("pred,succ\n{edges}"));
    let answer = well(sandbox.ringlane(&["replay", "graph", "-o", "out", "--json"]));
    assert_eq!(answer.json()["replayed"]["joins"], 3);
    let manifest = checked(&sandbox.path().join("out"));
    assert_eq!((manifest.tasks, &*manifest.params["joins"]), (leaves + 4, "3"));
    let deps = Deps::read(sandbox.path().join("out")).unwrap();
    assert_eq!(deps.edges.len() as u64, leaves + 3);
    let kernels: Vec<_> =
        deps.tasks.iter().rev().take(2).map(|task| task.kernels[0].kernel.name.clone()).collect();
    assert_eq!(kernels, ["join", "join_2"]);
}

#[test]
fn a_replay_that_would_take_too_long_is_refused_with_a_scale_that_helps() {
    let sandbox = imported("id,duration_s\na,3700\nb,3700\n", "pred,succ\na,b\n");
    for (chip, what) in
        [("cpu", "on 1 threads it takes at least 7400.00 s"), ("a2a3sim", "a block takes 3700.00 s")]
    {
        let threads: &[&str] = if chip == "cpu" { &["--threads", "1"] } else { &[] };
        let replay = [&["replay", "graph", "-p", chip], threads].concat();
        let answer = sandbox.ringlane(&replay);
        assert_eq!((answer.status, &answer.line("error: ")[..13]), (2, "ReplayTooLong"));
        assert!(answer.line("detail: ").contains(what), "{}", answer.stderr);
        assert!(answer.line("hint: ").ends_with("--scale 1s=1ms"), "{}", answer.stderr);
    }
    well(sandbox.ringlane(&["replay", "graph", "-p", "a2a3sim", "--scale", "1s=1ms", "-o", "out"]));
    assert!(!sandbox.path().join("outputs").exists());
}

#[test]
fn what_cannot_be_replayed_is_refused_by_name_before_anything_is_written() {
    let sandbox = imported("id,duration_us\na,1\n", "pred,succ\n");
    let run = ["run", "vector", "--case", "small", "--dep-gen", "-o"];
    well(sandbox.ringlane(&[&run[..], &["no_times"]].concat()));
    well(sandbox.ringlane(&["run", "vector", "--case", "small", "--chip-swimlane", "-o", "no_edges"]));
    well(
        sandbox
            .ringlane(&[&run[..], &["two", "-p", "a2a3sim", "--workers", "2", "--chip-swimlane"]].concat()),
    );
    let before = sandbox.files();
    for (arguments, name, hint) in [
        (&["no_times"][..], "NotRecorded", "--chip-swimlane=3 --dep-gen"),
        (&["no_edges"], "NotRecorded", "--chip-swimlane=3 --dep-gen"),
        (&["two"], "NodeRun", "two/chip0"),
        (&["nowhere"], "NoSuchRun", ""),
        (&["graph", "-p", "gpu"], "BadValue", "--platform a2a3sim"),
        (&["graph", "-p", "tables/tasks.csv"], "ChipSyntax", "ringlane chips show"),
        (&["graph", "--scale", "fast"], "BadScale", ""),
        (&["graph", "-p", "a5sim", "--threads", "2"], "NotOnSimulators", "--platform cpu"),
        (&["graph", "-p", "cpu", "--policy", "fifo"], "OnlyOnSimulators", "--policy"),
        (&["graph", "-p", "cpu", "--block-dim", "2"], "OnlyOnSimulators", "--block-dim"),
    ] {
        let answer = sandbox.ringlane(&[&["replay"], arguments].concat());
        assert_eq!(answer.status, 2, "{arguments:?}: {}", answer.stderr);
        assert!(answer.line("error: ").starts_with(name), "{arguments:?}: {}", answer.stderr);
        assert!(answer.line("hint: ").contains(hint), "{arguments:?}: {}", answer.stderr);
    }
    assert_eq!(sandbox.files(), before);
}

#[test]
fn damaged_files_of_a_graph_are_refused_by_name() {
    let sandbox = imported("id,duration_us\na,1\nb,1\n", "pred,succ\na,b\n");
    let path = sandbox.path().join("graph/deps.json");
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, what) in [
        ("\"pred\":0,\"succ\":1", "\"pred\":1,\"succ\":0", "does not lead to a later task"),
        ("\"pred\":0,\"succ\":1", "\"pred\":0,\"succ\":7", "does not lead to a later task"),
        (",\"duration\":1000}", ",\"duratiom\":1000}", "has no duration"),
        ("\"seq\":1", "\"seq\":3", "out of order"),
        ("\"block_num\":1", "\"block_num\":4", "does not have one block"),
    ] {
        assert!(good.contains(from), "{good}");
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let answer = sandbox.ringlane(&["replay", "graph"]);
        assert_eq!((answer.status, &answer.line("error: ")[..13]), (2, "FilesDisagree"), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains(what), "{}", answer.stderr);
    }
    fs::write(&path, &good[..good.len() / 2]).unwrap();
    assert_eq!(sandbox.ringlane(&["replay", "graph"]).status, 2);
}

#[test]
fn commands_that_need_a_run_point_from_an_imported_graph_to_replay() {
    let sandbox = imported("id,duration_us\na,1\n", "pred,succ\n");
    for command in ["overhead", "critical-path", "swimlane", "scopes", "what-if"] {
        let answer = sandbox.ringlane(&[command, "graph"]);
        assert_eq!((answer.status, &answer.line("error: ")[..10]), (2, "NothingRan"), "{command}");
        assert!(answer.line("hint: ").contains("ringlane replay graph"), "{}", answer.stderr);
    }
    for command in ["pmu", "dump"] {
        let answer = sandbox.ringlane(&[command, "graph"]);
        assert_eq!((answer.status, &answer.line("error: ")[..10]), (2, "NothingRan"), "{command}");
    }
    let report = well(sandbox.ringlane(&["report", "graph"]));
    assert!(report.stderr.contains("No swimlane: the graph was imported. `ringlane replay` runs it."));
    well(sandbox.ringlane(&["compare", "graph", "graph"]));
    well(sandbox.ringlane(&["check", "graph"]));
    let captured = ["run", "vector", "--case", "small", "--runtime", "host_build_graph", "-p", "a2a3sim"];
    well(sandbox.ringlane(&[&captured[..], &["--chip-swimlane", "--dep-gen", "-o", "captured"]].concat()));
    well(sandbox.ringlane(&["replay", "captured", "-o", "streamed"]));
    for run in ["captured", "streamed"] {
        assert!(well(sandbox.ringlane(&["what-if", run])).stdout.contains("(error 0.0 %)"), "{run}");
    }
}

#[test]
fn ctrl_c_ends_a_replay_inside_a_long_block_and_what_was_recorded_is_written() {
    let sandbox = imported("id,duration_s\na,0\nb,600\nc,1\n", "pred,succ\na,b\nb,c\n");
    let replay = ["replay", "graph", "-p", "cpu", "--threads", "1", "-o", "out"];
    let child = sandbox.command(Path::new(env!("CARGO_BIN_EXE_ringlane")), &replay).spawn().unwrap();
    within("the directory", || sandbox.path().join("out").exists());
    std::thread::sleep(Duration::from_millis(200));
    signal(child.id(), "INT");
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    let manifest = checked(&sandbox.path().join("out"));
    assert_eq!((manifest.status, listed(&manifest).len()), (RunStatus::Interrupted, 3));
}
