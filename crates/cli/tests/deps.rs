//! `ringlane deps` and `ringlane mermaid`: texts that stay the same, names that stay in their place, and the page.

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{Answer, Sandbox};

fn passed(answer: Answer) -> Answer {
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer
}

/// A sandbox with a run of a scene in `run`.
fn sandbox_with(scene: &str, case: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    passed(sandbox.ringlane(&["run", scene, "--case", case, "-p", "a2a3sim", "--dep-gen", "-o", "run"]));
    sandbox
}

#[test]
fn the_texts_of_a_small_graph_are_the_same_every_time() {
    let sandbox = sandbox_with("cholesky", "small");
    let snapshots = [
        (&["deps", "run"][..], include_str!("snapshots/deps.txt")),
        (&["deps", "run", "--reduce"], include_str!("snapshots/deps_reduced.txt")),
        (&["deps", "run", "--task", "1:5"], include_str!("snapshots/deps_task.txt")),
        (&["deps", "run", "--reduce", "--format", "dot"], include_str!("snapshots/deps.dot")),
        (&["mermaid", "run", "--reduce"], include_str!("snapshots/deps.mmd")),
        (&["deps", "run", "--task", "1:5", "--format", "mermaid"], include_str!("snapshots/deps_task.mmd")),
    ];
    for (arguments, expected) in snapshots {
        let answer = passed(sandbox.ringlane(arguments));
        assert_eq!(answer.stdout, expected, "{arguments:?}:\n{}", answer.stdout);
    }
}

#[test]
fn every_edge_of_the_file_is_a_line_and_the_reduction_is_part_of_them() {
    let sandbox = sandbox_with("paged_attention", "small");
    let lines = |arguments: &[&str]| -> Vec<String> {
        passed(sandbox.ringlane(arguments)).stdout.lines().map(str::to_string).collect()
    };
    let all = lines(&["deps", "run"]);
    let deps = ringlane_trace::deps::Deps::read(sandbox.path().join("run")).unwrap();
    assert_eq!(all.len(), deps.edges.len());
    let reduced = lines(&["deps", "run", "--reduce"]);
    let known: BTreeSet<_> = all.iter().collect();
    assert!(reduced.len() < all.len() && reduced.iter().all(|line| known.contains(line)));
    let numbered = |id: u64| lines(&["deps", "run", "--task", &id.to_string()]);
    let task = &deps.tasks[4];
    let [ring, local] = [u64::from(task.task_id.ring().0), u64::from(task.task_id.local())];
    assert_eq!(numbered(task.task_id.0), lines(&["deps", "run", "--task", &format!("{ring}:{local}")]));
}

/// Gives a kernel another name in the dependencies of the run.
fn rename(sandbox: &Sandbox, from: &str, to: &str) {
    let path = sandbox.path().join("run/deps.json");
    let text = fs::read_to_string(&path).unwrap();
    let (from, to) =
        (format!("\"name\":\"{from}\""), format!("\"name\":{}", serde_json::to_string(to).unwrap()));
    assert!(text.contains(&from));
    let text = text.replace(&from, &to);
    fs::write(&path, &text).unwrap();
    let manifest = sandbox.path().join("run/run.json");
    let mut json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    json["files"][0]["bytes"] = text.len().into();
    fs::write(manifest, json.to_string()).unwrap();
}

