//! Bad input: exit 2, a name, a detail, a hint, and no files.

mod common;

use common::{Answer, Sandbox};

/// Runs a command that must be refused: three lines, nothing on standard output, no file.
#[track_caller]
fn refused(arguments: &[&str], name: &str) -> Answer {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(arguments);
    assert_refused(&sandbox, &answer, name, &[]);
    answer
}

#[track_caller]
fn assert_refused(sandbox: &Sandbox, answer: &Answer, name: &str, files: &[&str]) {
    assert_eq!(answer.status, 2, "{}", answer.stderr);
    assert_eq!(answer.stdout, "");
    let lines: Vec<&str> = answer.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", answer.stderr);
    assert!(lines[0].starts_with(&format!("error: {name}: ")), "{}", lines[0]);
    assert!(lines[1].len() > "detail: ".len() && lines[1].starts_with("detail: "), "{}", lines[1]);
    assert!(lines[2].len() > "hint: ".len() && lines[2].starts_with("hint: "), "{}", lines[2]);
    assert_eq!(sandbox.files(), files, "it wrote files");
}

#[test]
fn an_unknown_scene_lists_what_is_there_and_names_the_nearest() {
    let answer = refused(&["run", "vectro"], "UnknownScene");
    assert!(answer.stderr.contains("matmul") && answer.line("hint: ").contains("did you mean vector?"));
}

#[test]
fn no_scene_at_all_lists_what_is_there() {
    assert!(refused(&["run"], "MissingScene").line("detail: ").contains("vector"));
}

#[test]
fn an_unknown_case_lists_the_cases() {
    let answer = refused(&["run", "vector", "--case", "smal"], "UnknownCase");
    assert!(answer.line("hint: ").contains("--case small"));
    // One good case does not save a bad one, and does not run.
    refused(&["run", "vector", "--case", "small", "--case", "nope"], "UnknownCase");
}

#[test]
fn an_unknown_or_impossible_parameter_is_refused() {
    assert!(refused(&["run", "vector", "--param", "zz=1"], "UnknownParam").stderr.contains("chunks"));
    assert!(refused(&["run", "vector", "--param", "n=-5"], "BadParam").line("detail: ").contains("n=-5"));
    assert!(refused(&["run", "vector", "--param", "n=many"], "BadParam").line("detail: ").contains("n=many"));
    assert!(refused(&["run", "vector", "--param", "n"], "BadValue").line("detail: ").contains("NAME=VALUE"));
}

#[test]
fn a_parameter_that_the_case_contradicts_is_the_one_that_is_named() {
    let answer = refused(&["run", "vector", "--param", "n=1"], "BadParam");
    assert_eq!(answer.line("error: "), "BadParam: the case `chunked` cannot have `n=1`");
    assert!(answer.line("detail: ").starts_with("n=1 with chunks=7, the value in the case chunked"));
    assert!(
        answer
            .line("hint: ")
            .starts_with("also set `--param chunks=VALUE` (allowed: a whole number from 1 to 1")
    );
    // The hint, followed, passes.
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "vector", "--param", "n=1", "--param", "chunks=1"]).status, 0);
}

#[test]
fn a_file_that_a_parameter_names_and_that_cannot_be_read_is_what_is_named() {
    let sandbox = Sandbox::new();
    for (file, why) in [("missing.bin", "No such file"), (".", "Is a directory")] {
        let answer = sandbox.odd(&["run", "odd", "--case", "nothing", "--param", &format!("file={file}")]);
        assert_refused(&sandbox, &answer, "UnreadableFile", &[]);
        let detail = answer.line("detail: ");
        assert!(detail.starts_with(&format!("file={file}: ")) && detail.contains(why), "{detail}");
        assert!(answer.line("hint: ").contains("--param file=VALUE"), "{}", answer.stderr);
    }
}

