//! Disks that are full, too small, not writable or not there: the run's results stay right and its manifest names what is
//! missing, or nothing runs and nothing is left.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{ALL_FILES, Answer, Sandbox, checked, listed};
use ringlane_trace::{Manifest, RunStatus};

/// Records about ten times what fits into a megabyte.
const TOO_MUCH: [&str; 8] = ["run", "vector", "--case", "chunked", "--dfx", "--json", "--threads", "2"];

/// Runs a script in a mount namespace of its own, in which `disk` is a file system of this size. `None`: not allowed here.
fn on_small_disk(sandbox: &Sandbox, size: &str, script: &str) -> Option<Answer> {
    fs::create_dir_all(sandbox.path().join("disk")).unwrap();
    let ringlane = env!("CARGO_BIN_EXE_ringlane");
    let script = format!(
        "mount -t tmpfs -o size={size} tmpfs disk || exit 99\n\
         ringlane() {{ '{ringlane}' \"$@\"; }}\n{script}\nstatus=$?\n\
         cp -a disk kept && exit $status"
    );
    let arguments = ["--user", "--map-root-user", "--mount", "sh", "-c", &script];
    let mut unshare = Command::new("unshare");
    unshare.args(arguments).current_dir(sandbox.path()).stdin(Stdio::null());
    let answer = unshare.output().map(Answer::of);
    let refused = match &answer {
        Ok(answer) => answer.status == 99 || answer.stderr.starts_with("unshare:"),
        Err(_) => true,
    };
    if refused {
        println!("skipped: a file system of {size} cannot be mounted here");
    }
    answer.ok().filter(|_| !refused)
}

/// What must hold wherever a disk filled up: the values are right, and the manifest names each file that lacks something.
#[track_caller]
fn harmed_nothing(answer: &Answer, dir: &Path, errno: &str) -> Manifest {
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let run = &answer.json()["runs"][0];
    assert_eq!((&run["status"], &run["golden"]["failed"]), (&"ok".into(), &0.into()), "{run}");
    let manifest = Manifest::read(dir).unwrap();
    assert_eq!((manifest.status, listed(&manifest)), (RunStatus::Ok, ALL_FILES.to_vec()));
    let incomplete: Vec<_> = manifest.files.iter().filter(|entry| entry.incomplete.is_some()).collect();
    assert!(!incomplete.is_empty(), "{:?}", manifest.files);
    for entry in incomplete {
        let why = entry.incomplete.as_deref().unwrap();
        assert!(why.starts_with(errno), "{entry:?}");
        assert!(answer.stderr.contains(&entry.path) && answer.stderr.contains(errno), "{}", answer.stderr);
        if let Some(total) = entry.total {
            assert_eq!(total, entry.collected.unwrap() + entry.dropped.unwrap(), "{entry:?}");
        }
    }
    no_temporary_files(dir);
    manifest
}

#[track_caller]
fn no_temporary_files(dir: &Path) {
    for dir in [dir.to_path_buf(), dir.join("tensor_dump")] {
        let names = fs::read_dir(&dir).into_iter().flatten().map(|entry| entry.unwrap().file_name());
        let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
        assert!(hidden.is_empty(), "{}: {hidden:?}", dir.display());
    }
}

#[test]
fn a_disk_of_one_mebibyte_fills_up_and_the_results_stay_right() {
    let sandbox = Sandbox::new();
    let script = format!("ringlane {} -o disk/run", TOO_MUCH.join(" "));
    let Some(answer) = on_small_disk(&sandbox, "1M", &script) else { return };
    let dir = sandbox.path().join("kept/run");
    harmed_nothing(&answer, &dir, "ENOSPC");
    // What is there is true of what is there.
    checked(&dir);
}

#[test]
fn a_full_disk_in_the_middle_of_a_long_run_does_not_stop_it_under_either_policy() {
    for policy in ["block", "drop"] {
        let sandbox = Sandbox::new();
        let stream = "ringlane run stream --case short --param tasks=100000 --dfx --json --threads 2";
        let script = format!("{stream} --overflow {policy} -o disk/run");
        let Some(answer) = on_small_disk(&sandbox, "1M", &script) else { return };
        let dir = sandbox.path().join("kept/run");
        harmed_nothing(&answer, &dir, "ENOSPC");
        checked(&dir);
    }
}

#[test]
fn a_disk_with_room_for_the_heads_alone_gets_the_heads() {
    let sandbox = Sandbox::new();
    let script = format!("ringlane {} -o disk/run", TOO_MUCH.join(" "));
    let Some(answer) = on_small_disk(&sandbox, "160K", &script) else { return };
    let dir = sandbox.path().join("kept/run");
    harmed_nothing(&answer, &dir, "ENOSPC");
    checked(&dir);
}

