//! `ringlane run --platform a2a3sim|a5sim`: the same bytes every time, files that are true, and options that say what is wrong.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{ALL_FILES, Sandbox, checked, listed};
use ringlane_trace::Manifest;
use ringlane_trace::swimlane::{Phase, Swimlane};

/// Cases with tasks of every shape: blocks, mixed tasks, reads, scopes.
const CASES: [(&str, &str); 9] = [
    ("vector", "chunked"),
    ("matmul", "ragged"),
    ("wavefront", "ragged"),
    ("heat", "ragged"),
    ("fanin", "few"),
    ("moe", "skewed"),
    ("cholesky", "ragged"),
    ("paged_attention", "small"),
    ("stream", "short"),
];

/// Runs a case with everything on and gives its files, host times and dates left out.
#[track_caller]
fn files(
    sandbox: &Sandbox,
    name: &str,
    scene: &str,
    case: &str,
    options: &[&str],
) -> BTreeMap<String, Vec<u8>> {
    let small: &[&str] = if scene == "stream" { &["--param", "tasks=600"] } else { &[] };
    let arguments = [&["run", scene, "--case", case, "-o", name, "--dfx"], small, options].concat();
    let answer = sandbox.ringlane(&arguments);
    assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.stderr);
    let dir = sandbox.path().join(name);
    let manifest = checked(&dir);
    assert_eq!(listed(&manifest), ALL_FILES);
    let mut files: BTreeMap<String, Vec<u8>> =
        ALL_FILES.iter().map(|file| (file.to_string(), fs::read(dir.join(file)).unwrap())).collect();
    files.insert("run.json".to_string(), timeless(&dir));
    files
}

