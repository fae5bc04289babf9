//! Runs that lost rows or payloads: no command takes what is left for the whole.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Answer, Sandbox, checked};

/// Few bytes and many rows.
const ROWS: [&str; 7] = ["run", "stream", "--case", "short", "--param", "tasks=4000", "--dfx"];
/// Few rows and many bytes.
const BYTES: [&str; 5] = ["run", "vector", "--case", "chunked", "--dfx"];

/// Records a run under a limit on the size of files, which is like a full disk: not all of it fits.
fn short_run(sandbox: &Sandbox, run: &[&str], name: &str) {
    let ringlane = env!("CARGO_BIN_EXE_ringlane");
    let script = format!("ulimit -f 200; exec '{ringlane}' {} -o {name}", run.join(" "));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(sandbox.path()).stdin(Stdio::null());
    let answer = Answer::of(shell.output().unwrap());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
}

fn whole_run(sandbox: &Sandbox, run: &[&str], name: &str) {
    let answer = sandbox.ringlane(&[run, &["-o", name]].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
}

#[test]
fn check_fails_for_a_run_that_lost_rows_and_names_each_file_and_number() {
    let sandbox = Sandbox::new();
    short_run(&sandbox, &ROWS, "short");
    let manifest = checked(&sandbox.path().join("short"));
    let answer = sandbox.ringlane(&["check", "short"]);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(answer.stdout.contains(" 0 broken, "), "what is there is true: {}", answer.stdout);
    let lost: Vec<_> = manifest.files.iter().filter(|file| file.incomplete.is_some()).collect();
    assert!(!lost.is_empty());
    for file in &lost {
        assert!(answer.stdout.contains(&format!("  run.json: {}: ", file.path)), "{}", answer.stdout);
        if let (Some(dropped @ 1..), Some(total)) = (file.dropped, file.total) {
            assert!(
                answer.stdout.contains(&format!("{dropped} of {total} rows are missing")),
                "{}",
                answer.stdout
            );
        }
    }
    let json = sandbox.ringlane(&["check", "short", "--json"]).json();
    assert!(json["incomplete"].as_array().unwrap().len() >= lost.len(), "{json}");
    assert_eq!(json["broken"].as_array().unwrap().len(), 0);
}

#[test]
fn two_runs_of_which_one_lost_records_are_not_said_to_agree() {
    let sandbox = Sandbox::new();
    short_run(&sandbox, &ROWS, "short");
    whole_run(&sandbox, &ROWS, "whole");
    let dump = ringlane_trace::dump::Dump::read(sandbox.path().join("short")).unwrap().head.counts.records;
    assert!(dump.dropped > 0, "{dump:?}");
    for pair in [["short", "whole"], ["whole", "short"], ["short", "short"]] {
        let answer = sandbox.ringlane(&["dump", "diff", pair[0], pair[1]]);
        assert_eq!(answer.status, 1, "{pair:?}: {}", answer.stdout);
        assert!(!answer.stdout.contains("the runs agree"), "{pair:?}: {}", answer.stdout);
        let name = if pair[0] == "short" { "A" } else { "B" };
        let line = format!(
            "{} of {} records of {name} are missing: the runs cannot be compared\n",
            dump.dropped,
            dump.total()
        );
        assert!(answer.stdout.contains(&line), "{pair:?}: {}", answer.stdout);
        let json = sandbox.ringlane(&["dump", "diff", pair[0], pair[1], "--json"]).json();
        assert_eq!(json["verdict"], "incomplete", "{json}");
    }
    let answer = sandbox.ringlane(&["dump", "diff", "whole", "whole"]);
    assert_eq!(answer.status, 0, "{}", answer.stdout);
    assert!(answer.stdout.starts_with("the runs agree\n"), "{}", answer.stdout);
}

#[test]
fn a_search_for_bad_values_in_a_run_that_lost_records_says_so_and_fails() {
    let sandbox = Sandbox::new();
    short_run(&sandbox, &ROWS, "short");
    whole_run(&sandbox, &ROWS, "whole");
    let answer = sandbox.ringlane(&["dump", "bad", "short"]);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(answer.stdout.contains("records are missing\n"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("no NaN and no infinity\n"), "{}", answer.stdout);
    assert!(sandbox.ringlane(&["dump", "bad", "short", "--json"]).json()["missing"].as_u64().unwrap() > 0);
    assert_eq!(sandbox.ringlane(&["dump", "bad", "whole"]).status, 0);
}

#[test]
fn runs_that_lost_captured_bytes_are_neither_said_to_agree_nor_to_be_free_of_bad_values() {
    let sandbox = Sandbox::new();
    short_run(&sandbox, &BYTES, "short");
    whole_run(&sandbox, &BYTES, "whole");
    let counts = ringlane_trace::dump::Dump::read(sandbox.path().join("short")).unwrap().head.counts;
    assert!(counts.truncated > 0 && counts.records.dropped == 0, "{counts:?}");
    let (cut, records) = (counts.truncated, counts.records.collected);
    let answer = sandbox.ringlane(&["dump", "diff", "short", "whole"]);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    let line = format!("bytes of {cut} of {records} records are missing: the runs cannot be compared\n");
    assert!(answer.stdout.contains(&line) && !answer.stdout.contains("agree"), "{}", answer.stdout);
    let answer = sandbox.ringlane(&["dump", "bad", "short"]);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(answer.stdout.contains("the missing ones may have some\n"), "{}", answer.stdout);
    let answer = sandbox.ringlane(&["check", "short"]);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(
        answer.stdout.contains("tensor_dump/tensor_dump.bin: it is incomplete (EFBIG"),
        "{}",
        answer.stdout
    );
}

#[test]
fn a_selection_that_captured_nothing_is_warned_of_and_is_neither_free_of_bad_values_nor_in_agreement() {
    let sandbox = Sandbox::new();
    let run = ["run", "vector", "--case", "small", "--dump-tensor=@marked", "-o", "run"];
    let answer = sandbox.ringlane(&run);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.line("warning: ").starts_with("NothingCaptured: "), "{}", answer.stderr);
    for arguments in [&["dump", "bad", "run"][..], &["dump", "diff", "run", "run"]] {
        let answer = sandbox.ringlane(arguments);
        assert_eq!(answer.status, 1, "{arguments:?}: {}", answer.stdout);
        assert!(answer.stdout.starts_with("nothing was captured, so nothing was "), "{}", answer.stdout);
    }
    let json = sandbox.ringlane(&["dump", "diff", "run", "run", "--json"]).json();
    assert_eq!(json["verdict"], "nothing_captured", "{json}");
}

#[test]
fn captured_bytes_that_were_zeroed_are_found_by_every_command_that_reads_them() {
    let sandbox = Sandbox::new();
    whole_run(&sandbox, &BYTES, "run");
    assert_eq!(sandbox.ringlane(&["check", "run"]).status, 0);
    let bin = sandbox.path().join("run/tensor_dump/tensor_dump.bin");
    let bytes = fs::read(&bin).unwrap();
    fs::write(&bin, vec![0; bytes.len()]).unwrap();
    let answer = sandbox.ringlane(&["check", "run"]);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(answer.stdout.contains(" have the checksum "), "{}", answer.stdout);
    for arguments in [
        &["dump", "bad", "run"][..],
        &["dump", "diff", "run", "run"],
        &["dump", "run", "--print"],
        &["dump", "run", "--export", "npy", "-o", "arrays"],
    ] {
        let answer = sandbox.ringlane(arguments);
        assert_ne!(answer.status, 0, "{arguments:?}: {}", answer.stdout);
        assert!(answer.line("error: ").starts_with("Damaged: "), "{arguments:?}: {}", answer.stderr);
    }
    assert!(!has_arrays(&sandbox.path().join("arrays")), "half an array is none");
    fs::write(&bin, bytes).unwrap();
    assert_eq!(sandbox.ringlane(&["check", "run"]).status, 0);
}

fn has_arrays(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn a_run_from_before_there_were_checksums_is_found_true() {
    let sandbox = Sandbox::new();
    whole_run(&sandbox, &BYTES, "run");
    let path = sandbox.path().join("run/tensor_dump/tensor_dump.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut old = String::new();
    for part in text.split(",\"crc32\":") {
        let digits = if old.is_empty() { 0 } else { part.find(|c: char| !c.is_ascii_digit()).unwrap() };
        old += &part[digits..];
    }
    assert!(old.len() < text.len(), "there are checksums");
    fs::write(&path, &old).unwrap();
    let manifest = fs::read_to_string(sandbox.path().join("run/run.json")).unwrap();
    let manifest =
        manifest.replace(&format!("\"bytes\":{}", text.len()), &format!("\"bytes\":{}", old.len()));
    let manifest =
        manifest.replace(&format!("\"bytes\": {}", text.len()), &format!("\"bytes\": {}", old.len()));
    fs::write(sandbox.path().join("run/run.json"), manifest).unwrap();
    let answer = sandbox.ringlane(&["check", "run"]);
    assert_eq!(answer.status, 0, "{}", answer.stdout);
    assert_eq!(sandbox.ringlane(&["dump", "bad", "run"]).status, 0);
}

#[test]
fn a_task_that_two_files_lost_is_counted_once() {
    let sandbox = Sandbox::new();
    short_run(&sandbox, &ROWS, "short");
    let manifest = checked(&sandbox.path().join("short"));
    let lost = |name: &str| manifest.files.iter().find(|file| file.path == name).unwrap().dropped.unwrap();
    assert!(lost("deps.json") > 0 && lost("l2_perf_records.json") > 0, "{:?}", manifest.files);
    for command in ["swimlane", "overhead", "critical-path"] {
        let answer = sandbox.ringlane(&[command, "short"]);
        let notes = answer.stderr.lines().filter(|line| line.contains(" tasks "));
        let counts = notes
            .filter_map(|line| line.strip_prefix("note: ")?.split(' ').next()?.replace(',', "").parse().ok());
        let counts: Vec<u64> = counts.collect();
        assert!(counts.iter().all(|&count| count <= manifest.tasks), "{command}: {}", answer.stderr);
        assert!(command != "swimlane" || !counts.is_empty(), "{}", answer.stderr);
    }
}
