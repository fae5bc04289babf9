//! What formats allow beside what the generators write.

use ringlane_graph::import::{Format, ImportOptions, ImportedGraph, KernelBy, read, read_tables};

fn graph(format: Format, text: &str) -> ImportedGraph {
    read(format, "f", text.as_bytes(), &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Tasks as `label (or kernel) of kernel: ticks`.
fn tasks(graph: &ImportedGraph) -> Vec<String> {
    let text = |task: ringlane_graph::import::ImportedTask<'_>| {
        let kernel = &graph.kernels()[task.kernel as usize];
        format!("{} of {kernel}: {}", task.label.unwrap_or(kernel), task.ticks)
    };
    graph.tasks().map(text).collect()
}

#[test]
fn dot_chains_subgraphs_ports_defaults_and_comments() {
    let graph = graph(
        Format::Dot,
        r#"
        # a line of the preprocessor
        digraph "my graph" { // a comment
          node [weight=1, label="\N"]; edge [weight=7]; size = "3,4"
          a:port:n -> b -> { c d } -> subgraph cluster_x { node [weight="2ms"] e; f [weight=3][kind=last] }
          "b" [duration="1.5us", weight=9, label="second
node"]
          c [label=<<b>bold</b>>]
          "g" + "1"; -1.5 [weight=0]
        }"#,
    );
    assert_eq!(
        tasks(&graph),
        [
            "a of a: 1000",
            "second\nnode of second\nnode: 1500",
            "<b>bold</b> of <b>bold</b>: 1000",
            "d of d: 1000",
            "e of e: 2000000",
            "f of last: 3000",
            "g1 of g: 1000",
            "-1.5 of -1: 0",
        ]
    );
    assert_eq!(graph.edges(), [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (2, 5), (3, 5)]);
}

#[test]
fn tables_have_any_columns_and_units() {
    let tasks_csv = "\u{feff}Duration_ms , ID,type\r\n1.5,\"a,1\",load\r\n\r\n2us,b,\n";
    let graph = read_tables(tasks_csv.as_bytes(), "to,from\nb,\"a,1\"".as_bytes(), &ImportOptions::default())
        .unwrap();
    assert_eq!(tasks(&graph), ["a,1 of load: 1500000", "b of b: 2000"]);
    assert_eq!(graph.edges(), [(0, 1)]);
}

#[test]
fn a_workflow_may_list_durations_first_and_edges_at_one_end() {
    let text = r#"{"workflow": {
        "execution": {"tasks": [{"id": "b_2", "runtimeInSeconds": 2}, {"runtimeInSeconds": 0.25, "id": "a_1"}]},
        "specification": {"tasks": [
            {"id": "b_2", "name": "blur_2", "parents": ["a_1"]},
            {"children": ["b_2"], "category": "load", "id": "a_1", "name": "x"}]}}}"#;
    let graph = graph(Format::WfFormat, text);
    assert_eq!(tasks(&graph), ["a_1 of load: 250000000", "b_2 of blur: 2000000000"]);
    assert_eq!(graph.edges(), [(0, 1)]);
}

#[test]
fn arrows_go_through_the_slices_around_them() {
    // One lane: `outer` from 0 to 100 with `inner` from 10 to 30; `next` from 100 on. An arrow steps from inner over another
    // lane to next; one has no end, one starts nowhere.
    let text = r#"{"traceEvents": [
        {"ph":"X","name":"inner","pid":1,"tid":1,"ts":10,"dur":20,"args":{"deep":[[1],{"a":"\""}]}},
        {"ph":"X","name":"outer","pid":1,"tid":1,"ts":0,"dur":100},
        {"ph":"X","name":"next","pid":1,"tid":1,"ts":100,"dur":1},
        {"ph":"X","name":"other","pid":1,"tid":2,"ts":40,"dur":10},
        {"ph":"s","id":"0x1","pid":1,"tid":1,"ts":30},
        {"ph":"s","id":1,"pid":1,"tid":1,"ts":29},
        {"ph":"t","id":1,"pid":1,"tid":2,"ts":45},
        {"ph":"f","id":1,"pid":1,"tid":1,"ts":60},
        {"ph":"s","id":2,"pid":9,"tid":1,"ts":5},
        {"ph":"f","id":2,"pid":1,"tid":1,"ts":60,"bp":"e"},
        {"ph":"C","name":"counter","ts":5,"args":{"value":1}}]}"#;
    let graph = graph(Format::Trace, text);
    assert_eq!(
        tasks(&graph),
        ["inner of inner: 20000", "outer of outer: 80000", "other of other: 10000", "next of next: 1000"]
    );
    assert_eq!(graph.edges(), [(0, 2), (2, 3)]);
    assert_eq!((graph.skipped().arrows, graph.skipped().events), (2, 1));
}

#[test]
fn lanes_can_keep_their_order() {
    let text = r#"[{"ph":"X","name":"b","tid":1,"ts":10,"dur":5},{"ph":"X","name":"a","tid":1,"ts":0,"dur":5},
        {"ph":"X","name":"c","tid":2,"ts":3,"dur":5}]"#;
    assert_eq!(graph(Format::Trace, text).edges(), []);
    let options = ImportOptions { lane_order: true, ..ImportOptions::default() };
    let graph = read(Format::Trace, "f", text.as_bytes(), &options).unwrap();
    assert_eq!(tasks(&graph), ["a of a: 5000", "b of b: 5000", "c of c: 5000"]);
    assert_eq!(graph.edges(), [(0, 1)]);
}

#[test]
fn kernels_are_kinds_or_names_and_durations_are_scaled() {
    let text = "digraph { a [kind=load, weight=2, label=\"load 7\"]; \"blur_3\" [weight=\"3s\"] }";
    let by = |kernel_by, scale: &str| {
        let options = ImportOptions { kernel_by, scale: scale.parse().unwrap(), ..ImportOptions::default() };
        tasks(&read(Format::Dot, "f", text.as_bytes(), &options).unwrap())
    };
    assert_eq!(by(KernelBy::Kind, "1s=1s"), ["load 7 of load: 2000", "blur_3 of blur: 3000000000"]);
    assert_eq!(by(KernelBy::Name, "1s=1us"), ["load 7 of load 7: 0", "blur_3 of blur_3: 3000"]);
}

#[test]
fn durations_of_nothing_and_of_ten_to_the_twelve_are_kept() {
    let graph = graph(Format::Dot, "digraph { a [weight=0]; b [weight=\"1e12ns\"]; c [weight=1e12] }");
    assert_eq!(
        graph.tasks().map(|task| task.ticks).collect::<Vec<_>>(),
        [0, 1_000_000_000_000, 1_000_000_000_000_000]
    );
}
