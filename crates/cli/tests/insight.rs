//! The commands that explain a run, on runs of every scene: all work, and what has to add up does.

mod common;

use common::Sandbox;
use ringlane_trace::Manifest;
use serde_json::Value;

/// A small case of every scene.
const SCENES: [(&str, &str); 9] = [
    ("vector", "small"),
    ("matmul", "small"),
    ("cholesky", "small"),
    ("wavefront", "small"),
    ("heat", "small"),
    ("paged_attention", "small"),
    ("fanin", "few"),
    ("moe", "small"),
    ("stream", "short"),
];

/// The commands that are about one run and need nothing else.
const EVERY_COMMAND: [&str; 10] =
    ["swimlane", "overhead", "critical-path", "mermaid", "deps", "dump", "pmu", "scopes", "report", "check"];

fn record(sandbox: &Sandbox, scene: &str, case: &str, platform: &str, options: &[&str]) -> String {
    let out = format!("{scene}_{platform}");
    let tasks = ["--param", "tasks=2000"];
    let params = if scene == "stream" { &tasks[..] } else { &[] };
    let arguments = ["run", scene, "--case", case, "-p", platform, "-o", &out];
    let answer = sandbox.ringlane(&[&arguments, params, options].concat());
    assert_eq!(answer.status, 0, "{scene} on {platform}: {}", answer.stderr);
    out
}

fn json_of(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let answer = sandbox.ringlane(&[arguments, &["--json"]].concat());
    assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.stderr);
    answer.json()
}

fn makespan_of(sandbox: &Sandbox, run: &str) -> u64 {
    Manifest::read(sandbox.path().join(run)).unwrap().makespan_ticks
}

fn numbers<'a>(list: &'a Value, name: &'a str) -> impl Iterator<Item = u64> + 'a {
    list.as_array().unwrap().iter().map(move |row| row[name].as_u64().unwrap())
}

/// The path adds up to the makespan, its segments touch, and the shares of cores' time add up to the whole.
fn sums_are_exact(sandbox: &Sandbox, run: &str) {
    let path = json_of(sandbox, &["critical-path", run]);
    let makespan = path["makespan_ticks"].as_u64().unwrap();
    assert_eq!(makespan_of(sandbox, run), makespan, "{run}");
    assert_eq!(numbers(&path["causes"], "ticks").sum::<u64>(), makespan, "{run}");
    let ends: Vec<_> = numbers(&path["segments"], "end").collect();
    let starts: Vec<_> = numbers(&path["segments"], "start").chain([makespan]).collect();
    assert_eq!(starts[0], 0, "{run}");
    assert_eq!(starts[1..], ends, "{run}: segments touch");
    assert!(path["longest_chain"]["ticks"].as_u64().unwrap() <= makespan, "{run}");
    let overhead = json_of(sandbox, &["overhead", run]);
    for kind in overhead["kinds"].as_array().unwrap() {
        for parts in [&kind["core_time"], &kind["instants"]] {
            let whole: f64 = parts.as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum();
            assert!((whole - 1.0).abs() < 1e-12, "{run}: {parts}");
        }
    }
}

#[test]
fn on_every_scene_and_both_kinds_of_chip_every_command_works_and_sums_are_exact() {
    let sandbox = Sandbox::new();
    for platform in ["cpu", "a2a3sim"] {
        for (scene, case) in SCENES {
            let run = record(&sandbox, scene, case, platform, &["--dfx"]);
            let check = json_of(&sandbox, &["check", &run]);
            assert_eq!(check["broken"].as_array().unwrap().len(), 0, "{check}");
            sums_are_exact(&sandbox, &run);
            for command in EVERY_COMMAND {
                let answer = sandbox.ringlane(&[command, &run]);
                assert_eq!(
                    (answer.status, answer.stdout.is_empty()),
                    (0, false),
                    "{command} {}",
                    answer.stderr
                );
            }
            let same = json_of(&sandbox, &["compare", &run, &run]);
            assert_eq!(same["makespan_us"]["by"], 0.0);
            let twice = sandbox.ringlane(&["dump", "diff", &run, &run]);
            assert_eq!(twice.status, 0, "{}", twice.stdout);
            assert_eq!(sandbox.ringlane(&["dump", "bad", &run]).status, 0, "{scene} makes no NaN");
        }
    }
}

