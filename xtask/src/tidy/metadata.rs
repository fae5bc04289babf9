//! What cargo knows of the workspace: `cargo metadata`, as far as tidy and peers read it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::error::{Error, Result, output_of};

/// The workspace and everything it depends on.
#[derive(Deserialize)]
pub struct Metadata {
    /// Every package, ours and others'.
    pub packages: Vec<Package>,
    /// Where cargo builds.
    pub target_directory: PathBuf,
}

/// One package.
#[derive(Deserialize)]
pub struct Package {
    /// Its name in `Cargo.toml`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The SPDX expression of its licence, if it gives one.
    pub license: Option<String>,
    /// The registry or repository it came from; none for a package of this workspace.
    pub source: Option<String>,
    /// Where its `Cargo.toml` is.
    pub manifest_path: PathBuf,
    /// What it asks for, whether enabled or not.
    pub dependencies: Vec<Dependency>,
}

/// One entry under `[dependencies]` or its relatives.
#[derive(Deserialize)]
pub struct Dependency {
    /// Name of the package.
    pub name: String,
    /// `dev`, `build`, or none for an ordinary one.
    pub kind: Option<String>,
}

impl Metadata {
    /// Asks cargo about the workspace at `root`, for this machine's platform only: what is never built here
    /// need not be downloaded.
    pub fn read(root: &Path) -> Result<Self> {
        let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let mut command = Command::new(cargo());
        command.args(["metadata", "--quiet", "--format-version", "1", "--filter-platform", &platform]);
        Self::parse(&output_of(command.current_dir(root))?)
    }

    /// Reads what `cargo metadata` printed.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|source| Error::Json { what: "the output of `cargo metadata`".into(), source })
    }
}

/// The cargo that runs this task, or the one on the path.
pub fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn cargo_lists_names_and_kinds_of_dependencies() {
        let manifest =
            "[package]\nname = \"a\"\n[workspace]\nmembers = [\"b\"]\n[dev-dependencies]\nb.path = \"b\"\n";
        let dir = tree(&[
            ("Cargo.toml", manifest),
            ("src/lib.rs", ""),
            ("b/Cargo.toml", "[package]\nname = \"b\"\nlicense = \"MIT\"\n"),
            ("b/src/lib.rs", ""),
        ]);
        let metadata = Metadata::read(dir.path()).unwrap();
        let a = metadata.packages.iter().find(|p| p.name == "a").unwrap();
        assert_eq!((a.dependencies[0].name.as_str(), a.dependencies[0].kind.as_deref()), ("b", Some("dev")));
        let b = metadata.packages.iter().find(|p| p.name == "b").unwrap();
        assert_eq!((b.license.as_deref(), &b.source), (Some("MIT"), &None));
    }
}
