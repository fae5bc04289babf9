//! Claims about run directories.

use std::collections::BTreeSet;
use std::sync::Barrier;

use ringlane_task::Explain;

use super::*;
use crate::test_dir::TestDir;

fn noon() -> UtcTime {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

#[test]
fn an_exact_directory_is_made_with_its_parents_and_may_exist_before() {
    let root = TestDir::new();
    let path = root.join("a/b/c");
    let dir = RunDir::create_exact(&path).unwrap();
    assert_eq!(dir.path(), path);
    assert!(TestDir::names_in(&path).is_empty(), "the check for writing leaves no file");
    drop(dir);
    RunDir::create_exact(&path).unwrap();
}

#[test]
fn a_directory_that_holds_a_run_is_refused_and_left_as_it_was() {
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.path()).unwrap();
    dir.write_atomic("run.json", b"mine").unwrap();
    let error = RunDir::create_exact(root.path()).unwrap_err();
    assert_eq!(error.name(), "RunExists");
    assert!(error.detail().contains("run.json"));
    assert_eq!(fs::read(root.join("run.json")).unwrap(), b"mine");
    assert_eq!(TestDir::names_in(root.path()), ["run.json"]);
}

#[test]
fn a_file_in_the_way_is_refused_wherever_it_is() {
    let root = TestDir::new();
    fs::write(root.join("file"), "").unwrap();
    let error = RunDir::create_exact(root.join("file")).unwrap_err();
    assert!(matches!(error, TraceError::NotADirectory { path } if path == root.join("file")));
    let error = RunDir::create_exact(root.join("file/below/it")).unwrap_err();
    assert!(matches!(error, TraceError::NotADirectory { path } if path == root.join("file")));
    let error = RunDir::create_unique(root.join("file"), "s", "c", noon()).unwrap_err();
    assert_eq!(error.name(), "NotADirectory");
    assert_eq!(TestDir::names_in(root.path()), ["file"]);
}

#[test]
fn a_directory_that_cannot_be_written_or_made_is_refused() {
    // Nobody, not even root, can make files in /proc.
    assert_eq!(RunDir::create_exact("/proc").unwrap_err().name(), "NotWritable");
    assert_eq!(RunDir::create_exact("/proc/ringlane/run").unwrap_err().name(), "CannotCreate");
    assert_eq!(RunDir::create_unique("/proc", "s", "c", noon()).unwrap_err().name(), "CannotCreate");
    assert_eq!(RunDir::create_exact("").unwrap_err().name(), "CannotCreate");
}

#[test]
fn a_path_that_fails_half_way_leaves_no_directory() {
    let root = TestDir::new();
    let too_long = "x".repeat(300);
    let path = root.join("a").join("b").join(too_long);
    assert_eq!(RunDir::create_exact(path).unwrap_err().name(), "CannotCreate");
    assert!(TestDir::names_in(root.path()).is_empty());
}