#[test]
fn from_level_2_on_with_or_without_dependencies_a_path_adds_up_and_level_1_is_refused() {
    let sandbox = Sandbox::new();
    for level in ["1", "2", "3"] {
        for deps in [&[][..], &["--dep-gen"]] {
            let dir = sandbox.path().join("cholesky_cpu");
            let _ = std::fs::remove_dir_all(&dir);
            let swimlane = format!("--chip-swimlane={level}");
            let run = record(&sandbox, "cholesky", "small", "cpu", &[&[swimlane.as_str()], deps].concat());
            if level != "1" {
                let path = json_of(&sandbox, &["critical-path", &run]);
                assert_eq!(numbers(&path["causes"], "ticks").sum::<u64>(), makespan_of(&sandbox, &run));
            }
            let path = sandbox.ringlane(&["critical-path", &run]);
            assert_eq!(path.status, if level == "1" { 2 } else { 0 }, "{}", path.stderr);
            let overhead = sandbox.ringlane(&["overhead", &run]);
            assert_eq!(overhead.status, if level == "1" { 2 } else { 0 }, "{}", overhead.stderr);
            let has_note = level != "1" && deps.is_empty();
            assert_eq!(overhead.stderr.contains("note: without --dep-gen"), has_note, "{}", overhead.stderr);
        }
    }
}

#[test]
fn level_2_blames_the_same_as_level_3_although_it_does_not_know_submits() {
    let sandbox = Sandbox::new();
    let limit = |level: &str| {
        let _ = std::fs::remove_dir_all(sandbox.path().join("cholesky_a2a3sim"));
        let options = ["--param", "tile=8", level, "--dep-gen"];
        let run = record(&sandbox, "cholesky", "small", "a2a3sim", &options);
        json_of(&sandbox, &["overhead", &run])["verdict"]["limit"].clone()
    };
    assert_eq!(limit("--chip-swimlane=2"), limit("--chip-swimlane=3"));
}

#[test]
fn every_answer_about_a_run_begins_with_the_same_verdict() {
    let sandbox = Sandbox::new();
    let every_file = &["--dfx"][..];
    let runs = [("cholesky", "small", "a2a3sim", every_file), ("fanin", "few", "cpu", every_file)];
    for (scene, case, platform, options) in runs {
        let run = record(&sandbox, scene, case, platform, options);
        let first = |command: &str| {
            let answer = sandbox.ringlane(&[command, &run]);
            answer.stdout.lines().take(2).map(str::to_string).collect::<Vec<_>>()
        };
        let lines = first("overhead");
        assert_eq!(first("critical-path"), lines);
        let verdict = json_of(&sandbox, &["overhead", &run])["verdict"].clone();
        assert_eq!(verdict["sentence"], lines[0].as_str());
        assert_eq!(lines[1], format!("What helps: {}.", verdict["remedy"].as_str().unwrap()));
        let path = json_of(&sandbox, &["critical-path", &run]);
        assert_eq!(path["verdict"], verdict);
        // It is the largest line of the path.
        let largest = path["causes"].as_array().unwrap().iter().max_by_key(|cause| cause["ticks"].as_u64());
        assert_eq!(largest.unwrap()["cause"], verdict["cause"]);
        assert_eq!(sandbox.ringlane(&["report", &run]).status, 0);
        let page = sandbox.page_data(&format!("{run}/report.html"));
        assert_eq!(page["time"]["verdict"], verdict);
        assert_eq!(page["findings"][0]["text"], verdict["sentence"]);
        // Time in place of counters shows nothing of memory.
        let manifest = Manifest::read(sandbox.path().join(&run)).unwrap();
        if manifest.pmu.is_some_and(|pmu| pmu.source == "tsc") {
            assert!(verdict["memory_share"].is_null() && verdict["limit"] != "memory-bound", "{verdict}");
        }
    }
}

#[test]
fn a_verdict_without_its_counters_says_so() {
    let sandbox = Sandbox::new();
    let run = record(&sandbox, "matmul", "small", "a2a3sim", &["--chip-swimlane", "--pmu"]);
    let file = sandbox.path().join(&run).join("pmu.csv");
    let size = std::fs::metadata(&file).unwrap().len() as usize;
    std::fs::write(&file, vec![b'x'; size]).unwrap();
    for command in ["overhead", "critical-path"] {
        let answer = sandbox.ringlane(&[command, &run]);
        assert_eq!(answer.status, 0, "{}", answer.stderr);
        assert!(answer.stderr.contains("note: without its counters: "), "{}", answer.stderr);
        assert!(answer.stderr.contains("pmu.csv"), "{}", answer.stderr);
    }
}

