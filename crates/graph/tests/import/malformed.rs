//! Every malformed file is refused by name, with the place, a reason and what to do.

use ringlane_graph::import::{Format, ImportError, ImportOptions, read, read_tables};
use ringlane_task::Explain;

fn refused(error: &ImportError, name: &str, detail: &str, case: &str) {
    assert_eq!(error.name(), name, "{case}: {error}");
    assert!(error.detail().contains(detail), "{case}: {:?} lacks {detail:?}", error.detail());
    assert!(!error.summary().is_empty() && !error.hint().is_empty(), "{case}");
}

fn all_refused(format: Format, cases: &[(&str, &str, &str)]) {
    for (text, name, detail) in cases {
        let error = read(format, "f", text.as_bytes(), &ImportOptions::default()).expect_err(text);
        refused(&error, name, detail, text);
    }
}

/// An instance of these tasks and durations.
fn wf(tasks: &str, executed: &str) -> String {
    format!(
        r#"{{"schemaVersion":"1.5","workflow":{{"specification":{{"tasks":[{tasks}]}},"execution":{{"tasks":[{executed}]}}}}}}"#
    )
}

#[test]
fn wfformat() {
    let a = r#"{"id":"a","name":"k","parents":[],"children":[]}"#;
    let ran = r#"{"id":"a","runtimeInSeconds":1}"#;
    let cases = [
        (wf(a, ""), "MissingDuration", "\"a\""),
        (wf(a, r#"{"id":"a"}"#), "MissingDuration", "f:1"),
        (wf(a, r#"{"id":"a","runtimeInSeconds":-1}"#), "BadDuration", "-1 s"),
        (wf(a, r#"{"id":"a","runtimeInSeconds":"NaN"}"#), "BadDuration", "NaN"),
        (wf(a, r#"{"id":"a","runtimeInSeconds":"long"}"#), "UnexpectedValue", "long"),
        (wf(a, r#"{"id":"a","runtimeInSeconds":1e12}"#), "DurationTooLong", "1e21 ns"),
        (wf(a, r#"{"runtimeInSeconds":1}"#), "MissingField", "no id"),
        (wf(a, &format!("{ran},{ran}")), "RepeatedTask", "\"a\""),
        (wf(a, &format!("{ran},{}", ran.replace("\"a\"", "\"b\""))), "UnknownTask", "\"b\""),
        (wf(&format!("{a},\n{a}"), ran), "RepeatedTask", "f:2:"),
        (wf(&a.replace("parents\":[]", "parents\":[\"x\"]"), ran), "UnknownTask", "\"x\""),
        (wf(&a.replace("children\":[]", "children\":[\"a\"]"), ran), "Cycle", "\"a\" -> \"a\""),
        (wf(&a.replace("parents\":[]", "parents\":[1]"), ran), "UnexpectedValue", "id of a task"),
        (wf(&a.replace("parents\":[]", "parents\":{}"), ran), "UnexpectedValue", "ids of tasks"),
        (wf(r#"{"name":"k"}"#, ""), "MissingField", "no id"),
        (wf("", ""), "EmptyGraph", "f: 0 tasks"),
        (wf(a, ran).replace("1.5", "1.4"), "UnknownFormatVersion", "1.4"),
        (wf(a, ran) + "x", "BadSyntax", "trailing"),
        (wf(a, ran)[..60].to_string(), "CutOff", "f:1:60"),
        (String::new(), "CutOff", "f"),
        ("{}".to_string(), "MissingField", "workflow.specification.tasks"),
        ("[1]".to_string(), "UnexpectedValue", "a workflow instance"),
        ("digraph {}".to_string(), "BadSyntax", "f:1:1"),
        ("{\"x\":".to_string() + &"[".repeat(200), "TooDeep", "f:1:"),
        (wf(a, ran).replace("\"k\"", "\"\\ud800\""), "BadSyntax", "f:1:"),
        (wf(a, ran).replace("\"k\"", "\"a\nb\""), "BadSyntax", "control character"),
        (wf(&a.replace("\"a\"", &format!("\"{}\"", "n".repeat(5000))), ran), "NameTooLong", "5000"),
    ];
    for (text, name, detail) in &cases {
        all_refused(Format::WfFormat, &[(text, name, detail)]);
    }
}

#[test]
fn chakra_json() {
    all_refused(
        Format::Chakra,
        &[
            ("{}{\"id\":1,\"dataDeps\":[2]}", "UnknownTask", "\"2\""),
            ("{}{\"id\":1}\n{\"id\":\"1\"}", "RepeatedTask", "f:2"),
            ("{}{\"id\":1,\"durationMicros\":-5}", "BadDuration", "-5 us"),
            ("{}{\"id\":1,\"durationMicros\":\"nan\"}", "BadDuration", "NaN us"),
            ("{}{\"id\":1,\"durationMicros\":1000000000000000}", "DurationTooLong", "\"1\""),
            ("{}{\"id\":-1}", "UnexpectedValue", "-1"),
            ("{}{\"id\":1.5}", "UnexpectedValue", "1.5"),
            ("{\"nodes\":[{\"id\":1,\"ctrl_deps\":7}]}", "UnexpectedValue", "a list of ids of nodes"),
            ("{}{\"id\":1,\"ctrlDeps\":[2]}{\"id\":2,\"dataDeps\":[1]}", "Cycle", "\"1\" -> \"2\" -> \"1\""),
            ("{}{\"id\":1", "CutOff", "f:1:"),
            ("{\"nodes\":[{\"id\":1},", "CutOff", "f:1:"),
            ("{}{\"id\":1}x", "BadSyntax", "f:1:"),
            ("{}", "EmptyGraph", "f"),
            ("{\"nodes\":[]}", "EmptyGraph", "f"),
            ("[3]", "UnexpectedValue", "a node"),
        ],
    );
}

#[test]
fn chakra_protobuf() {
    let options = ImportOptions::default();
    let refuse = |bytes: &[u8], name, detail| {
        let error = read(Format::Chakra, "f", bytes, &options).expect_err(name);
        refused(&error, name, detail, name);
    };
    // Metadata of the version "1", then a node: id 1, and what is wrong.
    let trace = |node: &[u8]| [&[3, 0x0a, 1, b'1', node.len() as u8][..], node].concat();
    refuse(b"", "EmptyGraph", "f");
    refuse(&[3, 0x0a, 1, b'1'], "EmptyGraph", "f");
    refuse(&[3, 0x0a, 1], "CutOff", "2 of 3 bytes");
    refuse(&[3, 0x0a, 1, b'1', 0x80], "CutOff", "f:2");
    refuse(&[0xff; 12], "BadSyntax", "64 bits");
    refuse(&[3, 0x0a, 1, b'1', 0xff, 0xff, 0xff, 0xff, 0x7f], "MessageTooLarge", "f:2");
    refuse(&trace(&[0x08, 1, 0x12, 1, 0xff]), "NotUtf8", "f:2");
    refuse(&trace(&[0x08, 1, 0x12, 9, b'a']), "BadSyntax", "a node");
    refuse(&trace(&[0x0b, 1]), "BadSyntax", "a node");
    refuse(&trace(&[0x08, 1, 0x20, 2]), "UnknownTask", "\"2\"");
    refuse(&trace(&[0x08, 1, 0x20, 1]), "Cycle", "\"1\" -> \"1\"");
    refuse(&[trace(&[0x08, 1]), vec![2, 0x08, 1]].concat(), "RepeatedTask", "f:3");
    refuse(
        &trace(&[0x08, 1, 0x38, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        "DurationTooLong",
        "\"1\"",
    );
    refuse(&trace(b"\x89PNG\r\n\x1a\n"), "BadSyntax", "f:2");
}

#[test]
fn dot() {
    let deep = "digraph {".to_string() + &"{".repeat(200);
    all_refused(
        Format::Dot,
        &[
            ("", "EmptyGraph", "f"),
            ("digraph {}", "EmptyGraph", "f: 0 tasks"),
            ("graph { a -- b }", "UndirectedGraph", "f:1:1"),
            ("digraph { a -- b }", "UndirectedGraph", "f:1:13"),
            ("digraph {\n a -> b }", "MissingDuration", "f:2: task \"a\""),
            ("digraph { a [weight=1]; b [weight=x] }", "BadDuration", "\"b\""),
            ("digraph { a [weight=-1] }", "BadDuration", "-1"),
            ("digraph { a [duration=nan] }", "BadDuration", "nan"),
            ("digraph { a [duration=inf] }", "BadDuration", "inf"),
            ("digraph { a [duration=\"1e12s\"] }", "DurationTooLong", "1e21"),
            (
                "digraph { node [weight=1]\n a -> b -> c -> a }",
                "Cycle",
                "f:2: \"a\" -> \"b\" -> \"c\" -> \"a\"",
            ),
            ("digraph { a -> ", "CutOff", "a node after"),
            ("digraph { a [weight=1", "CutOff", "attribute"),
            ("digraph { a [weight=1]", "CutOff", "`}`"),
            ("digraph { \"a", "CutOff", "f:1:11"),
            ("digraph { /* a", "CutOff", "comment"),
            ("digraph { <a<b>", "CutOff", "`>`"),
            ("digraph { a [weight=1] } digraph { b }", "BadSyntax", "one graph"),
            ("digraph { a ] }", "BadSyntax", "f:1:13"),
            ("digraph { a [=3] }", "BadSyntax", "attribute"),
            ("digraph { a [b=] }", "BadSyntax", "value"),
            ("digraph { a:: }", "BadSyntax", "port"),
            ("digraph { \"a\" + b }", "BadSyntax", "string"),
            ("digraph { a / b }", "BadSyntax", "'/'"),
            ("digraph { a % b }", "BadSyntax", "'%'"),
            ("[{\"ph\": 1}]", "BadSyntax", "`digraph`"),
            (&deep, "TooDeep", "f:1:"),
        ],
    );
}

#[test]
fn csv() {
    let tasks = "id,duration_us\na,1\nb,2\n";
    let cases: [(&str, &str, &str, &str); 21] = [
        ("", "", "EmptyGraph", "tasks.csv"),
        ("id,duration_us\n", "pred,succ\n", "EmptyGraph", "tasks.csv"),
        (tasks, "", "EmptyGraph", "edges.csv"),
        ("name,duration\na,1\n", "", "MissingField", "column `id`"),
        ("id,name\na,b\n", "", "MissingField", "column `duration_us`"),
        (tasks, "from,until\n", "MissingField", "column `succ`"),
        ("id,duration\na,\n", "", "MissingDuration", "tasks.csv:2"),
        ("id,duration\na,-1\n", "", "BadDuration", "-1"),
        ("id,duration\na,NaN\n", "", "BadDuration", "NaN"),
        ("id,duration\na,soon\n", "", "BadDuration", "\"soon\""),
        ("id,duration_s\na,1e12\n", "", "DurationTooLong", "1e21"),
        ("id,duration\na,1\n\na,2\n", "", "RepeatedTask", "tasks.csv:4: task \"a\", first on line 2"),
        ("id,duration\na,1\nb", "", "CutOff", "1 cells, the head has 2"),
        ("id,duration\na\nb,1\n", "", "BadSyntax", "tasks.csv:2"),
        ("id,duration\na,1,2\n", "", "BadSyntax", "3 cells"),
        ("id,duration\n\"a,1\n", "", "CutOff", "tasks.csv:2:1"),
        ("id,duration\n\"a\"b,1\n", "", "BadSyntax", "'b' after"),
        ("id,duration\na\"b,1\n", "", "BadSyntax", "tasks.csv:2:2"),
        (tasks, "pred,succ\na,c\n", "UnknownTask", "edges.csv:2: task \"c\""),
        (tasks, "pred,succ\na,b\nb,a\n", "Cycle", "tasks.csv:2: \"a\" -> \"b\" -> \"a\""),
        (tasks, "pred,succ\na,\"b", "CutOff", "edges.csv:2"),
    ];
    for (tasks, edges, name, detail) in cases {
        let error = read_tables(tasks.as_bytes(), edges.as_bytes(), &ImportOptions::default());
        refused(&error.expect_err(tasks), name, detail, tasks);
    }
}

#[test]
fn trace() {
    let x = |more: &str| format!("[{{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1{more}}}]");
    let both = "\"ph\":\"X\",\"ts\":0,\"dur\":5";
    let arrows = |pairs: &[(u32, u32)]| {
        let end =
            |ph, id, tid| format!(",{{\"ph\":\"{ph}\",\"id\":{id},\"tid\":{tid},\"ts\":1,\"bp\":\"e\"}}");
        let ends = (0..).zip(pairs).map(|(id, (pred, succ))| end("s", id, pred) + &end("f", id, succ));
        format!("[{{{both},\"tid\":1}},{{{both},\"tid\":2}}{}]", ends.collect::<String>())
    };
    let cases = [
        (x(",\"ts\":1"), "MissingDuration", "\"a\""),
        (x(",\"dur\":1"), "MissingField", "no `ts`"),
        (x(",\"ts\":1,\"dur\":-1"), "BadDuration", "-1 us"),
        (x(",\"ts\":1,\"dur\":1e18"), "DurationTooLong", "1e21"),
        (x(",\"ts\":1e300,\"dur\":1"), "UnexpectedValue", "not a time"),
        (x(",\"ts\":[],\"dur\":1"), "UnexpectedValue", "a number"),
        (x(",\"ts\":1,\"dur\":1").replace("\"ph\":\"X\",", ""), "MissingField", "no `ph`"),
        (x(",\"ts\":1").replace('X', "B"), "UnmatchedEvent", "\"a\" without an end"),
        (x(",\"ts\":1").replace('X', "E"), "UnmatchedEvent", "without a begin"),
        (arrows(&[(1, 2), (2, 1)]), "Cycle", "f:1"),
        ("[{\"ph\":\"B\",\"ts\":5},\n{\"ph\":\"E\",\"ts\":3}]".into(), "BadDuration", "f:2"),
        ("[]".into(), "EmptyGraph", "f"),
        ("[{\"ph\":\"i\",\"ts\":1}]".into(), "EmptyGraph", "f"),
        ("{}".into(), "MissingField", "traceEvents"),
        ("{\"traceEvents\":{}}".into(), "UnexpectedValue", "a list of events"),
        ("[{\"ph\":\"X\",\"ts\":1,\"dur\":1},".into(), "CutOff", "f:1:"),
        ("[{\"ph\":\"X\",\"ts\":NaN,\"dur\":1}]".into(), "BadSyntax", "f:1:17"),
        ("[5]".into(), "UnexpectedValue", "an event"),
    ];
    for (text, name, detail) in &cases {
        all_refused(Format::Trace, &[(text, name, detail)]);
    }
}

#[test]
fn text_that_is_not_utf8_is_refused_in_every_format_of_text() {
    for (format, text) in [
        (Format::WfFormat, &b"{\"skipped\":\"\xff\"}"[..]),
        (Format::Chakra, b"{\"skipped\":\"\xff\"}"),
        (Format::Dot, b"digraph { /* \xff */ }"),
        (Format::Trace, b"[{\"args\":\"\xff\"}]"),
        (Format::Csv, b"id,duration\n\xff,1\n"),
    ] {
        let error = read(format, "f", text, &ImportOptions::default()).unwrap_err();
        refused(&error, "NotUtf8", "f:", &format.to_string());
    }
}