#[test]
fn eight_threads_that_start_in_one_second_get_eight_directories() {
    let root = TestDir::new();
    let parent = root.join("outputs");
    let barrier = Barrier::new(8);
    let start = || {
        barrier.wait();
        (0..16)
            .map(|_| RunDir::create_unique(&parent, "vector", "small", noon()).unwrap())
            .map(|dir| dir.path().file_name().unwrap().to_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let made: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let first = "vector_small_20261115_120000".to_string();
    let expected: BTreeSet<_> = (2..=128).map(|n| format!("{first}_{n}")).chain([first.clone()]).collect();
    assert_eq!(made.len(), 128);
    assert_eq!(made.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn names_that_leave_the_directory_or_hide_in_it_are_refused() {
    let root = TestDir::new();
    let long = "x".repeat(101);
    for bad in ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "-rf", "a b", "a\0", "a\n", "ä", &long] {
        for (scene, case) in [(bad, "small"), ("vector", bad)] {
            let error = RunDir::create_unique(root.join("outputs"), scene, case, noon()).unwrap_err();
            assert_eq!(error.name(), "UnsafeName", "{bad:?}");
        }
        let dir = RunDir::create_exact(root.path()).unwrap();
        assert_eq!(dir.write_atomic(bad, b"").unwrap_err().name(), "UnsafeName");
    }
    assert!(TestDir::names_in(root.path()).is_empty());
    RunDir::create_unique(root.path(), "paged_attention", "64x64-f16.v2", noon()).unwrap();
}

#[test]
fn a_file_is_replaced_whole_and_no_temporary_name_stays() {
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.path()).unwrap();
    for bytes in [&b"first"[..], b"2"] {
        dir.write_atomic("deps.json", bytes).unwrap();
        assert_eq!(fs::read(root.join("deps.json")).unwrap(), bytes);
    }
    assert_eq!(TestDir::names_in(root.path()), ["deps.json"]);
}

#[test]
fn a_write_that_fails_leaves_neither_name() {
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.join("run")).unwrap();
    // The rename fails: a directory with something in it has the name.
    fs::create_dir_all(root.join("run/deps.json/full")).unwrap();
    let error = dir.write_atomic("deps.json", b"x").unwrap_err();
    assert_eq!(error.name(), "CannotWrite");
    assert_eq!(TestDir::names_in(dir.path()), ["deps.json"]);
    // The temporary file itself cannot be made.
    fs::remove_dir_all(dir.path()).unwrap();
    assert_eq!(dir.write_atomic("deps.json", b"x").unwrap_err().name(), "CannotWrite");
    assert!(TestDir::names_in(root.path()).is_empty());
}

#[test]
fn a_file_appears_whole_when_it_is_committed_and_not_at_all_when_it_is_dropped() {
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.path()).unwrap();
    let mut file = dir.create_file("deps.json").unwrap();
    let piece = vec![b'x'; 50_000];
    for _ in 0..3 {
        file.write_all(&piece).unwrap();
    }
    file.write_all(&vec![b'y'; 100_000]).unwrap();
    file.write_all(b"z").unwrap();
    assert!(!root.join("deps.json").exists());
    assert_eq!(file.commit().unwrap(), 250_001);
    let bytes = fs::read(root.join("deps.json")).unwrap();
    assert_eq!((bytes[149_999], bytes[150_000], bytes[250_000]), (b'x', b'y', b'z'));
    let mut given_up = dir.create_file("pmu.csv").unwrap();
    given_up.write_all(b"half").unwrap();
    drop(given_up);
    assert_eq!(TestDir::names_in(root.path()), ["deps.json"]);
}

#[test]
fn a_file_of_a_subdirectory_can_be_written_by_place_from_another_thread() {
    use std::os::unix::fs::FileExt;
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.path()).unwrap();
    let bin = dir.create_file("tensor_dump/tensor_dump.bin").unwrap();
    let json = dir.create_file("tensor_dump/tensor_dump.json").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| bin.file().write_all_at(b"late", 4).unwrap());
        scope.spawn(|| bin.file().write_all_at(b"soon", 0).unwrap());
    });
    assert_eq!((bin.commit().unwrap(), json.commit().unwrap()), (8, 0));
    assert_eq!(fs::read(root.join("tensor_dump/tensor_dump.bin")).unwrap(), b"soonlate");
    assert_eq!(TestDir::names_in(&root.join("tensor_dump")), ["tensor_dump.bin", "tensor_dump.json"]);
    for bad in ["a/b/c", "../x", "/x", "a/", "/", "a/.b", ""] {
        assert_eq!(dir.create_file(bad).unwrap_err().name(), "UnsafeName", "{bad:?}");
    }
}

#[test]
fn a_spool_has_no_name_and_can_be_read_back() {
    use std::io::{Read, Seek};
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.path()).unwrap();
    let mut spool = dir.spool().unwrap();
    assert!(TestDir::names_in(root.path()).is_empty());
    spool.write_all(b"rows").unwrap();
    spool.rewind().unwrap();
    let mut text = String::new();
    spool.read_to_string(&mut text).unwrap();
    assert_eq!(text, "rows");
}

