//! What a run is asked for arrives where it runs: in the processes of `--jobs`, and on the chips of `--workers` at every level.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Answer, Sandbox, checked_with_children};
use ringlane::{Platform, RunRequest};
use ringlane_chip_sim::cost::CostTable;
use ringlane_chip_sim::spec;
use ringlane_node::{Child, ChildLaunch};
use ringlane_task::{Explain, TaskId};
use ringlane_trace::Manifest;
use ringlane_trace::dump::Dump;

const ATTENTION: [&str; 6] = ["run", "paged_attention", "--case", "small", "-p", "a2a3sim"];

/// One level of workers, and one more.
const SHAPES: [&str; 2] = ["2", "2x1"];

/// Runs over workers of a shape, and gives the runs on chips.
#[track_caller]
fn on_chips(sandbox: &Sandbox, shape: &str, options: &[&str]) -> Vec<(PathBuf, Manifest)> {
    let out = format!("out{}", fs::read_dir(sandbox.path()).unwrap().count());
    let answer = sandbox.ringlane(&[&ATTENTION[..], &["--workers", shape, "-o", &out], options].concat());
    assert_eq!(answer.status, 0, "{options:?}: {}", answer.stderr);
    let mut runs = checked_with_children(&sandbox.path().join(out));
    runs.retain(|(_, run)| run.children.is_empty());
    assert!(runs.len() >= 2, "{runs:?}");
    runs
}

/// The kernels of the tasks that a dump has something of.
fn dumped(dir: &Path) -> BTreeSet<String> {
    let dump = Dump::read(dir).expect("a dump");
    let kernel = |func_id| {
        let kernel = dump.head.kernels.iter().find(|kernel| kernel.func_id == func_id);
        kernel.expect("it is listed").name.clone()
    };
    let captured: BTreeSet<TaskId> = dump.records.iter().map(|record| record.task_id).collect();
    let tasks = dump.tasks.iter().filter(|task| captured.contains(&task.task_id));
    tasks.flat_map(|task| task.func_ids.iter().map(|&func_id| kernel(func_id))).collect()
}

/// How long each part took, in the order of the parts: a part is a task of the node's graph.
fn makespans(node: &Path) -> Vec<u64> {
    let runs = checked_with_children(node);
    let of =
        |dir: &str| runs.iter().find(|(path, _)| *path == node.join(dir)).expect("a child").1.makespan_ticks;
    let parts: BTreeMap<TaskId, u64> =
        runs[0].1.children.iter().map(|child| (child.task_id, of(&child.dir))).collect();
    parts.into_values().collect()
}

#[test]
fn a_dump_over_workers_holds_the_selected_kernels_and_no_others() {
    let sandbox = Sandbox::new();
    for shape in SHAPES {
        for (dir, _) in on_chips(&sandbox, shape, &["--dump-tensor=QK,PV:2"]) {
            assert_eq!(dumped(&dir), ["PV", "QK"].map(String::from).into(), "{}", dir.display());
        }
        let (everything, _) = &on_chips(&sandbox, shape, &["--dump-tensor"])[0];
        assert!(dumped(everything).len() > 2);
    }
}

#[test]
fn a_chip_a_policy_costs_and_chaos_reach_the_chips_of_workers() {
    let sandbox = Sandbox::new();
    let costs = ["--chip-swimlane=1", "--costs-out", "costs.json"];
    assert_eq!(sandbox.ringlane(&[&ATTENTION[..4], &costs].concat()).status, 0);
    let chip = spec::builtin_text("a2a3sim").unwrap();
    let chip = chip.replace("clusters = 24", "clusters = 4").replace("name = \"a2a3sim\"", "name = \"mine\"");
    fs::write(sandbox.path().join("mine.toml"), chip).unwrap();
    for shape in SHAPES {
        let options =
            ["--dep-gen", "--chip", "mine.toml", "--policy", "critical-path", "--costs", "costs.json"];
        for (dir, run) in on_chips(&sandbox, shape, &options) {
            let model = run.model.as_ref().expect("a modelled chip");
            assert_eq!((model.chip.as_str(), run.cores), ("mine", 12), "{}", dir.display());
            assert_eq!((model.policy.as_str(), model.costs.as_deref()), ("critical-path", Some("cpu")));
            assert_eq!(model.chaos, None);
        }
        let runs = on_chips(&sandbox, shape, &["--dep-gen", "--chaos", "7", "--policy", "locality"]);
        for (_, run) in runs {
            let model = run.model.expect("a modelled chip");
            assert_eq!((model.policy.as_str(), model.chaos, model.costs), ("locality", Some(7), None));
        }
    }
}

