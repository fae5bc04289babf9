//! Rules for every file: no stray white space, an opening that says what it is, nothing unfinished.

use super::Finding;
use super::tokens::{Level, is_mark, is_word, line_of};
use super::tree::File;

/// Words that mark unfinished work. In pieces, so that this file passes its own rule.
const MARKERS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];
/// Macros that are placeholders for code, or print it while debugging.
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// White space at the end of a line, and a last line without an end.
pub fn white_space(file: &File) -> Vec<Finding> {
    let lines = file.text.split('\n').enumerate();
    let stray = lines.filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
    let mut findings: Vec<_> =
        stray.map(|(i, _)| Finding::new(file, i + 1, "trailing white space", "remove it")).collect();
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        let last = file.text.lines().count();
        findings.push(Finding::new(file, last, "no newline at the end", "add one"));
    }
    findings
}

/// Words that mark unfinished work, outside prose.
pub fn markers(file: &File) -> Vec<Finding> {
    if file.is("md") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.find(|word| MARKERS.contains(word)) {
            let remedy = "do it now, or open an issue";
            findings.push(Finding::new(file, index + 1, format!("`{word}`"), remedy));
        }
    }
    findings
}

/// A module that does not open with its documentation.
pub fn opening(file: &File) -> Option<Finding> {
    let mut parts = file.path.split('/');
    let in_source = match parts.next() {
        Some("crates") => parts.nth(1) == Some("src"),
        Some("xtask") => parts.next() == Some("src"),
        _ => false,
    };
    let remedy = "open with `//!`: what it is, and why it is so";
    (in_source && !file.text.starts_with("//!"))
        .then(|| Finding::new(file, 1, "no module documentation on the first line", remedy))
}

/// Macros that are placeholders for code.
pub fn unfinished(file: &File, level: &Level) -> Vec<Finding> {
    let calls = level.windows(2).filter(|pair| is_mark(&pair[1], '!'));
    let named =
        calls.filter_map(|pair| Some((UNFINISHED.iter().find(|name| is_word(&pair[0], name))?, pair)));
    named
        .map(|(name, pair)| {
            Finding::new(file, line_of(&pair[0]), format!("`{name}!`"), "finish it, or return an error")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    #[test]
    fn trailing_white_space_is_found_in_every_kind_of_text() {
        let files = [(".ci/run", "a\nb \n"), ("a.md", "a\t\n"), ("a.rs", "// a\r\n")];
        let expected = [
            ".ci/run:2: trailing white space",
            "a.md:1: trailing white space",
            "a.rs:1: trailing white space",
        ];
        assert_eq!(found(&files), expected);
    }

    #[test]
    fn a_file_that_does_not_end_with_a_newline_is_found_and_an_empty_one_is_not() {
        assert_eq!(found(&[("a.toml", "a = 1\nb = 2"), ("empty", "")]), ["a.toml:2: no newline at the end"]);
    }

    #[test]
    fn a_module_without_an_opening_is_found_where_modules_live() {
        let text = "fn f() {}\n";
        let files =
            [("crates/a/src/x/y.rs", text), ("crates/a/tests/t.rs", text), ("xtask/src/main.rs", text)];
        let wrong = "1: no module documentation on the first line";
        assert_eq!(
            found(&files),
            [format!("crates/a/src/x/y.rs:{wrong}"), format!("xtask/src/main.rs:{wrong}")]
        );
    }

    #[test]
    fn promises_are_found_in_comments_as_whole_words() {
        let text = format!("// {}: later\n// {}XX\nlet a = \"{}\";\n", MARKERS[0], MARKERS[1], MARKERS[1]);
        let expected = MARKERS.iter().zip([1, 3]).map(|(word, line)| format!("a.rs:{line}: `{word}`"));
        assert_eq!(found(&[("a.rs", &text), ("a.md", &text)]), expected.collect::<Vec<_>>());
    }

    #[test]
    fn unfinished_macros_are_found_in_code_and_not_in_strings_or_comments() {
        let text =
            "fn f() {\n    todo!();\n    g(dbg!(1));\n    \"todo!\"; // dbg!\n    unimplemented! {}\n}\n";
        assert_eq!(
            found(&[("a.rs", text)]),
            ["a.rs:2: `todo!`", "a.rs:3: `dbg!`", "a.rs:5: `unimplemented!`"]
        );
    }
}
