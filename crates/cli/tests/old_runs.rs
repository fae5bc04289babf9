//! Runs that an earlier version recorded (`fixtures/runs`, all diagnostics on) still pass `check`, and the commands give the
//! answers that the earlier version gave (`fixtures/answers`). Answers may have more fields, never other ones.

mod common;

use std::path::{Path, PathBuf};

use common::Sandbox;
use serde_json::Value;

/// Every run, and the run of a worker below the last one.
const RUNS: [&str; 4] = ["cpu", "a2a3sim", "workers", "workers/chip0/1"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn run_dir(run: &str) -> String {
    fixtures().join("runs").join(run).display().to_string()
}

/// What the earlier version answered; `None` where the run did not record what the command needs.
fn answer(run: &str, file: &str) -> Option<String> {
    let name = format!("{}_{file}", run.replace('/', "_"));
    std::fs::read_to_string(fixtures().join("answers").join(name)).ok()
}

/// Where `found` is not what was expected; fields that were not there before are no difference.
fn difference(found: &Value, expected: &Value, at: &str) -> Option<String> {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected.iter().find_map(|(name, expected)| {
            // These two name the place of the run and of what was written.
            if name == "run" || name == "file" {
                return None;
            }
            let at = format!("{at}.{name}");
            match found.get(name) {
                Some(found) => difference(found, expected, &at),
                None => Some(format!("{at} is not there any more")),
            }
        }),
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            let mut pairs = found.iter().zip(expected).enumerate();
            pairs
                .find_map(|(place, (found, expected))| difference(found, expected, &format!("{at}[{place}]")))
        }
        _ => (found != expected).then(|| format!("{at} is {found}, was {expected}")),
    }
}

#[test]
fn old_runs_pass_the_check() {
    let sandbox = Sandbox::new();
    for run in RUNS {
        let answer = sandbox.ringlane(&["check", &run_dir(run)]);
        assert_eq!(answer.status, 0, "{run}: {}{}", answer.stdout, answer.stderr);
    }
}

#[test]
fn old_runs_give_the_same_answers() {
    let (sandbox, mut compared) = (Sandbox::new(), 0);
    for run in RUNS {
        for command in ["swimlane", "critical-path", "scopes", "pmu", "overhead", "dump", "compare"] {
            let Some(expected) = answer(run, &format!("{command}.json")) else { continue };
            let dir = run_dir(run);
            let more: &[&str] = match command {
                "swimlane" => &["-o", "trace.json"],
                "compare" => &[&dir],
                _ => &[],
            };
            let found = sandbox.ringlane(&[&[command, &dir, "--json"], more].concat());
            assert_eq!(found.status, 0, "{command} {run}: {}", found.stderr);
            let mut found = found.json();
            // Old runs did not record what a replay needs, and a note says so now.
            if let Some(notes) = found["notes"].as_array_mut() {
                notes.retain(|note| {
                    !note.as_str().is_some_and(|note| note.starts_with("no predicted gains: "))
                });
            }
            let differs = difference(&found, &serde_json::from_str(&expected).unwrap(), command);
            assert_eq!(differs, None, "{run}");
            compared += 1;
        }
        let found = sandbox.ringlane(&["deps", &run_dir(run)]).stdout;
        assert_eq!(Some(found), answer(run, "deps.txt"), "deps of {run}");
    }
    assert_eq!(compared, 24, "the run over workers itself has no counters and no dump");
}
