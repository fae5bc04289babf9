//! Starts the command in a directory of its own and takes down what it answers.
#![allow(dead_code)] // Each test file uses its part.

pub mod expected;
pub mod processes;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ringlane_trace::Manifest;
use tempfile::TempDir;

/// A directory to run commands in; gone afterwards.
pub struct Sandbox {
    dir: TempDir,
}

/// What a command answered.
pub struct Answer {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    pub fn of(output: Output) -> Self {
        Answer {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        }
    }

    /// Standard output as JSON, and nothing else there.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.stdout, self.stderr))
    }

    /// The hash of the values of the only run, which went well.
    #[track_caller]
    pub fn output_hash(&self) -> String {
        let json = self.json();
        assert_eq!(json["runs"][0]["status"], "ok", "{}", self.stderr);
        json["runs"][0]["golden"]["output_hash"].as_str().expect("a hash").to_string()
    }

    /// The first line of standard error that starts so, without that start.
    pub fn line(&self, start: &str) -> &str {
        let line = self.stderr.lines().find_map(|line| line.strip_prefix(start));
        line.unwrap_or_else(|| panic!("no line starts with {start:?}:\n{}", self.stderr))
    }
}

impl Sandbox {
    pub fn new() -> Self {
        Sandbox { dir: TempDir::new().expect("a directory of its own") }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The command with the scenes that come with it.
    pub fn ringlane(&self, arguments: &[&str]) -> Answer {
        self.answer(Path::new(env!("CARGO_BIN_EXE_ringlane")), arguments)
    }

    /// The command with the scenes of `examples/odd_scenes.rs`.
    pub fn odd(&self, arguments: &[&str]) -> Answer {
        self.answer(&odd_scenes(), arguments)
    }

    fn answer(&self, program: &Path, arguments: &[&str]) -> Answer {
        Answer::of(self.command(program, arguments).output().expect("the command starts"))
    }

    pub fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What a page holds as JSON.
    pub fn page_data(&self, page: &str) -> serde_json::Value {
        let text = std::fs::read_to_string(self.path().join(page)).expect("a page");
        let start = text.find("id=\"run\">").expect("the page has data") + "id=\"run\">".len();
        let end = start + text[start..].find("</script>").expect("the data end");
        serde_json::from_str(&text[start..end]).expect("the data are JSON")
    }

    /// All files that a command wrote, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(self.path(), self.path(), &mut found);
        found.sort();
        found
    }

    /// The manifest of the only run.
    pub fn manifest(&self) -> serde_json::Value {
        let files = self.files();
        let runs: Vec<_> = files.iter().filter(|path| path.ends_with("run.json")).collect();
        assert_eq!(runs.len(), 1, "{files:?}");
        let text = std::fs::read_to_string(self.path().join(runs[0])).expect("run.json can be read");
        serde_json::from_str(&text).expect("run.json is JSON")
    }
}

fn collect(root: &Path, dir: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).expect("a directory can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            collect(root, &path, found);
        }
        found.push(path.strip_prefix(root).expect("inside").display().to_string());
    }
}

/// The example is built by `cargo test` beside the command.
pub fn odd_scenes() -> PathBuf {
    example("odd_scenes")
}

/// An example, which is built by `cargo test` beside the command.
pub fn example(name: &str) -> PathBuf {
    let ringlane = Path::new(env!("CARGO_BIN_EXE_ringlane"));
    let path = ringlane.with_file_name("examples").join(name);
    assert!(path.exists(), "{}: build it with `cargo build -p ringlane-cli --examples`", path.display());
    path
}

/// The files that all instruments together leave beside `run.json`.
pub const ALL_FILES: [&str; 6] = [
    "deps.json",
    "l2_perf_records.json",
    "pmu.csv",
    "scope_stats.json",
    "tensor_dump/tensor_dump.bin",
    "tensor_dump/tensor_dump.json",
];

/// Checks that the files of a run are true of each other, and gives its manifest.
#[track_caller]
pub fn checked(dir: &Path) -> Manifest {
    let report = ringlane_trace::check_run(dir).expect("the run can be read");
    let first: Vec<_> = report.broken.iter().take(5).collect();
    assert!(first.is_empty(), "{}: {} broken: {first:#?}", dir.display(), report.broken.len());
    Manifest::read(dir).expect("a manifest")
}

/// Checks a run and all runs below it; gives all of them, outermost first.
#[track_caller]
pub fn checked_with_children(dir: &Path) -> Vec<(PathBuf, Manifest)> {
    let manifest = checked(dir);
    let below = manifest.children.iter().flat_map(|child| checked_with_children(&dir.join(&child.dir)));
    let below: Vec<_> = below.collect();
    [vec![(dir.to_path_buf(), manifest)], below].concat()
}

/// The names of a run's files, as the manifest lists them, sorted.
pub fn listed(manifest: &Manifest) -> Vec<&str> {
    let mut names: Vec<_> = manifest.files.iter().map(|entry| entry.path.as_str()).collect();
    names.sort_unstable();
    names
}
