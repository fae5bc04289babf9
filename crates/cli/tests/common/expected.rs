//! Texts that commands print, kept in files beside the tests.

use std::path::Path;

/// Compares a text with `tests/expected/NAME.txt`. With `RINGLANE_BLESS=1` the file is written instead: check what
/// changed before you commit it.
#[track_caller]
pub fn expect(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(format!("{name}.txt"));
    if std::env::var_os("RINGLANE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == expected,
        "{} has another text; RINGLANE_BLESS=1 takes this one:\n{text}",
        path.display()
    );
}

/// The same text with the digits of source lines as `N`: an edit of a scene's source is no change of what is printed.
pub fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let mut shown = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        shown += &format!(".rs:{}{}", "N".repeat(digits), &part[digits..]);
    }
    shown
}