#[test]
fn a_count_that_is_too_large_gets_one_that_makes_sense_as_a_hint() {
    let cores = std::thread::available_parallelism().unwrap().get().min(1024);
    for value in ["99999", "99999999999999999999"] {
        let answer = refused(&["run", "vector", "--threads", value], "BadValue");
        assert!(answer.line("detail: ").contains("from 1 to 1024"), "{}", answer.stderr);
        assert_eq!(answer.line("hint: "), format!("--threads {cores}"));
    }
    assert_eq!(refused(&["run", "vector", "--threads", "0"], "BadValue").line("hint: "), "--threads 1");
}

#[test]
fn too_many_open_files_are_said_to_be_that() {
    for limit in 5..16 {
        let sandbox = Sandbox::new();
        let shell = format!("ulimit -n {limit}; exec \"$@\"");
        let command =
            ["-c", &shell, "sh", env!("CARGO_BIN_EXE_ringlane"), "run", "vector", "--case", "small", "--dfx"];
        let answer = Answer::of(sandbox.command("sh".as_ref(), &command).output().unwrap());
        if answer.stderr.contains("EMFILE") {
            assert!(answer.line("hint: ").contains("ulimit -n"), "{limit}: {}", answer.stderr);
        }
        assert!(answer.status == 0 || answer.stderr.contains("open files"), "{limit}: {}", answer.stderr);
    }
}

#[test]
fn escape_bytes_of_what_was_given_are_printed_as_escapes() {
    let sandbox = Sandbox::new();
    let odd = "a\x1b[31mred\u{9b}0m";
    for arguments in [
        &["run", "vector", "--case", odd][..],
        &["run", odd],
        &["run", "vector", "--param", &format!("n={odd}")],
        &["run", "vector", &format!("--{odd}")],
        &["run", "vector", "--threads", odd],
        &["report", odd],
        &["run", "vector", "--platform", "a2a3sim", "--chip", odd],
        &["run", "vector", "--case", "small", "-o", &format!("/proc/{odd}")],
        &["run", "vector", "--case", "small", "-o", odd, "--report", "--chip-swimlane"],
        &["check", odd],
        &["report", odd, "-o", &format!("{odd}.html")],
        &["deps", odd],
        &[odd],
    ] {
        let answer = sandbox.ringlane(arguments);
        let printed = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!printed.contains(['\x1b', '\u{9b}']), "{arguments:?}: {printed:?}");
    }
}

#[test]
fn a_bad_value_names_the_option_the_value_and_what_is_allowed() {
    for (option, value, allowed) in [
        ("--threads", "0", "from 1 to"),
        ("--threads", "-2", "from 1 to"),
        ("--threads", "two", "from 1 to"),
        ("--rounds", "0", "from 1 to"),
        ("--rounds", "-1", "from 1 to"),
        ("--ring-heap", "-1", "K, M, G"),
        ("--seed", "-1", "from 0 to"),
        ("--platform", "xpu", "a2a3sim"),
        ("--runtime", "static", "host_build_graph"),
        ("--ring-heap", "lots", "K, M, G"),
        ("--ring-heap", "1M,1M", "four with commas"),
        ("--ring-task-window", "64,,64,64", "four with commas"),
        ("--tensormap", "1,1,1,1", "a power of two"),
    ] {
        let answer = refused(&["run", "vector", option, value], "BadValue");
        let detail = answer.line("detail: ");
        for part in [option, value, allowed] {
            assert!(detail.contains(part), "{detail} does not name {part}");
        }
        assert!(answer.line("hint: ").starts_with(option), "{}", answer.stderr);
    }
}

#[test]
fn a_capacity_of_zero_is_too_small() {
    for option in ["--ring-task-window", "--ring-heap", "--ring-dep-pool", "--ring-args", "--tensormap"] {
        let answer = refused(&["run", "vector", option, "0"], "CapacityTooSmall");
        assert!(answer.line("hint: ").starts_with(option), "{}", answer.stderr);
    }
    refused(&["run", "vector", "--ring-heap", "1M,0,1M,1M"], "CapacityTooSmall");
}

