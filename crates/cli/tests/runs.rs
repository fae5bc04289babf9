//! Runs that go well: what is printed, what is written, where.

mod common;

use common::{Answer, Sandbox};
use std::path::Path;

#[test]
fn a_run_prints_a_table_and_says_where_its_files_are() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    for column in ["case", "platform", "tasks", "scopes", "wall", "ns/task", "golden"] {
        assert!(answer.stdout.lines().next().unwrap().contains(column), "{}", answer.stdout);
    }
    assert!(answer.stdout.contains("vector small") && answer.stdout.contains("pass"), "{}", answer.stdout);
    let place = answer.line("vector small: ");
    assert!(place.starts_with("outputs/vector_small_") && place.contains("peak memory"), "{place}");
    let dir = place.split(' ').next().unwrap();
    assert_eq!(sandbox.files(), ["outputs".to_string(), dir.to_string(), format!("{dir}/run.json")]);
}

#[test]
fn the_json_summary_has_every_field_and_is_alone_on_standard_output() {
    let sandbox = Sandbox::new();
    let answer =
        sandbox.ringlane(&["run", "vector", "--case", "small", "--threads", "2", "--seed", "3", "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let summary = answer.json();
    assert_eq!(summary["ok"], true);
    let run = &summary["runs"][0];
    assert_eq!(
        (&run["scene"], &run["case"], &run["platform"]),
        (&"vector".into(), &"small".into(), &"cpu".into())
    );
    assert_eq!(run["status"], "ok");
    assert!(run["error"].is_null());
    for number in
        ["threads", "tasks", "blocks", "scopes", "wall_us", "makespan_us", "ns_per_task", "peak_rss_bytes"]
    {
        assert!(run[number].is_number(), "{number}: {run}");
    }
    assert!(run["peak_rss_bytes"].as_u64().unwrap() > 1 << 20);
    let golden = &run["golden"];
    assert_eq!(golden["failed"], 0);
    assert!(golden["checked"].as_u64().unwrap() > 0 && !golden["output_hash"].as_str().unwrap().is_empty());
    assert!(sandbox.path().join(run["dir"].as_str().unwrap()).join("run.json").exists());
}

#[test]
fn run_json_states_what_was_run() {
    let sandbox = Sandbox::new();
    let run = ["run", "vector", "--case", "one", "--param", "n=100", "--seed", "7", "-o", "deep/er/run"];
    assert_eq!(sandbox.ringlane(&run).status, 0);
    assert_eq!(sandbox.files(), ["deep", "deep/er", "deep/er/run", "deep/er/run/run.json"]);
    let manifest = sandbox.manifest();
    for (field, value) in [("scene", "vector"), ("case", "one"), ("platform", "cpu"), ("status", "ok")] {
        assert_eq!(manifest[field], value);
    }
    assert_eq!(manifest["runtime"], "tensormap_and_ringbuffer");
    assert_eq!((&manifest["seed"], &manifest["params"]["n"]), (&7.into(), &"100".into()));
    for field in [
        "version",
        "ringlane",
        "threads",
        "started_at",
        "wall_us",
        "makespan_ticks",
        "clock_freq_hz",
        "error",
        "cores",
        "tasks",
        "blocks",
        "scopes",
        "skipped",
        "peak_heap_bytes",
        "dfx_flags",
        "swimlane_level",
        "overflow",
        "pmu",
        "dfx_cost",
        "golden",
        "files",
    ] {
        assert!(manifest.get(field).is_some(), "no {field}: {manifest}");
    }
}

#[test]
fn without_a_choice_every_case_runs_in_a_directory_of_its_own() {
    let sandbox = Sandbox::new();
    let answer = sandbox.odd(&["run", "flat", "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let summary = answer.json();
    let cases: Vec<_> = summary["runs"].as_array().unwrap().iter().map(|run| run["case"].clone()).collect();
    assert_eq!(cases, ["twenty", "hundred"]);
    assert_ne!(summary["runs"][0]["dir"], summary["runs"][1]["dir"]);
}

#[test]
fn rounds_repeat_a_case_and_the_table_shows_their_median() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small", "--rounds", "3"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.stdout.lines().next().unwrap().contains("median"), "{}", answer.stdout);
    assert_eq!(sandbox.manifest()["status"], "ok");
}

#[test]
fn when_all_rounds_are_observed_each_is_a_run_in_a_directory_of_its_own() {
    let sandbox = Sandbox::new();
    let rounds = ["--rounds", "3", "--dfx-rounds", "all", "--dep-gen"];
    let answer = sandbox.ringlane(&[&["run", "vector", "--case", "small", "-o", "x"], &rounds[..]].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let files = sandbox.files();
    let manifests: Vec<_> = files.iter().filter(|path| path.ends_with("run.json")).collect();
    assert_eq!(manifests, ["x/round_1/run.json", "x/round_2/run.json", "x/round_3/run.json", "x/run.json"]);
}

#[test]
fn equal_seeds_give_equal_values_and_other_seeds_others() {
    let hash = |seed| {
        let answer = Sandbox::new().ringlane(&["run", "vector", "--case", "small", "--seed", seed, "--json"]);
        answer.json()["runs"][0]["golden"]["output_hash"].clone()
    };
    assert_eq!(hash("1"), hash("1"));
    assert_ne!(hash("1"), hash("2"));
}

#[test]
fn eight_runs_that_start_at_once_never_share_a_directory() {
    let sandbox = Sandbox::new();
    let ringlane = Path::new(env!("CARGO_BIN_EXE_ringlane"));
    let arguments = ["run", "vector", "--case", "one", "--json"];
    let start = |_| sandbox.command(ringlane, &arguments).spawn().expect("the command starts");
    let children: Vec<_> = (0..8).map(start).collect();
    let mut dirs: Vec<String> = children
        .into_iter()
        .map(|child| Answer::of(child.wait_with_output().unwrap()))
        .map(|answer| answer.json()["runs"][0]["dir"].as_str().unwrap().to_string())
        .collect();
    dirs.sort();
    dirs.dedup();
    assert_eq!(dirs.len(), 8, "{dirs:?}");
    assert!(dirs.iter().all(|dir| sandbox.path().join(dir).join("run.json").exists()));
}

#[test]
fn capacities_are_taken_for_all_rings_or_one_for_each_and_with_suffixes() {
    let rings = ["--ring-task-window", "64", "--ring-heap", "1M,2MiB,4m,8388608", "--ring-args", "64K"];
    let others = ["--ring-dep-pool", "1024", "--tensormap", "4096"];
    let arguments = [&["run", "vector", "--case", "small"][..], &rings, &others].concat();
    let answer = Sandbox::new().ringlane(&arguments);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
}

#[test]
fn list_shows_scenes_cases_parameters_and_platforms() {
    let sandbox = Sandbox::new();
    let text = sandbox.ringlane(&["list"]).stdout;
    for part in ["vector", "--case  small", "--param n=", "cpu"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    let list = sandbox.ringlane(&["list", "--json"]).json();
    let vector = list["scenes"].as_array().unwrap().iter().find(|scene| scene["name"] == "vector").unwrap();
    assert!(vector["about"].is_string() && vector["cases"][0]["about"].is_string());
    let n = vector["params"].as_array().unwrap().iter().find(|param| param["name"] == "n").unwrap();
    assert!(n["default"].is_string() && n["about"].is_string());
    let platforms = list["platforms"].as_array().expect("a list");
    let names: Vec<_> = platforms.iter().map(|platform| platform["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cpu", "a2a3sim", "a5sim", "cuda"]);
    assert!(platforms.iter().all(|platform| platform["about"].is_string()));
    // Not every machine has a GPU.
    assert!(platforms[..3].iter().all(|platform| platform["available"] == true));
    assert!(sandbox.files().is_empty());
}

#[test]
fn help_version_and_completions_are_results() {
    let sandbox = Sandbox::new();
    for (arguments, part) in [
        (&["--help"][..], "Example:"),
        (&["list", "--help"], "Example:"),
        (&["run", "--help"], "--ring-task-window"),
        (&["chips", "--help"], "Example:"),
        (&["chips", "show", "--help"], "Example:"),
        (&["completions", "--help"], "Example:"),
        (&["--version"], "ringlane 0."),
        (&["completions", "bash"], "complete -F"),
    ] {
        let answer = sandbox.ringlane(arguments);
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(answer.stdout.contains(part), "{}", answer.stdout);
    }
    let help = sandbox.ringlane(&["run", "--help"]).stdout;
    let options =
        ["--chip-swimlane[=<LEVEL>]", "--dump-tensor[=", "--pmu[=<GROUP>]", "--dep-gen", "--scope-stats"];
    let examples = ["--case small --dfx\n", "--dump-tensor=QK,PV:2\n", "--dfx-rounds all\n"];
    for word in options.iter().chain(&examples) {
        assert!(help.contains(word), "{word} is not in:\n{help}");
    }
}
