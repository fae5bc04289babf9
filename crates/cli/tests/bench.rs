//! `ringlane bench`: the form of its answers, what `--verify` finds, and what is refused. No test asserts a time.

mod common;

use common::{Answer, Sandbox};

const WORKLOADS: [&str; 6] = ["independent", "chain", "forkjoin", "wavefront", "cholesky", "random"];

/// `ringlane bench` with these arguments and as few repetitions as it takes.
fn bench(arguments: &[&str]) -> Answer {
    Sandbox::new().ringlane(&[&["bench", "--seconds", "0"], arguments].concat())
}

fn results(arguments: &[&str]) -> Vec<serde_json::Value> {
    let answer = bench(&[arguments, &["--json"]].concat());
    assert_eq!(answer.status, 0, "{}{}", answer.stdout, answer.stderr);
    assert_eq!(answer.stderr, "");
    answer.json()["results"].as_array().expect("a list").clone()
}

fn assert_refused(arguments: &[&str], name: &str, mentions: &[&str]) {
    let answer = bench(arguments);
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{arguments:?}");
    assert!(answer.line("error: ").starts_with(name), "{}", answer.stderr);
    let (detail, _) = (answer.line("detail: "), answer.line("hint: "));
    assert!(mentions.iter().all(|word| detail.contains(word)), "{detail}");
}

#[test]
fn every_result_has_the_fields_that_programs_read() {
    let arguments = ["--workload", "cholesky", "--workload", "chain", "--threads", "1,2", "--spin", "0,10"];
    let results = results(&arguments);
    let keys: Vec<_> = results
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["spin_us"].as_u64(), row["threads"].as_u64()))
        .collect();
    let expected = ["chain", "cholesky"].into_iter().flat_map(|name| {
        [(0, 1), (0, 2), (10, 1), (10, 2)].map(|(spin, threads)| (name, Some(spin), Some(threads)))
    });
    assert_eq!(keys, expected.collect::<Vec<_>>());
    for row in &results {
        assert_eq!((row["platform"].as_str(), row["dfx"].as_str()), (Some("cpu"), Some("off")));
        assert!(row["tasks"].as_u64().unwrap() > 0 && row["repetitions"].as_u64().unwrap() >= 3, "{row}");
        let [min, median] =
            ["min", "median"].map(|which| row[format!("ns_per_task_{which}")].as_f64().unwrap());
        assert!(0.0 < min && min <= median, "{row}");
    }
    assert_eq!((&results[0]["tasks"], &results[4]["tasks"]), (&100_000.into(), &11_480.into()));
}

#[test]
fn every_workload_keeps_its_order_on_one_two_and_four_threads() {
    let results = results(&["--verify", "--threads", "1,2,4"]);
    assert_eq!(results.len(), WORKLOADS.len() * 3);
    for row in &results {
        assert_eq!(row["violations"], 0, "{row}");
        assert_eq!(row["edges"].as_u64().unwrap() > 0, row["name"] != "independent", "{row}");
    }
}

#[test]
fn a_task_allocates_nothing_after_start_up() {
    for row in results(&["alloc", "--workload", "random", "--workload", "forkjoin"]) {
        assert_eq!(row["allocations"], 0, "{row}");
    }
}

#[test]
fn the_groups_report_what_they_measure() {
    let submit = results(&["submit", "--workload", "random"]);
    assert_eq!((submit.len(), &submit[0]["name"]), (1, &"submit/random".into()));
    let memory = results(&["memory", "--workload", "wavefront"]);
    assert!(memory[0]["bytes_per_task"].as_f64().unwrap() > 64.0, "{}", memory[0]);
}