#[test]
fn without_a_name_the_newest_run_that_has_the_file_is_taken_and_said() {
    let sandbox = Sandbox::new();
    let none = sandbox.ringlane(&["overhead"]);
    assert_eq!(none.status, 2);
    assert!(none.line("error: ").starts_with("NoRecordedRun"), "{}", none.stderr);
    assert!(none.line("hint: ").contains("--chip-swimlane"), "{}", none.stderr);
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "--chip-swimlane"]).status, 0);
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "--scope-stats"]).status, 0);
    let found = sandbox.ringlane(&["overhead"]);
    assert_eq!(found.status, 0, "{}", found.stderr);
    assert!(found.stderr.starts_with("outputs/vector_small_"), "{}", found.stderr);
    let dir = found.stderr.lines().next().unwrap();
    for command in ["overhead", "check"] {
        let by_file = sandbox.ringlane(&[command, &format!("{dir}/run.json")]);
        assert_eq!(by_file.status, 0, "{}", by_file.stderr);
    }
    let checked = sandbox.ringlane(&["check"]);
    assert_eq!(checked.status, 0, "{}", checked.stderr);
    let wrong = sandbox.ringlane(&["overhead", "outputs/nowhere"]);
    assert_eq!((wrong.status, wrong.line("error: ").starts_with("NoSuchRun")), (2, true), "{}", wrong.stderr);
    assert!(wrong.line("detail: ").contains("outputs/vector_small_"), "{}", wrong.stderr);
}

#[test]
fn a_lie_in_a_file_is_found_and_named() {
    let sandbox = Sandbox::new();
    let run = record(&sandbox, "matmul", "small", "cpu", &["--dfx"]);
    let deps = sandbox.path().join(&run).join("deps.json");
    let text = std::fs::read_to_string(&deps).unwrap();
    std::fs::write(&deps, text.replacen("\"block_num\":1", "\"block_num\":2", 1)).unwrap();
    let answer = sandbox.ringlane(&["check", &run]);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(answer.stdout.contains("deps.json: "), "{}", answer.stdout);
}

