//! `--workers`: one case over chips in processes, level by level.

mod common;

use std::path::Path;
use std::process::Child;
use std::time::Instant;

use common::processes::{children, descendants, lives, signal, within};
use common::{ALL_FILES, Answer, Sandbox, checked, checked_with_children, example, listed};
use ringlane_trace::RunStatus;

const ATTENTION: [&str; 4] = ["run", "paged_attention", "--case", "small"];

/// A case that takes long enough to be disturbed.
const LONG_ATTENTION: [&str; 6] = ["run", "paged_attention", "--case", "scopes", "--param", "context=2048"];

fn run(sandbox: &Sandbox, options: &[&str]) -> Answer {
    sandbox.ringlane(&[&ATTENTION[..], options].concat())
}

#[test]
fn any_shape_of_workers_gives_the_values_of_one_chip() {
    for platform in ["cpu", "a2a3sim"] {
        let sandbox = Sandbox::new();
        let alone = run(&sandbox, &["--json", "-p", platform]).output_hash();
        for shape in ["1", "2", "3", "2x2"] {
            assert_eq!(
                run(&sandbox, &["--json", "-p", platform, "--workers", shape]).output_hash(),
                alone,
                "{shape}"
            );
        }
    }
}

#[test]
fn a_program_of_its_own_has_workers_too() {
    let sandbox = Sandbox::new();
    let example = example("two_workers");
    let answer = Answer::of(sandbox.command(&example, &[]).output().expect("built beside the command"));
    assert_eq!((answer.status, answer.stdout.as_str()), (0, "[0.5, 2.0, 4.5, 8.0]\n"), "{}", answer.stderr);
}

#[test]
fn every_scene_that_has_parts_gives_the_values_of_one_chip() {
    let sandbox = Sandbox::new();
    for arguments in [
        ["run", "vector", "--case", "chunked"],
        ["run", "matmul", "--case", "ragged"],
        ["run", "paged_attention", "--case", "ragged"],
    ] {
        let alone = sandbox.ringlane(&[&arguments[..], &["--json"]].concat()).output_hash();
        let shared =
            sandbox.ringlane(&[&arguments[..], &["--json", "--workers", "2"]].concat()).output_hash();
        assert_eq!(alone, shared, "{arguments:?}");
    }
}

#[test]
fn chips_that_share_every_step_agree_with_one_chip() {
    let sandbox = Sandbox::new();
    let decode = |options: &[&str]| {
        let answer = sandbox.ringlane(&[&["run", "decode", "--json"], options].concat());
        assert_eq!(answer.status, 0, "{options:?}: {}", answer.stderr);
        answer.output_hash()
    };
    // One share is everything, and its sums are added in the same order.
    let small = ["--case", "small"];
    assert_eq!(decode(&[&small[..], &["--workers", "1"]].concat()), decode(&small));
    for case in ["small", "moe"] {
        let of = |platform: &str| decode(&["--case", case, "--workers", "2", "-p", platform]);
        let hashes = ["cpu", "cpu", "a2a3sim", "a5sim"].map(of);
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{case}: {hashes:?}");
    }
    let captured = ["--runtime", "host_build_graph", "--rounds", "2", "--workers", "2"];
    assert_eq!(decode(&[&small[..], &captured].concat()), decode(&[&small[..], &captured[4..]].concat()));
    let four = ["--case", "medium", "--workers", "4", "--param", "batch=3"];
    assert_eq!(decode(&four), decode(&four));
}

