//! `ringlane import`, and what other commands make of its run directories.

mod common;

use std::fs;

use common::{Answer, Sandbox};
use ringlane_trace::{Manifest, RunStatus, check_run};
use serde_json::json;

const BLUR: &str =
    "digraph {\n load [weight=3]; blur_1 [weight=5]; blur_2 [weight=5]\n load -> {blur_1 blur_2} }";

fn sandbox(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in files {
        let path = sandbox.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    sandbox
}

#[track_caller]
fn well(answer: Answer) -> Answer {
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer
}

#[test]
fn a_graph_becomes_a_run_that_other_commands_read() {
    let sandbox = sandbox(&[("blur.dot", BLUR)]);
    let answer = well(sandbox.ringlane(&["import", "blur.dot", "-o", "out/blur"]));
    assert_eq!(answer.stdout, "out/blur\n");
    assert_eq!(
        answer.stderr,
        "blur.dot: a DOT graph (--format dot)\n3 tasks, 2 edges, 2 kernels; work 13.0 µs, longest path 8.0 µs\n"
    );
    let dir = sandbox.path().join("out/blur");
    assert_eq!(Manifest::read(&dir).unwrap().status, RunStatus::Imported);
    assert!(check_run(&dir).unwrap().is_whole());
    assert!(well(sandbox.ringlane(&["check", "out/blur"])).stdout.contains(" 0 broken"));
    let deps = well(sandbox.ringlane(&["deps", "out/blur"])).stdout;
    assert_eq!(deps.lines().count(), 2, "{deps}");
    assert!(deps.contains("load") && deps.contains("blur") && deps.contains("explicit"), "{deps}");
    well(sandbox.ringlane(&["mermaid", "out/blur"]));
    well(sandbox.ringlane(&["report", "out/blur"]));
    assert!(dir.join("report.html").is_file());
}

#[test]
fn a_directory_of_tables_is_named_after_itself_and_summed_up_as_json() {
    let sandbox = sandbox(&[
        ("my tables/tasks.csv", "id,kind,duration_s\n1,load,2\n2,blur,3\n"),
        ("my tables/edges.csv", "pred,succ\n1,2\n"),
    ]);
    let answer = well(sandbox.ringlane(&["import", "my tables", "--scale", "1s=1us", "--json"]));
    let mut summary = answer.json();
    let dir = summary["dir"].take();
    assert!(dir.as_str().unwrap().starts_with("outputs/my_tables_csv_"), "{dir}");
    assert_eq!(
        summary,
        json!({"dir": null, "scene": "my_tables", "format": "csv", "detected": true, "tasks": 2, "edges": 1,
            "kernels": 2, "work_us": 5.0, "longest_path_us": 5.0, "skipped": {"events": 0, "arrows": 0}})
    );
    assert_eq!(answer.stderr, "");
}

#[test]
fn the_timeline_of_a_run_is_imported_with_all_of_its_edges() {
    let sandbox = Sandbox::new();
    let run = [
        "run",
        "cholesky",
        "--case",
        "small",
        "-p",
        "a2a3sim",
        "--chip-swimlane=2",
        "--dep-gen",
        "-o",
        "run",
    ];
    well(sandbox.ringlane(&run));
    well(sandbox.ringlane(&["swimlane", "run"]));
    let summary =
        well(sandbox.ringlane(&["import", "run/merged_swimlane.json", "-o", "again", "--json"])).json();
    assert_eq!(summary["format"], "trace");
    let recorded = ringlane_trace::deps::Deps::read(sandbox.path().join("run")).unwrap();
    let mut pairs: Vec<_> = recorded.edges.iter().map(|edge| (edge.pred, edge.succ)).collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(summary["edges"], pairs.len());
    assert_eq!(summary["skipped"]["arrows"], 0);
}

#[test]
fn what_is_wrong_is_reported_and_leaves_nothing() {
    let cycle = "digraph { node [weight=1]\n a -> b -> c -> a }";
    let sandbox = sandbox(&[("blur.dot", BLUR), ("loop.dot", cycle), ("odd.txt", "?")]);
    let before = sandbox.files();
    for (arguments, error) in [
        (&["loop.dot", "-o", "out"][..], "error: Cycle:"),
        (&["loop.dot"], "error: Cycle:"),
        (&["none.dot", "-o", "a/b"], "error: UnreadableInput:"),
        (&["odd.txt"], "error: UnknownFormat:"),
        (&["blur.dot", "--format", "trace"], "error: BadSyntax:"),
        (&["blur.dot", "--format", "png"], "error: BadValue:"),
        (&["blur.dot", "--scale", "1s=fast"], "error: BadScale:"),
        (&["blur.dot", "--scale", "-1s=1s"], "error: BadScale:"),
        (&[], "error: MissingArgument:"),
    ] {
        let answer = sandbox.ringlane(&[&["import"][..], arguments].concat());
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(answer.stderr.starts_with(error), "{arguments:?}: {}", answer.stderr);
        assert!(!answer.line("detail: ").is_empty() && !answer.line("hint: ").is_empty());
        assert_eq!(sandbox.files(), before, "{arguments:?}");
    }
    assert_eq!(
        sandbox.ringlane(&["import", "loop.dot"]).line("detail: "),
        r#"loop.dot:2: "a" -> "b" -> "c" -> "a""#
    );
}

#[test]
fn a_directory_that_has_a_run_is_refused() {
    let sandbox = sandbox(&[("blur.dot", BLUR)]);
    well(sandbox.ringlane(&["import", "blur.dot", "-o", "out"]));
    let before = sandbox.files();
    let answer = sandbox.ringlane(&["import", "blur.dot", "-o", "out"]);
    assert!(answer.stderr.starts_with("error: RunExists:"), "{}", answer.stderr);
    assert_eq!((answer.status, sandbox.files()), (2, before));
}
