//! Every relative link of a page points to something that exists in this repository.
//!
//! Links are `[text](target)`, images, and definitions `[name]: target`, outside code. Addresses on the web and
//! anchors within the page are not followed.

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
            if !root.join(path).exists() {
                let wrong = format!("link to `{target}`, which does not exist");
                findings.push(Finding::new(file, line, wrong, "mend the path or remove the link"));
            }
        }
    }
    findings
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
    !target.is_empty() && !scheme && !target.starts_with(['#', '?']) && !target.starts_with("//")
}

/// Path from the root of what a page's link means; `None` if that is above the root.
fn resolve(page: &str, target: &str) -> Option<PathBuf> {
    let target = target.split(['#', '?']).next().unwrap_or_default();
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
        let page = "[a](../README.md#top) [b](./b/) [c](/README.md) [d](#here) [w](https://x.org/y) [m](mailto:a@b)\n";
        assert_eq!(found(&[("docs/a.md", page), ("README.md", ""), ("docs/b/c", "")]), [""; 0]);
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
