//! `ringlane deps` and `ringlane mermaid`: texts that stay the same, names that stay in their place, and the page.

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{Answer, Desk};

fn passed(answer: Answer) -> Answer {
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer
}

/// A desk with a run of a scene in `run`.
fn desk_with(scene: &str, case: &str) -> Desk {
    let desk = Desk::new();
    passed(desk.ringlane(&["run", scene, "--case", case, "-p", "a2a3sim", "--dep-gen", "-o", "run"]));
    desk
}

#[test]
fn the_texts_of_a_small_graph_are_the_same_every_time() {
    let desk = desk_with("cholesky", "small");
    let snapshots = [
        (&["deps", "run"][..], include_str!("snapshots/deps.txt")),
        (&["deps", "run", "--reduce"], include_str!("snapshots/deps_reduced.txt")),
        (&["deps", "run", "--task", "1:5"], include_str!("snapshots/deps_task.txt")),
        (&["deps", "run", "--reduce", "--format", "dot"], include_str!("snapshots/deps.dot")),
        (&["mermaid", "run", "--reduce"], include_str!("snapshots/deps.mmd")),
        (&["deps", "run", "--task", "1:5", "--format", "mermaid"], include_str!("snapshots/deps_task.mmd")),
    ];
    for (arguments, expected) in snapshots {
        let answer = passed(desk.ringlane(arguments));
        assert_eq!(answer.stdout, expected, "{arguments:?}:\n{}", answer.stdout);
    }
}

#[test]
fn every_edge_of_the_file_is_a_line_and_the_reduction_is_part_of_them() {
    let desk = desk_with("paged_attention", "small");
    let lines = |arguments: &[&str]| -> Vec<String> {
        passed(desk.ringlane(arguments)).stdout.lines().map(str::to_string).collect()
    };
    let all = lines(&["deps", "run"]);
    let deps = ringlane_trace::deps::Deps::read(desk.path().join("run")).unwrap();
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
fn rename(desk: &Desk, from: &str, to: &str) {
    let path = desk.path().join("run/deps.json");
    let text = fs::read_to_string(&path).unwrap();
    let (from, to) =
        (format!("\"name\":\"{from}\""), format!("\"name\":{}", serde_json::to_string(to).unwrap()));
    assert!(text.contains(&from));
    let text = text.replace(&from, &to);
    fs::write(&path, &text).unwrap();
    let manifest = desk.path().join("run/run.json");
    let mut json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    json["files"][0]["bytes"] = text.len().into();
    fs::write(manifest, json.to_string()).unwrap();
}

#[test]
fn names_that_would_break_out_of_their_place_stay_in_it() {
    let desk = desk_with("cholesky", "small");
    rename(&desk, "POTRF", "\"><script>alert(1)</script>");
    rename(&desk, "TRSM", "a,b\nc\u{1b}[31m\"]; x -> y");
    for format in ["text", "dot", "mermaid", "html"] {
        passed(desk.ringlane(&["deps", "run", "--format", format, "-o", "shown"]));
        let text = fs::read_to_string(desk.path().join("shown")).unwrap();
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
    let text = passed(desk.ringlane(&["deps", "run"])).stdout;
    let edges = ringlane_trace::deps::Deps::read(desk.path().join("run")).unwrap().edges.len();
    assert_eq!(text.lines().count(), edges);
    let dot = passed(desk.ringlane(&["deps", "run", "--format", "dot"])).stdout;
    assert!(dot.contains(r#"[31m\"]; x -> y"#), "{dot}");
}

#[test]
fn the_page_stands_in_the_run_directory_and_needs_nothing_else() {
    let desk = desk_with("cholesky", "small");
    let answer = passed(desk.ringlane(&["deps", "run", "--format", "html"]));
    assert_eq!((answer.stdout.as_str(), answer.line("wrote ")), ("", "run/deps.html"));
    let page = fs::read_to_string(desk.path().join("run/deps.html")).unwrap();
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("{{"));
    let start = page.find("application/json\">").unwrap() + "application/json\">".len();
    let data = &page[start..start + page[start..].find("</script>").unwrap()];
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let deps = ringlane_trace::deps::Deps::read(desk.path().join("run")).unwrap();
    assert_eq!(data["nodes"].as_array().unwrap().len(), deps.tasks.len());
    let pairs: BTreeSet<_> = deps.edges.iter().map(|edge| (edge.pred, edge.succ)).collect();
    assert_eq!(data["links"].as_array().unwrap().len(), pairs.len());
}

#[test]
fn a_large_graph_is_collapsed_by_kernel_and_that_is_said() {
    let desk = desk_with("cholesky", "fine");
    let answer = passed(desk.ringlane(&["mermaid", "run"]));
    assert!(answer.line("note: ").contains("collapsed by kernel into 4 nodes"), "{}", answer.stderr);
    assert!(answer.stdout.contains("one node for all tasks of a kernel"));
    assert_eq!(answer.stdout.lines().filter(|line| line.contains(":::")).count(), 4);
}

#[test]
fn a_place_that_cannot_be_written_ends_with_1_and_is_not_called_a_file_of_the_run() {
    let desk = desk_with("cholesky", "small");
    for command in ["deps", "mermaid"] {
        let answer = desk.ringlane(&[command, "run", "-o", "/proc/x"]);
        assert_eq!(answer.status, 1, "{}", answer.stderr);
        assert_eq!(answer.line("error: "), "CannotWrite: a file cannot be written");
        assert!(answer.line("detail: ").starts_with("/proc/x: "), "{}", answer.stderr);
    }
}

#[test]
fn a_task_that_is_none_and_a_value_that_is_no_task_are_told() {
    let desk = desk_with("cholesky", "small");
    for (task, expected) in
        [("9:9", "one of the 20 tasks"), ("x", "a task id, or ring:number"), ("1:x", "ring:number")]
    {
        let answer = desk.ringlane(&["deps", "run", "--task", task]);
        assert_eq!(answer.status, 2);
        assert!(answer.line("detail: ").contains(expected), "{}", answer.stderr);
    }
}
