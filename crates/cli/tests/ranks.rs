//! `mpirun -n 4 ringlane worker -- run …`: one case over ranks. Needs mpirun: `cargo test -p ringlane-cli --features mpi --test ranks`.

mod common;

use std::path::Path;
use std::process::{Child, Command};
use std::time::Instant;

use common::processes::{children, descendants, lives, signal, within};
use common::{ALL_FILES, Answer, Sandbox, checked, checked_with_children, listed};
use ringlane_trace::RunStatus;
use ringlane_trace::dump::Dump;

const ATTENTION: [&str; 4] = ["run", "paged_attention", "--case", "small"];

/// A case that takes long enough to be disturbed, and whose tensors are small.
const LONG_ATTENTION: [&str; 6] = ["run", "paged_attention", "--case", "scopes", "--param", "context=512"];

/// mpirun, with more ranks than there may be cores.
fn mpirun(sandbox: &Sandbox, ranks: u32, worker: &[&str], run: &[&str]) -> Command {
    let ranks = ranks.to_string();
    let own = ["--oversubscribe", "-n", &ranks, env!("CARGO_BIN_EXE_ringlane"), "worker"];
    let mut command = sandbox.command(Path::new("mpirun"), &[&own[..], worker, &["--"], run].concat());
    // Tests may run as root, in a container.
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command
}

fn run(sandbox: &Sandbox, worker: &[&str], options: &[&str]) -> Answer {
    let output = mpirun(sandbox, 4, worker, &[&ATTENTION[..], options].concat()).output();
    Answer::of(output.expect("mpirun: is openmpi-bin installed?"))
}

#[test]
fn four_ranks_give_the_values_of_one_process() {
    for platform in ["cpu", "a2a3sim"] {
        let sandbox = Sandbox::new();
        let alone = sandbox.ringlane(&[&ATTENTION[..], &["--json", "-p", platform]].concat());
        for chips in ["1", "2"] {
            let over_ranks = run(&sandbox, &["--workers", chips], &["--json", "-p", platform]);
            assert_eq!(over_ranks.output_hash(), alone.output_hash(), "{platform}, {chips} chips a rank");
        }
    }
}

#[test]
fn all_cases_of_a_scene_and_all_rounds_are_run_by_the_same_ranks() {
    let sandbox = Sandbox::new();
    let run = ["run", "vector", "--rounds", "3", "--json"];
    let answer = Answer::of(mpirun(&sandbox, 3, &[], &run).output().expect("mpirun"));
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let alone = sandbox.ringlane(&["run", "vector", "--json"]);
    let hashes = |answer: &Answer| {
        let runs = answer.json()["runs"].as_array().expect("runs").clone();
        runs.iter().map(|run| run["golden"]["output_hash"].clone()).collect::<Vec<_>>()
    };
    assert!(hashes(&alone).len() > 1);
    assert_eq!(hashes(&answer), hashes(&alone));
}

#[test]
fn every_rank_and_every_chip_of_it_leaves_a_directory_that_checks_out() {
    for platform in ["cpu", "a2a3sim"] {
        let sandbox = Sandbox::new();
        let answer = run(&sandbox, &[], &["--dfx", "-p", platform, "-o", "out"]);
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        let runs = checked_with_children(&sandbox.path().join("out"));
        let depth = |dir: &Path| dir.strip_prefix(sandbox.path()).unwrap().components().count();
        let at = |wanted| runs.iter().filter(move |(dir, _)| depth(dir) == wanted).map(|(_, run)| run);
        let own = ["deps.json", "dist_swimlane.json", "l2_perf_records.json", "scope_stats.json"];
        assert!(at(1).chain(at(3)).all(|run| listed(run) == own), "{runs:?}");
        assert!(at(5).all(|run| listed(run) == ALL_FILES), "{runs:?}");
        let workers: Vec<_> = runs[0].1.children.iter().map(|child| child.worker.as_str()).collect();
        assert!(["rank1", "rank2", "rank3"].iter().all(|rank| workers.contains(rank)), "{workers:?}");
        assert!(at(1).count() == 1 && at(3).count() == 3 && at(5).count() >= 3, "{runs:?}");
        assert_eq!(sandbox.ringlane(&["check", "out"]).status, 0);
    }
}

/// A long run whose ranks have calls on their chips: mpirun, its ranks in order, and all processes.
fn begun(sandbox: &Sandbox) -> (Child, Vec<u32>, Vec<u32>) {
    // However fast the machine is, there are rounds to come.
    let options = ["--dep-gen", "--rounds", "5", "--dfx-rounds", "all", "-o", "out"];
    let run = mpirun(sandbox, 4, &[], &[&LONG_ATTENTION[..], &options].concat()).spawn().expect("mpirun");
    within("calls on chips of all ranks", || {
        let began = |rank: &u32| sandbox.path().join(format!("out/round_1/rank{rank}/1/chip0/1")).exists();
        (1..=3u32).all(|rank| began(&rank))
    });
    let mut ranks = children(run.id());
    ranks.sort_unstable();
    let all = descendants(run.id());
    assert!(ranks.len() == 4 && all.len() == 4 + 3 * 2, "{ranks:?} {all:?}");
    (run, ranks, all)
}