#[test]
fn shares_are_recorded_call_by_call_with_the_sums_between_them() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&[
        "run",
        "decode",
        "--case",
        "small",
        "--param",
        "tokens=1",
        "--workers",
        "2",
        "--dfx",
        "-o",
        "out",
        "--report",
    ]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let runs = checked_with_children(&sandbox.path().join("out"));
    // Two layers, each with two steps on both chips and two sums; the embedding, the logits on both, the choice.
    assert_eq!((runs[0].1.tasks, runs.len()), (2 * (4 + 2) + 1 + 2 + 1, 1 + 2 * 4 + 1 + 2 + 1));
    let page = std::fs::read_to_string(sandbox.path().join("out/report.html")).unwrap();
    for text in ["ALL_REDUCE", "token 0 layer 1: attention"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn chips_that_cannot_share_a_model_are_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    for (options, name, detail) in [
        (&["--workers", "3"][..], "SceneRefused", "kv_heads=2 cannot be divided evenly among 3 chips"),
        (
            &["--workers", "2", "--param", "ffn=24"],
            "SceneRefused",
            "ffn=24 cannot be divided evenly among 2 chips",
        ),
        (&["--workers", "2", "--param", "vocab=255"], "SceneRefused", "vocab=255 cannot"),
        (&["--workers", "2x2"], "OneLevelOnly", "--workers 2x2 with decode"),
    ] {
        let answer = sandbox.ringlane(&[&["run", "decode", "--case", "small"], options].concat());
        assert_eq!(answer.status, 2, "{options:?}");
        assert!(answer.stderr.contains(name) && answer.stderr.contains(detail), "{}", answer.stderr);
    }
}

#[test]
fn a_run_of_level_3_leaves_its_own_directory_and_one_for_each_call_on_a_chip() {
    for platform in ["cpu", "a2a3sim"] {
        let sandbox = Sandbox::new();
        let answer = run(&sandbox, &["--dfx", "-p", platform, "--workers", "2", "-o", "out"]);
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        let runs = checked_with_children(&sandbox.path().join("out"));
        let (node, calls) = runs.split_first().unwrap();
        let own = ["deps.json", "dist_swimlane.json", "l2_perf_records.json", "scope_stats.json"];
        assert_eq!((listed(&node.1), node.1.dfx_flags().bits()), (own.to_vec(), 0xe3));
        // Two parts for each chip, and a check of each in the worker for functions.
        assert_eq!((node.1.tasks, calls.len()), (8, 4));
        for (dir, call) in calls {
            assert_eq!((call.scene.as_str(), call.case.as_str()), ("paged_attention", "small"));
            assert_eq!(listed(call), ALL_FILES, "{}", dir.display());
        }
        assert_eq!(sandbox.ringlane(&["check", "out"]).status, 0);
    }
}

