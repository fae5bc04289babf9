//! The device code of the cuda chip on this machine's threads: every scene, streamed and captured, with every instrument.
//!
//! It needs a C++ compiler; a machine without one does not have the platform `cuda-host`, and says so.

mod common;

use std::fs;

use common::{Sandbox, checked};
use ringlane::prelude::Platform;
use ringlane_graph::device::RecordedDevice;
use ringlane_trace::Manifest;
use ringlane_trace::swimlane::Swimlane;

const DEVICE: [&str; 2] = ["--platform", "cuda-host"];
const GRAPH: [&str; 2] = ["--runtime", "host_build_graph"];

/// Every scene, with a small case; the last one reads values, so it cannot be captured.
const CASES: [(&str, &str); 10] = [
    ("vector", "chunked"),
    ("matmul", "ragged"),
    ("matmul", "bf16"),
    ("wavefront", "ragged"),
    ("heat", "ragged"),
    ("fanin", "few"),
    ("cholesky", "ragged"),
    ("paged_attention", "ragged"),
    ("stream", "short"),
    ("moe", "small"),
];

/// Whether this machine has a C++ compiler.
fn is_available() -> bool {
    let platform = Platform::named("cuda-host").expect("every build has it");
    let available = (platform.capabilities().availability)();
    available.inspect_err(|why| eprintln!("not tested: {why}")).is_ok()
}

fn words<'a>(scene: &'a str, case: &'a str, more: &[&[&'a str]]) -> Vec<&'a str> {
    let small: &[&str] = if scene == "stream" { &["--param", "tasks=3000"] } else { &[] };
    let mut all = vec!["run", scene, "--case", case, "--json"];
    all.extend(small);
    all.extend(more.iter().flat_map(|more| more.iter()));
    all
}

#[test]
fn every_scene_is_right_and_its_files_are_consistent_and_dependencies_are_those_of_cpu() {
    if !is_available() {
        return;
    }
    let sandbox = Sandbox::new();
    for (scene, case) in CASES {
        let name = format!("{scene}_{case}");
        let cpu = format!("{name}_cpu");
        assert_eq!(sandbox.ringlane(&words(scene, case, &[&["--dep-gen", "-o", &cpu]])).status, 0);
        let deps = |dir: &str| fs::read(sandbox.path().join(dir).join("deps.json")).unwrap();
        let timeline = ["--chip-swimlane=3", "--dep-gen", "--scope-stats"];
        let streamed = sandbox.ringlane(&words(scene, case, &[&DEVICE, &timeline, &["-o", &name]]));
        assert_eq!(streamed.status, 0, "{name}: {}", streamed.stderr);
        let manifest: Manifest = checked(&sandbox.path().join(&name));
        assert_eq!(&*manifest.platform, "cuda-host");
        assert_eq!(manifest.golden.map(|golden| golden.failed), Some(0), "{name}");
        assert!(deps(&cpu) == deps(&name), "{name}: other dependencies");
        let launches = Swimlane::read(sandbox.path().join(&name)).unwrap().head.launches.unwrap();
        assert_eq!(launches.iter().map(|launch| launch.tasks).sum::<u64>(), manifest.tasks, "{name}");
        let recorded = RecordedDevice::read(sandbox.path().join(&name)).unwrap();
        let lists = recorded.measured.blocks.iter().map(|task| task.iter().map(|block| block.list).collect());
        assert!(
            recorded.planned_lists() == lists.collect::<Vec<Vec<u32>>>(),
            "{name}: the model plans other lists"
        );
        if scene == "moe" {
            continue;
        }
        let dir = format!("{name}_graph");
        let captured = words(scene, case, &[&DEVICE, &GRAPH, &["--rounds", "3", "--dfx", "-o", &dir]]);
        assert_eq!(sandbox.ringlane(&captured).output_hash(), streamed.output_hash(), "{name}");
        checked(&sandbox.path().join(&dir));
        assert!(deps(&cpu) == deps(&dir), "{name}: other dependencies of the graph");
    }
}

#[test]
fn what_if_replays_streamed_and_captured_runs_and_refuses_what_the_model_does_not_know() {
    if !is_available() {
        return;
    }
    let sandbox = Sandbox::new();
    let timeline = ["--chip-swimlane=3", "--dep-gen"];
    let run = |dir: &str, more: &[&str]| {
        let answer = sandbox.ringlane(&words("matmul", "ragged", &[&DEVICE, &timeline, more, &["-o", dir]]));
        assert_eq!(answer.status, 0, "{}", answer.stderr);
    };
    run("streamed", &[]);
    run("captured", &GRAPH);
    run("dumped", &["--dump-tensor"]);
    let what_if = |dir: &str, more: &[&str]| sandbox.ringlane(&[&["what-if", dir, "--json"], more].concat());
    let names = |dir: &str| {
        let json = what_if(dir, &[]).json();
        assert!(json["baseline"]["replayed_us"].as_f64().unwrap() > 0.0, "{json}");
        let mut names: Vec<String> = json["experiments"].as_array().unwrap().iter().map(name_of).collect();
        // A machine that is busy may show blocks that took no time.
        names.retain(|name| !name.starts_with("kernel"));
        names.sort();
        names
    };
    let (copies, cores) = (["copies 0.5x", "copies 0x"], ["twice the cores", "unlimited cores"]);
    let streamed = ["host_build_graph instead of streaming", "submit 0.5x", "submit 0x"];
    assert_eq!(names("captured"), [copies, cores].concat());
    assert_eq!(names("streamed"), [&copies[..], &streamed, &cores].concat());
    let makespan =
        |more: &[&str]| what_if("streamed", more).json()["experiments"][0]["makespan_us"].as_f64().unwrap();
    // 24 blocks of 50 ms, on four lists and on one.
    assert!(makespan(&["--kernel", "MATMUL=50ms"]) > 6.0 * 50_000.0);
    assert!(makespan(&["--kernel", "MATMUL=50ms", "--cores", "sms=1"]) > 24.0 * 50_000.0);
    let refused: [(&str, &[&str], &str, &str); 9] = [
        ("streamed", &["--policy", "locality"], "ImpossibleExperiment", "--copies"),
        ("streamed", &["--scheduler", "0x"], "ImpossibleExperiment", "--cores sms=N"),
        ("streamed", &["--memory", "2x"], "ImpossibleExperiment", "--submit"),
        ("streamed", &["--cores", "threads=2"], "ImpossibleExperiment", "--cores sms=N"),
        ("streamed", &["--ring-task-window", "4096"], "ImpossibleExperiment", "--drop-edges"),
        ("streamed", &["--cores", "sms=0"], "BadValue", "--cores sms=264"),
        ("streamed", &["--kernel", "GEMM=0x"], "UnknownInExperiment", "MATMUL"),
        ("captured", &["--submit", "0x"], "ImpossibleExperiment", "--copies"),
        ("dumped", &[], "NotInBatches", "--chip-swimlane=3 --dep-gen"),
    ];
    for (dir, options, name, hint) in refused {
        let answer = what_if(dir, options);
        assert!(answer.line("error: ").starts_with(name), "{options:?}: {}", answer.stderr);
        assert!(answer.line("hint: ").contains(hint), "{options:?}: {}", answer.stderr);
    }
}