#[test]
fn a_slower_run_fails_over_the_limit_and_another_program_is_not_compared() {
    let sandbox = Sandbox::new();
    let fast = record(&sandbox, "cholesky", "small", "a2a3sim", &["--chip-swimlane"]);
    let slow = "slow".to_string();
    let more = ["--param", "n=256", "-o", &slow];
    let arguments = ["run", "cholesky", "--case", "small", "-p", "a2a3sim", "--chip-swimlane"];
    let answer = sandbox.ringlane(&[&arguments[..], &more].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let over = sandbox.ringlane(&["compare", &fast, &slow, "--fail-over", "5%"]);
    assert_eq!(over.status, 1, "{}\n{}", over.stdout, over.stderr);
    assert!(over.stderr.contains("more than 5.0 %"), "{}", over.stderr);
    assert!(over.stderr.contains("note: the runs differ: parameter n 128 and 256"), "{}", over.stderr);
    assert_eq!(
        sandbox.ringlane(&["compare", &slow, &fast, "--fail-over", "5%"]).status,
        0,
        "faster is no failure"
    );
    let moved = json_of(&sandbox, &["compare", &fast, &slow]);
    let causes: f64 =
        moved["critical_path"].as_array().unwrap().iter().map(|c| c["us"]["by"].as_f64().unwrap()).sum();
    assert!((causes - moved["makespan_us"]["by"].as_f64().unwrap()).abs() < 1e-6, "{moved}");
    let other = record(&sandbox, "vector", "small", "cpu", &["--chip-swimlane"]);
    let refused = sandbox.ringlane(&["compare", &fast, &other]);
    assert_eq!(refused.status, 2);
    assert!(refused.line("error: ").starts_with("NotComparable"), "{}", refused.stderr);
}

#[test]
fn a_run_that_failed_is_not_a_faster_one() {
    let sandbox = Sandbox::new();
    let good = record(&sandbox, "paged_attention", "small", "a2a3sim", &["--chip-swimlane"]);
    let arguments = [
        "run",
        "paged_attention",
        "--case",
        "small",
        "-p",
        "a2a3sim",
        "--ring-task-window",
        "4",
        "-o",
        "bad",
    ];
    assert_eq!(sandbox.ringlane(&arguments).status, 1);
    let worse = sandbox.ringlane(&["compare", &good, "bad", "--fail-over", "0"]);
    assert_eq!(worse.status, 1, "{}", worse.stdout);
    assert!(worse.stderr.contains("the second run ended fatal"), "{}", worse.stderr);
    assert_eq!(sandbox.ringlane(&["compare", "bad", &good, "--fail-over", "1000000%"]).status, 0);
}

#[test]
fn of_a_run_whose_rounds_were_all_observed_the_last_is_taken_and_all_are_checked() {
    let sandbox = Sandbox::new();
    let rounds = ["run", "vector", "--case", "small", "--dfx", "--rounds", "3", "--dfx-rounds", "all"];
    assert_eq!(sandbox.ringlane(&[&rounds[..], &["-o", "run"]].concat()).status, 0);
    let last = sandbox.ringlane(&["overhead", "run"]);
    assert_eq!((last.status, last.stderr.starts_with("run/round_3\n")), (0, true), "{}", last.stderr);
    assert_eq!(sandbox.ringlane(&["overhead", "run/round_1"]).status, 0);
    assert_eq!(sandbox.ringlane(&rounds).status, 0);
    let newest = sandbox.ringlane(&["overhead"]);
    assert!(newest.stderr.lines().next().unwrap().ends_with("/round_3"), "{}", newest.stderr);
    let alone = json_of(&sandbox, &["check", "run/round_1"])["held"].as_u64().unwrap();
    assert!(json_of(&sandbox, &["check", "run"])["held"].as_u64().unwrap() > 3 * alone);
    std::fs::write(sandbox.path().join("run/round_2/pmu.csv"), "no counters").unwrap();
    let broken = sandbox.ringlane(&["check", "run"]);
    assert_eq!((broken.status, broken.stdout.contains("round_2/pmu.csv: ")), (1, true), "{}", broken.stdout);
}

#[test]
fn what_a_terminal_would_obey_is_escaped_wherever_a_file_is_quoted() {
    let sandbox = Sandbox::new();
    let run = record(&sandbox, "matmul", "small", "cpu", &["--dfx"]);
    let edit = |from: &str, change: &dyn Fn(&mut Value)| {
        let path = sandbox.path().join(&run).join(from);
        let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut json);
        std::fs::write(path, json.to_string()).unwrap();
    };
    std::fs::create_dir(sandbox.path().join("other")).unwrap();
    std::fs::copy(sandbox.path().join(&run).join("run.json"), sandbox.path().join("other/run.json")).unwrap();
    edit("../other/run.json", &|json| {
        json["params"]["n"] = "\u{1b}[31m7".into();
        json["files"] = Value::Array(Vec::new());
    });
    let compared = sandbox.ringlane(&["compare", &run, "other"]);
    assert_eq!(compared.status, 0, "{}", compared.stderr);
    assert!(compared.stderr.contains("and \\u{1b}[31m7\n"), "{}", compared.stderr);
    edit("scope_stats.json", &|json| {
        json["scopes"][0]["site"] = "a\u{1b}[31m.rs:1".into();
        json["scopes"][0]["depth"] = 9.into();
    });
    let checked = sandbox.ringlane(&["check", &run]);
    assert_eq!(checked.status, 1, "{}", checked.stderr);
    assert!(checked.stdout.contains("a\\u{1b}[31m.rs:1"), "{}", checked.stdout);
    // The platform is quoted by an error.
    edit("run.json", &|json| json["platform"] = "\u{1b}[31mcpu".into());
    let refused = sandbox.ringlane(&["overhead", &run]);
    assert_eq!(refused.status, 2);
    assert!(refused.line("detail: ").contains("\\u{1b}[31mcpu"), "{}", refused.stderr);
    for text in [compared.stderr, checked.stdout, refused.stderr] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn commands_about_two_runs_and_the_page_use_the_last_of_the_observed_rounds() {
    let sandbox = Sandbox::new();
    let rounds = ["--dfx", "--rounds", "2", "--dfx-rounds", "all"];
    let run = record(&sandbox, "vector", "small", "cpu", &rounds);
    let last = format!("{run}/round_2");
    for arguments in [&["report", &run][..], &["compare", &run, &last], &["dump", "diff", &run, &run]] {
        let answer = sandbox.ringlane(arguments);
        assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.stderr);
        assert!(answer.stderr.starts_with(&format!("{last}\n")), "{arguments:?}: {}", answer.stderr);
        assert!(!answer.stderr.contains("note: "), "{arguments:?}: {}", answer.stderr);
    }
    assert!(sandbox.path().join(&last).join("report.html").is_file());
    assert!(!sandbox.path().join(&run).join("report.html").exists());
    let compared = sandbox.ringlane(&["compare", &run, &last, "--json"]).json();
    assert!(!compared["kernels"].as_array().unwrap().is_empty(), "{compared}");
}