#[test]
fn people_get_a_table() {
    let answer = bench(&["overlap"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    assert!(answer.stdout.starts_with("name "), "{}", answer.stdout);
    for expected in
        ["lookup/tiles/10 ", "insert/halo/100000 ", "scan/irregular/1000 ", "prefix: a lookup among"]
    {
        assert!(answer.stdout.contains(expected), "{expected}: {}", answer.stdout);
    }
}

#[test]
fn an_unknown_workload_or_group_is_refused_with_those_there_are() {
    assert_refused(&["--workload", "tree"], "BadValue", &["--workload", "tree", "independent", "random"]);
    assert_refused(&["everything"], "BadValue", &["everything", "submit", "overlap", "memory"]);
}

#[test]
fn a_bad_value_names_the_option_the_value_and_what_is_allowed() {
    assert_refused(&["--threads", "0"], "BadValue", &["--threads", "0", "from 1 to"]);
    assert_refused(&["--threads", "1,0"], "BadValue", &["--threads", "0", "from 1 to"]);
    for bad in ["-1", "5", "1.5", "1,x"] {
        assert_refused(&["--spin", bad], "BadValue", &["--spin", "0, 1, 10, 100"]);
    }
    for bad in ["-1", "soon", "nan", "1e9"] {
        let answer = Sandbox::new().ringlane(&["bench", "--seconds", bad]);
        assert_eq!(answer.status, 2, "{bad}");
        assert!(answer.line("detail: ").contains("--seconds"), "{}", answer.stderr);
    }
}

#[test]
fn an_option_that_would_change_nothing_is_refused() {
    let refused: [(&[&str], &str); 5] = [
        (&["overlap", "--workload", "chain"], "--workload"),
        (&["submit", "--threads", "2"], "--threads"),
        (&["scaling", "--spin", "1"], "--spin"),
        (&["alloc", "--verify"], "--verify"),
        (&["--verify", "--spin", "10"], "--spin"),
    ];
    for (arguments, option) in refused {
        assert_refused(arguments, "BadUsage", &["does not take", option]);
    }
}

#[test]
fn no_scene_beats_its_bound_with_any_policy_and_free_control_comes_within_five_percent_of_it() {
    let answer = bench(&["sim", "--verify", "--json"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{}", answer.stdout);
    let answer = answer.json();
    let rows = answer["results"].as_array().expect("a list");
    let scenes: std::collections::BTreeSet<_> =
        rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(scenes.len() >= 9, "{scenes:?}");
    for scene in &scenes {
        for chip in ["a2a3sim", "a5sim", "a2a3-free"] {
            let of_chip = rows.iter().filter(|row| row["name"] == **scene && row["chip"] == chip);
            let policies: Vec<_> = of_chip.map(|row| row["policy"].as_str().unwrap()).collect();
            assert!(policies.starts_with(&["fifo", "critical-path", "locality"]), "{scene} {chip}");
        }
    }
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap();
        assert!(number("bound_ratio") >= 1.0 && number("makespan_us") >= number("bound_us"), "{row}");
        assert!(
            number("bound_us") > 0.0 && number("utilization_aic") + number("utilization_aiv") > 0.0,
            "{row}"
        );
        assert!(row["policy"] != "fifo" || number("gain") == 0.0, "{row}");
    }
    let judged = |row: &&serde_json::Value| {
        let is_large = row["case"].as_str().unwrap().starts_with("large");
        is_large && row["chip"] == "a2a3-free" && row["policy"] == "critical-path"
    };
    let judged: Vec<_> = rows.iter().filter(judged).collect();
    assert_eq!(judged.len(), 3, "cholesky, and wavefront twice");
    assert!(judged.iter().all(|row| row["bound_ratio"].as_f64().unwrap() <= 1.05), "{judged:?}");
    let bars = answer["bars"].as_array().expect("a list");
    assert!(bars.len() == 4 && bars.iter().all(|bar| bar["reached"] == true), "{bars:?}");
}

#[test]
fn the_mailbox_is_measured_beside_a_pipe_and_a_socket() {
    let answer = bench(&["mailbox", "--json"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{}", answer.stdout);
    let answer = answer.json();
    let rows = answer["results"].as_array().expect("a list");
    let names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    let ways = ["mailbox", "node", "mailbox_sleep", "pipe", "socket"];
    assert_eq!(names[..5], ways);
    assert_eq!(names[5..10], ways.map(|way| format!("{way}/run")));
    assert_eq!(names[10..], ways.map(|way| format!("{way}/first")));
    assert!(rows.iter().all(|row| row["ns_per_task_min"].as_f64().unwrap() > 0.0), "{rows:?}");
    assert_eq!(answer["bars"].as_array().map(Vec::len), Some(4), "{answer}");
    assert_refused(&["mailbox", "--workload", "chain"], "BadUsage", &["bench mailbox", "--workload"]);
}

#[test]
fn predictions_of_what_if_are_compared_with_real_runs() {
    let answer =
        bench(&["what-if", "--workload", "forkjoin", "--spin", "10", "--threads", "1,2", "--json"]).json();
    let rows = answer["predictions"].as_array().expect("a list");
    let keys: Vec<_> = rows
        .iter()
        .map(|row| (row["threads"].as_u64().unwrap(), row["experiment"].as_str().unwrap()))
        .collect();
    assert_eq!(
        keys,
        [
            (1, "unchanged"),
            (1, "kernel READS 2x"),
            (1, "threads 2"),
            (2, "unchanged"),
            (2, "kernel READS 2x"),
            (2, "threads 1")
        ]
    );
    for row in rows {
        assert_eq!((&row["name"], &row["tasks"]), (&"forkjoin 10 µs".into(), &3300.into()));
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("real_us") > 0.0 && number("predicted_us") > 0.0 && number("task_us") > 0.0, "{row}");
        assert!(number("error_median") <= number("error_worst"), "{row}");
    }
    assert_eq!(answer["bars"].as_array().map(Vec::len), Some(8), "{answer}");
    assert_refused(&["what-if", "--verify"], "BadUsage", &["bench what-if", "--verify"]);
}
