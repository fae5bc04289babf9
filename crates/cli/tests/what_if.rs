//! `ringlane what-if`: what it prints, what it keeps, and what it refuses.

mod common;

use common::{Answer, Sandbox};

/// A sandbox with a recorded run in `run`.
fn recorded(platform: &str, options: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    let scene = ["run", "cholesky", "--case", "small", "-p", platform, "-o", "run"];
    let run = sandbox.ringlane(&[&scene, options].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    sandbox
}

fn exact() -> Sandbox {
    recorded("a2a3sim", &["--chip-swimlane=3", "--dep-gen"])
}

fn what_if(sandbox: &Sandbox, options: &[&str]) -> Answer {
    sandbox.ringlane(&[&["what-if", "run"], options].concat())
}

/// The names of the fields of an object, sorted.
fn fields(value: &serde_json::Value) -> Vec<&str> {
    let mut names: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_table_ranks_about_thirty_experiments_and_its_baseline_is_exact() {
    let sandbox = exact();
    let answer = what_if(&sandbox, &["--json"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let json = answer.json();
    assert_eq!(
        fields(&json),
        ["baseline", "bound_gain", "bound_us", "experiments", "limit", "notes", "sentence"]
    );
    assert_eq!(fields(&json["baseline"]), ["error", "recorded_us", "replayed_us"]);
    assert_eq!(json["baseline"]["error"], 0.0);
    assert_eq!(json["baseline"]["recorded_us"], json["baseline"]["replayed_us"]);
    assert_eq!(json["notes"], serde_json::json!([]));
    let experiments = json["experiments"].as_array().unwrap();
    let gains: Vec<f64> = experiments.iter().map(|one| one["gain"].as_f64().unwrap()).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b), "{gains:?}");
    let names: Vec<_> = experiments.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(fields(&experiments[0]), ["gain", "makespan_us", "name", "remedy"]);
    for name in [
        "kernel GEMM 0.9x",
        "kernel GEMM 0.5x",
        "kernel GEMM 0x",
        "submit 0x",
        "submit 0.5x",
        "scheduler 0x",
        "one more cluster",
        "twice the cores",
        "unlimited cores",
        "memory 2x",
        "policy critical-path",
        "policy locality",
        "unlimited rings",
        "host_build_graph instead of streaming",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let bound = json["bound_us"].as_f64().unwrap();
    assert!(bound > 0.0 && bound <= json["baseline"]["recorded_us"].as_f64().unwrap());
    let text = what_if(&sandbox, &[]).stdout;
    assert!(text.starts_with(&format!("{}\nrecorded ", json["sentence"].as_str().unwrap())), "{text}");
    assert!(text.contains("(error 0.0 %)"), "{text}");
    assert!(text.contains("No schedule of these blocks on these cores is shorter than "), "{text}");
}

#[test]
fn an_experiment_can_be_kept_as_a_run_that_check_compare_and_report_accept() {
    let sandbox = exact();
    let answer =
        what_if(&sandbox, &["--kernel", "GEMM=0.5x", "--cores", "aic=4", "--keep", "kept", "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let json = answer.json();
    assert_eq!(json["experiments"][0]["name"], "kernel GEMM 0.5x, cores aic=4");
    let predicted = json["experiments"][0]["makespan_us"].as_f64().unwrap();
    for command in
        [&["check", "kept"][..], &["compare", "run", "kept"], &["report", "kept"], &["overhead", "kept"]]
    {
        let answer = sandbox.ringlane(command);
        assert_eq!(answer.status, 0, "{command:?}: {}{}", answer.stdout, answer.stderr);
    }
    let kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(sandbox.path().join("kept/run.json")).unwrap()).unwrap();
    let frequency = kept["clock_freq_hz"].as_f64().unwrap();
    assert_eq!(kept["makespan_ticks"].as_f64().unwrap() * 1e6 / frequency, predicted);
    // A kept experiment is a recording: it can be replayed, and that is exact.
    let again = sandbox.ringlane(&["what-if", "kept", "--json"]).json();
    assert_eq!(again["baseline"]["error"], 0.0);
    assert_eq!(again["baseline"]["recorded_us"], predicted);
    let over = what_if(&sandbox, &["--submit", "0x", "--keep", "kept"]);
    assert_eq!(
        (over.status, over.line("error: ").split(':').next()),
        (2, Some("RunExists")),
        "{}",
        over.stderr
    );
}

#[test]
fn what_an_experiment_cannot_be_about_is_refused_with_what_there_is() {
    let sandbox = exact();
    let cases: [(&[&str], &str, &str); 16] = [
        (&["--kernel", "GEM=0.5x"], "UnknownInExperiment", "GEMM"),
        (&["--kernel", "GEMM"], "BadValue", "NAME=0.5x"),
        (&["--kernel", "GEMM=-1x"], "BadValue", "NAME=0.5x"),
        (&["--cores", "gpu=4"], "BadValue", "aic and aiv"),
        (&["--cores", "threads=0"], "BadValue", "1 to 1024"),
        (&["--cores", "aic=7,aiv=15"], "ImpossibleExperiment", "aic=7,aiv=14"),
        (&["--cores", "sms=4"], "ImpossibleExperiment", "--cores aic=24,aiv=48"),
        (&["--copies", "0x"], "ImpossibleExperiment", "nothing is copied"),
        (&["--policy", "random"], "BadValue", "critical-path"),
        (&["--schedulers", "0"], "BadValue", "1 to 64"),
        (&["--schedulers", "40"], "ImpossibleExperiment", "1 to 24"),
        (&["--drop-edges", "waw2"], "UnknownInExperiment", "raw"),
        (&["--drop-edges", "GEMM->NONE"], "UnknownInExperiment", "POTRF"),
        (&["--submit", "fast"], "BadValue", "0.5x"),
        (&["--ring-task-window", "100"], "CapacityNotPowerOfTwo", "--ring-task-window"),
        (&["--ring-task-window", "4"], "FlowControlDeadlock", "hint: try --ring-task-window 8"),
    ];
    for (options, name, says) in cases {
        let answer = what_if(&sandbox, options);
        assert_eq!(answer.status, 2, "{options:?}: {}", answer.stderr);
        assert!(answer.line("error: ").starts_with(name), "{options:?}: {}", answer.stderr);
        assert!(answer.stderr.contains(says), "{options:?}: {}", answer.stderr);
        assert!(!answer.stderr.contains(".rs:"), "a source line of ringlane: {}", answer.stderr);
    }
}

#[test]
fn a_recording_that_lacks_something_is_refused_with_the_options_to_record_with() {
    let answer = Sandbox::new().ringlane(&["what-if"]);
    assert!(answer.line("error: ").starts_with("NoRecordedRun"), "{}", answer.stderr);
    assert!(answer.line("hint: ").contains("--chip-swimlane=3 --dep-gen"), "{}", answer.stderr);
    for options in [&["--chip-swimlane=1", "--dep-gen"][..], &["--dep-gen"]] {
        let sandbox = recorded("a2a3sim", options);
        let answer = what_if(&sandbox, &[]);
        assert_eq!(answer.status, 2, "{}", answer.stderr);
        assert!(answer.line("error: ").starts_with("NotRecorded"), "{}", answer.stderr);
        assert!(answer.line("hint: ").contains("--chip-swimlane=3 --dep-gen"), "{}", answer.stderr);
    }
    let sandbox = exact();
    let other = sandbox.ringlane(&[
        "run",
        "vector",
        "--case",
        "small",
        "-p",
        "a2a3sim",
        "--chip-swimlane=3",
        "--dep-gen",
        "-o",
        "other",
    ]);
    assert_eq!(other.status, 0, "{}", other.stderr);
    for file in ["deps.json", "l2_perf_records.json"] {
        let (mine, others) = (sandbox.path().join("run").join(file), sandbox.path().join("other").join(file));
        let kept = std::fs::read(&mine).unwrap();
        std::fs::copy(&others, &mine).unwrap();
        let answer = what_if(&sandbox, &[]);
        assert!(answer.line("error: ").starts_with("FilesDisagree"), "{file}: {}", answer.stderr);
        std::fs::write(&mine, kept).unwrap();
    }
}

#[test]
fn dropped_edges_let_tasks_run_sooner() {
    let sandbox = exact();
    let gain = |options: &[&str]| {
        what_if(&sandbox, &[options, &["--json"]].concat()).json()["experiments"][0]["gain"].as_f64()
    };
    assert!(gain(&["--drop-edges", "raw"]).unwrap() > 0.0);
    assert!(gain(&["--drop-edges", "TRSM->GEMM"]).unwrap() >= 0.0);
}

#[test]
fn a_kernel_that_is_really_slower_takes_the_predicted_time() {
    for platform in ["a2a3sim", "a5sim"] {
        let sandbox = recorded(platform, &["--chip-swimlane=3", "--dep-gen"]);
        let predicted = what_if(&sandbox, &["--kernel", "GEMM=3x", "--json"]).json();
        let scene = ["run", "cholesky", "--case", "small", "-p", platform, "-o", "slow", "--json"];
        let recording = ["--chip-swimlane=3", "--dep-gen", "--slow", "GEMM=3x"];
        let real = sandbox.ringlane(&[&scene[..], &recording].concat()).json();
        assert_eq!(predicted["experiments"][0]["makespan_us"], real["runs"][0]["makespan_us"], "{platform}");
    }
}

#[test]
fn a_slower_kernel_computes_the_same_streamed_and_captured() {
    let sandbox = Sandbox::new();
    let run = ["run", "cholesky", "--case", "small", "--threads", "2", "--json"];
    let usual = sandbox.ringlane(&run).output_hash();
    for runtime in ["tensormap_and_ringbuffer", "host_build_graph"] {
        let slow = ["--slow", "GEMM=2x", "--runtime", runtime];
        assert_eq!(sandbox.ringlane(&[&run[..], &slow].concat()).output_hash(), usual);
    }
    for wrong in ["GEMM", "GEMM=-1x", "GEMM=0x", "NOSUCH=2x"] {
        let answer = sandbox.ringlane(&[&run[..], &["--slow", wrong]].concat());
        assert_eq!(answer.status, 2, "{wrong}: {}", answer.stderr);
    }
}

#[test]
fn commands_and_the_page_begin_with_what_the_table_says() {
    let sandbox = exact();
    let answer = what_if(&sandbox, &["--json"]).json();
    for command in ["overhead", "critical-path"] {
        let text = sandbox.ringlane(&[command, "run"]).stdout;
        assert_eq!(text.lines().next(), answer["sentence"].as_str(), "{command}");
        assert!(text.lines().nth(2).unwrap().starts_with("Observed: "), "{text}");
        let verdict = sandbox.ringlane(&[command, "run", "--json"]).json()["verdict"].clone();
        assert_eq!((&verdict["limit"], &verdict["sentence"]), (&answer["limit"], &answer["sentence"]));
    }
    assert_eq!(sandbox.ringlane(&["report", "run"]).status, 0);
    let page = sandbox.page_data("run/report.html");
    assert_eq!(page["gains"]["known"], answer);
    assert_eq!(
        (&page["findings"][0]["text"], &page["findings"][0]["target"]),
        (&answer["sentence"], &"gains".into())
    );
}

#[test]
fn a_page_without_gains_says_which_options_record_them() {
    let sandbox = recorded("a2a3sim", &["--chip-swimlane=3"]);
    assert_eq!(sandbox.ringlane(&["report", "run"]).status, 0);
    let page = sandbox.page_data("run/report.html");
    let unknown = &page["gains"]["unknown"];
    assert_eq!(unknown["name"], "NotRecorded");
    assert!(unknown["hint"].as_str().unwrap().contains("--chip-swimlane=3 --dep-gen"), "{unknown}");
}

#[test]
fn the_run_of_a_captured_graph_has_experiments_too() {
    let graph = ["--runtime", "host_build_graph", "--chip-swimlane=3", "--dep-gen"];
    let sandbox = recorded("a2a3sim", &graph);
    let answer = what_if(&sandbox, &["--json"]).json();
    assert_eq!(answer["baseline"]["error"], 0.0);
    let experiments = answer["experiments"].as_array().unwrap();
    let names: Vec<_> = experiments.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"streaming instead of host_build_graph"), "{names:?}");
    assert!(!names.contains(&"submit 0x") && !names.contains(&"unlimited rings"), "{names:?}");
    let refused = what_if(&sandbox, &["--submit", "0x"]);
    assert!(refused.line("error: ").starts_with("ImpossibleExperiment"), "{}", refused.stderr);
    // The other way round it is the streamed run, and both can be kept.
    let streamed = ["--runtime", "tensormap_and_ringbuffer", "--keep", "streamed", "--json"];
    let predicted = what_if(&sandbox, &streamed).json()["experiments"][0]["makespan_us"].clone();
    let again = ["what-if", "streamed", "--runtime", "host_build_graph", "--keep", "captured", "--json"];
    let again = sandbox.ringlane(&again).json();
    assert_eq!((&again["baseline"]["error"], &again["baseline"]["recorded_us"]), (&0.0.into(), &predicted));
    assert_eq!(again["experiments"][0]["makespan_us"], answer["baseline"]["recorded_us"]);
    for kept in ["streamed", "captured"] {
        assert_eq!(sandbox.ringlane(&["check", kept]).status, 0, "{kept}");
    }
}

#[test]
fn a_run_over_workers_takes_as_long_as_its_busiest_worker() {
    let sandbox = Sandbox::new();
    for (name, platform) in [("sim", "a2a3sim"), ("own", "cpu")] {
        let scene = ["run", "paged_attention", "--case", "small", "-p", platform, "--workers", "2"];
        let run = sandbox.ringlane(&[&scene[..], &["--chip-swimlane=3", "--dep-gen", "-o", name]].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let makespan = |run: &str, options: &[&str]| {
            let answer = sandbox.ringlane(&[&["what-if", run, "--json"], options].concat()).json();
            answer["experiments"][0]["makespan_us"].as_f64().unwrap()
        };
        let change = ["--kernel", "PV=0.5x"];
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(sandbox.path().join(name).join("run.json")).unwrap())
                .unwrap();
        let mut workers = std::collections::BTreeMap::<String, f64>::new();
        for child in manifest["children"].as_array().unwrap() {
            let dir = format!("{name}/{}", child["dir"].as_str().unwrap());
            *workers.entry(child["worker"].to_string()).or_default() += makespan(&dir, &change);
        }
        assert_eq!(workers.len(), 2, "{workers:?}");
        let busiest = workers.into_values().fold(0.0, f64::max);
        assert!((makespan(name, &change) - busiest).abs() < 1e-6 * busiest, "{platform}");
        let answer = sandbox.ringlane(&["what-if", name, "--json"]).json();
        assert!(answer["experiments"].as_array().unwrap().len() > 15);
        assert!(answer["notes"][0].as_str().unwrap().contains("busiest of 2 workers"), "{}", answer["notes"]);
        if platform == "a2a3sim" {
            assert_eq!(answer["baseline"]["error"], 0.0);
        }
        let unknown = sandbox.ringlane(&["what-if", name, "--kernel", "NONE=0x"]);
        assert!(unknown.line("error: ").starts_with("UnknownInExperiment"), "{}", unknown.stderr);
    }
}

/// The calls of a run over workers, by their tasks: the directory of each, and how long it took.
fn calls(sandbox: &Sandbox, run: &str) -> std::collections::BTreeMap<u64, (String, f64)> {
    let manifest = |dir: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(sandbox.path().join(dir).join("run.json")).unwrap()).unwrap()
    };
    let call = |child: &serde_json::Value| {
        let dir = format!("{run}/{}", child["dir"].as_str().unwrap());
        let ran = manifest(&dir);
        let number = |key: &str| ran[key].as_f64().unwrap();
        let us = number("makespan_ticks") * 1e6 / number("clock_freq_hz");
        (child["task_id"].as_u64().unwrap(), (dir, us))
    };
    manifest(run)["children"].as_array().unwrap().iter().map(call).collect()
}

