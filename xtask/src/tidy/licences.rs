//! Every dependency may be used by anyone for anything: permissive licences only.
//!
//! A licence is an SPDX expression, and it is read as one: `A OR B` needs one permissive side, `A AND B` both, so
//! that `MIT AND GPL-3.0-only` does not pass for its first word.

use super::Finding;
use super::metadata::{Metadata, Package};
use super::tree::File;

/// Licences, or families of them, that ask for little more than being named.
const PERMISSIVE: [&str; 10] =
    ["MIT", "Apache-2.0", "BSD", "ISC", "Zlib", "Unicode", "CC0", "0BSD", "BSL-1.0", "Unlicense"];

/// The findings of dependencies whose licence is not known to be permissive, at their lines of `Cargo.lock`.
pub fn of_dependencies(metadata: &Metadata, lock: &File) -> Vec<Finding> {
    let foreign = metadata.packages.iter().filter(|package| package.source.is_some());
    let unfit = foreign.filter(|package| !package.license.as_deref().is_some_and(is_permissive));
    unfit
        .map(|Package { name, version, license, .. }| {
            let entry = format!("name = \"{name}\"");
            let wrong =
                format!("{name} {version} is licensed `{}`", license.as_deref().unwrap_or("not at all"));
            let line = lock.line_where(|line| line == entry);
            Finding::new(lock, line, wrong, "use a package with a permissive licence")
        })
        .collect()
}

/// Whether an SPDX expression can be satisfied with permissive licences alone.
fn is_permissive(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    either(&mut words) && words.peek().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>) -> bool {
    let mut fits = both(words);
    while words.next_if_eq(&"OR").is_some() {
        fits |= both(words);
    }
    fits
}

fn both(words: &mut Words<'_>) -> bool {
    let mut fits = single(words);
    while words.next_if_eq(&"AND").is_some() {
        fits &= single(words);
    }
    fits
}

fn single(words: &mut Words<'_>) -> bool {
    match words.next() {
        Some("(") => {
            let fits = either(words);
            words.next_if_eq(&")").is_some() && fits
        }
        Some(name) => {
            // An exception only ever permits more.
            if words.next_if_eq(&"WITH").is_some() {
                words.next();
            }
            PERMISSIVE.iter().any(|family| is_of(name, family))
        }
        None => false,
    }
}

/// `BSD` takes in `BSD-3-Clause`, but `MIT` not `MITRE`.
fn is_of(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_expressions_are_permissive() {
        for expression in [
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "BSD-3-Clause",
            "Zlib OR 0BSD",
        ] {
            assert!(is_permissive(expression), "{expression}");
        }
    }

    #[test]
    fn an_obligation_beside_a_permission_is_not_permissive() {
        for expression in
            ["MIT AND GPL-3.0-only", "MPL-2.0", "MITRE", "(MIT", "", "LGPL-2.1 OR (MIT AND AGPL-3.0)"]
        {
            assert!(!is_permissive(expression), "{expression}");
        }
    }

    #[test]
    fn a_dependency_with_another_licence_or_none_is_found() {
        let package = |name: &str, source: &str, license: &str| {
            format!(
                r#"{{"name": "{name}", "version": "1.0.0", "license": {license}, "source": {source},
                     "manifest_path": "/x/Cargo.toml", "dependencies": []}}"#
            )
        };
        let registry = r#""registry+https://github.com/rust-lang/crates.io-index""#;
        let packages = [
            package("fine", registry, r#""MIT""#),
            package("ours", "null", "null"),
            package("strict", registry, r#""GPL-3.0-only""#),
            package("silent", registry, "null"),
        ];
        let json = format!(r#"{{"packages": [{}], "target_directory": "/x"}}"#, packages.join(","));
        let lock = File { path: "Cargo.lock".into(), text: "[[package]]\nname = \"strict\"\n".into() };
        let findings = of_dependencies(&Metadata::parse(&json).unwrap(), &lock);
        let lines: Vec<_> = findings.iter().map(|f| format!("{}: {}", f.line, f.wrong)).collect();
        assert_eq!(
            lines,
            ["2: strict 1.0.0 is licensed `GPL-3.0-only`", "1: silent 1.0.0 is licensed `not at all`"]
        );
    }
}