fn name_of(experiment: &serde_json::Value) -> String {
    experiment["name"].as_str().expect("a name").to_string()
}

#[test]
fn counters_are_those_of_the_device() {
    if !is_available() {
        return;
    }
    let sandbox = Sandbox::new();
    let run = sandbox.ringlane(&words("vector", "chunked", &[&DEVICE, &["--pmu", "-o", "counted"]]));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let pmu = Manifest::read(sandbox.path().join("counted")).unwrap().pmu.expect("it counted");
    assert_eq!((pmu.source.as_str(), pmu.group), ("device", 1));
    let shown = sandbox.ringlane(&["pmu", "counted"]);
    assert!(shown.stdout.starts_with("Counted by the cores of cuda-host"), "{}", shown.stdout);
}

#[test]
fn workers_have_devices_of_their_own() {
    if !is_available() {
        return;
    }
    let sandbox = Sandbox::new();
    let one = sandbox.ringlane(&words("paged_attention", "small", &[&DEVICE])).output_hash();
    let two = sandbox.ringlane(&words("paged_attention", "small", &[&DEVICE, &["--workers", "2"]]));
    assert_eq!(two.output_hash(), one, "{}", two.stderr);
}

#[test]
fn a_machine_without_a_gpu_is_refused_by_name_with_what_is_missing() {
    let sandbox = Sandbox::new();
    let listed = sandbox.ringlane(&["list"]);
    let line = listed.stdout.lines().find(|line| line.trim_start().starts_with("cuda ")).unwrap().to_string();
    if !line.contains("not available") {
        return;
    }
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small", "--platform", "cuda"]);
    assert_eq!(answer.status, 2);
    assert!(answer.line("error: ").starts_with("PlatformNotAvailable: "), "{}", answer.stderr);
    let why = answer.line("detail: ").trim_start_matches("cuda: ").to_string();
    assert!(line.contains(&why), "{line} says something else than {why}");
}

#[test]
fn a_recording_of_a_device_is_replayed_on_a_model_and_devices_replay_nothing() {
    if !is_available() {
        return;
    }
    let sandbox = Sandbox::new();
    let recorded =
        words("cholesky", "ragged", &[&DEVICE, &["--chip-swimlane=3", "--dep-gen", "-o", "recorded"]]);
    assert_eq!(sandbox.ringlane(&recorded).status, 0);
    let replayed = sandbox.ringlane(&["replay", "recorded", "-o", "replayed"]);
    assert_eq!(replayed.status, 0, "{}", replayed.stderr);
    assert_eq!(checked(&sandbox.path().join("replayed")).platform, "a2a3sim");
    let refused = sandbox.ringlane(&["replay", "recorded", "-p", "cuda-host"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.line("detail: ").contains("allowed: cpu, a2a3sim, a5sim, or a file"),
        "{}",
        refused.stderr
    );
    // The page has a timeline whose lanes are SMs.
    let overhead = sandbox.ringlane(&["overhead", "recorded"]);
    assert_eq!(overhead.status, 0, "{}", overhead.stderr);
    assert!(overhead.stdout.lines().any(|line| line.starts_with("sm ")), "{}", overhead.stdout);
}

#[test]
fn the_benchmark_of_a_gpu_can_be_tried_on_threads() {
    if !is_available() {
        return;
    }
    let sandbox = Sandbox::new();
    let arguments =
        ["bench", "cuda", "-p", "cuda-host", "--workload", "wavefront", "--spin", "0", "--seconds", "0"];
    let answer = sandbox.ringlane(&[&arguments[..], &["--json"]].concat());
    let results = answer.json();
    let names: Vec<&str> =
        results["results"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let copies = ["copy in, KiB", "copy in from pinned memory, KiB", "copy in and out, KiB"];
    let expected = ["wavefront", "submit and read", "read", "matmul bf16"].into_iter().chain(copies);
    for name in expected {
        assert!(names.contains(&name), "{name} is missing: {names:?}");
    }
    assert!(names.iter().any(|name| name.starts_with("compile ")), "{names:?}");
    let rows = results["results"].as_array().unwrap();
    assert!(
        rows.iter()
            .all(|row| row["platform"] == "cuda-host" && row["ns_per_task_median"].as_f64() > Some(0.0))
    );
}