#[test]
fn a_rank_that_is_killed_is_named_ends_the_run_and_leaves_nobody() {
    let sandbox = Sandbox::new();
    let (run, ranks, all) = begun(&sandbox);
    signal(ranks[2], "KILL");
    let killed = Instant::now();
    let answer = Answer::of(run.wait_with_output().expect("it ends"));
    println!("ended {:?} after the kill", killed.elapsed());
    // mpirun's own status is that of the rank that was killed.
    assert_ne!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.line("error: ").starts_with("TaskFailed"), "{}", answer.stderr);
    let (detail, named) = (answer.line("detail: "), format!("(process {} on ", ranks[2]));
    for expected in ["SCENE_PARTS", "RankDied: a rank died: rank 2", &named] {
        assert!(detail.contains(expected), "{expected}: {detail}");
    }
    within("the end of all ranks and their chips", || !all.iter().any(|&pid| lives(pid)));
    let manifest = checked(&sandbox.path().join("out"));
    assert_eq!(manifest.status, RunStatus::Failed);
    assert!(manifest.error.expect("an error").detail.contains("RankDied: a rank died: rank 2"));
}

#[test]
fn ctrl_c_on_mpirun_ends_everything() {
    for name in ["INT", "TERM"] {
        let sandbox = Sandbox::new();
        let (run, _, all) = begun(&sandbox);
        signal(run.id(), name);
        let answer = Answer::of(run.wait_with_output().expect("it ends"));
        assert_ne!(answer.status, 0, "{}", answer.stderr);
        within("the end of all ranks and their chips", || !all.iter().any(|&pid| lives(pid)));
    }
}

#[test]
fn when_rank_0_is_killed_nobody_stays() {
    let sandbox = Sandbox::new();
    let (run, ranks, all) = begun(&sandbox);
    signal(ranks[0], "KILL");
    let answer = Answer::of(run.wait_with_output().expect("it ends"));
    assert_ne!(answer.status, 0, "{}", answer.stderr);
    within("the end of all ranks and their chips", || !all.iter().any(|&pid| lives(pid)));
}

#[test]
fn what_is_wrong_with_a_command_line_is_reported_once() {
    let sandbox = Sandbox::new();
    for (ranks, arguments, name) in [
        (2, vec![], "MissingArgument"),
        (2, vec!["list"], "MissingArgument"),
        (2, vec!["run", "nosuch"], "UnknownScene"),
        (2, vec!["run", "vector", "--nosuch"], "UnknownOption"),
        (2, vec!["run", "cholesky"], "NotDivisible"),
        (2, vec!["run", "vector", "--workers", "2"], "NotWithRanks"),
        (2, vec!["run", "vector", "--jobs", "2"], "NotWithRanks"),
        (1, vec!["run", "vector"], "NoRanks"),
    ] {
        let answer = Answer::of(mpirun(&sandbox, ranks, &[], &arguments).output().expect("mpirun"));
        assert_eq!(answer.status, 2, "{arguments:?}: {}", answer.stderr);
        assert!(answer.line("error: ").starts_with(name), "{arguments:?}: {}", answer.stderr);
        assert_eq!(answer.stderr.matches("error: ").count(), 1, "{}", answer.stderr);
    }
    assert_eq!(sandbox.files(), [""; 0]);
}

#[test]
fn what_a_run_is_asked_for_reaches_the_chips_of_every_rank_by_value() {
    let sandbox = Sandbox::new();
    let costs = ["--chip-swimlane=1", "--costs-out", "costs.json"];
    assert_eq!(sandbox.ringlane(&[&ATTENTION[..], &costs].concat()).status, 0);
    let options = ["--policy", "critical-path", "--chaos", "7", "--costs", "costs.json"];
    let options = [&["-p", "a2a3sim", "--dump-tensor=QK", "-o", "out"], &options[..]].concat();
    let answer = run(&sandbox, &[], &options);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let mut runs = checked_with_children(&sandbox.path().join("out"));
    runs.retain(|(_, run)| run.children.is_empty());
    assert!(runs.len() >= 3, "{runs:?}");
    for (dir, run) in runs {
        let model = run.model.expect("a modelled chip");
        assert_eq!(
            (model.policy.as_str(), model.chaos, model.costs.as_deref()),
            ("critical-path", Some(7), Some("cpu"))
        );
        let selection = Dump::read(&dir).expect("a dump").head.selection;
        assert_eq!(selection.as_deref(), Some("QK"), "{}", dir.display());
    }
}

#[test]
fn a_chip_that_rank_0_cannot_read_is_reported_once_before_anything_runs() {
    let sandbox = Sandbox::new();
    let run = ["run", "vector", "-p", "a2a3sim", "--chip", "nosuch.toml"];
    let answer = Answer::of(mpirun(&sandbox, 2, &[], &run).output().expect("mpirun"));
    assert_eq!(answer.status, 2, "{}", answer.stderr);
    assert!(answer.line("error: ").starts_with("CannotReadChip"), "{}", answer.stderr);
    assert_eq!(answer.stderr.matches("error: ").count(), 1, "{}", answer.stderr);
    assert_eq!(sandbox.files(), [""; 0]);
}

#[test]
fn without_mpirun_a_worker_says_how_ranks_are_started() {
    let answer = Sandbox::new().ringlane(&["worker", "--", "run", "vector"]);
    assert_eq!((answer.status, answer.line("error: ").starts_with("NoRanks: ")), (2, true));
    assert!(answer.line("hint: ").contains("mpirun -n 4"), "{}", answer.stderr);
}