#[test]
// Which worker takes a call depends on the time of this machine, so calls are compared, not workers.
fn predictions_for_each_call_of_a_run_over_workers_are_the_times_of_a_real_run_with_the_change() {
    let sandbox = Sandbox::new();
    let run = |name: &str, options: &[&str]| {
        let scene = ["run", "paged_attention", "--case", "small", "-p", "a2a3sim", "--workers", "2"];
        let recording = ["--chip-swimlane=3", "--dep-gen", "-o", name];
        let run = sandbox.ringlane(&[&scene[..], &recording, options].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        calls(&sandbox, name)
    };
    let usual = run("usual", &[]);
    let chip = sandbox.ringlane(&["chips", "show", "a2a3sim"]).stdout;
    let few = chip.replace("clusters = 24", "clusters = 2").replace("schedulers = 3", "schedulers = 2");
    std::fs::write(sandbox.path().join("few.toml"), few).unwrap();
    let changes: [(&str, &[&str], &[&str]); 3] = [
        ("slow", &["--slow", "QK=2x"], &["--kernel", "QK=2x"]),
        ("captured", &["--runtime", "host_build_graph"], &["--runtime", "host_build_graph"]),
        ("few", &["--chip", "few.toml"], &["--cores", "aic=2,aiv=4"]),
    ];
    for (name, real, predicted) in changes {
        let real = run(name, real);
        assert_eq!((usual.len(), real.len()), (4, 4));
        for (task, (dir, usual_us)) in &usual {
            let answer = sandbox.ringlane(&[&["what-if", dir, "--json"], predicted].concat()).json();
            let (predicted, real) = (answer["experiments"][0]["makespan_us"].as_f64().unwrap(), real[task].1);
            assert!((predicted - real).abs() < 1e-9 * real, "{name}, task {task}: {predicted} {real}");
            assert!((predicted - usual_us).abs() > 1e-3 * usual_us, "{name} changes something");
        }
    }
}

#[test]
fn a_run_with_many_tasks_has_no_gains_unasked_and_says_why() {
    let sandbox = Sandbox::new();
    let stream = ["run", "stream", "--case", "short", "-p", "a2a3sim", "--param", "tasks=60000", "-o", "run"];
    let run = sandbox.ringlane(&[&stream[..], &["--chip-swimlane=3", "--dep-gen"]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let answer = sandbox.ringlane(&["overhead", "run", "--json"]);
    assert!(
        answer.line("note: ").contains("more than 100,000; ringlane what-if makes them"),
        "{}",
        answer.stderr
    );
    assert!(answer.json()["verdict"]["replay_error"].is_null());
    assert_eq!(sandbox.ringlane(&["report", "run"]).status, 0);
    assert_eq!(sandbox.page_data("run/report.html")["gains"]["unknown"]["name"], "TooManyToTry");
    assert_eq!(what_if(&sandbox, &["--submit", "0x"]).status, 0);
}

#[test]
fn a_captured_graph_on_cpu_is_replayed_on_the_model_of_the_machine() {
    let graph = ["--threads", "2", "--runtime", "host_build_graph", "--chip-swimlane=3", "--dep-gen"];
    let sandbox = recorded("cpu", &graph);
    let answer = what_if(&sandbox, &["--json"]).json();
    let experiments = answer["experiments"].as_array().unwrap();
    let names: Vec<_> = experiments.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"threads 3") && names.contains(&"kernel GEMM 0.5x"), "{names:?}");
    assert!(!names.contains(&"submit 0x"), "{names:?}");
    for refused in [&["--submit", "0x"][..], &["--runtime", "tensormap_and_ringbuffer"]] {
        let answer = what_if(&sandbox, refused);
        assert!(answer.line("error: ").starts_with("ImpossibleExperiment"), "{}", answer.stderr);
    }
}

#[test]
fn on_cpu_a_streamed_run_predicts_the_captured_one_unless_it_reads_values() {
    let streamed = ["--threads", "1", "--chip-swimlane=3", "--dep-gen"];
    let sandbox = recorded("cpu", &streamed);
    let predicted = |options: &[&str]| {
        let answer = what_if(&sandbox, &[&["--json"], options].concat()).json();
        answer["experiments"][0]["makespan_us"].as_f64().unwrap()
    };
    let captured = predicted(&["--runtime", "host_build_graph"]);
    assert!(captured < predicted(&["--submit", "1x"]), "it has no submits");
    let refused = what_if(&sandbox, &["--runtime", "host_build_graph", "--submit", "0x"]);
    assert!(refused.line("error: ").starts_with("ImpossibleExperiment"), "{}", refused.stderr);
    let run = sandbox.ringlane(&[&["run", "moe", "--case", "small", "-o", "reads"], &streamed[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let refused = sandbox.ringlane(&["what-if", "reads", "--runtime", "host_build_graph"]);
    assert!(refused.line("detail: ").contains("reads values"), "{}", refused.stderr);
    let table = sandbox.ringlane(&["what-if", "reads", "--json"]).json();
    assert!(
        table["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str().unwrap().contains("host_build_graph"))
    );
}