#[test]
fn the_room_for_the_manifest_is_on_the_disk_before_the_run_and_gone_after_it() {
    use std::os::unix::fs::MetadataExt;
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.path()).unwrap();
    dir.reserve_manifest().unwrap();
    let names = TestDir::names_in(root.path());
    assert!(names.len() == 1 && names[0].starts_with(".run.json") && names[0].ends_with(".tmp"), "{names:?}");
    let kept = fs::metadata(root.join(&names[0])).unwrap();
    assert!(kept.blocks() * 512 >= 64 * 1024, "{} blocks", kept.blocks());
    dir.clone().write_manifest(b"{}").unwrap();
    assert_eq!(TestDir::names_in(root.path()), ["run.json"]);
    assert_eq!(fs::read(root.join("run.json")).unwrap(), b"{}");
    // A reservation that is not used goes with its directory's last owner.
    fs::remove_file(root.join("run.json")).unwrap();
    dir.reserve_manifest().unwrap();
    drop(dir);
    assert!(TestDir::names_in(root.path()).is_empty());
}

#[test]
fn a_directory_is_one_runs_own_from_the_moment_it_is_made() {
    let root = TestDir::new();
    let path = root.join("run");
    let winners = |start: &Barrier| {
        start.wait();
        RunDir::create_exact(&path)
    };
    for _ in 0..20 {
        let start = Barrier::new(4);
        let mut made: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| winners(&start))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let refused: Vec<_> =
            made.extract_if(.., |dir| dir.is_err()).map(|e| e.unwrap_err().name()).collect();
        assert_eq!((made.len(), refused), (1, vec!["DirectoryInUse"; 3]));
        let copy = made[0].as_ref().unwrap().clone();
        drop(made);
        assert_eq!(RunDir::create_exact(&path).unwrap_err().name(), "DirectoryInUse");
        drop(copy);
        RunDir::create_exact(&path).unwrap().abandon();
    }
}

#[test]
fn a_file_that_is_given_up_leaves_its_room_for_the_next_attempt() {
    use std::os::unix::fs::MetadataExt;
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.path()).unwrap();
    dir.reserve(DfxFlags::DEPS).unwrap();
    let mut long = dir.create_file("deps.json").unwrap();
    long.write_all(&vec![b'x'; 300_000]).unwrap();
    drop(long);
    let names = TestDir::names_in(root.path());
    assert!(names.len() == 2 && names[0].starts_with(".deps.json"), "{names:?}");
    let kept = fs::metadata(root.join(&names[0])).unwrap();
    assert!(kept.len() == 16 * 1024 && kept.blocks() * 512 >= 16 * 1024, "{kept:?}");
    let mut short = dir.create_file("deps.json").unwrap();
    short.write_all(b"{}").unwrap();
    assert_eq!(short.commit().unwrap(), 2);
    assert_eq!(fs::read(root.join("deps.json")).unwrap(), b"{}");
}

#[test]
fn a_directory_that_is_abandoned_takes_back_what_was_made_for_it_and_nothing_else() {
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.join("a/b")).unwrap();
    dir.reserve(DfxFlags::DUMP.with(DfxFlags::PMU)).unwrap();
    assert!(root.join("a/b/tensor_dump").exists());
    dir.abandon();
    assert!(TestDir::names_in(root.path()).is_empty());
    let dir = RunDir::create_exact(root.join("a/b")).unwrap();
    fs::write(root.join("a/mine"), "x").unwrap();
    dir.abandon();
    assert_eq!(TestDir::names_in(&root.join("a")), ["mine"]);
}

#[test]
fn an_error_of_writing_names_the_file_and_the_reason() {
    let file = RunDir::create_exact(TestDir::new().path()).unwrap().create_file("pmu.csv").unwrap();
    let detail = file.error(io::Error::from_raw_os_error(28)).detail();
    assert!(detail.ends_with("pmu.csv: ENOSPC: No space left on device (os error 28)"), "{detail}");
}
