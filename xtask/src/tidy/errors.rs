//! Every error's name is on the page of errors, and every name there is an error's.
//!
//! A user who sees an error searches the page for its name; one that is missing there, or was renamed in the code alone, leads
//! nowhere. An error's name is a string like `"RunExists"` in a function `name(&self) -> &'static str`; of the Python package, it is
//! the first argument of the function that makes the exception. On the page, the first
//! column of a table holds names of errors only; elsewhere a name may be that of a type, but of one that the code has.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use super::Finding;
use super::links::outside_fences;
use super::tokens::{Level, as_block, is_word, levels, line_of};
use super::tree::File;

const PAGE: &str = "docs/errors.md";

/// Tokens between `name` and its body: `(&self) -> &'static str`.
const SIGNATURE: usize = 7;

/// The findings of names that are on one side only; none in a tree without the page.
pub fn unlisted(files: &[File]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let on_page = names_on_page(&page.text);
    let (mut findings, mut names, mut words) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for file in files.iter().filter(|file| file.is("rs") && is_source(&file.path)) {
        words.extend(file.text.split(|c: char| !c.is_alphanumeric()));
        for (line, name) in levels(&file.text).iter().flatten().flat_map(names_of_errors) {
            if !on_page.iter().any(|mention| mention.name == name) && names.insert(name.clone()) {
                let wrong = format!("the error `{name}` is not in {PAGE}");
                findings.push(Finding::new(file, line, wrong, "say there when it comes and what to do"));
            }
            names.insert(name);
        }
    }
    for file in files.iter().filter(|file| is_of_package(&file.path)) {
        for name in names_of_exceptions(&file.text) {
            if !on_page.iter().any(|mention| mention.name == name) && names.insert(name.clone()) {
                let wrong = format!("the error `{name}` is not in {PAGE}");
                findings.push(Finding::new(file, 1, wrong, "say there when it comes and what to do"));
            }
            names.insert(name);
        }
    }
    let is_stale = |mention: &&Mention| match mention.place {
        Place::FirstColumn => !names.contains(mention.name),
        Place::Elsewhere => !words.contains(mention.name),
    };
    findings.extend(on_page.iter().filter(is_stale).map(|mention| {
        let wrong = format!("there is no error `{}`", mention.name);
        Finding::new(page, mention.line, wrong, "give it the name that it has in the code, or remove it")
    }));
    findings
}

/// Whether a file is compiled into a crate of ours.
fn is_source(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("crates") && parts.nth(1) == Some("src")
}

/// Whether a file is a part of the Python package.
fn is_of_package(path: &str) -> bool {
    path.starts_with("crates/python/src/") || (path.starts_with("python/ringlane/") && path.ends_with(".py"))
}

/// The names that calls of `raise` in Rust and of `make` in Python give to exceptions.
fn names_of_exceptions(text: &str) -> impl Iterator<Item = String> + '_ {
    let calls = ["raise(", "make("].into_iter().flat_map(|call| text.split(call).skip(1));
    calls.filter_map(|rest| {
        let name = rest.trim_start().strip_prefix('"')?.split('"').next()?;
        let is_name =
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(char::is_alphanumeric);
        is_name.then(|| name.to_string())
    })
}

/// The names that functions on one level give to errors, with their lines.
fn names_of_errors(level: &Level) -> Vec<(usize, String)> {
    let heads = level.windows(3 + SIGNATURE);
    let heads = heads.filter(|tokens| is_word(&tokens[0], "fn") && is_word(&tokens[1], "name"));
    let mut names = Vec::new();
    heads.filter_map(|tokens| as_block(tokens.last()?)).for_each(|body| collect(body.stream(), &mut names));
    names
}

fn collect(stream: TokenStream, names: &mut Vec<(usize, String)>) {
    for token in stream {
        match &token {
            TokenTree::Group(group) => collect(group.stream(), names),
            TokenTree::Literal(literal) => {
                let literal = literal.to_string();
                let name = literal.trim_matches('"');
                if is_name(name) {
                    names.push((line_of(&token), name.to_string()));
                }
            }
            _ => {}
        }
    }
}

/// Whether a text is a name like `RunExists`.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.contains(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// A name on the page.
struct Mention<'p> {
    name: &'p str,
    line: usize,
    place: Place,
}

/// Where on the page a name is.
#[derive(Clone, Copy)]
enum Place {
    FirstColumn,
    Elsewhere,
}

fn names_on_page(text: &str) -> Vec<Mention<'_>> {
    let mut names = Vec::new();
    for (line, text) in outside_fences(text) {
        let (first, rest) = match text.strip_prefix('|') {
            Some(row) => row.split_once('|').unwrap_or((row, "")),
            None => ("", text),
        };
        for (place, text) in [(Place::FirstColumn, first), (Place::Elsewhere, rest)] {
            // Every second piece is between backticks.
            let spans = text.split('`').skip(1).step_by(2).filter(|name| is_name(name));
            names.extend(spans.map(|name| Mention { name, line, place }));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str, code: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let files = [file(PAGE, page), file("crates/a/src/error.rs", code), file("xtask/src/lib.rs", NAMED)];
        unlisted(&files).iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.wrong)).collect()
    }

    const NAMED: &str = "impl Explain for E {\n    fn name(&self) -> &'static str {\n        match self {\n            \
                         E::Lost(error) => error.name(),\n            E::Gone { .. } => \"RoadGone\",\n        }\n    }\n}\n";

    #[test]
    fn an_error_that_the_page_does_not_name_is_found_once() {
        let wrong = ["crates/a/src/error.rs:5: the error `RoadGone` is not in docs/errors.md"];
        assert_eq!(found("# Errors\n", NAMED), wrong);
        assert_eq!(found("# Errors\n", &format!("{NAMED}{NAMED}")), wrong);
        // A fence shows what is printed: it explains nothing.
        assert_eq!(found("```text\n`RoadGone`\n```\n", NAMED), wrong);
        assert_eq!(found("| `RoadGone` | when |\n", NAMED), [""; 0]);
        assert_eq!(found("Also `RoadGone`.\n", NAMED), [""; 0]);
    }

    #[test]
    fn a_name_on_the_page_that_no_error_has_is_found() {
        let page =
            "| `RoadGone`, `RoadWet` | not `Explain` |\n| `Explain` | a type |\nNor `RiverGone`, `x`, `A`.\n";
        let wrong = [
            "docs/errors.md:1: there is no error `RoadWet`",
            "docs/errors.md:2: there is no error `Explain`",
        ];
        assert_eq!(
            found(page, NAMED),
            [&wrong[..], &["docs/errors.md:3: there is no error `RiverGone`"]].concat()
        );
    }

    #[test]
    fn names_of_other_things_are_no_errors() {
        let code = "fn name(&self) -> &'static str { match self { A => \"basic\", B => \"QK\" } }\n\
                    fn hint(&self) -> &'static str { \"Nothing\" }\n";
        assert_eq!(found("# Errors\n", code), [""; 0]);
    }
}
