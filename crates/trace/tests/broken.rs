//! A true run is found true, and every invariant, broken on purpose in a copy, is seen to be broken.
//!
//! Each case changes a few characters of one run's files. Where the project's script is there, it has to find the
//! same cases.

mod common;
mod mutations;

use std::fs;
use std::path::Path;

use common::{TestDir, script, write_run};
use mutations::{Case, Edit, cases};
use ringlane_trace::check_run;
use ringlane_trace::swimlane::SwimlaneLevel;

#[test]
fn a_true_run_is_found_true_at_every_level_and_by_as_many_checks_as_the_script_makes() {
    let root = TestDir::new();
    for level in [SwimlaneLevel::Blocks, SwimlaneLevel::Tasks, SwimlaneLevel::Phases] {
        let path = root.join(&format!("level-{}", level.number()));
        write_run(&path, level);
        let report = check_run(&path).unwrap();
        assert_eq!(report.broken, [], "{level:?}");
        if let Some(printed) = script(&[path]) {
            assert_eq!(printed, format!("{} checks held, 0 broken\n", report.held), "{level:?}");
        }
    }
}

#[test]
fn every_invariant_that_is_broken_is_found_and_named() {
    let root = TestDir::new();
    let mut runs = Vec::new();
    for case in cases() {
        let path = root.join(&case.name.replace(' ', "-"));
        write_run(&path, case.level);
        case.edits.iter().for_each(|edit| apply(&path, edit, &case));
        let report = check_run(&path).unwrap();
        let found =
            report.broken.iter().any(|broken| broken.file == case.file && broken.what.contains(case.what));
        assert!(found, "{}: {:?} in {} of {:#?}", case.name, case.what, case.file, report.broken);
        runs.push((path, case.name));
    }
    let paths: Vec<_> = runs.iter().map(|(path, _)| path.clone()).collect();
    let Some(printed) = script(&paths) else { return };
    let unseen =
        |path: &Path| !printed.lines().any(|line| line.starts_with(&format!("{}: ", path.display())));
    let missed: Vec<_> = runs.iter().filter(|(path, _)| unseen(path)).map(|(_, name)| *name).collect();
    assert_eq!(missed, mutations::ONLY_HERE, "what the script does not find");
}

#[test]
fn what_the_manifest_says_is_lost_is_incomplete_and_not_broken() {
    let root = TestDir::new();
    let path = root.join("run");
    write_run(&path, SwimlaneLevel::Phases);
    assert!(check_run(&path).unwrap().is_whole());
    let manifest = fs::read_to_string(path.join("run.json")).unwrap();
    let from = manifest.find("\"path\":\"tensor_dump/tensor_dump.bin\"").unwrap();
    let end = from + manifest[from..].find('}').unwrap();
    let incomplete = format!("{},\"incomplete\":\"ENOSPC\"{}", &manifest[..end], &manifest[end..]);
    fs::write(path.join("run.json"), incomplete).unwrap();
    let report = check_run(&path).unwrap();
    assert_eq!((report.broken.len(), report.is_whole()), (0, false));
    let found: Vec<_> = report.incomplete.iter().map(|lost| (lost.file, &*lost.what)).collect();
    assert_eq!(found, [("run.json", "tensor_dump/tensor_dump.bin: it is incomplete (ENOSPC)")]);
}

fn apply(run: &Path, edit: &Edit, case: &Case) {
    match *edit {
        Edit::Replace(file, from, to) => {
            let path = run.join(file);
            let text = fs::read(&path).unwrap();
            let place = text.windows(from.len()).position(|window| window == from.as_bytes());
            let place = place.unwrap_or_else(|| panic!("{}: {from:?} is not in {file}", case.name));
            let changed = [&text[..place], to.as_bytes(), &text[place + from.len()..]].concat();
            fs::write(&path, &changed).unwrap();
            if file != "run.json" {
                correct_size(run, file, text.len(), changed.len());
            }
        }
        Edit::Remove(file) => fs::remove_file(run.join(file)).unwrap(),
        Edit::Add(file) => fs::write(run.join(file), "").unwrap(),
    }
}

/// Lets `run.json` agree with a file's new size, so that only what the case is about is wrong.
fn correct_size(run: &Path, file: &str, from: usize, to: usize) {
    let entry = |bytes| format!("\"path\":\"{file}\",\"bytes\":{bytes}");
    let manifest = fs::read_to_string(run.join("run.json")).unwrap();
    assert!(manifest.contains(&entry(from)), "{file}");
    fs::write(run.join("run.json"), manifest.replace(&entry(from), &entry(to))).unwrap();
}