#[test]
fn a_disk_without_room_for_the_heads_or_the_manifest_is_refused_before_anything_runs() {
    for (size, file) in [("96K", ""), ("16K", "run.json")] {
        let sandbox = Sandbox::new();
        let script = format!("ringlane {} -o disk/deep/run", TOO_MUCH.join(" "));
        let Some(answer) = on_small_disk(&sandbox, size, &script) else { return };
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{}", answer.stderr);
        assert!(answer.line("error: ").starts_with("NotWritable: "), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains(&format!("{file}: ENOSPC")), "{}", answer.stderr);
        assert!(!sandbox.path().join("kept/deep").exists(), "{:?}", sandbox.files());
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_like_a_full_disk() {
    let sandbox = Sandbox::new();
    // In blocks of 512 or 1024 bytes, as the shell counts.
    let script =
        format!("ulimit -f 200; exec '{}' {} -o run", env!("CARGO_BIN_EXE_ringlane"), TOO_MUCH.join(" "));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(sandbox.path()).stdin(Stdio::null());
    let answer = Answer::of(shell.output().unwrap());
    let dir = sandbox.path().join("run");
    harmed_nothing(&answer, &dir, "EFBIG");
    checked(&dir);
}

/// Starts the command as a user who owns nothing, if we are someone who may do so.
fn as_nobody(sandbox: &Sandbox, arguments: &[&str]) -> Option<Answer> {
    let user = Command::new("id").arg("-u").output().ok()?;
    // A copy, because the way to the build may be closed to others.
    let program = sandbox.path().join("ringlane");
    fs::copy(env!("CARGO_BIN_EXE_ringlane"), &program).unwrap();
    let mut command = sandbox.command(&program, arguments);
    if user.stdout == b"0\n" {
        fs::set_permissions(sandbox.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        command.uid(65534).gid(65534);
    }
    let answer = Answer::of(command.output().ok()?);
    fs::remove_file(program).unwrap();
    Some(answer)
}

#[test]
fn a_directory_that_may_not_be_written_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("shut")).unwrap();
    fs::set_permissions(sandbox.path().join("shut"), std::os::unix::fs::PermissionsExt::from_mode(0o555))
        .unwrap();
    for place in ["shut", "shut/run"] {
        let arguments = ["run", "vector", "--case", "one", "--dfx", "-o", place];
        let Some(answer) = as_nobody(&sandbox, &arguments) else { return };
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains("EACCES"), "{}", answer.stderr);
        assert_eq!(sandbox.files(), ["shut"]);
    }
}

#[test]
fn a_place_that_is_taken_is_refused_and_what_is_there_stays_as_it_is() {
    let sandbox = Sandbox::new();
    let arguments = ["run", "vector", "--case", "one", "--dfx", "-o", "run"];
    assert_eq!(sandbox.ringlane(&arguments).status, 0);
    let read = |sandbox: &Sandbox| -> Vec<(String, Option<Vec<u8>>)> {
        let contents = |name: String| (name.clone(), fs::read(sandbox.path().join(name)).ok());
        sandbox.files().into_iter().map(contents).collect()
    };
    let before = read(&sandbox);
    let answer = sandbox.ringlane(&arguments);
    assert_eq!(answer.status, 2);
    assert!(answer.line("error: ").starts_with("RunExists: "), "{}", answer.stderr);
    assert!(before == read(&sandbox), "the run that was there has changed");

    let sandbox = Sandbox::new();
    fs::write(sandbox.path().join("file"), "mine").unwrap();
    for place in ["file", "file/below"] {
        let answer = sandbox.ringlane(&["run", "vector", "--case", "one", "--dfx", "-o", place]);
        assert_eq!(answer.status, 2);
        assert!(answer.line("error: ").starts_with("NotADirectory: "), "{}", answer.stderr);
        assert_eq!(
            (sandbox.files(), fs::read(sandbox.path().join("file")).unwrap()),
            (vec!["file".into()], b"mine".to_vec())
        );
    }
}

/// A path below `sandbox` of exactly this many bytes, in parts that a file system takes.
fn long_path(sandbox: &Sandbox, bytes: usize) -> PathBuf {
    let mut path = sandbox.path().to_str().unwrap().to_string();
    while path.len() < bytes - 20 {
        path += "/0123456789";
    }
    path = format!("{path}/{}", "p".repeat(bytes - 1 - path.len()));
    assert_eq!(path.len(), bytes);
    path.into()
}

#[test]
fn a_directory_of_1023_bytes_works_and_one_of_1024_is_refused() {
    let sandbox = Sandbox::new();
    let longest = long_path(&sandbox, 1023);
    let answer =
        sandbox.ringlane(&["run", "vector", "--case", "one", "--dfx", "-o", longest.to_str().unwrap()]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert_eq!(listed(&checked(&longest)), ALL_FILES);

    let sandbox = Sandbox::new();
    let longer = long_path(&sandbox, 1024);
    let answer =
        sandbox.ringlane(&["run", "vector", "--case", "one", "--dfx", "-o", longer.to_str().unwrap()]);
    assert_eq!(answer.status, 2);
    assert!(answer.line("detail: ").contains("1 to 1023 bytes"), "{}", answer.stderr);
    assert!(sandbox.files().is_empty());
}