/// run.json without what belongs to the host: dates and wall times.
fn timeless(dir: &Path) -> Vec<u8> {
    let text = fs::read_to_string(dir.join("run.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    for field in ["started_at", "wall_us"] {
        assert!(manifest.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    for field in ["collector_us", "export_us"] {
        assert!(manifest["dfx_cost"].as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    manifest.to_string().into_bytes()
}

fn twice(platform: &str) {
    for (scene, case) in CASES {
        let sandbox = Sandbox::new();
        let options = ["--platform", platform];
        let [first, second] = ["a", "b"].map(|name| files(&sandbox, name, scene, case, &options));
        for (file, bytes) in &first {
            assert!(bytes == &second[file], "{scene} {case}: two runs differ in {file}");
        }
    }
}

#[test]
fn two_runs_on_a2a3sim_leave_the_same_bytes_and_they_are_true() {
    twice("a2a3sim");
}

#[test]
fn two_runs_on_a5sim_leave_the_same_bytes_and_they_are_true() {
    twice("a5sim");
}

#[test]
fn every_chip_gives_the_same_values_and_the_same_graph() {
    for (scene, case) in CASES {
        let sandbox = Sandbox::new();
        let on = ["cpu", "a2a3sim", "a5sim"].map(|platform| {
            let files = files(&sandbox, platform, scene, case, &["--platform", platform]);
            let manifest: serde_json::Value = serde_json::from_slice(&files["run.json"]).unwrap();
            (manifest["golden"]["output_hash"].clone(), files["deps.json"].clone())
        });
        assert!(on[1] == on[0] && on[2] == on[0], "{scene} {case}");
    }
}

#[test]
fn copies_are_on_the_timeline_of_the_chip_whose_memory_the_host_does_not_see() {
    let sandbox = Sandbox::new();
    for (platform, copies) in [("a2a3sim", None), ("a5sim", Some(4))] {
        files(&sandbox, platform, "vector", "chunked", &["--platform", platform]);
        let swimlane = Swimlane::read(sandbox.path().join(platform)).unwrap();
        let seen = swimlane.head.copies.as_ref().map(Vec::len);
        assert!(seen.is_none() == copies.is_none() && seen.unwrap_or(9) >= copies.unwrap_or(0), "{seen:?}");
    }
}

#[test]
fn every_block_is_counted_as_handed_out_also_in_a_phase_shorter_than_a_tick() {
    let sandbox = Sandbox::new();
    for platform in ["a2a3sim", "a5sim"] {
        for (scene, case) in [("stream", "short"), ("cholesky", "ragged"), ("moe", "skewed")] {
            let name = format!("{platform}_{scene}");
            files(&sandbox, &name, scene, case, &["--platform", platform]);
            let swimlane = Swimlane::read(sandbox.path().join(name)).unwrap();
            let dispatched = swimlane.phases.iter().filter(|row| row.phase == Phase::Dispatch);
            let blocks = swimlane.blocks.len() as u64;
            assert_eq!(dispatched.map(|row| row.tasks).sum::<u64>(), blocks, "{scene} on {platform}");
        }
    }
}

#[test]
fn scopes_and_captured_tensors_go_over_the_link_of_the_chip_whose_memory_the_host_does_not_see() {
    let sandbox = Sandbox::new();
    let sent = |name: &str, options: &[&str]| {
        let scene =
            ["run", "paged_attention", "--case", "small", "-p", "a5sim", "-o", name, "--chip-swimlane=1"];
        let answer = sandbox.ringlane(&[&scene, options].concat());
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        checked(&sandbox.path().join(name));
        let copies = Swimlane::read(sandbox.path().join(name)).unwrap().head.copies.unwrap();
        copies.iter().filter(|copy| copy.what.starts_with("records")).map(|copy| copy.bytes).sum::<u64>()
    };
    let timeline = sent("timeline", &[]);
    assert!(sent("scopes", &["--scope-stats"]) > timeline);
    let dumped = sent("dump", &["--dump-tensor"]);
    let captured = fs::metadata(sandbox.path().join("dump/tensor_dump/tensor_dump.bin")).unwrap().len();
    assert!(dumped > timeline + captured / 2, "{dumped} bytes with {captured} captured, {timeline} without");
}

#[test]
fn many_short_tasks_show_that_the_control_threads_are_the_bottleneck() {
    let sandbox = Sandbox::new();
    files(&sandbox, "run", "stream", "short", &["--platform", "a2a3sim"]);
    let manifest: Manifest = checked(&sandbox.path().join("run"));
    let mut spent: BTreeMap<&str, u64> = BTreeMap::new();
    for phase in Swimlane::read(sandbox.path().join("run")).unwrap().phases {
        *spent.entry(phase.phase.as_str()).or_default() += phase.end.0 - phase.start.0;
    }
    assert_eq!(
        spent.values().sum::<u64>(),
        3 * manifest.makespan_ticks,
        "the phases are all of the threads' time"
    );
    let all =
        [Phase::Complete, Phase::Resolve, Phase::Dispatch, Phase::Reclaim, Phase::Idle].map(Phase::as_str);
    assert!(all.iter().all(|phase| spent.get(phase).is_some_and(|&ticks| ticks > 0)), "{spent:?}");
}

#[test]
fn a_policy_changes_when_things_happen_and_nothing_else() {
    let sandbox = Sandbox::new();
    let runs = ["fifo", "critical-path", "locality"].map(|policy| {
        let files = files(&sandbox, policy, "moe", "small", &["--platform", "a2a3sim", "--policy", policy]);
        let manifest: serde_json::Value = serde_json::from_slice(&files["run.json"]).unwrap();
        (manifest["golden"]["output_hash"].clone(), files["deps.json"].clone())
    });
    assert!(runs[1] == runs[0] && runs[2] == runs[0]);
}

#[test]
fn chaos_reports_every_draw_and_a_silent_core_ends_the_run_cleanly() {
    let (mut silent, mut well) = (0, 0);
    for seed in 0..16 {
        let sandbox = Sandbox::new();
        let seed = seed.to_string();
        let arguments = [
            "run",
            "matmul",
            "--case",
            "deep",
            "--platform",
            "a2a3sim",
            "--chaos",
            &seed,
            "--dfx",
            "-o",
            "run",
        ];
        let answer = sandbox.ringlane(&arguments);
        assert!(answer.stderr.contains("chaos: "), "{}", answer.stderr);
        checked(&sandbox.path().join("run"));
        if answer.status == 0 {
            well += 1;
            continue;
        }
        silent += 1;
        assert_eq!(answer.status, 1);
        assert!(answer.stderr.contains("CoreSilent"), "{}", answer.stderr);
        assert!(answer.stderr.contains("silent from its block"), "{}", answer.stderr);
    }
    assert!(well > 0, "{silent} of 16 fell silent");
}

#[test]
fn a_chip_of_ones_own_is_used_and_a_bad_one_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let chip =
        sandbox.ringlane(&["chips", "show", "a2a3sim"]).stdout.replace("clusters = 24", "clusters = 2");
    fs::write(sandbox.path().join("small.toml"), &chip).unwrap();
    fs::write(sandbox.path().join("bad.toml"), chip.replace("clusters = 2", "clusters = 0")).unwrap();
    let run = |file| {
        sandbox.ringlane(&["run", "vector", "--case", "one", "-p", "a2a3sim", "--chip", file, "-o", "run"])
    };
    let bad = run("bad.toml");
    assert_eq!(bad.status, 2, "{}", bad.stderr);
    assert!(bad.line("detail: ").contains("clusters"), "{}", bad.stderr);
    assert!(!sandbox.path().join("run").exists());
    let small = run("small.toml");
    assert_eq!(small.status, 0, "{}", small.stderr);
    assert!(small.stdout.contains("2 aic"), "{}", small.stdout);
    assert_eq!(sandbox.manifest()["cores"], 6);
    assert_eq!(sandbox.manifest()["model"]["policy"], "fifo");
}

#[test]
fn options_of_simulators_are_refused_elsewhere_and_counters_depend_on_the_platform() {
    let sandbox = Sandbox::new();
    let threads = sandbox.ringlane(&["run", "vector", "-p", "a5sim", "--threads", "2"]);
    assert_eq!((threads.status, threads.line("hint: ")), (2, "use --platform cpu, or leave out --threads"));
    for option in [["--policy", "fifo"], ["--chaos", "1"], ["--chip", "a.toml"]] {
        let answer = sandbox.ringlane(&["run", "vector", option[0], option[1]]);
        assert_eq!(answer.status, 2);
        assert!(answer.line("detail: ").starts_with(option[0]), "{}", answer.stderr);
        assert!(answer.line("hint: ").contains("--platform a2a3sim"), "{}", answer.stderr);
    }
    for (arguments, allowed) in [
        (["--platform", "a2a3sim", "--pmu=99"], "pipe"),
        (["--platform", "a2a3sim", "--pmu=cache"], "pipe"),
        (["--platform", "cpu", "--pmu=pipe"], "cache"),
        (["--platform", "a5sim", "--policy=best"], "critical-path"),
    ] {
        let answer = sandbox.ringlane(&[&["run", "vector"], &arguments[..]].concat());
        assert_eq!(answer.status, 2, "{arguments:?}");
        assert!(answer.line("detail: ").contains(allowed), "{}", answer.stderr);
    }
    assert_eq!(sandbox.files(), [""; 0]);
}

#[test]
fn buffers_that_run_full_make_the_chip_wait_in_its_own_time() {
    let sandbox = Sandbox::new();
    for platform in ["a2a3sim", "a5sim"] {
        let chip = sandbox.ringlane(&["chips", "show", platform]).stdout;
        let chip = chip.replace("\"64 KiB\"", "\"1 KiB\"").replace("\"25 GB/s\"", "\"1 MB/s\"");
        let file = format!("{platform}.toml");
        fs::write(sandbox.path().join(&file), chip).unwrap();
        let run = |name: &str, option: &str| {
            let scene =
                ["run", "cholesky", "--case", "ragged", "-p", platform, "--chip", &file, "-o", name, option];
            assert_eq!(sandbox.ringlane(&scene).status, 0);
            checked(&sandbox.path().join(name))
        };
        let watched = run(&format!("{platform}-watched"), "--chip-swimlane");
        let alone = run(&format!("{platform}-alone"), "--seed=0");
        assert!(watched.dfx_cost.writer_wait_ticks > 0, "{:?}", watched.dfx_cost);
        assert!(watched.makespan_ticks > alone.makespan_ticks, "the waits are on the timeline");
    }
}
