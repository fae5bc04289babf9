//! `-o` and its like: a pipe is written through, a link stays a link, and what is at the place is never replaced by half.

mod common;

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::thread;

use common::{Answer, Sandbox};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Every command with an output file; the last argument is the file.
const COMMANDS: [&[&str]; 8] = [
    &["report", "run", "-o"],
    &["swimlane", "run", "-o"],
    &["swimlane", "run", "--format", "pftrace", "-o"],
    &["deps", "run", "-o"],
    &["deps", "run", "--format", "html", "-o"],
    &["deps", "run", "--format", "dot", "-o"],
    &["mermaid", "run", "-o"],
    &["run", "vector", "--case", "one", "--chip-swimlane=1", "--costs-out"],
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ringlane(&["run", "vector", "--case", "small", "--dfx", "-o", "run"]).status, 0);
    sandbox
}

fn write(sandbox: &Sandbox, command: &[&str], file: &str) -> Answer {
    sandbox.ringlane(&[command, &[file]].concat())
}

#[test]
fn every_command_that_writes_a_file_writes_through_a_pipe() {
    let sandbox = sandbox();
    let path = sandbox.path().join("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    symlink("pipe", sandbox.path().join("link")).unwrap();
    for command in COMMANDS {
        for file in ["pipe", "link"] {
            let from = path.clone();
            let reader = thread::spawn(move || {
                let mut bytes = Vec::new();
                fs::File::open(from).unwrap().read_to_end(&mut bytes).unwrap();
                bytes
            });
            let answer = write(&sandbox, command, file);
            assert_eq!(answer.status, 0, "{command:?}: {}", answer.stderr);
            assert!(!reader.join().unwrap().is_empty(), "{command:?}");
            assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo(), "{command:?}");
        }
    }
}

#[test]
fn every_command_that_writes_a_file_follows_a_link_and_leaves_it() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.path().join("below")).unwrap();
    symlink("below/file", sandbox.path().join("link")).unwrap();
    for command in COMMANDS {
        fs::write(sandbox.path().join("below/file"), "").unwrap();
        let answer = write(&sandbox, command, "link");
        assert_eq!(answer.status, 0, "{command:?}: {}", answer.stderr);
        assert!(fs::symlink_metadata(sandbox.path().join("link")).unwrap().is_symlink(), "{command:?}");
        assert!(fs::metadata(sandbox.path().join("below/file")).unwrap().len() > 0, "{command:?}");
        fs::remove_file(sandbox.path().join("below/file")).unwrap();
        let answer = write(&sandbox, command, "link");
        assert_eq!(answer.status, 0, "a link to nothing yet: {command:?}: {}", answer.stderr);
        assert!(fs::metadata(sandbox.path().join("below/file")).unwrap().len() > 0, "{command:?}");
        assert!(sandbox.files().iter().all(|file| !file.ends_with(".tmp")), "{command:?}");
    }
}

#[test]
fn exported_arrays_replace_nothing() {
    let sandbox = sandbox();
    let export = ["dump", "run", "--export", "npy", "-o", "arrays"];
    let answer = sandbox.ringlane(&export);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let first = answer.stdout.lines().next().unwrap().to_string();
    fs::remove_dir_all(sandbox.path().join("arrays")).unwrap();
    fs::create_dir(sandbox.path().join("arrays")).unwrap();
    symlink("nowhere", sandbox.path().join(&first)).unwrap();
    let answer = sandbox.ringlane(&export);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(answer.line("error: ").starts_with("CannotExport: "), "{}", answer.stderr);
    assert!(fs::symlink_metadata(sandbox.path().join(&first)).unwrap().is_symlink());
}

#[test]
fn a_directory_with_a_line_end_in_its_name_is_shown_in_one_line() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["run", "vector", "--case", "small", "-o", "nl\nrun"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.stderr.contains("vector small: nl\\nrun (peak memory"), "{}", answer.stderr);
}