#[test]
fn a_capacity_that_is_no_power_of_two_gets_the_next_one_as_a_hint() {
    for option in ["--ring-task-window", "--ring-heap", "--ring-dep-pool", "--ring-args", "--tensormap"] {
        let answer = refused(&["run", "vector", option, "100"], "CapacityNotPowerOfTwo");
        assert_eq!(answer.line("hint: "), format!("{option} 128"));
        assert!(answer.line("detail: ").contains(&format!("{option} 100")), "{}", answer.stderr);
    }
}

#[test]
fn a_capacity_larger_than_memory_or_than_any_is_too_large() {
    let answer = refused(&["run", "vector", "--ring-heap", "1T"], "CapacityTooLarge");
    assert!(answer.line("detail: ").contains("the machine has"), "{}", answer.stderr);
    let hint = answer.line("hint: ").to_string();
    assert!(hint.starts_with("--ring-heap "), "{hint}");
    // The hint, pasted, passes.
    let mut arguments = vec!["run", "vector", "--case", "small"];
    arguments.extend(hint.split(' '));
    assert_eq!(Sandbox::new().ringlane(&arguments).status, 0);
    for (option, value) in
        [("--ring-heap", "4T"), ("--ring-args", "2G"), ("--tensormap", "999999999999999999999")]
    {
        refused(&["run", "vector", option, value], "CapacityTooLarge");
    }
}

#[test]
fn unknown_options_commands_and_words_are_refused_in_the_same_form() {
    assert_eq!(
        refused(&["run", "vector", "--thread", "1"], "UnknownOption").line("hint: "),
        "did you mean --threads?"
    );
    assert!(refused(&["rnu"], "UnknownCommand").line("detail: ").contains("list, kernels, run"));
    let answer = refused(&["run", "vector", "small"], "UnknownScene");
    assert!(answer.line("hint: ").starts_with("did you mean --case small? "), "{}", answer.stderr);
    refused(&["list", "vector"], "BadUsage");
    refused(&["run", "vector", "--case"], "MissingArgument");
    refused(&["run", "vector", "--json", "--json"], "BadUsage");
    refused(&["completions", "tcsh"], "BadValue");
}

#[test]
fn an_unknown_option_gets_one_of_the_same_meaning_or_no_suggestion() {
    for (given, hint) in [
        ("--enable-pnu", "did you mean --pmu?"),
        ("--tensor-dump", "did you mean --dump-tensor?"),
        ("--verbose", "did you mean --log?"),
        ("--enable-cache-stat", "usage: "),
        ("--enable-foo=2", "usage: "),
        ("--ring-size", "usage: "),
    ] {
        let answer = refused(&["run", "vector", given], "UnknownOption");
        assert!(answer.line("hint: ").starts_with(hint), "{given}: {}", answer.stderr);
    }
    assert_eq!(refused(&["rnu"], "UnknownCommand").line("hint: "), "did you mean run?");
    assert!(!refused(&["profile"], "UnknownCommand").line("hint: ").contains("did you mean"));
}

#[test]
fn a_diagnostic_asked_for_wrongly_is_refused_before_anything_runs() {
    for (option, allowed, hint) in [
        ("--chip-swimlane=4", "0, 1, 2, 3", "--chip-swimlane=3"),
        ("--chip-swimlane=", "1, 2, 3", "--chip-swimlane=3"),
        ("--enable-l2-swimlane=4", "1, 2, 3", "--chip-swimlane=3"),
        ("--pmu=99", "1 or basic", "--pmu"),
        ("--pmu=", "1 or basic", "--pmu"),
        ("--overflow=wait", "block, drop", "--overflow"),
        ("--dfx-rounds=some", "all, first, last", "--dfx-rounds"),
        ("--dump-tensor=VECTOR_ADD:3", "arguments 0 to 2 of VECTOR_ADD", "--dump-tensor=VECTOR_ADD:2"),
        ("--dump-tensor=VECTOR_ADD:out", "arguments 0 to 2 of VECTOR_ADD", "--dump-tensor=VECTOR_ADD:2"),
        ("--dump-tensor=", "KERNEL:ARG", "--dump-tensor"),
    ] {
        let answer = refused(&["run", "vector", option], "BadValue");
        let (name, value) = option.replace("enable-l2", "chip").split_once('=').map(own).unwrap();
        let detail = answer.line("detail: ");
        for part in [&name, &value, allowed] {
            assert!(detail.contains(part), "{detail} does not name {part}");
        }
        assert!(answer.line("hint: ").starts_with(hint), "{}", answer.stderr);
    }
    // A number after an option without a value is its level; a word stays a word.
    let detail = refused(&["run", "vector", "--chip-swimlane", "4"], "BadValue");
    assert!(detail.line("detail: ").contains("--chip-swimlane \"4\"; allowed: 0, 1, 2, 3"));
    refused(&["run", "vector", "--chip-swimlane", "four"], "UnknownScene");
}