#[test]
fn a_run_of_level_4_is_level_3_once_more() {
    let sandbox = Sandbox::new();
    let answer = run(&sandbox, &["--dfx", "-p", "a2a3sim", "--workers", "2x2", "-o", "out", "--report"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let runs = checked_with_children(&sandbox.path().join("out"));
    let depth = |dir: &Path| dir.strip_prefix(sandbox.path()).unwrap().components().count();
    let at = |depth_wanted| runs.iter().filter(|(dir, _)| depth(dir) == depth_wanted).count();
    assert_eq!((at(1), at(3), at(5)), (1, 2, 4));
    let page = std::fs::read_to_string(sandbox.path().join("out/report.html")).unwrap();
    for lane in ["node0", "node1", "chip0", "chip1", "function0"] {
        assert!(page.contains(lane), "{lane}");
    }
}

#[test]
fn one_diagnostic_of_chips_alone_is_recorded_by_them_alone() {
    let sandbox = Sandbox::new();
    assert_eq!(run(&sandbox, &["--pmu", "--workers", "2", "-o", "out"]).status, 0);
    let runs = checked_with_children(&sandbox.path().join("out"));
    assert_eq!(listed(&runs[0].1), [""; 0]);
    assert!(runs[1..].iter().all(|(_, run)| listed(run) == ["pmu.csv"]));
    assert_eq!(run(&sandbox, &["--dist-swimlane", "--workers", "2", "-o", "two"]).status, 0);
    let runs = checked_with_children(&sandbox.path().join("two"));
    assert_eq!((runs.len(), listed(&runs[0].1)), (1, vec!["dist_swimlane.json"]));
}

#[test]
fn a_node_states_its_own_clock_and_its_chips_theirs() {
    let sandbox = Sandbox::new();
    for (platform, of_chips) in [("cpu", None), ("a2a3sim", Some("virtual"))] {
        for (options, runs) in [(&["--dep-gen"][..], 7), (&["--dist-swimlane"], 3)] {
            let out = format!("{platform}{runs}");
            let shared = ["-p", platform, "--workers", "2x1", "-o", &out];
            assert_eq!(run(&sandbox, &[&shared[..], options].concat()).status, 0);
            let all = checked_with_children(&sandbox.path().join(&out));
            assert_eq!(all.len(), runs, "{options:?}");
            for (dir, run) in &all {
                let is_chip = dir.parent().unwrap().ends_with("chip0");
                let source = run.clock.as_ref().map(|clock| clock.source.as_str());
                if !is_chip {
                    assert_eq!(
                        (source, run.has_model_time()),
                        (Some("monotonic"), false),
                        "{}",
                        dir.display()
                    );
                } else if of_chips.is_some() {
                    assert_eq!((source, run.has_model_time()), (of_chips, true), "{}", dir.display());
                }
            }
        }
    }
}

#[test]
fn rounds_are_run_by_the_same_workers() {
    let sandbox = Sandbox::new();
    let options = ["--workers", "2", "--rounds", "3", "--dfx-rounds", "all", "--dep-gen", "-o", "out"];
    assert_eq!(run(&sandbox, &options).status, 0);
    for round in 1..=3 {
        assert_eq!(checked_with_children(&sandbox.path().join(format!("out/round_{round}"))).len(), 5);
    }
    // Each round lists the workers' runs that belong to it.
    assert_eq!(checked_with_children(&sandbox.path().join("out")).len(), 1);
}

#[test]
fn a_result_that_is_no_number_fails_the_part_that_has_it() {
    let sandbox = Sandbox::new();
    let answer = run(&sandbox, &["--param", "plant=nan", "--workers", "2"]);
    assert_eq!(answer.status, 1);
    let detail = answer.line("detail: ");
    assert!(detail.contains("CHECK_FINITE") && detail.contains("NotFinite"), "{detail}");
}

#[test]
fn what_workers_cannot_do_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let long = "2x".repeat(9) + "2";
    for (options, name) in [
        (vec!["--workers", "0"], "BadValue"),
        (vec!["--workers", "-1"], "BadValue"),
        (vec!["--workers", "two"], "BadValue"),
        (vec!["--workers", "2x"], "BadValue"),
        (vec!["--workers", "2", "--call-timeout", "0"], "BadValue"),
        (vec!["--workers", "9999"], "BadValue"),
        (vec!["--workers", &long], "BadValue"),
        (vec!["--dist-swimlane"], "OnlyWithWorkers"),
        (vec!["--workers", "2", "--dump-tensor=GEMM"], "UnknownKernel"),
        (vec!["--workers", "2", "--costs-out", "costs.json"], "CostsNeedSwimlane"),
        (vec!["--workers", "2", "-p", "a5sim", "--chip", "nosuch.toml"], "CannotReadChip"),
        (vec!["--workers", "2", "-p", "a5sim", "--costs", "nosuch.json"], "CannotReadCosts"),
    ] {
        let answer = run(&sandbox, &options);
        assert_eq!(answer.status, 2, "{options:?}: {}", answer.stderr);
        assert!(answer.line("error: ").starts_with(name), "{options:?}: {}", answer.stderr);
    }
    let answer = sandbox.ringlane(&["run", "cholesky", "--workers", "2"]);
    assert!(answer.status == 2 && answer.line("detail: ").contains("paged_attention"), "{}", answer.stderr);
    assert_eq!(sandbox.files(), [""; 0]);
}

/// A long run over workers that has begun its calls.
fn begun(sandbox: &Sandbox, options: &[&str]) -> (Child, Vec<u32>) {
    let ringlane = Path::new(env!("CARGO_BIN_EXE_ringlane"));
    let arguments = [&LONG_ATTENTION[..], options].concat();
    let run = sandbox.command(ringlane, &arguments).spawn().expect("the command starts");
    within("calls on chips", || {
        sandbox.files().iter().filter(|path| path.ends_with("chip0/1") || path.ends_with("chip1/1")).count()
            >= 2
    });
    let workers = descendants(run.id());
    (run, workers)
}

#[test]
fn ctrl_c_ends_all_levels_and_leaves_what_was_recorded() {
    for (shape, calls) in
        [("2", ["out/chip0/1", "out/chip1/1"]), ("1x2", ["out/node0/1/chip0/1", "out/node0/1/chip1/1"])]
    {
        let sandbox = Sandbox::new();
        let (run, workers) =
            begun(&sandbox, &["--chip-swimlane=1", "--dep-gen", "--workers", shape, "-o", "out"]);
        let pressed = Instant::now();
        signal(run.id(), "INT");
        let answer = Answer::of(run.wait_with_output().expect("it ends"));
        assert_eq!(answer.status, 130, "{shape}: {}", answer.stderr);
        println!("{shape}: {:?} after Ctrl-C", pressed.elapsed());
        assert_eq!(checked(&sandbox.path().join("out")).status, RunStatus::Interrupted);
        for call in calls {
            assert_eq!(checked(&sandbox.path().join(call)).status, RunStatus::Interrupted, "{call}");
        }
        within("the end of all workers", || !workers.iter().any(|&pid| lives(pid)));
    }
}

#[test]
fn ctrl_c_ends_a_level_whose_worker_does_not_and_leaves_what_it_recorded() {
    let sandbox = Sandbox::new();
    let (run, _) = begun(&sandbox, &["--dep-gen", "--workers", "1x2", "-o", "out"]);
    let stopped = children(children(run.id())[0])[0];
    signal(stopped, "STOP");
    signal(run.id(), "INT");
    let answer = Answer::of(run.wait_with_output().expect("it ends"));
    assert_eq!(answer.status, 130, "{}", answer.stderr);
    for (dir, calls) in [("out", 1), ("out/node0/1", 1)] {
        let run = checked(&sandbox.path().join(dir));
        assert_eq!((run.status, run.children.len()), (RunStatus::Interrupted, calls), "{dir}");
    }
    within("the end of the worker", || !lives(stopped));
}

#[test]
fn a_command_that_is_killed_leaves_no_worker() {
    let sandbox = Sandbox::new();
    let (mut run, workers) = begun(&sandbox, &["--dep-gen", "--workers", "1x2", "-o", "out"]);
    assert_eq!(workers.len(), 4, "{workers:?}");
    run.kill().unwrap();
    run.wait().unwrap();
    within("the end of all workers", || !workers.iter().any(|&pid| lives(pid)));
}

#[test]
fn a_worker_that_is_killed_fails_its_part_and_the_others_finish() {
    let sandbox = Sandbox::new();
    let (run, _) = begun(&sandbox, &["--dep-gen", "--workers", "2", "-o", "out"]);
    let chip = children(run.id())[0];
    signal(chip, "KILL");
    let answer = Answer::of(run.wait_with_output().expect("it ends"));
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let detail = answer.line("detail: ");
    for expected in ["task ", "SCENE_PART", "ChildDied", "SIGKILL"] {
        assert!(detail.contains(expected), "{expected}: {detail}");
    }
    assert!(!answer.stderr.contains("Child::restart"), "{}", answer.stderr);
    let node = checked(&sandbox.path().join("out"));
    assert_eq!((node.status, node.skipped, node.children.len()), (RunStatus::Failed, 1, 3));
}
