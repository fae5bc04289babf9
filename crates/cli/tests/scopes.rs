//! `ringlane scopes`: what it prints, and that its options can be pasted: after a run that went well and after a deadlock.

mod common;

use common::expected::{expect, without_lines};
use common::{Answer, Sandbox};
use serde_json::Value;

const PLATFORMS: [&str; 2] = ["cpu", "a2a3sim"];

/// Runs a scene with scope statistics and capacities as an option line gives them.
fn run(sandbox: &Sandbox, dir: &str, scene: &[&str], platform: &str, options: &str) -> Answer {
    let mut arguments = vec!["run"];
    arguments.extend(scene);
    arguments.extend(["-p", platform, "--scope-stats", "-o", dir]);
    arguments.extend(options.split_whitespace());
    sandbox.ringlane(&arguments)
}

fn scopes(sandbox: &Sandbox, dir: &str) -> Value {
    let answer = sandbox.ringlane(&["scopes", dir, "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer.json()
}

fn options(summary: &Value) -> String {
    summary["options"].as_str().unwrap().to_string()
}

#[test]
fn the_text_of_a_run_that_went_well() {
    let sandbox = Sandbox::new();
    run(&sandbox, "r", &["paged_attention", "--case", "small"], "a2a3sim", "");
    let answer = sandbox.ringlane(&["scopes", "r"]);
    assert_eq!((answer.status, &*answer.stderr), (0, ""));
    expect("scopes_good", &without_lines(&answer.stdout));
}

#[test]
fn the_text_of_a_run_that_a_full_ring_stopped() {
    let sandbox = Sandbox::new();
    run(&sandbox, "r", &["fanin", "--case", "small"], "a2a3sim", "--ring-task-window 16");
    expect("scopes_fatal", &without_lines(&sandbox.ringlane(&["scopes", "r"]).stdout));
}

#[test]
fn submits_that_waited_are_reported() {
    let sandbox = Sandbox::new();
    run(&sandbox, "r", &["stream", "--case", "short"], "a2a3sim", "--ring-task-window 64");
    let summary = scopes(&sandbox, "r");
    let waits = summary["waits"]["count"].as_u64().unwrap();
    assert!(waits > 0, "{summary}");
    for rows in ["stores", "sites"] {
        let rows = summary[rows].as_array().unwrap();
        let sum: u64 = rows.iter().map(|row| row["waits"]["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, waits, "{rows:?}");
    }
}

#[test]
fn with_the_smallest_capacities_every_scene_passes_and_they_are_the_smallest_again() {
    let sandbox = Sandbox::new();
    let listed = sandbox.ringlane(&["list", "--json"]).json();
    for scene in listed["scenes"].as_array().unwrap() {
        let name = scene["name"].as_str().unwrap();
        let case = if name == "stream" { "short" } else { "small" };
        for platform in PLATFORMS {
            let (first, again) = (format!("{name}-{platform}"), format!("{name}-{platform}-again"));
            assert_eq!(run(&sandbox, &first, &[name, "--case", case], platform, "").status, 0);
            let smallest = options(&scopes(&sandbox, &first));
            let answer = run(&sandbox, &again, &[name, "--case", case], platform, &smallest);
            assert_eq!(answer.status, 0, "{name} on {platform} {smallest}:\n{}", answer.stderr);
            let (rings, _) = smallest.rsplit_once(" --tensormap").unwrap();
            assert!(
                options(&scopes(&sandbox, &again)).starts_with(rings),
                "{name} on {platform}: {smallest}"
            );
        }
    }
}

#[test]
fn after_a_deadlock_the_run_passes_with_the_options_for_each_resource() {
    let sandbox = Sandbox::new();
    let attention: &[&str] = &["paged_attention", "--case", "ragged"];
    let cases: [(&[&str], &str, &str); 8] = [
        (attention, "task_window", "--ring-task-window 4"),
        (attention, "heap", "--ring-heap 4096"),
        (attention, "dep_pool", "--ring-dep-pool 2 --ring-task-window 1024"),
        (attention, "args", "--ring-args 256"),
        (attention, "tensormap", "--tensormap 16"),
        (&["fanin", "--case", "small"], "task_window", "--ring-task-window 16 --ring-args 65536"),
        (&["moe", "--case", "small"], "dep_pool", "--ring-dep-pool 2"),
        (&["stream", "--case", "short"], "task_window", "--ring-task-window 4"),
    ];
    for (number, (scene, resource, small)) in cases.into_iter().enumerate() {
        for platform in PLATFORMS {
            let mut pasted = small.to_string();
            // A later scope may need more than the first that did not fit: each stop is got past with one rerun.
            for attempt in 0.. {
                let dir = format!("{number}-{platform}-{attempt}");
                let answer = run(&sandbox, &dir, scene, platform, &pasted);
                if answer.status == 0 {
                    assert!(attempt > 0, "{scene:?} passed with {small}");
                    break;
                }
                assert!(answer.line("error: ").starts_with("FlowControlDeadlock"), "{}", answer.stderr);
                let summary = scopes(&sandbox, &dir);
                assert_eq!(summary["fatal"]["resource"], resource, "{summary}");
                assert_eq!(summary["stores"][0]["resource"], resource, "the fullest comes first: {summary}");
                assert!(attempt < 3, "{scene:?} {platform} {pasted}");
                pasted = options(&summary);
            }
        }
    }
}

#[test]
fn a_task_too_large_for_its_ring_gets_the_option_of_its_error() {
    let sandbox = Sandbox::new();
    let scene = ["paged_attention", "--case", "small"];
    let answer = run(&sandbox, "r", &scene, "cpu", "--ring-heap 1024 --tensormap 1024");
    assert!(answer.line("error: ").starts_with("TaskTooLarge"), "{}", answer.stderr);
    let text = sandbox.ringlane(&["scopes", "r"]).stdout;
    assert!(
        text.contains(
            "The options of the run, with the value from the hint\n  --ring-heap 4096 --tensormap 1024\n"
        ),
        "{text}"
    );
}

#[test]
fn a_run_without_the_file_and_files_that_are_not_scopes_are_reported() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["scopes"]);
    assert_eq!((answer.status, &*answer.stdout), (2, ""));
    assert!(answer.line("error: ").starts_with("NoRecordedRun"), "{}", answer.stderr);
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "--pmu", "-o", "p"]).status, 0);
    let answer = sandbox.ringlane(&["scopes", "p"]);
    assert_eq!((answer.status, answer.line("hint: ")), (2, "repeat the run with --scope-stats"));
    run(&sandbox, "s", &["vector", "--case", "small"], "cpu", "");
    let file = sandbox.path().join("s/scope_stats.json");
    let good = std::fs::read(&file).unwrap();
    let versions = String::from_utf8(good.clone()).unwrap().replacen("\"version\":1", "\"version\":7", 1);
    for (bytes, name) in [
        (b"".to_vec(), "Damaged"),
        (good[..good.len() / 2].to_vec(), "Damaged"),
        (vec![b'x'; good.len()], "Damaged"),
        (versions.into_bytes(), "UnknownVersion"),
    ] {
        std::fs::write(&file, &bytes).unwrap();
        let answer = sandbox.ringlane(&["scopes", "s"]);
        assert_eq!((answer.status, &*answer.stdout), (2, ""), "{name}: {}", answer.stderr);
        assert!(answer.line("error: ").starts_with(name), "{name}: {}", answer.stderr);
    }
}
