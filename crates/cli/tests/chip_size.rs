//! `--block-dim` and `--scheduler-threads`: how much of a modelled chip a run uses.

mod common;

use common::{Sandbox, checked, checked_with_children};
use ringlane::prelude::*;
use ringlane_task::Explain;
use ringlane_trace::swimlane::Swimlane;

const CASE: [&str; 4] = ["run", "cholesky", "--case", "small"];

#[test]
fn a_run_uses_as_many_clusters_and_schedulers_as_it_is_asked_to() {
    for (options, cores, schedulers) in [
        (&["--platform", "a2a3sim", "--block-dim", "2"][..], 6, 2),
        (&["--platform", "a2a3sim", "--block-dim", "5", "--scheduler-threads", "1"], 15, 1),
        (&["--platform", "a5sim", "--scheduler-threads", "5"], 108, 5),
    ] {
        for jobs in ["1", "2"] {
            let sandbox = Sandbox::new();
            let more = ["--chip-swimlane", "-o", "run", "--jobs", jobs];
            let answer = sandbox.ringlane(&[&CASE[..], options, &more].concat());
            assert_eq!(answer.status, 0, "{options:?}: {}", answer.stderr);
            let manifest = checked(&sandbox.path().join("run"));
            assert_eq!((manifest.cores, manifest.threads), (cores, schedulers + 1), "{options:?}");
            let swimlane = Swimlane::read(sandbox.path().join("run")).unwrap();
            assert_eq!(swimlane.head.meta.num_scheduler_threads, schedulers);
            assert!(swimlane.blocks.iter().all(|block| block.core.0 < cores));
        }
    }
}

#[test]
fn fewer_clusters_take_longer_and_compute_the_same() {
    let run = |clusters: &str| {
        let sandbox = Sandbox::new();
        let more = ["--platform", "a2a3sim", "--block-dim", clusters, "--json"];
        let answer = sandbox.ringlane(&[&CASE[..], &more].concat());
        (answer.output_hash(), answer.json()["runs"][0]["makespan_us"].as_f64().unwrap())
    };
    let [(few, long), (all, short)] = ["1", "24"].map(run);
    assert!(few == all && long > short, "{long} {short}");
}

#[test]
fn the_chips_of_workers_are_as_large_as_asked_too() {
    let sandbox = Sandbox::new();
    let case = ["run", "paged_attention", "--case", "small", "--platform", "a2a3sim", "-o", "run"];
    let answer = sandbox.ringlane(&[&case[..], &["--workers", "2", "--dfx", "--block-dim", "3"]].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let runs = checked_with_children(&sandbox.path().join("run"));
    assert!(runs.len() > 1);
    assert!(runs[1..].iter().all(|(_, manifest)| manifest.cores == 9), "{runs:?}");
}

#[test]
fn more_than_the_chip_has_is_refused_with_what_it_has() {
    for (options, detail, hint) in [
        (
            &["--platform", "a2a3sim", "--block-dim", "25"][..],
            "from 1 to 24, the clusters of a2a3",
            "--block-dim 24",
        ),
        (&["--platform", "a5sim", "--block-dim", "0"], "from 1 to 36, the clusters of a5", "--block-dim 36"),
        (&["--platform", "a5sim", "--block-dim", "-1"], "from 1 to 36", "--block-dim 36"),
        (&["--platform", "a5sim", "--scheduler-threads", "many"], "from 1 to 5", "--scheduler-threads 5"),
        (
            &["--platform", "a2a3sim", "--block-dim", "2", "--scheduler-threads", "3"],
            "from 1 to 2, one for each cluster in use",
            "--scheduler-threads 2",
        ),
    ] {
        let sandbox = Sandbox::new();
        let answer = sandbox.ringlane(&[&CASE[..], options].concat());
        assert_eq!(answer.status, 2, "{options:?}: {}", answer.stderr);
        assert!(answer.line("detail: ").contains(detail), "{options:?}: {}", answer.stderr);
        assert_eq!(answer.line("hint: "), hint);
        assert!(sandbox.files().is_empty());
    }
}

#[test]
fn they_mean_nothing_on_the_machines_own_cores() {
    for option in ["--block-dim", "--scheduler-threads"] {
        let sandbox = Sandbox::new();
        let answer = sandbox.ringlane(&[&CASE[..], &[option, "2"]].concat());
        assert_eq!(answer.status, 2);
        assert!(answer.stderr.starts_with("error: OnlyOnSimulators: "), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains(option), "{}", answer.stderr);
    }
}

#[test]
fn a_program_gets_the_same_error() {
    let refused = |platform, config: CallConfig| {
        let error = Runtime::on(platform).with(&config).unwrap_err();
        (error.name(), error.detail(), error.hint())
    };
    let (name, detail, _) = refused(Platform::Cpu, CallConfig::default().with_block_dim(2));
    assert_eq!((name, detail.as_str()), ("OnlyOnSimulators", "block_dim is 2; the cpu has only threads"));
    let (name, detail, hint) = refused(Platform::A2a3sim, CallConfig::default().with_block_dim(25));
    assert_eq!((name, detail.as_str()), ("CountTooLarge", "block_dim is 25, at most 24 on this chip"));
    assert_eq!(hint, "`CallConfig::with_block_dim(24)`, or 0 for the default");
    let config = CallConfig::default().with_block_dim(2).with_scheduler_threads(2);
    assert_eq!(Runtime::on(Platform::A2a3sim).with(&config).unwrap().threads(), 3);
}
