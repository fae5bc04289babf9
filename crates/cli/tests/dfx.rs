//! `ringlane run --dfx`: every scene leaves a directory whose files are all there and true of each other.

mod common;

use std::fs;
use std::path::Path;

use common::{ALL_FILES, Answer, Sandbox, checked, listed};
use ringlane_task::Overflow;
use ringlane_trace::dump::{Dump, DumpRecord};
use ringlane_trace::swimlane::Swimlane;
use ringlane_trace::{Manifest, RunStatus};

/// Runs a case into `name` and checks what it left.
#[track_caller]
fn recorded(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> Manifest {
    let answer = sandbox.ringlane(&[&["run", "-o", name], arguments].concat());
    assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.stderr);
    checked(&sandbox.path().join(name))
}

fn total_of(manifest: &Manifest, file: &str) -> u64 {
    let entry = manifest.files.iter().find(|entry| entry.path == file);
    let entry = entry.unwrap_or_else(|| panic!("{file} is not listed: {:?}", manifest.files));
    assert_eq!((entry.dropped, &entry.incomplete), (Some(0), &None), "{entry:?}");
    entry.total.expect("rows are counted")
}

#[track_caller]
fn everything_is_there(scene: &str, cases: &[&str], options: &[&str]) {
    for case in cases {
        let sandbox = Sandbox::new();
        let manifest = recorded(&sandbox, "run", &[&[scene, "--case", case, "--dfx"], options].concat());
        assert_eq!(listed(&manifest), ALL_FILES, "{scene} {case}");
        let counts = ["l2_perf_records.json", "pmu.csv", "deps.json", "scope_stats.json"];
        let Manifest { tasks, blocks, scopes, .. } = manifest;
        assert_eq!(
            counts.map(|file| total_of(&manifest, file)),
            [blocks, blocks, tasks, scopes],
            "{scene} {case}"
        );
        assert!(total_of(&manifest, "tensor_dump/tensor_dump.json") >= blocks, "{scene} {case}");
        assert_eq!(manifest.golden.expect("the values were compared").failed, 0);
    }
}

#[test]
fn vector_leaves_all_six_files_and_they_are_true() {
    everything_is_there("vector", &["small", "one", "chunked"], &["--threads", "2"]);
}

#[test]
fn matmul_and_fanin_leave_all_six_files_and_they_are_true() {
    everything_is_there("matmul", &["small", "ragged", "deep"], &["--threads", "2"]);
    everything_is_there("fanin", &["few", "wide"], &["--threads", "4"]);
    everything_is_there("fanin", &["small"], &["--threads", "2", "--param", "consumers=8"]);
}

#[test]
fn cholesky_and_wavefront_leave_all_six_files_and_they_are_true() {
    everything_is_there("cholesky", &["small", "one_tile", "ragged"], &["--threads", "2"]);
    everything_is_there("wavefront", &["small", "ragged", "chain"], &["--threads", "4"]);
}

#[test]
fn heat_leaves_all_six_files_and_they_are_true() {
    everything_is_there("heat", &["small", "ragged", "wide"], &["--threads", "4"]);
}

#[test]
fn moe_leaves_all_six_files_and_they_are_true() {
    everything_is_there("moe", &["small", "skewed", "sparse"], &["--threads", "2"]);
}

#[test]
fn paged_attention_leaves_all_six_files_and_they_are_true() {
    everything_is_there("paged_attention", &["small", "ragged", "one"], &["--threads", "4"]);
}

#[test]
fn stream_leaves_all_six_files_and_they_are_true() {
    everything_is_there("stream", &["short"], &["--threads", "2", "--param", "tasks=3000"]);
}

