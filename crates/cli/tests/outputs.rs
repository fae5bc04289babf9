//! `-o` and its like: a pipe is written through, a link stays a link, and what is at the place is never replaced by half.

mod common;

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::thread;

use common::{Answer, Desk};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Every command that writes a file where it is told to; the last argument is the file.
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

fn desk() -> Desk {
    let desk = Desk::new();
    assert_eq!(desk.ringlane(&["run", "vector", "--case", "small", "--dfx", "-o", "run"]).status, 0);
    desk
}

fn write(desk: &Desk, command: &[&str], file: &str) -> Answer {
    desk.ringlane(&[command, &[file]].concat())
}

#[test]
fn every_command_that_writes_a_file_writes_through_a_pipe() {
    let desk = desk();
    let path = desk.path().join("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    symlink("pipe", desk.path().join("link")).unwrap();
    for command in COMMANDS {
        for file in ["pipe", "link"] {
            let from = path.clone();
            let reader = thread::spawn(move || {
                let mut bytes = Vec::new();
                fs::File::open(from).unwrap().read_to_end(&mut bytes).unwrap();
                bytes
            });
            let answer = write(&desk, command, file);
            assert_eq!(answer.status, 0, "{command:?}: {}", answer.stderr);
            assert!(!reader.join().unwrap().is_empty(), "{command:?}");
            assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo(), "{command:?}");
        }
    }
}

#[test]
fn every_command_that_writes_a_file_follows_a_link_and_leaves_it() {
    let desk = desk();
    fs::create_dir(desk.path().join("below")).unwrap();
    symlink("below/file", desk.path().join("link")).unwrap();
    for command in COMMANDS {
        fs::write(desk.path().join("below/file"), "").unwrap();
        let answer = write(&desk, command, "link");
        assert_eq!(answer.status, 0, "{command:?}: {}", answer.stderr);
        assert!(fs::symlink_metadata(desk.path().join("link")).unwrap().is_symlink(), "{command:?}");
        assert!(fs::metadata(desk.path().join("below/file")).unwrap().len() > 0, "{command:?}");
        fs::remove_file(desk.path().join("below/file")).unwrap();
        let answer = write(&desk, command, "link");
        assert_eq!(answer.status, 0, "a link to nothing yet: {command:?}: {}", answer.stderr);
        assert!(fs::metadata(desk.path().join("below/file")).unwrap().len() > 0, "{command:?}");
        assert!(desk.files().iter().all(|file| !file.ends_with(".tmp")), "{command:?}");
    }
}

#[test]
fn exported_arrays_replace_nothing() {
    let desk = desk();
    let export = ["dump", "run", "--export", "npy", "-o", "arrays"];
    let answer = desk.ringlane(&export);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let first = answer.stdout.lines().next().unwrap().to_string();
    fs::remove_dir_all(desk.path().join("arrays")).unwrap();
    fs::create_dir(desk.path().join("arrays")).unwrap();
    symlink("nowhere", desk.path().join(&first)).unwrap();
    let answer = desk.ringlane(&export);
    assert_eq!(answer.status, 1, "{}", answer.stdout);
    assert!(answer.line("error: ").starts_with("CannotExport: "), "{}", answer.stderr);
    assert!(fs::symlink_metadata(desk.path().join(&first)).unwrap().is_symlink());
}

#[test]
fn a_directory_with_a_line_end_in_its_name_is_shown_in_one_line() {
    let desk = Desk::new();
    let answer = desk.ringlane(&["run", "vector", "--case", "small", "-o", "nl\nrun"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(answer.stderr.contains("vector small: nl\\nrun (peak memory"), "{}", answer.stderr);
}
