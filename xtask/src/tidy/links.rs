//! Every relative link of a page points to something that exists in this repository, down to the heading.
//!
//! Links are `[text](target)`, images, and definitions `[name]: target`, outside code. Addresses on the web are not
//! followed. An anchor is a heading in lower case, without punctuation, with hyphens for spaces.

use std::path::{Component, Path, PathBuf};

use super::Finding;
use super::tree::File;

/// The findings of links that lead nowhere, or out of the repository.
pub fn broken(file: &File, root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in prose(&file.text) {
        for target in targets(&text).into_iter().filter(|target| is_relative(target)) {
            let Some(path) = resolve(&file.path, &target) else {
                let wrong = format!("link to `{target}` leaves the repository");
                findings.push(Finding::new(file, line, wrong, "link to what a clone has"));
                continue;
            };
            let wrong = if !root.join(&path).exists() {
                format!("link to `{target}`, which does not exist")
            } else if !has_anchor(&root.join(&path), &target) {
                format!("link to `{target}`, a heading that does not exist")
            } else {
                continue;
            };
            findings.push(Finding::new(file, line, wrong, "fix the path or remove the link"));
        }
    }
    findings
}

/// Whether the page has the heading that a link names, if it names one.
fn has_anchor(page: &Path, target: &str) -> bool {
    let Some((_, anchor)) = target.split_once('#').filter(|_| page.extension().is_some_and(|e| e == "md"))
    else {
        return true;
    };
    let Ok(text) = std::fs::read_to_string(page) else { return false };
    let headings = outside_fences(&text).into_iter().filter_map(|(_, line)| line.strip_prefix('#'));
    headings.map(|heading| anchor_of(heading.trim_start_matches('#').trim())).any(|heading| heading == anchor)
}

/// The anchor of a heading.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The lines outside code fences, numbered from 1, without their code spans.
fn prose(text: &str) -> Vec<(usize, String)> {
    outside_fences(text).into_iter().map(|(line, text)| (line, without_code(text))).collect()
}

/// The lines outside code fences, numbered from 1.
pub fn outside_fences(text: &str) -> Vec<(usize, &str)> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => lines.push((index + 1, line)),
            _ => {}
        }
    }
    lines
}

/// The line with its code spans emptied; a backtick without a partner is text.
fn without_code(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let (before, code) = (&rest[..start], &rest[start + ticks..]);
        text.push_str(before);
        let Some(length) = code.find(&"`".repeat(ticks)) else {
            rest = code;
            continue;
        };
        rest = &code[length + ticks..];
    }
    text + rest
}

/// What the links of a line point to.
fn targets(line: &str) -> Vec<String> {
    let inline = line.match_indices("](").map(|(at, _)| &line[at + 2..]);
    let mut found: Vec<_> = inline.filter_map(|rest| Some(target_of(&rest[..closing(rest)?]))).collect();
    let definition = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    found.extend(definition.filter(|(name, _)| !name.contains(']')).map(|(_, rest)| target_of(rest)));
    found
}

/// Where the bracket that is open at the start of `rest` closes.
fn closing(rest: &str) -> Option<usize> {
    let mut depth = 1;
    rest.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(at)
    })
}

/// The target without its title, pointed brackets and escapes of spaces.
fn target_of(text: &str) -> String {
    let text = text.trim();
    let target = match text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((target, _)) => target,
        None => text.split_whitespace().next().unwrap_or_default(),
    };
    target.replace("%20", " ")
}

fn is_relative(target: &str) -> bool {
    let scheme = target.split_once(':').is_some_and(|(scheme, _)| !scheme.contains(['/', '.', '#']));
    !target.is_empty() && !scheme && !target.starts_with('?') && !target.starts_with("//")
}

/// Path from the root of what a page's link means; `None` if that is above the root.
fn resolve(page: &str, target: &str) -> Option<PathBuf> {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    if target.is_empty() {
        return Some(page.into());
    }
    let base = if target.starts_with('/') { Path::new("") } else { Path::new(page).parent()? };
    let mut path = PathBuf::new();
    for part in base.join(target.trim_start_matches('/')).components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    #[test]
    fn a_link_to_nothing_is_found_with_its_line() {
        let page = "# A\n\nSee [b](b.md), [c](<no file.md> \"title\") and ![d](img/d.png).\n\n[e]: gone.md\n";
        let expected = [
            "docs/a.md:3: link to `img/d.png`, which does not exist",
            "docs/a.md:3: link to `no file.md`, which does not exist",
            "docs/a.md:5: link to `gone.md`, which does not exist",
        ];
        assert_eq!(found(&[("docs/a.md", page), ("docs/b.md", "")]), expected);
    }

    #[test]
    fn a_link_out_of_the_repository_is_found() {
        assert_eq!(
            found(&[("a.md", "[x](../shared/a.md)\n")]),
            ["a.md:1: link to `../shared/a.md` leaves the repository"]
        );
    }

    #[test]
    fn links_up_down_to_folders_and_to_anchors_are_followed() {
        let page = "# `A`, here\n[a](../README.md#top) [b](./b/) [c](/README.md) [d](#a-here) [w](https://x.org/y#z) [m](mailto:a@b)\n";
        assert_eq!(found(&[("docs/a.md", page), ("README.md", "## Top\n"), ("docs/b/c", "")]), [""; 0]);
    }

    #[test]
    fn a_link_to_a_heading_that_is_gone_is_found() {
        let page = "# A\n```sh\n# no heading\n```\n[a](#b) [b](b.md#old-name) [c](#no-heading)\n";
        let expected = [
            "a.md:5: link to `#b`, a heading that does not exist",
            "a.md:5: link to `#no-heading`, a heading that does not exist",
            "a.md:5: link to `b.md#old-name`, a heading that does not exist",
        ];
        assert_eq!(found(&[("a.md", page), ("b.md", "# New name\n")]), expected);
    }

    #[test]
    fn code_is_not_searched_for_links() {
        let page = "```rust\n[a](gone)\n```\n`[b](gone)` and ``[c](`gone)``\n~~~\n```\n[d](gone)\n~~~\n";
        assert_eq!(found(&[("a.md", page)]), [""; 0]);
    }

    #[test]
    fn a_lonely_backtick_hides_nothing() {
        assert_eq!(targets(&without_code("a ` b [c](d(e).md)")), ["d(e).md"]);
    }
}
