//! `run.json` and the directory: every file that is listed is there, as long as it says, and no other.

use std::fs;
use std::path::Path;

use ringlane_task::{DfxFlags, Overflow};

use super::Checks;
use crate::manifest::{FileEntry, Manifest, RunStatus};
use crate::rows::FILES_OF_FLAGS;

pub(super) fn check(checks: &mut Checks, dir: &Path, manifest: &Manifest) {
    // Its reader refuses other versions and statuses.
    checks.held(2);
    let agree = matches!(manifest.status, RunStatus::Ok | RunStatus::Imported) == manifest.error.is_none();
    checks.that(agree, || "status and error disagree".to_string());
    if let Some(error) = &manifest.error {
        for (name, text) in [("name", &error.name), ("detail", &error.detail), ("hint", &error.hint)] {
            checks.that(!text.is_empty(), || format!("the error has no {name}"));
        }
    }
    for entry in &manifest.files {
        check_entry(checks, dir, manifest, entry);
    }
    check_flags(checks, dir, manifest);
    let left = temporary_files(dir);
    checks.that(left.is_empty(), || format!("temporary files remain: {left:?}"));
}

fn check_entry(checks: &mut Checks, dir: &Path, manifest: &Manifest, entry: &FileEntry) {
    let path = &entry.path;
    let size = fs::metadata(dir.join(path)).map(|metadata| metadata.len()).ok();
    if checks.that(size.is_some(), || format!("it lists {path}, which does not exist")) {
        let size = size.unwrap_or(0);
        checks.that(size == entry.bytes, || format!("{path} has {size} bytes, not {}", entry.bytes));
    }
    let Some(dropped) = entry.dropped else { return };
    // Its reader refuses counts that do not add up.
    checks.held(1);
    if manifest.overflow == Overflow::Block && entry.incomplete.is_none() {
        checks.that(dropped == 0, || format!("{path} dropped {dropped} under the policy 'block'"));
    }
}

fn check_flags(checks: &mut Checks, dir: &Path, manifest: &Manifest) {
    let flags = manifest.dfx_flags();
    for (flag, name) in FILES_OF_FLAGS {
        let on = flags.contains(flag);
        let there = dir.join(name).exists();
        let listed = manifest.files.iter().any(|entry| entry.path == name);
        if flag == DfxFlags::NODE_SWIMLANE && !(on || there || listed) {
            // Of a run that is not a node's there is nothing to check, and the project's script counts nothing.
            continue;
        }
        checks.that(on == there, || format!("dfx_flags {flags} and the file {name} disagree"));
        checks.that(on == listed, || format!("dfx_flags {flags} and the entry {name} disagree"));
    }
}

fn temporary_files(dir: &Path) -> Vec<String> {
    let dirs = [dir.to_path_buf(), dir.join("tensor_dump")];
    let entries = dirs.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".tmp") || name.starts_with(".tmp")).collect()
}