#[test]
fn chaos_and_costs_change_the_time_of_every_part_and_alike_each_time() {
    let sandbox = Sandbox::new();
    let costs = ["--chip-swimlane=1", "--costs-out", "costs.json"];
    assert_eq!(sandbox.ringlane(&[&ATTENTION[..4], &costs].concat()).status, 0);
    let spans = |options: &[&str]| {
        let runs = on_chips(&sandbox, "2", &[&["--dep-gen"], options].concat());
        // out/chip0/1
        makespans(runs[0].0.ancestors().nth(2).expect("the node's directory"))
    };
    let plain = spans(&[]);
    for options in [["--chaos", "7"], ["--costs", "costs.json"]] {
        let [one, two] = [spans(&options), spans(&options)];
        assert_eq!(one, two, "{options:?}");
        assert!(one.iter().zip(&plain).all(|(changed, plain)| changed != plain), "{one:?} {plain:?}");
    }
}

#[test]
fn a_chip_travels_by_value_from_a_file_that_only_the_command_can_read() {
    for together in [&["--workers", "2x1", "-o", "out", "--dep-gen"][..], &["--jobs", "2"]] {
        let sandbox = Sandbox::new();
        let chip = spec::builtin_text("a2a3sim").unwrap().replace("name = \"a2a3sim\"", "name = \"mine\"");
        let path = sandbox.path().join("mine.toml");
        fs::write(&path, chip).unwrap();
        let arguments = [&ATTENTION[..], &["--chip", "/dev/stdin"], together].concat();
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_ringlane")), &arguments);
        let answer = command.stdin(Stdio::from(File::open(&path).unwrap())).output().expect("it starts");
        let answer = Answer::of(answer);
        assert_eq!(answer.status, 0, "{together:?}: {}", answer.stderr);
    }
}

#[test]
fn costs_of_a_run_over_workers_are_those_of_its_chips() {
    let sandbox = Sandbox::new();
    let table = |options: &[&str]| {
        let costs = ["--chip-swimlane=1", "--costs-out", "costs.json"];
        let answer = sandbox.ringlane(&[&ATTENTION[..], &costs, options].concat());
        assert_eq!(answer.status, 0, "{options:?}: {}", answer.stderr);
        CostTable::read(sandbox.path().join("costs.json")).expect("a table")
    };
    let blocks = |table: &CostTable| -> Vec<_> {
        table.kernels().iter().map(|kernel| (kernel.name.clone(), kernel.blocks)).collect()
    };
    let alone = table(&[]);
    assert!(alone.kernels().iter().all(|kernel| !kernel.tasks.is_empty()));
    for shape in SHAPES {
        let shared = table(&["--workers", shape]);
        assert_eq!((blocks(&shared), shared.chip()), (blocks(&alone), "a2a3sim"), "{shape}");
        // Parts are programs of their own: their tasks are not those of the whole.
        assert!(shared.kernels().iter().all(|kernel| kernel.tasks.is_empty()));
    }
    let rounds = table(&["--workers", "2", "--rounds", "2", "--dfx-rounds", "all"]);
    let twice: Vec<_> = blocks(&alone).into_iter().map(|(name, blocks)| (name, 2 * blocks)).collect();
    assert_eq!(blocks(&rounds), twice);
}

#[test]
fn a_worker_refuses_a_request_of_another_version_an_unknown_field_and_a_cut_off_tail_by_name() {
    let good = RunRequest::on(Platform::A5sim).encode();
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let start = |kind: &str, request: Vec<u8>| {
        let launch = ChildLaunch::new("one").with_program(env!("CARGO_BIN_EXE_ringlane"));
        Child::start(&launch.with_arguments(["worker", "--kind", kind]).with_run_request(request))
    };
    for kind in ["chip", "node"] {
        for (request, name) in [
            (changed(8, 2), "UnknownRequestVersion"),
            (changed(24, 99), "UnknownRequestField"),
            (good[..good.len() - 8].to_vec(), "RequestTruncated"),
            (Vec::new(), "RequestTruncated"),
        ] {
            let error = start(kind, request).unwrap_err();
            assert_eq!(error.name(), "StartFailed");
            assert!(error.detail().contains(name), "{kind}, {name}: {}", error.detail());
        }
        assert!(start(kind, good.clone()).is_ok());
    }
}
