//! Which tensor, and which bytes of it, a captured argument is: the same numbers as in `deps.json`.

mod common;

use std::collections::BTreeMap;

use common::{Sandbox, checked};
use ringlane_task::TaskId;
use ringlane_trace::deps::Deps;
use ringlane_trace::dump::{Dump, DumpData, Stage};

/// Cases with views, allocs, reads and rings that are used again and again.
const CASES: [(&str, &[&str]); 6] = [
    ("vector", &["--case", "chunked"]),
    ("matmul", &["--case", "ragged"]),
    ("moe", &["--case", "skewed"]),
    ("cholesky", &["--case", "small"]),
    ("paged_attention", &["--case", "small"]),
    (
        "stream",
        &["--case", "short", "--param", "tasks=600", "--ring-task-window", "32", "--ring-heap", "64K"],
    ),
];

/// The tensor of each captured argument.
#[track_caller]
fn tensors(sandbox: &Sandbox, dir: &str, arguments: &[&str]) -> BTreeMap<(TaskId, u32, Stage), u32> {
    let answer = sandbox.ringlane(&[&["run", "-o", dir], arguments].concat());
    assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.stderr);
    let path = sandbox.path().join(dir);
    // Against deps.json too, where there is one.
    checked(&path);
    let dump = Dump::read(&path).unwrap();
    let records = dump.records.iter().filter_map(|record| match &record.data {
        DumpData::Tensor(captured) => {
            let tensor = captured.tensor.expect("a tensor has a number").0;
            Some(((record.task_id, record.arg_index, record.stage), tensor))
        }
        DumpData::Scalar(_) => None,
    });
    records.collect()
}

#[test]
fn numbers_are_those_of_deps_json_on_every_chip_with_and_without_it() {
    for (scene, options) in CASES {
        let sandbox = Sandbox::new();
        let run = |dir: &str, platform: &str, more: &[&str]| {
            tensors(&sandbox, dir, &[&[scene, "--platform", platform], options, more].concat())
        };
        let both = run("both", "cpu", &["--dump-tensor", "--dep-gen"]);
        let deps = Deps::read(sandbox.path().join("both")).unwrap();
        assert!(!both.is_empty() && !deps.tensors.is_empty(), "{scene}");
        for task in &deps.tasks {
            for arg in task.args.iter() {
                for stage in [Stage::BeforeDispatch, Stage::AfterCompletion] {
                    let captured = both.get(&(task.task_id, arg.index, stage));
                    assert!(captured.is_none_or(|tensor| *tensor == arg.tensor.0), "{scene} {arg:?}");
                }
            }
        }
        assert!(both == run("alone", "cpu", &["--dump-tensor"]), "{scene}");
        assert!(both == run("modelled", "a5sim", &["--dump-tensor"]), "{scene}");
    }
}

#[test]
fn a_selection_does_not_change_the_numbers() {
    let sandbox = Sandbox::new();
    let case = ["paged_attention", "--case", "small"];
    let all = tensors(&sandbox, "all", &[&case[..], &["--dump-tensor"]].concat());
    let some = tensors(&sandbox, "some", &[&case[..], &["--dump-tensor=SOFTMAX,PV:2"]].concat());
    assert!(!some.is_empty() && some.len() < all.len());
    assert!(some.iter().all(|(argument, tensor)| all[argument] == *tensor));
}

#[test]
fn the_list_shows_tensor_and_bytes_and_can_be_of_one_tensor() {
    let sandbox = Sandbox::new();
    let run = ["run", "matmul", "--case", "small", "-o", "run", "--dump-tensor", "--dep-gen"];
    assert_eq!(sandbox.ringlane(&run).status, 0);
    let all = sandbox.ringlane(&["dump", "run", "--json"]).json();
    let records = all["records"].as_array().unwrap();
    let tile = records.iter().find(|record| record["byte_range"][0] != 0 && record["kind"] == "tensor");
    let tile = tile.expect("a part of a matrix that does not begin with it");
    let tensor = tile["tensor"].as_u64().unwrap().to_string();
    let some = sandbox.ringlane(&["dump", "run", "--tensor", &tensor, "--json"]).json();
    let expected: Vec<_> = records.iter().filter(|record| record["tensor"] == tile["tensor"]).collect();
    assert_eq!(some["records"].as_array().unwrap().iter().collect::<Vec<_>>(), expected);
    let range = format!("{}..{}", tile["byte_range"][0], tile["byte_range"][1]);
    let text = sandbox.ringlane(&["dump", "run", "--tensor", &tensor]).stdout;
    assert!(text.contains(&range), "{range} is not in:\n{text}");
    let index = tile["index"].to_string();
    let printed = sandbox.ringlane(&["dump", "run", "--index", &index, "--print"]).stdout;
    assert!(printed.contains(&format!(", bytes {range} of tensor {tensor}")), "{printed}");
    let answer = sandbox.ringlane(&["dump", "run", "--tensor", "x"]);
    assert_eq!(answer.status, 2);
    assert!(answer.line("detail: ").contains("--tensor"), "{}", answer.stderr);
}