fn own((name, value): (&str, &str)) -> (String, String) {
    (name.to_string(), value.to_string())
}

#[test]
fn a_kernel_that_the_scene_does_not_have_lists_those_it_has_and_names_the_nearest() {
    for kernel in ["VECTOR_AD", "VECTOR_ADD,VECTOR_AD", "VECTOR_AD:0"] {
        let answer = refused(&["run", "vector", &format!("--dump-tensor={kernel}")], "UnknownKernel");
        let hint = answer.line("hint: ");
        assert!(hint.starts_with("did you mean --dump-tensor=VECTOR_ADD?"), "{hint}");
        assert!(hint.contains("VECTOR_ADD, VECTOR_SHIFT, VECTOR_MUL"), "{hint}");
    }
    assert!(refused(&["run", "vector", "--dump-tensor=QK"], "UnknownKernel").line("detail: ").contains("QK"));
}

#[test]
fn one_directory_is_for_one_case() {
    let answer = refused(&["run", "vector", "-o", "here"], "OneDirectory");
    assert_eq!(answer.line("hint: "), "--case small");
    refused(&["run", "vector", "--case", "small", "-o", &"x".repeat(1024)], "BadValue");
    refused(&["run", "vector", "--case", "small", "-o", ""], "BadValue");
}

#[test]
fn a_directory_that_holds_a_run_is_refused_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    let run = ["run", "vector", "--case", "small", "-o", "here"];
    assert_eq!(sandbox.ringlane(&run).status, 0);
    let before = std::fs::read(sandbox.path().join("here/run.json")).unwrap();
    let answer = sandbox.ringlane(&run);
    assert_refused(&sandbox, &answer, "RunExists", &["here", "here/run.json"]);
    assert_eq!(std::fs::read(sandbox.path().join("here/run.json")).unwrap(), before);
}

#[test]
fn a_directory_that_cannot_be_made_is_refused() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("file"), "").unwrap();
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small", "-o", "file"]);
    assert_refused(&sandbox, &answer, "NotADirectory", &["file"]);
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small", "-o", "file/below"]);
    assert_eq!(answer.status, 2);
    assert_eq!(sandbox.files(), ["file"]);
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small", "-o", "/proc/ringlane/run"]);
    assert_refused(&sandbox, &answer, "CannotCreate", &["file"]);
}

#[test]
fn a_negative_value_is_a_bad_value_and_no_option() {
    for (given, allowed) in [
        (&["compare", "a", "b", "--fail-over", "-5%"][..], "a share such as"),
        (&["deps", "r", "--task", "-1"], "a task id"),
        (&["dump", "r", "--arg", "-1"], "a number from 0"),
    ] {
        let answer = refused(given, "BadValue");
        assert!(answer.line("detail: ").contains(allowed), "{}", answer.stderr);
    }
}

#[test]
fn a_bad_argument_is_not_called_an_option_and_gets_no_name_that_is_unlike_it() {
    for (given, example) in [(&["chips", "show", "nope"][..], "a2a3sim"), (&["bench", "nope"], "workloads")] {
        let answer = refused(given, "BadValue");
        assert_eq!(answer.line("error: "), "BadValue: an argument has a value that is not allowed");
        assert_eq!(answer.line("hint: "), format!("for example {example}"));
    }
    assert_eq!(refused(&["chips", "show", "a2a3sin"], "BadValue").line("hint: "), "did you mean a2a3sim?");
}
