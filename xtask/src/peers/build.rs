//! Builds both sides: the peers in a copy of their folder, and the `ringlane` command.
//!
//! The copy lives in `target/peers`, because the folder itself may be read-only. What cannot be built here is left
//! out, with the Debian packages that would change that.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result, output_of};
use crate::tidy::{Metadata, cargo};

/// What a peer of the Makefile needs: a command that succeeds where it can be built, and where to get it.
struct Need {
    peers: &'static [&'static str],
    probe: &'static str,
    packages: &'static str,
}

const NEEDS: [Need; 5] = [
    Need { peers: &["calib", "serial", "taskflow"], probe: "g++ --version", packages: "g++" },
    Need { peers: &["omp-gcc"], probe: "g++ -fopenmp -E -include omp.h -x c++ /dev/null", packages: "g++" },
    Need {
        peers: &["omp-clang"],
        probe: "clang++-19 -fopenmp=libomp -E -include omp.h -x c++ /dev/null",
        packages: "clang-19 libomp-19-dev",
    },
    Need {
        peers: &["tbb-flow", "tbb-group"],
        probe: "g++ -std=c++20 -E -include tbb/flow_graph.h -x c++ /dev/null",
        packages: "libtbb-dev",
    },
    Need {
        peers: &["starpu"],
        probe: "pkg-config --exists starpu-1.3",
        packages: "libstarpu-dev pkg-config",
    },
];
/// What is built, not source: never copied.
const BUILT: [&str; 3] = ["bin", "target", "results.json"];

/// What ends the manifest of the Rust peers in the copy.
const DETACHED: &str = "\n[workspace]\n";

/// Copies the peers below `root/target`, builds what can be built and returns the copy.
pub fn peers(from: &Path, root: &Path) -> Result<PathBuf> {
    for missing in ["run.py", "Makefile"] {
        if !from.join(missing).is_file() {
            return Err(Error::NoPeers { path: from.to_path_buf(), missing });
        }
    }
    let copy = root.join("target/peers");
    copy_folder(from, &copy)?;
    detach(&copy.join("rust/Cargo.toml"))?;
    let (possible, packages) = possible();
    if !packages.is_empty() {
        eprintln!("some peers cannot be built; to add them: apt-get install {}", packages.join(" "));
    }
    make(&copy, &possible)?;
    Ok(copy)
}

/// The `ringlane` command, built for speed.
pub fn ringlane(root: &Path) -> Result<PathBuf> {
    output_of(
        Command::new(cargo()).args(["build", "--release", "--package", "ringlane-cli"]).current_dir(root),
    )?;
    Ok(Metadata::read(root)?.target_directory.join("release/ringlane"))
}

/// The peers that can be built here, and the packages that the others lack.
fn possible() -> (Vec<&'static str>, Vec<&'static str>) {
    let (here, lacking): (Vec<_>, Vec<_>) = NEEDS.iter().partition(|need| succeeds(need.probe));
    (
        here.iter().flat_map(|need| need.peers).copied().collect(),
        lacking.iter().map(|need| need.packages).collect(),
    )
}

fn succeeds(probe: &str) -> bool {
    let mut words = probe.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds as many peers as possible. One that fails leaves a gap in the tables; without `calib` nothing can be
/// measured.
fn make(copy: &Path, peers: &[&str]) -> Result<()> {
    let mut command = Command::new("make");
    command.arg("--keep-going").arg("--directory").arg(copy).arg(format!("PEERS={}", peers.join(" ")));
    // The Makefile expects the Rust peers in their own target folder, built with their own flags.
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS", "MAKEFLAGS"] {
        command.env_remove(variable);
    }
    match output_of(&mut command) {
        Err(error) if !copy.join("bin/calib").is_file() => return Err(error),
        Err(error) => eprintln!("{}\nthe peers that were built are measured", error.report()),
        Ok(_) => {}
    }
    Ok(())
}

/// Copies what differs, so that nothing is built twice, and without the permissions, so that it can be changed.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(Error::file("create", to))?;
    for entry in fs::read_dir(from).map_err(Error::file("list", from))? {
        let entry = entry.map_err(Error::file("list", from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name().to_str().is_some_and(|name| BUILT.contains(&name)) {
            continue;
        }
        if source.is_dir() {
            copy_folder(&source, &target)?;
            continue;
        }
        let bytes = fs::read(&source).map_err(Error::file("read", &source))?;
        if !fs::read(&target).is_ok_and(|old| old.strip_suffix(DETACHED.as_bytes()).unwrap_or(&old) == bytes)
        {
            fs::write(&target, bytes).map_err(Error::file("write", &target))?;
        }
    }
    Ok(())
}

/// Makes the Rust peers a workspace of their own: the copy is inside ours, which does not list them.
fn detach(manifest: &Path) -> Result<()> {
    let Ok(text) = fs::read_to_string(manifest) else { return Ok(()) };
    if text.lines().any(|line| line.starts_with("[workspace")) {
        return Ok(());
    }
    fs::write(manifest, text + DETACHED).map_err(Error::file("write", manifest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_peers_is_refused_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let error = peers(dir.path(), dir.path()).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.report().contains("run.py is not there"));
        assert!(!dir.path().join("target").exists());
    }

    #[test]
    fn the_copy_leaves_built_files_out_and_is_a_workspace_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("rust/target")).unwrap();
        fs::write(from.join("rust/Cargo.toml"), "[package]\n").unwrap();
        fs::write(from.join("rust/target/x"), "").unwrap();
        for _ in 0..2 {
            copy_folder(&from, &to).unwrap();
            detach(&to.join("rust/Cargo.toml")).unwrap();
            assert_eq!(fs::read_to_string(to.join("rust/Cargo.toml")).unwrap(), "[package]\n\n[workspace]\n");
        }
        assert!(!to.join("rust/target").exists());
    }

    #[test]
    fn a_probe_for_something_missing_fails_quietly() {
        assert!(!succeeds("no-such-compiler --version"));
        assert!(succeeds("true"));
    }
}
