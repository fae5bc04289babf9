//! Data flows one way: a crate depends only on those upstream of it. And each says its licence.
//!
//! ```text
//! task ──▶ engine ──▶ chips · scenes          trace ──▶ insight ──▶ report
//!                 └──────▶ probe ◀──────────────┘                       all ──▶ ringlane ──▶ bench · cli
//! ```
//! Tests may use every crate: dev-dependencies are not checked.

use super::Finding;
use super::metadata::{Metadata, Package};
use super::tree::File;

/// What each crate may depend on, directly; what those depend on is allowed too.
const UPSTREAM: [(&str, &[&str]); 18] = [
    ("ringlane-task", &[]),
    ("ringlane-engine", &["ringlane-task"]),
    ("ringlane-chip-cpu", &["ringlane-engine"]),
    ("ringlane-chip-sim", &["ringlane-engine"]),
    ("ringlane-chip-cuda", &["ringlane-engine"]),
    ("ringlane-trace", &["ringlane-task"]),
    ("ringlane-probe", &["ringlane-engine", "ringlane-trace"]),
    ("ringlane-insight", &["ringlane-trace"]),
    ("ringlane-report", &["ringlane-insight"]),
    ("ringlane-graph", &["ringlane-engine", "ringlane-insight", "ringlane-chip-sim"]),
    ("ringlane-node", &["ringlane-engine", "ringlane-probe", "ringlane-trace"]),
    ("ringlane-mpi", &["ringlane-node"]),
    ("ringlane-scenes", &["ringlane-engine"]),
    (
        "ringlane",
        &[
            "ringlane-chip-cpu",
            "ringlane-chip-sim",
            "ringlane-chip-cuda",
            "ringlane-graph",
            "ringlane-node",
            "ringlane-report",
            "ringlane-scenes",
        ],
    ),
    ("ringlane-bench", &["ringlane"]),
    ("ringlane-python", &["ringlane"]),
    ("ringlane-capi", &["ringlane"]),
    ("libringlane", &["ringlane-capi"]),
];
/// The last crates of the data flow, which may use everything.
const LAST: [&str; 3] = ["ringlane-cli", "toy-chip", "xtask"];

/// The findings of dependencies that flow upstream, and of crates that have no position in the order.
pub fn directions(metadata: &Metadata, files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata.packages.iter().filter(|p| p.source.is_none() && !LAST.contains(&p.name.as_str()))
    {
        let Some(manifest) = manifest_of(package, files) else { continue };
        let Some(upstream) = upstream_of(&package.name) else {
            let wrong = format!("`{}` has no position in the order of crates", package.name);
            findings.push(Finding::new(manifest, 1, wrong, "give it one in xtask/src/tidy/crates.rs"));
            continue;
        };
        let shipped = package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
        for name in shipped.map(|d| d.name.as_str()).filter(|name| is_ours(name) && !upstream.contains(name))
        {
            let line = manifest.line_where(|line| mentions(line, name));
            let wrong = format!("`{}` depends on `{name}`, which is not upstream of it", package.name);
            findings.push(Finding::new(manifest, line, wrong, "move what is shared upstream"));
        }
    }
    findings
}

/// The finding of a crate that does not say its licence.
pub fn licence(manifest: &File) -> Option<Finding> {
    let mut lines = manifest.text.lines();
    lines.find(|line| line.trim() == "[package]")?;
    let mut package = lines.take_while(|line| !line.starts_with('['));
    let says = package.any(|line| line.starts_with("license"));
    let line = manifest.line_where(|line| line.trim() == "[package]");
    (!says).then(|| Finding::new(manifest, line, "no licence", "add `license.workspace = true`"))
}

/// Everything that a crate may depend on; `None` for a crate that is not in the table.
fn upstream_of(name: &str) -> Option<Vec<&'static str>> {
    let (_, direct) = UPSTREAM.iter().find(|(row, _)| *row == name)?;
    let indirect = direct.iter().filter_map(|name| upstream_of(name)).flatten();
    Some(direct.iter().copied().chain(indirect).collect())
}

fn is_ours(name: &str) -> bool {
    LAST.contains(&name) || name == "ringlane" || name.starts_with("ringlane-")
}

/// Whether a line of a manifest is about the dependency `name`.
fn mentions(line: &str, name: &str) -> bool {
    let key = line.trim_start_matches('[').trim_start_matches("dependencies.");
    key.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=', ']']))
}

fn manifest_of<'a>(package: &Package, files: &'a [File]) -> Option<&'a File> {
    files
        .iter()
        .filter(|file| file.name() == "Cargo.toml")
        .find(|file| package.manifest_path.ends_with(&file.path) && file.path.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, tree as temporary};
    use super::super::tree;
    use super::*;

    /// A workspace of crates with these names and dependencies, and what the rule finds in it.
    fn judged(crates: &[(&str, &str)]) -> Vec<String> {
        let mut files =
            vec![("Cargo.toml".to_string(), "[workspace]\nmembers = [\"crates/*\"]\n".to_string())];
        for (name, dependencies) in crates {
            files.push((format!("crates/{name}/src/lib.rs"), String::new()));
            files.push((
                format!("crates/{name}/Cargo.toml"),
                format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{dependencies}"),
            ));
        }
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let dir = temporary(&files);
        let metadata = Metadata::read(dir.path()).unwrap();
        let findings = directions(&metadata, &tree::read(dir.path()).unwrap());
        findings.iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.wrong)).collect()
    }

    #[test]
    fn a_dependency_against_the_stream_is_found_at_its_line() {
        let against = "[dependencies]\nringlane-engine.path = \"../ringlane-engine\"\n";
        assert_eq!(
            judged(&[("ringlane-task", against), ("ringlane-engine", "")]),
            [
                "crates/ringlane-task/Cargo.toml:5: `ringlane-task` depends on `ringlane-engine`, which is not upstream of it"
            ]
        );
    }

    #[test]
    fn the_facade_is_upstream_of_nothing() {
        let against = "[build-dependencies]\nringlane = { path = \"../ringlane\" }\n";
        assert_eq!(
            judged(&[("ringlane-scenes", against), ("ringlane", "")]),
            [
                "crates/ringlane-scenes/Cargo.toml:5: `ringlane-scenes` depends on `ringlane`, which is not upstream of it"
            ]
        );
    }

    #[test]
    fn the_stream_and_tests_against_it_are_fine() {
        let with = "[dependencies]\nringlane-task.path = \"../ringlane-task\"\n";
        let tests = "[dev-dependencies]\nringlane-trace.path = \"../ringlane-trace\"\n";
        let crates = [
            ("ringlane-task", ""),
            ("ringlane-trace", with),
            ("ringlane-chip-cpu", with),
            ("ringlane-engine", tests),
        ];
        assert_eq!(judged(&crates), [""; 0]);
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        assert_eq!(
            judged(&[("helper", "")]),
            ["crates/helper/Cargo.toml:1: `helper` has no position in the order of crates"]
        );
    }

    #[test]
    fn the_table_is_closed_under_its_own_names() {
        for (name, direct) in UPSTREAM {
            assert!(direct.iter().all(|up| upstream_of(up).is_some()), "{name}");
        }
        let report = upstream_of("ringlane-report").unwrap();
        assert_eq!(report, ["ringlane-insight", "ringlane-trace", "ringlane-task"]);
    }

    #[test]
    fn a_crate_without_a_licence_is_found_and_a_workspace_needs_none() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = []\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n\n[dependencies]\nlicense = \"1\"\n"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\nlicense.workspace = true\n"),
        ];
        assert_eq!(found(&files), ["a/Cargo.toml:1: no licence"]);
    }
}
