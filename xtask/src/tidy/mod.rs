//! `cargo xtask tidy`: the code conventions that a machine can check, over the complete tree.
//!
//! ```text
//! tree ──▶ size · text · unsafety · links · errors · names ──┐
//! cargo metadata ──▶ crates · licences ──────────────────────┴──▶ findings, one line each, and a count
//! ```
//! A rule is a function from a file (or all of them, or cargo's metadata) to findings; it does not depend on the others.
//! It runs as an ordinary test too (`tests/tidy.rs`), so that `cargo test` reports what CI would.

mod crates;
mod errors;
mod licences;
mod links;
mod metadata;
mod names;
mod size;
mod text;
mod tokens;
mod tree;
mod unsafety;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use crate::error::Result;
pub use metadata::{Metadata, cargo};
use tree::File;

/// The options of `cargo xtask tidy`.
#[derive(clap::Args)]
pub struct Args {
    /// Also list the files that grow long (over 300 lines)
    #[arg(long)]
    verbose: bool,
}

/// One problem: `path:line: what is wrong: what to do`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    wrong: String,
    remedy: &'static str,
}

impl Finding {
    fn new(file: &File, line: usize, wrong: impl Into<String>, remedy: &'static str) -> Self {
        Finding { path: file.path.clone(), line, wrong: wrong.into(), remedy }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.wrong, self.remedy)
    }
}

/// Checks the tree under `root` and prints what it found.
pub fn run(args: &Args, root: &Path) -> Result<ExitCode> {
    let files = tree::read(root)?;
    let metadata = Metadata::read(root)?;
    let mut findings = in_files(&files, root);
    findings.extend(errors::unlisted(&files));
    findings.extend(names::missing(&files, tree::paths(root)?));
    findings.extend(crates::directions(&metadata, &files));
    findings.extend(licences::of_dependencies(&metadata, &tree::file(root, "Cargo.lock")?));
    findings.sort();
    if args.verbose {
        size::growing(&files).for_each(|(file, lines)| println!("{}: {lines} lines", file.path));
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    println!("{} findings in {} files", findings.len(), files.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn in_files(files: &[File], root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(text::white_space(file));
        findings.extend(text::markers(file));
        if file.is("rs") {
            in_rust(file, &mut findings);
        }
        if file.is("md") {
            findings.extend(links::broken(file, root));
        }
        if file.name() == "Cargo.toml" {
            findings.extend(crates::licence(file));
        }
    }
    findings
}

fn in_rust(file: &File, findings: &mut Vec<Finding>) {
    findings.extend(size::long_file(file));
    findings.extend(text::opening(file));
    let Some(levels) = tokens::levels(&file.text) else {
        findings.push(Finding::new(file, 1, "not Rust", "make it compile, or give it another ending"));
        return;
    };
    for level in &levels {
        findings.extend(size::long_functions(file, level));
        findings.extend(unsafety::unexplained(file, level));
        findings.extend(text::unfinished(file, level));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary tree with these files.
    pub fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    /// What tidy prints about the files of a temporary tree, without the remedies.
    pub fn found(files: &[(&str, &str)]) -> Vec<String> {
        let dir = tree(files);
        let mut findings = in_files(&tree::read(dir.path()).unwrap(), dir.path());
        findings.sort();
        findings.iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.wrong)).collect()
    }

    #[test]
    fn a_clean_tree_has_no_findings() {
        let clean = [("crates/a/src/lib.rs", "//! A.\nfn f() {}\n"), ("README.md", "[a](crates/a)\n")];
        assert_eq!(found(&clean), [""; 0]);
    }

    #[test]
    fn a_finding_is_one_line_with_place_fault_and_remedy() {
        let file = File { path: "a.rs".into(), text: String::new() };
        let finding = Finding::new(&file, 7, "too long", "split it");
        assert_eq!(finding.to_string(), "a.rs:7: too long: split it");
    }

    #[test]
    fn a_file_that_is_no_rust_is_a_finding() {
        assert_eq!(found(&[("a.rs", "fn f( {\n")]), ["a.rs:1: not Rust"]);
    }
}
