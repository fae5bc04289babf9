//! No recorded run is shorter than the lower bound of its own tasks.

mod common;

use common::{Sandbox, checked};
use ringlane_insight::bound::{RunBound, of_run};
use ringlane_insight::{CoreKind, InsightError};
use ringlane_task::{Explain, Ticks};

/// Runs a case on two threads with these options, and asks for its bound.
fn bound_of(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> Result<RunBound, InsightError> {
    let answer = sandbox.ringlane(&[&["run", "-o", name, "--threads", "2"], arguments].concat());
    assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.stderr);
    checked(&sandbox.path().join(name));
    of_run(&sandbox.path().join(name))
}

#[test]
fn a_run_of_cholesky_takes_at_least_as_long_as_its_bound() {
    let sandbox = Sandbox::new();
    for swimlane in ["--chip-swimlane=1", "--chip-swimlane=3"] {
        let arguments = ["cholesky", "--case", "small", swimlane, "--dep-gen"];
        let run =
            bound_of(&sandbox, swimlane.trim_start_matches('-'), &arguments).expect("both files are there");
        let [ref cpu] = run.kinds[..] else { panic!("one kind of core: {run:?}") };
        assert_eq!((cpu.kind, cpu.cores, run.lost_blocks, run.lost_tasks), (CoreKind::Cpu, 2, 0, 0));
        assert!(run.makespan >= run.bound.ticks, "{run:?}");
        assert!(run.bound.ticks >= run.bound.longest_path && run.bound.longest_path > Ticks(0), "{run:?}");
        // Two cores need at least half of the time that all blocks take together.
        assert!(run.bound.ticks.0 >= cpu.busy.0 / 2 && cpu.blocks > 0, "{run:?}");
        assert!(run.ratio().is_some_and(|ratio| ratio >= 1.0), "{run:?}");
        assert!(cpu.utilization > 0.0 && cpu.utilization <= 1.0, "{run:?}");
    }
}

#[test]
fn a_run_of_every_other_shape_takes_at_least_as_long_as_its_bound() {
    let sandbox = Sandbox::new();
    for scene in ["wavefront", "heat", "fanin", "paged_attention", "moe"] {
        let arguments = [scene, "--case", "small", "--chip-swimlane=1", "--dep-gen"];
        let run = bound_of(&sandbox, scene, &arguments).expect("both files are there");
        assert!(run.makespan >= run.bound.ticks && run.bound.ticks > Ticks(0), "{scene}: {run:?}");
    }
}

#[test]
fn a_run_without_the_files_for_the_bound_gets_a_hint() {
    let sandbox = Sandbox::new();
    for (recorded, missing, method) in [
        ("--dep-gen", "l2_perf_records.json", "DfxFlags::with_swimlane_level"),
        ("--chip-swimlane=1", "deps.json", "DfxFlags::DEPS"),
    ] {
        let arguments = ["vector", "--case", "small", recorded];
        let error = bound_of(&sandbox, recorded.trim_start_matches('-'), &arguments).unwrap_err();
        assert_eq!(error.name(), "NotRecorded");
        assert!(error.detail().contains(missing), "{}", error.detail());
        assert!(error.hint().contains(method), "{}", error.hint());
    }
}

#[test]
fn a_run_on_a_modelled_chip_takes_at_least_as_long_as_the_bound_of_either_kind() {
    let sandbox = Sandbox::new();
    for scene in ["paged_attention", "cholesky", "wavefront", "heat"] {
        let out = format!("{scene}_run");
        let arguments =
            ["run", "-o", &out, "-p", "a2a3sim", scene, "--case", "small", "--chip-swimlane=1", "--dep-gen"];
        let answer = sandbox.ringlane(&arguments);
        assert_eq!(answer.status, 0, "{scene}: {}", answer.stderr);
        let run = of_run(&sandbox.path().join(out)).expect("both files are there");
        let cores: Vec<_> = run.kinds.iter().map(|used| (used.kind, used.cores)).collect();
        assert_eq!(cores, [(CoreKind::Aic, 24), (CoreKind::Aiv, 48)], "{scene}");
        assert!(run.makespan >= run.bound.ticks && run.bound.ticks > Ticks(0), "{scene}: {run:?}");
    }
}