#[test]
fn a_file_that_is_cut_short_or_missing_is_damaged_and_its_size_or_absence_is_the_reason() {
    let sandbox = Sandbox::new();
    let run = record(&sandbox, "vector", "small", "cpu", &["--dfx"]);
    let dir = sandbox.path().join(&run);
    let size = |file: &str| std::fs::metadata(dir.join(file)).unwrap().len();
    let (deps, pmu) = (size("deps.json"), size("pmu.csv"));
    std::fs::OpenOptions::new().write(true).open(dir.join("deps.json")).unwrap().set_len(100).unwrap();
    std::fs::remove_file(dir.join("pmu.csv")).unwrap();
    for (command, detail) in [
        ("deps", format!("deps.json: it is 100 bytes, and run.json says {deps}")),
        ("pmu", format!("pmu.csv: the file is missing; run.json lists it with {pmu} bytes")),
    ] {
        let answer = sandbox.ringlane(&[command, &run]);
        assert_eq!(answer.status, 2, "{}", answer.stderr);
        assert!(answer.line("error: ").starts_with("Damaged: "), "{}", answer.stderr);
        assert!(answer.line("detail: ").ends_with(&detail), "{}", answer.stderr);
    }
}

#[test]
fn files_that_are_damaged_or_of_another_run_are_refused_with_their_name() {
    let sandbox = Sandbox::new();
    let run = record(&sandbox, "matmul", "small", "cpu", &["--dfx"]);
    let file = sandbox.path().join(&run).join("l2_perf_records.json");
    let whole = std::fs::read(&file).unwrap();
    let same_size = vec![b'x'; whole.len()];
    for bytes in [&b""[..], &whole[..whole.len() / 2], &same_size[..]] {
        std::fs::write(&file, bytes).unwrap();
        for command in ["overhead", "critical-path"] {
            let answer = sandbox.ringlane(&[command, &run]);
            assert_eq!(answer.status, 2, "{}", answer.stderr);
            assert!(answer.line("error: ").starts_with("Damaged: "), "{}", answer.stderr);
            assert!(answer.line("detail: ").contains("l2_perf_records.json"), "{}", answer.stderr);
        }
        assert_eq!(sandbox.ringlane(&["check", &run]).status, 1);
    }
}

#[test]
fn what_was_not_recorded_is_reported_in_text_and_in_json() {
    let sandbox = Sandbox::new();
    for options in [&["--chip-swimlane=2"][..], &["--chip-swimlane=3"], &["--chip-swimlane=3", "--dep-gen"]] {
        let _ = std::fs::remove_dir_all(sandbox.path().join("cholesky_cpu"));
        let run = record(&sandbox, "cholesky", "small", "cpu", options);
        for command in ["overhead", "critical-path"] {
            let answer = sandbox.ringlane(&[command, &run, "--json"]);
            assert_eq!(answer.status, 0, "{}", answer.stderr);
            let said: Vec<_> = answer.stderr.lines().filter_map(|line| line.strip_prefix("note: ")).collect();
            assert_eq!(answer.json()["notes"], serde_json::json!(said), "{command} {options:?}");
            // Without its dependencies there is nothing to replay.
            let missing = usize::from(options[0].ends_with('2')) + 2 * usize::from(options.len() == 1);
            assert_eq!(said.len(), missing, "{said:?}");
            let gains = said.iter().any(|note| note.starts_with("no predicted gains: "));
            assert_eq!(gains, options.len() == 1, "{said:?}");
        }
    }
}
