//! `ringlane run --runtime host_build_graph`: the bytes and the dependencies of the streamed run, on every chip.

mod common;

use std::fs;

use common::{Sandbox, checked};
use ringlane_trace::Manifest;

/// Every scene that reads no values back, with its smallest cases.
const CASES: [(&str, &str); 10] = [
    ("vector", "chunked"),
    ("matmul", "ragged"),
    ("wavefront", "ragged"),
    ("heat", "ragged"),
    ("fanin", "few"),
    ("cholesky", "ragged"),
    ("paged_attention", "ragged"),
    ("stream", "short"),
    ("decode", "small"),
    ("decode", "moe"),
];

const MACHINES: [&[&str]; 5] = [
    &["--threads", "1"],
    &["--threads", "2"],
    &["--threads", "4"],
    &["--platform", "a2a3sim"],
    &["--platform", "a5sim"],
];

const GRAPH: [&str; 2] = ["--runtime", "host_build_graph"];

fn run(scene: &str, case: &str, more: &[&[&str]]) -> Vec<String> {
    let small: &[&str] = if scene == "stream" { &["--param", "tasks=600"] } else { &[] };
    let words = ["run", scene, "--case", case, "--json"];
    let all = [&words[..], small].into_iter().chain(more.iter().copied());
    all.flatten().map(|word| word.to_string()).collect()
}

#[track_caller]
fn hash(sandbox: &Sandbox, arguments: &[String]) -> String {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    sandbox.ringlane(&words).output_hash()
}

#[test]
fn every_scene_that_reads_nothing_gives_the_bytes_and_dependencies_of_the_streamed_run() {
    let sandbox = Sandbox::new();
    for (scene, case) in CASES {
        let first = format!("{scene}_{case}");
        let streamed = hash(&sandbox, &run(scene, case, &[&["--dep-gen", "-o", &first]]));
        let deps = |dir: &str| fs::read(sandbox.path().join(dir).join("deps.json")).unwrap();
        for (number, machine) in MACHINES.iter().enumerate() {
            let dir = format!("{first}_{number}");
            let options: [&[&str]; 4] = [&GRAPH, machine, &["--rounds", "3", "--dfx"], &["-o", &dir]];
            assert_eq!(hash(&sandbox, &run(scene, case, &options)), streamed, "{scene} {machine:?}");
            let manifest: Manifest = checked(&sandbox.path().join(&dir));
            assert_eq!(manifest.runtime, "host_build_graph");
            let graph = manifest.graph.expect("the graph is described");
            assert!(
                graph.memory_lower_bound_bytes <= graph.memory_bytes
                    && graph.memory_bytes <= graph.memory_sum_bytes
            );
            assert_eq!(graph.upload_ticks.is_some(), manifest.model.is_some());
            assert!(deps(&first) == deps(&dir), "{scene} {machine:?}: other dependencies");
        }
    }
}

#[test]
fn a_scene_that_reads_values_is_refused_with_the_line_of_the_read() {
    let sandbox = Sandbox::new();
    for machine in MACHINES {
        let answer = sandbox.ringlane(&[&["run", "moe", "--case", "small"], &GRAPH[..], machine].concat());
        assert_eq!(answer.status, 1);
        assert!(answer.line("error: ").starts_with("ReadInCapture: "), "{}", answer.stderr);
        assert!(answer.line("detail: ").starts_with("crates/scenes/src/moe/mod.rs:"), "{}", answer.stderr);
        assert!(answer.line("hint: ").contains("--runtime tensormap_and_ringbuffer"));
    }
}

#[test]
fn workers_and_jobs_replay_too() {
    let sandbox = Sandbox::new();
    let streamed = hash(&sandbox, &run("paged_attention", "small", &[]));
    for more in [&["--workers", "2", "--rounds", "3"][..], &["--workers", "2x2"], &["--jobs", "2"]] {
        for platform in ["cpu", "a2a3sim"] {
            let options: [&[&str]; 3] = [&GRAPH, more, &["--platform", platform]];
            assert_eq!(hash(&sandbox, &run("paged_attention", "small", &options)), streamed, "{more:?}");
        }
    }
}

#[test]
fn a_memory_limit_is_kept_by_added_edges_or_refused_and_only_graphs_have_one() {
    let sandbox = Sandbox::new();
    let streamed = hash(&sandbox, &run("paged_attention", "small", &[]));
    let limited = ["--graph-memory", "48K", "-o", "limited"];
    assert_eq!(hash(&sandbox, &run("paged_attention", "small", &[&GRAPH, &limited])), streamed);
    let graph = Manifest::read(sandbox.path().join("limited")).unwrap().graph.unwrap();
    assert!(graph.memory_bytes <= 48 << 10 && graph.added_edges > 0, "{graph:?}");
    for (options, status, name) in [
        (&["--runtime", "host_build_graph", "--graph-memory", "64"][..], 1, "GraphMemory"),
        (&["--graph-memory", "1M"], 2, "OnlyWithGraphs"),
        (&["--runtime", "host_build_graph", "--graph-memory", "0"], 2, "BadValue"),
        (&["--runtime", "host_build_graph", "--graph-memory", "much"], 2, "BadValue"),
        (&["--runtime", "host_build_graph", "--ring-task-window", "16"], 1, "GraphTooLarge"),
    ] {
        let answer = sandbox.ringlane(&[&["run", "paged_attention", "--case", "small"], options].concat());
        assert_eq!(answer.status, status, "{options:?}: {}", answer.stderr);
        assert!(answer.line("error: ").contains(name), "{options:?}: {}", answer.stderr);
    }
}
