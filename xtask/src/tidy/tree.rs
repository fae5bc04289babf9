//! The files that tidy checks, read once.
//!
//! Everything below the root counts, whether git knows it already or not, except what is built or fetched:
//! a file is judged before it is committed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// The folder of inputs that fuzzing found: ours, but not written by hand.
const CORPUS: &str = "corpus";
/// Folders that hold what was built, run, found by fuzzing or fetched.
const SKIPPED: [&str; 7] = ["target", "outputs", CORPUS, "artifacts", "node_modules", "__pycache__", "venv"];
/// Hidden folders that hold files of ours; every other hidden folder is some tool's.
const HIDDEN: [&str; 3] = [".ci", ".cargo", ".github"];
/// Endings of files that people write. Snapshots and other recorded output may keep their white space.
const WRITTEN: [&str; 15] =
    ["rs", "md", "toml", "py", "sh", "yml", "yaml", "js", "mjs", "css", "c", "h", "cpp", "hpp", "cu"];

/// A file of the tree.
pub struct File {
    /// Path from the root, with `/` between its parts.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl File {
    /// Whether the file's name ends with `.ending`.
    pub fn is(&self, ending: &str) -> bool {
        self.ending() == Some(ending)
    }

    /// What comes after the last dot of the file's name.
    pub fn ending(&self) -> Option<&str> {
        ending_of(&self.path)
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Number of the first line that `wanted` accepts, from 1; 1 if there is none.
    pub fn line_where(&self, wanted: impl Fn(&str) -> bool) -> usize {
        self.text.lines().position(wanted).map_or(1, |index| index + 1)
    }
}

/// One file by its path, also a generated one.
pub fn file(root: &Path, path: &str) -> Result<File> {
    let text = fs::read_to_string(root.join(path)).map_err(Error::file("read", &root.join(path)))?;
    Ok(File { path: path.into(), text })
}

/// Every file under `root` that a person wrote, in the order of their paths.
pub fn read(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    read_folder(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::file("list", folder))? {
        let entry = entry.map_err(Error::file("list", folder))?;
        let kind = entry.file_type().map_err(Error::file("inspect", &entry.path()))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{prefix}{name}");
        if kind.is_dir() && is_ours(&name) {
            read_folder(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() && is_written(&name) {
            let bytes = fs::read(entry.path()).map_err(Error::file("read", &entry.path()))?;
            // What is no UTF-8 is no text: a program without an ending, say.
            files.extend(String::from_utf8(bytes).ok().map(|text| File { path, text }));
        }
    }
    Ok(())
}

/// The paths of every file and folder under `root`, also of generated ones, except what is built, recorded or fetched.
pub fn paths(root: &Path) -> Result<BTreeSet<String>> {
    let mut paths = BTreeSet::new();
    list_folder(root, "", &mut paths)?;
    Ok(paths)
}

fn list_folder(folder: &Path, prefix: &str, paths: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::file("list", folder))? {
        let entry = entry.map_err(Error::file("list", folder))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() && (name == CORPUS || is_ours(&name)) {
            list_folder(&entry.path(), &format!("{path}/"), paths)?;
        }
        paths.insert(path);
    }
    Ok(())
}

fn is_ours(folder: &str) -> bool {
    !SKIPPED.contains(&folder) && (!folder.starts_with('.') || HIDDEN.contains(&folder))
}

fn is_written(name: &str) -> bool {
    ending_of(name).is_none_or(|ending| WRITTEN.contains(&ending))
}

fn ending_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_start_matches('.').rsplit_once('.').map(|(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn built_hidden_and_recorded_files_are_left_alone() {
        let dir = tree(&[
            ("src/a.rs", "a"),
            (".ci/run", "b"),
            (".git/config", "c"),
            ("target/x.rs", "d"),
            ("tests/snapshots/table.snap", "e  "),
            ("crates/x/outputs/run.md", "f"),
        ]);
        let paths: Vec<_> = read(dir.path()).unwrap().into_iter().map(|file| file.path).collect();
        assert_eq!(paths, [".ci/run", "src/a.rs"]);
    }

    #[test]
    fn a_hidden_name_is_not_an_ending() {
        assert_eq!(ending_of(".gitignore"), None);
        assert_eq!(ending_of("a.b/c"), None);
        assert_eq!(ending_of("a/x.tar.gz"), Some("gz"));
    }
}