#[test]
fn names_that_would_break_out_of_their_place_stay_in_it() {
    let sandbox = sandbox_with("cholesky", "small");
    rename(&sandbox, "POTRF", "\"><script>alert(1)</script>");
    rename(&sandbox, "TRSM", "a,b\nc\u{1b}[31m\"]; x -> y");
    for format in ["text", "dot", "mermaid", "html"] {
        passed(sandbox.ringlane(&["deps", "run", "--format", format, "-o", "shown"]));
        let text = fs::read_to_string(sandbox.path().join("shown")).unwrap();
        assert!(!text.contains('\u{1b}'), "{format}");
        if format != "text" && format != "dot" {
            assert!(!text.contains("<script>alert"), "{format}");
        }
        // No line but those of edges and nodes: a name does not start one.
        assert!(
            !text.lines().any(|line| line.starts_with("c\u{1b}") || line.starts_with("c[31m")),
            "{format}"
        );
    }
    let text = passed(sandbox.ringlane(&["deps", "run"])).stdout;
    let edges = ringlane_trace::deps::Deps::read(sandbox.path().join("run")).unwrap().edges.len();
    assert_eq!(text.lines().count(), edges);
    let dot = passed(sandbox.ringlane(&["deps", "run", "--format", "dot"])).stdout;
    assert!(dot.contains(r#"[31m\"]; x -> y"#), "{dot}");
}

#[test]
fn the_page_is_in_the_run_directory_and_needs_nothing_else() {
    let sandbox = sandbox_with("cholesky", "small");
    let answer = passed(sandbox.ringlane(&["deps", "run", "--format", "html"]));
    assert_eq!((answer.stdout.as_str(), answer.line("wrote ")), ("", "run/deps.html"));
    let page = fs::read_to_string(sandbox.path().join("run/deps.html")).unwrap();
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("{{"));
    let start = page.find("application/json\">").unwrap() + "application/json\">".len();
    let data = &page[start..start + page[start..].find("</script>").unwrap()];
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let deps = ringlane_trace::deps::Deps::read(sandbox.path().join("run")).unwrap();
    assert_eq!(data["nodes"].as_array().unwrap().len(), deps.tasks.len());
    let pairs: BTreeSet<_> = deps.edges.iter().map(|edge| (edge.pred, edge.succ)).collect();
    assert_eq!(data["links"].as_array().unwrap().len(), pairs.len());
}

#[test]
fn a_large_graph_is_collapsed_by_kernel_and_that_is_said() {
    let sandbox = sandbox_with("cholesky", "fine");
    let answer = passed(sandbox.ringlane(&["mermaid", "run"]));
    assert!(answer.line("note: ").contains("collapsed by kernel into 4 nodes"), "{}", answer.stderr);
    assert!(answer.stdout.contains("one node for all tasks of a kernel"));
    assert_eq!(answer.stdout.lines().filter(|line| line.contains(":::")).count(), 4);
}

#[test]
fn the_collapsed_picture_can_be_had_in_every_format_at_any_size_and_every_task_too() {
    let sandbox = sandbox_with("cholesky", "small");
    let collapsed = |format: &str| {
        passed(sandbox.ringlane(&["deps", "run", "--collapse", "--format", format, "-o", "shown"]));
        fs::read_to_string(sandbox.path().join("shown")).unwrap()
    };
    assert_eq!(collapsed("text"), include_str!("snapshots/deps_collapsed.txt"));
    let dot = collapsed("dot");
    assert_eq!(dot.lines().filter(|line| line.contains("fillcolor=")).count(), 4, "{dot}");
    let mermaid = collapsed("mermaid");
    assert!(mermaid.contains("n3[\"GEMM<br/>4 tasks\"]:::aic"), "{mermaid}");
    assert!(collapsed("html").contains("collapsed by kernel into 4 nodes"));
    // The other way round: a graph that would be collapsed, in full.
    let sandbox = sandbox_with("cholesky", "fine");
    let answer = passed(sandbox.ringlane(&["mermaid", "run", "--no-collapse"]));
    let tasks = ringlane_trace::deps::Deps::read(sandbox.path().join("run")).unwrap().tasks.len();
    assert_eq!(answer.stdout.lines().filter(|line| line.contains(":::")).count(), tasks);
    assert!(answer.line("note: ").contains("`maxEdges`"), "{}", answer.stderr);
    let answer = sandbox.ringlane(&["deps", "run", "--collapse", "--no-collapse"]);
    assert_eq!(answer.status, 2);
}

#[test]
fn mermaid_draws_the_edges_that_the_engine_wired_from_a_swimlane_of_level_2_or_3_alone() {
    let sandbox = Sandbox::new();
    let record = |name: &str, options: &[&str]| {
        let run = ["run", "cholesky", "--case", "small", "-p", "a2a3sim", "-o", name];
        passed(sandbox.ringlane(&[&run[..], options].concat()));
    };
    record("both", &["--dep-gen", "--chip-swimlane=2"]);
    let full = passed(sandbox.ringlane(&["mermaid", "both"])).stdout;
    let nodes = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains(":::")).map(str::to_string).collect()
    };
    let edges = |text: &str| -> BTreeSet<(String, String)> {
        let ends = |line: &str| {
            let (from, to) = line.trim().split_once(" -->")?;
            Some((from.to_string(), to.rsplit(' ').next()?.to_string()))
        };
        text.lines().filter_map(ends).collect()
    };
    for level in ["2", "3"] {
        record(level, &[&format!("--chip-swimlane={level}")]);
        let answer = passed(sandbox.ringlane(&["mermaid", level]));
        assert!(answer.line("note: ").starts_with("these are the edges that the engine wired"));
        assert_eq!(nodes(&answer.stdout), nodes(&full), "the same tasks with the same kernels");
        let (wired, all) = (edges(&answer.stdout), edges(&full));
        assert!(wired.len() > 10 && wired.is_subset(&all), "{} of {}", wired.len(), all.len());
    }
    // Level 1 has no edges, and the answer says what has.
    record("level1", &["--chip-swimlane=1"]);
    let answer = sandbox.ringlane(&["mermaid", "level1"]);
    assert_eq!(answer.status, 2, "{}", answer.stderr);
    assert!(answer.line("hint: ").contains("--chip-swimlane=2"), "{}", answer.stderr);
    record("nothing", &[]);
    let answer = sandbox.ringlane(&["mermaid", "nothing"]);
    assert!(answer.line("hint: ").contains("--dep-gen"), "{}", answer.stderr);
}

