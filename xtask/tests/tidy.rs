//! The tree is tidy: `cargo test` reports what `cargo xtask tidy` would.

use std::process::Command;

#[test]
fn the_tree_is_tidy() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("tidy").output().unwrap();
    let findings = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "\n{findings}{}", String::from_utf8_lossy(&output.stderr));
}
