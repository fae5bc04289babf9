//! `ringlane rerun`: one task again, from what was captured of it.

mod common;

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};

use common::{Answer, Sandbox};
use ringlane_trace::deps::Deps;
use ringlane_trace::dump::{Dump, DumpData, Stage};
use serde_json::json;

#[track_caller]
fn well(answer: Answer) -> Answer {
    assert_eq!(answer.status, 0, "{}{}", answer.stdout, answer.stderr);
    answer
}

/// Records a case with everything that is needed, as `run`.
fn recorded(arguments: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    well(sandbox.ringlane(&[&["run"], arguments, &["--dump-tensor", "--dep-gen", "-o", "run"]].concat()));
    sandbox
}

#[test]
fn a_task_of_each_kernel_gives_the_captured_bits_again_from_a_run_of_any_chip() {
    for (scene, chip) in [("paged_attention", "cpu"), ("cholesky", "a2a3sim"), ("moe", "a5sim")] {
        let sandbox = recorded(&[scene, "--case", "small", "-p", chip]);
        let deps = Deps::read(sandbox.path().join("run")).unwrap();
        let mut seen = Vec::new();
        for task in deps.tasks.iter().rev().filter(|task| !task.kernels.is_empty()) {
            let kernel = &task.kernels[0].kernel.name;
            if seen.contains(kernel) {
                continue;
            }
            seen.push(kernel.clone());
            let task = task.task_id.to_string();
            let answer =
                well(sandbox.ringlane(&["rerun", "run", "--task", &task, "--times", "3", "--json"])).json();
            assert_eq!((&answer["equal"], &answer["repeatable"]), (&json!(true), &json!(true)), "{answer}");
            assert_eq!((&answer["kernels"], &answer["calls"]), (&json!([kernel]), &json!(3)));
            assert!(answer["outputs"].as_array().unwrap().iter().all(|output| output["elements"] != 0));
        }
        assert!(seen.len() >= 3, "{seen:?}");
    }
}

#[test]
fn a_value_that_is_not_the_captured_one_is_found_with_its_place_and_its_bits() {
    let sandbox = recorded(&["vector", "--case", "small"]);
    let text = well(sandbox.ringlane(&["rerun", "run", "--task", "seq=0"])).stdout;
    assert!(
        text.starts_with("task 0:0 VECTOR_ADD: seq 0, 1 block\n  arg 2 (output, float32 16384): equal,"),
        "{text}"
    );
    assert!(text.contains("one call took "), "{text}");
    // The fifth element of its output, as if the run had computed something else.
    let dir = sandbox.path().join("run");
    let dump = Dump::read(&dir).unwrap();
    let output = dump.records.iter().find_map(|record| match record.data {
        DumpData::Tensor(tensor) if record.stage == Stage::AfterCompletion && record.task_id.0 == 0 => {
            Some(tensor)
        }
        _ => None,
    });
    let output = output.expect("the first task was captured");
    let mut bytes =
        fs::File::options().read(true).write(true).open(dir.join("tensor_dump/tensor_dump.bin")).unwrap();
    let mut all = vec![0; output.bin_size as usize];
    bytes.seek(SeekFrom::Start(output.bin_offset)).unwrap();
    bytes.read_exact(&mut all).unwrap();
    all[16..20].copy_from_slice(&1.5f32.to_le_bytes());
    bytes.seek(SeekFrom::Start(output.bin_offset)).unwrap();
    bytes.write_all(&all).unwrap();
    let answer = sandbox.ringlane(&["rerun", "run", "--task", "0:0"]);
    assert_eq!((answer.status, &answer.line("error: ")[..7]), (2, "Damaged"), "its checksum is wrong");
    // With a checksum that fits.
    let mut checksum = ringlane_trace::dump::Checksum::default();
    checksum.add(&all);
    let path = dir.join("tensor_dump/tensor_dump.json");
    let json = fs::read_to_string(&path).unwrap();
    let (old, new) = (output.crc32.unwrap().to_string(), checksum.crc32().to_string());
    // Also where the tasks that read it have captured the same bytes, in any order.
    let other = json.replace(&old, &new);
    assert_ne!(json, other);
    fs::write(&path, &other).unwrap();
    let manifest = fs::read_to_string(dir.join("run.json")).unwrap();
    let sized = |text: &str| format!("\"tensor_dump/tensor_dump.json\",\"bytes\":{}", text.len());
    fs::write(dir.join("run.json"), manifest.replace(&sized(&json), &sized(&other))).unwrap();
    let answer = sandbox.ringlane(&["rerun", "run", "--task", "0:0"]);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let wanted = "1 of 16,384 elements differ, the first at [4]: 1.5 captured, ";
    assert!(answer.stdout.contains(wanted) && answer.stdout.contains("(0x3fc00000, 0x"), "{}", answer.stdout);
    let json = sandbox.ringlane(&["rerun", "run", "--task", "0:0", "--json"]).json();
    assert_eq!((&json["equal"], &json["outputs"][0]["first"]["at"]), (&json!(false), &json!([4])));
}