#[test]
fn kernels_for_any_core_have_colours_of_their_own_in_every_picture() {
    let sandbox = sandbox_with("cholesky", "small");
    let path = sandbox.path().join("run/deps.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"core_type\":\"aic\"", "\"core_type\":\"any\"");
    fs::write(&path, text).unwrap();
    let fills = |format: &str, mark: &str| -> BTreeSet<String> {
        passed(sandbox.ringlane(&["deps", "run", "--format", format, "-o", "shown"]));
        let text = fs::read_to_string(sandbox.path().join("shown")).unwrap();
        let fill = |rest: &str| rest[..rest.find(['"', ',']).unwrap()].to_string();
        text.split(mark).skip(1).map(fill).collect()
    };
    // POTRF, TRSM, SYRK and GEMM: four colours, none of them the grey of nothing.
    let dot = fills("dot", "fillcolor=\"");
    assert_eq!(dot.len(), 4, "{dot:?}");
    assert_eq!(fills("mermaid", "fill:"), dot);
    assert_eq!(
        fills("html", "\"kind\":\"").into_iter().collect::<Vec<_>>(),
        ["any0", "any1", "any2", "any3"]
    );
}

#[test]
fn a_place_that_cannot_be_written_ends_with_1_and_is_not_called_a_file_of_the_run() {
    let sandbox = sandbox_with("cholesky", "small");
    for command in ["deps", "mermaid"] {
        let answer = sandbox.ringlane(&[command, "run", "-o", "/proc/x"]);
        assert_eq!(answer.status, 1, "{}", answer.stderr);
        assert_eq!(answer.line("error: "), "CannotWrite: a file cannot be written");
        assert!(answer.line("detail: ").starts_with("/proc/x: "), "{}", answer.stderr);
    }
}

#[test]
fn an_unknown_task_and_a_value_that_is_not_a_task_are_reported() {
    let sandbox = sandbox_with("cholesky", "small");
    for (task, expected) in
        [("9:9", "one of the 20 tasks"), ("x", "a task id, or ring:number"), ("1:x", "ring:number")]
    {
        let answer = sandbox.ringlane(&["deps", "run", "--task", task]);
        assert_eq!(answer.status, 2);
        assert!(answer.line("detail: ").contains(expected), "{}", answer.stderr);
    }
}