#[test]
fn a_swimlane_level_has_its_version_and_nothing_of_the_levels_above() {
    for (option, level) in [("--chip-swimlane=1", 1), ("--chip-swimlane=2", 2), ("--chip-swimlane", 3)] {
        let sandbox = Sandbox::new();
        let manifest = recorded(&sandbox, "run", &["vector", "--case", "chunked", option]);
        assert_eq!((listed(&manifest), manifest.swimlane_level()), (vec!["l2_perf_records.json"], level));
        let text = fs::read_to_string(sandbox.path().join("run/l2_perf_records.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&json["version"], &json["chip_swimlane_level"]), (&(level - 1).into(), &level.into()));
        assert_eq!(json.get("tasks").is_some(), level >= 2);
        assert_eq!(json.get("edges").is_some(), level >= 2);
        assert_eq!(json.get("scheduler_phases").is_some(), level >= 3);
        assert_eq!(json.get("orchestrator_phases").is_some(), level >= 3);
        let swimlane = Swimlane::read(sandbox.path().join("run/l2_perf_records.json")).unwrap();
        assert_eq!(swimlane.blocks.len() as u64, manifest.blocks);
    }
}

#[test]
fn deps_are_the_same_bytes_at_any_thread_count_and_on_tiny_rings() {
    let tiny: &[&str] = &[
        "--ring-task-window",
        "64",
        "--ring-heap",
        "1M",
        "--ring-dep-pool",
        "1024",
        "--ring-args",
        "64K",
        "--tensormap",
        "1024",
    ];
    let ways: [&[&str]; 4] = [
        &["--threads", "1"],
        &["--threads", "2"],
        &["--threads", "4"],
        &[&["--threads", "2"], tiny].concat(),
    ];
    let scenes: [&[&str]; 9] = [
        &["vector", "--case", "chunked"],
        &["matmul", "--case", "ragged"],
        &["cholesky", "--case", "ragged"],
        &["wavefront", "--case", "ragged"],
        &["heat", "--case", "ragged"],
        &["heat", "--case", "wide"],
        &["moe", "--case", "small"],
        &["paged_attention", "--case", "small"],
        &["stream", "--case", "short", "--param", "tasks=2000"],
    ];
    for scene in scenes {
        let sandbox = Sandbox::new();
        let mut first: Option<Vec<u8>> = None;
        for (number, way) in ways.iter().enumerate() {
            let name = format!("run{number}");
            recorded(&sandbox, &name, &[scene, &["--dep-gen", "--chip-swimlane=2"], *way].concat());
            let bytes = fs::read(sandbox.path().join(name).join("deps.json")).unwrap();
            match &first {
                None => first = Some(bytes),
                Some(first) => assert!(*first == bytes, "{scene:?} {way:?}"),
            }
        }
    }
}

#[test]
fn eight_recorded_runs_that_start_at_once_leave_eight_directories_that_check_out() {
    let sandbox = Sandbox::new();
    let ringlane = Path::new(env!("CARGO_BIN_EXE_ringlane"));
    let arguments = ["run", "vector", "--case", "one", "--threads", "2", "--dfx", "--json"];
    let start = |_| sandbox.command(ringlane, &arguments).spawn().expect("the command starts");
    let children: Vec<_> = (0..8).map(start).collect();
    let dir = |child: std::process::Child| {
        let answer = Answer::of(child.wait_with_output().unwrap());
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        answer.json()["runs"][0]["dir"].as_str().unwrap().to_string()
    };
    let mut dirs: Vec<_> = children.into_iter().map(dir).collect();
    dirs.sort();
    dirs.dedup();
    assert_eq!(dirs.len(), 8, "{dirs:?}");
    for dir in dirs {
        assert_eq!(listed(&checked(&sandbox.path().join(dir))), ALL_FILES);
    }
}

#[test]
fn the_observed_round_is_the_first_the_last_or_each() {
    let names = |sandbox: &Sandbox| -> Vec<String> {
        let files = sandbox.files().into_iter();
        files.filter(|path| path.ends_with("deps.json") || path.ends_with("run.json")).collect()
    };
    for (which, expected) in [
        ("first", &["x/deps.json", "x/run.json"][..]),
        ("last", &["x/deps.json", "x/run.json"]),
        (
            "all",
            &[
                "x/round_1/deps.json",
                "x/round_1/run.json",
                "x/round_2/deps.json",
                "x/round_2/run.json",
                "x/round_3/deps.json",
                "x/round_3/run.json",
                "x/run.json",
            ],
        ),
    ] {
        let sandbox = Sandbox::new();
        let rounds = ["vector", "--case", "one", "--dfx", "--rounds", "3", "--dfx-rounds", which];
        let manifest = recorded(&sandbox, "x", &rounds);
        assert_eq!(names(&sandbox), expected, "{which}");
        let observed_here = which != "all";
        assert_eq!(manifest.files.is_empty(), !observed_here);
        assert_eq!(manifest.dfx_flags().bits(), if observed_here { 0x7f } else { 0 });
        for round in 1..=3 {
            let dir = sandbox.path().join(format!("x/round_{round}"));
            assert_eq!(dir.exists(), !observed_here);
            if dir.exists() {
                assert_eq!(listed(&checked(&dir)), ALL_FILES);
            }
        }
    }
}

#[test]
fn a_dump_of_named_kernels_has_their_arguments_and_no_others() {
    let sandbox = Sandbox::new();
    let manifest =
        recorded(&sandbox, "run", &["vector", "--case", "small", "--dump-tensor=VECTOR_MUL:1,VECTOR_SHIFT"]);
    let dump = Dump::read(sandbox.path().join("run")).unwrap();
    let kernel = |name: &str| dump.head.kernels.iter().find(|kernel| kernel.name == name).unwrap().func_id;
    let (mul, shift) = (kernel("VECTOR_MUL"), kernel("VECTOR_SHIFT"));
    let of = |record: &DumpRecord| {
        dump.tasks.iter().find(|task| task.task_id == record.task_id).unwrap().func_ids[0]
    };
    let mut captured: Vec<_> = dump.records.iter().map(|record| (of(record), record.arg_index)).collect();
    captured.sort_unstable();
    let mut expected = vec![(mul, 1), (shift, 0), (shift, 0), (shift, 1), (shift, 1), (shift, 2), (shift, 2)];
    expected.sort_unstable();
    assert_eq!(captured, expected);
    assert_eq!(dump.head.selection.as_deref(), Some("VECTOR_MUL:1,VECTOR_SHIFT"));
    assert_eq!(total_of(&manifest, "tensor_dump/tensor_dump.json"), 7);
}

#[test]
fn a_recording_that_may_drop_accounts_for_every_row() {
    let sandbox = Sandbox::new();
    let stream = ["stream", "--case", "short", "--param", "tasks=60000", "--dfx", "--overflow", "drop"];
    let manifest = recorded(&sandbox, "run", &stream);
    assert_eq!((manifest.status, manifest.overflow), (RunStatus::Ok, Overflow::Drop));
    for entry in manifest.files.iter().filter(|entry| entry.total.is_some()) {
        let (total, collected, dropped) = (entry.total, entry.collected.unwrap(), entry.dropped.unwrap());
        assert_eq!(total, Some(collected + dropped), "{entry:?}");
    }
}