#[test]
fn what_cannot_be_run_again_is_refused_by_name() {
    let sandbox = recorded(&["paged_attention", "--case", "small"]);
    let deps = Deps::read(sandbox.path().join("run")).unwrap();
    let without_kernel = deps.tasks.iter().find(|task| task.kernels.is_empty()).unwrap().task_id.to_string();
    let of = |kernel: &str| {
        let has = |task: &&ringlane_trace::deps::DepsTask<'_>| {
            task.kernels.iter().any(|own| own.kernel.name == kernel)
        };
        deps.tasks.iter().find(has).unwrap().task_id.to_string()
    };
    let (qk, pv) = (of("QK"), of("PV"));
    let small = ["run", "paged_attention", "--case", "small"];
    for (name, options) in [
        ("nothing", &["--dep-gen"][..]),
        ("no_deps", &["--dump-tensor"]),
        ("some", &["--dump-tensor=QK:0,PV", "--dep-gen"]),
    ] {
        well(sandbox.ringlane(&[&small[..], options, &["-o", name]].concat()));
    }
    for (run, task, name, text) in [
        ("run", "3:999999", "NoSuchTask", "the run has"),
        ("run", &without_kernel, "NoKernel", "is an allocation"),
        ("run", "seq=100000", "BadValue", "from seq=0"),
        ("run", "seq=x", "BadValue", "seq=12"),
        ("run", "no such label", "BadValue", "ring:number"),
        ("nothing", &qk, "NotRecorded", "--dump-tensor"),
        ("no_deps", &qk, "NotRecorded", "--dump-tensor --dep-gen"),
        ("no_deps", "seq=1", "NotRecorded", "--dump-tensor --dep-gen"),
        ("some", &qk, "ArgumentNotCaptured", "--dump-tensor=QK:0,PV"),
        ("some", &of("SOFTMAX"), "TaskNotCaptured", "--dump-tensor=QK:0,PV"),
    ] {
        let answer = sandbox.ringlane(&["rerun", run, "--task", task]);
        assert_eq!(answer.status, 2, "{run} {task}: {}", answer.stderr);
        assert!(answer.line("error: ").starts_with(name), "{run} {task}: {}", answer.stderr);
        assert!(answer.stderr.contains(text), "{run} {task}: {}", answer.stderr);
    }
    well(sandbox.ringlane(&["rerun", "some", "--task", &pv]));
    for times in ["0", "-1", "x", "1000001"] {
        assert_eq!(sandbox.ringlane(&["rerun", "run", "--task", &qk, "--times", times]).status, 2);
    }
}

#[test]
fn a_kernel_that_fails_again_fails_the_command_and_another_program_lacks_it() {
    let sandbox = Sandbox::new();
    let run = ["run", "odd", "--case", "kernel_fails", "--dump-tensor", "--dep-gen", "-o", "run"];
    assert_eq!(sandbox.odd(&run).status, 1);
    let answer = sandbox.odd(&["rerun", "run", "--task", "1:0"]);
    assert_eq!((answer.status, answer.line("error: ")), (1, "KernelFailed: the kernel failed"));
    assert!(answer.line("detail: ").ends_with("the kernel was asked to fail"), "{}", answer.stderr);
    let answer = sandbox.ringlane(&["rerun", "run", "--task", "1:0"]);
    assert_eq!(answer.status, 2);
    assert!(answer.line("error: ").starts_with("KernelNotHere"), "{}", answer.stderr);
    assert!(answer.line("detail: ").starts_with("\"ODD\"; known: ALIGN, ATTEND, "), "{}", answer.stderr);
    // The task after it was skipped: nothing was captured of it.
    let answer = sandbox.odd(&["rerun", "run", "--task", "1:1"]);
    assert!(answer.line("error: ").starts_with("TaskNotCaptured"), "{}", answer.stderr);
}
