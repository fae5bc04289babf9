//! Every file, symbol, command and option that a page names exists in the tree.
//!
//! ```text
//! page ──▶ code spans, command lines of fences ──▶ path? · names? · command line? ──▶ does the tree have it
//! ```
//! The pages are README.md, CONTRIBUTING.md and `docs/`; the change log may name what is gone. A rule that raises false
//! alarms is soon switched off, so each takes the side of the page where it cannot be sure:
//!
//! - a **path** is a span with one of our endings or one that starts with a folder of the root; some path must end with it;
//! - in `Type::member`, where the type is ours, a file that defines or implements it must have the member's name;
//!   a name before `(` must be an identifier of the code, and any other span of one word must be in the code outside
//!   comments, as an identifier or in a string;
//! - after `ringlane` or `cargo xtask` comes one of their commands; every `--option` is one of theirs; a package, test
//!   or example that `cargo` is given exists.
//!
//! What belongs to others is in [`FOREIGN`] and [`FOREIGN_OPTIONS`].

mod known;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::Finding;
use super::links::outside_fences;
use super::tree::File;
use known::Known;

/// Names of the world outside that pages mention: of tools, system calls, instructions, other libraries.
const FOREIGN: [&str; 16] = [
    "aicpu_thread_num",
    "atol",
    "callgrind",
    "compute_golden",
    "generate_inputs",
    "memfd",
    "movnti",
    "mpi_yield_when_idle",
    "multiprocessing",
    "nohup",
    "PR_SET_PDEATHSIG",
    "rdtsc",
    "rtol",
    "SHUTTLE_RANDOM_SEED",
    "std",
    "zlib",
];
/// Options that a page names without their tool, and those that every command has.
const FOREIGN_OPTIONS: [&str; 6] = ["args", "cfg", "features", "help", "oversubscribe", "version"];
/// Tools whose options are theirs.
const TOOLS: [&str; 5] = ["git", "mpirun", "mypy", "rustup", "valgrind"];

/// Endings of files that are ours wherever a page names them.
const ENDINGS: [&str; 8] = ["rs", "md", "toml", "py", "sh", "yml", "mjs", "css"];
/// Endings of files that a run leaves: the code names each.
const ARTIFACTS: [&str; 4] = ["json", "csv", "bin", "html"];

/// The findings of names that the tree does not have.
pub fn missing(files: &[File], paths: BTreeSet<String>) -> Vec<Finding> {
    let known = Known::of(files, paths);
    let pages = files.iter().filter(|file| is_page(&file.path));
    pages.flat_map(|page| in_page(page, &known)).collect()
}

fn is_page(path: &str) -> bool {
    path == "README.md" || path == "CONTRIBUTING.md" || (path.starts_with("docs/") && path.ends_with(".md"))
}

fn in_page(page: &File, known: &Known) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut check = |line, wrong: Vec<String>| {
        let remedy = "name what the tree has, or list it as foreign in xtask/src/tidy/names";
        findings.extend(wrong.into_iter().map(|wrong| Finding::new(page, line, wrong, remedy)));
    };
    for (line, span) in spans(&page.text) {
        check(line, in_span(&span, known));
    }
    for (line, text) in command_lines(&page.text) {
        check(line, in_command(&text, known));
    }
    findings
}

/// The code spans of a page, each with the line that it starts on. A span may go on in the next line of its paragraph.
fn spans(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    let mut last = 0;
    for (line, text) in outside_fences(text) {
        let is_prose = !text.trim().is_empty() && !text.starts_with('|');
        match paragraphs.last_mut().filter(|_| is_open && is_prose && line == last + 1) {
            Some((_, paragraph)) => *paragraph += &format!("\n{text}"),
            None => paragraphs.push((line, text.to_string())),
        }
        (is_open, last) = (is_prose, line);
    }
    let mut spans = Vec::new();
    for (mut line, paragraph) in paragraphs {
        for (index, piece) in paragraph.split('`').enumerate() {
            // Every second piece is between backticks.
            if index % 2 == 1 {
                spans.push((line, piece.trim().to_string()));
            }
            line += piece.matches('\n').count();
        }
    }
    spans
}

/// The command lines in fences: all lines of a fence of shell, and those after a `$` in any.
/// A line that ends with a backslash goes on in the next.
fn command_lines(text: &str) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    for (line, text) in shell_lines(text) {
        match commands.last_mut().map(|(_, command)| command).filter(|command| command.ends_with('\\')) {
            Some(begun) => begun.replace_range(begun.len() - 1.., text),
            None => commands.push((line, text.to_string())),
        }
    }
    commands
}

fn shell_lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut language = None;
    for (index, line) in text.lines().enumerate() {
        match (language, line.trim_start().strip_prefix("```")) {
            (None, Some(opened)) => language = Some(opened),
            (Some(_), Some(_)) => language = None,
            (Some("sh" | "bash"), None) => lines.push((index + 1, line.trim_start_matches(['$', ' ']))),
            (Some(_), None) => {
                lines.extend(line.trim_start().strip_prefix("$ ").map(|line| (index + 1, line)))
            }
            _ => {}
        }
    }
    lines
}

fn in_span(span: &str, known: &Known) -> Vec<String> {
    let words: Vec<_> = span.split_whitespace().collect();
    match words[..] {
        [] => Vec::new(),
        [path] if is_path(path, known) => {
            let wrong = (!known.has_path(path)).then(|| format!("there is no file or folder `{path}`"));
            wrong.into_iter().collect()
        }
        [file] if ending(file).is_some_and(|ending| ARTIFACTS.contains(&ending)) => {
            let name = file.rsplit('/').next().unwrap_or(file).trim_start_matches('.');
            let wrong = (!known.has_word(name)).then(|| format!("no code names the file `{name}`"));
            wrong.into_iter().collect()
        }
        [word] if is_name(word) || is_assignment(word) => {
            let word = word.split('=').next().unwrap_or(word);
            let found = known.has_word(word) || FOREIGN.contains(&word);
            (!found).then(|| format!("no code has the name `{word}`")).into_iter().collect()
        }
        _ if span.contains("--") || words[0] == "ringlane" || words[0] == "cargo" => in_command(span, known),
        _ => in_code(span, known),
    }
}

fn ending(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.rsplit_once('.').map(|(_, ending)| ending)
}

/// Whether a word means a path of the tree.
fn is_path(word: &str, known: &Known) -> bool {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./*".contains(c));
    let in_root = word.split_once('/').is_some_and(|(first, _)| !first.is_empty() && known.has_root(first));
    is_plain && (in_root || ending(word).is_some_and(|ending| ENDINGS.contains(&ending)))
}

/// Whether a word is one name, long enough to mean one.
fn is_name(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// The names of a piece of code that nothing has.
fn in_code(code: &str, known: &Known) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut before, mut is_foreign) = ("", false);
    let mut end = 0;
    for (at, name) in names(code) {
        let (separator, rest) = (&code[end..at], &code[at + name.len()..]);
        let owner = Some(before).filter(|_| separator == "::");
        is_foreign = FOREIGN.contains(&name) || (is_foreign && owner.is_some());
        (before, end) = (name, at + name.len());
        if is_foreign {
            continue;
        }
        let is_called = rest.starts_with('(') || rest.starts_with("::<") || rest == "!";
        if let Some(owner) = owner {
            if !known.has_member(owner, name) || !known.has_word(name) {
                wrong.push(format!("there is no `{owner}::{name}`"));
            }
        } else if is_called && name.len() > 1 && !known.has_identifier(name) {
            wrong.push(format!("there is no function `{name}`"));
        } else if (separator.ends_with('.') || rest.starts_with("::")) && !known.has_word(name) {
            wrong.push(format!("no code has the name `{name}`"));
        }
    }
    wrong
}

/// The names of a piece of code outside its strings, each with its place.
fn names(code: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    let mut at = 0;
    for (index, piece) in code.split('"').enumerate() {
        let start = at;
        at += piece.len() + 1;
        if index % 2 == 1 {
            continue;
        }
        let mut rest = piece;
        while let Some(from) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            rest = &rest[from..];
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            names.push((start + piece.len() - rest.len(), &rest[..length]));
            rest = &rest[length..];
        }
    }
    names
}

/// What a command line names that does not exist.
fn in_command(line: &str, known: &Known) -> Vec<String> {
    let end = [" | ", " > ", " && ", "; ", " # "].iter().filter_map(|mark| line.find(mark)).min();
    let words: Vec<_> = without_variables(&line[..end.unwrap_or(line.len())]).split_whitespace().collect();
    let mut wrong = Vec::new();
    let ringlane = words.iter().position(|word| *word == "ringlane");
    let (ours, command) = match words.first() {
        Some(&"cargo") => in_cargo(&words, known, &mut wrong),
        Some(tool) if TOOLS.contains(tool) => {
            let ours = &words[ringlane.unwrap_or(words.len())..];
            (ours, ours.get(1))
        }
        Some(&"ringlane") => (&words[..], words.get(1)),
        _ => (&words[..], None),
    };
    if let Some(command) = command.filter(|word| is_name(word) && !known.has_command(word)) {
        wrong.push(format!("there is no command `{command}`"));
    }
    for option in ours.iter().filter_map(|word| word.strip_prefix("--")) {
        let length = option.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(option.len());
        let option = &option[..length];
        if !option.is_empty() && !known.has_option(option) && !FOREIGN_OPTIONS.contains(&option) {
            wrong.push(format!("there is no option `--{option}`"));
        }
    }
    wrong
}

/// The command line after the variables that it sets: `RUSTFLAGS="--cfg loom" cargo test` from `cargo` on.
fn without_variables(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(first) = rest.split_whitespace().next().filter(|word| is_assignment(word)) {
        let end = match first.find('"') {
            Some(quote) => rest[quote + 1..].find('"').map_or(rest.len(), |length| quote + length + 2),
            None => first.len(),
        };
        rest = rest[end..].trim_start();
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    let is_variable =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| is_variable(name))
}

/// Checks what cargo is given, and gives the part of the line that is ours, and the command in it.
fn in_cargo<'l>(
    words: &'l [&'l str],
    known: &Known,
    wrong: &mut Vec<String>,
) -> (&'l [&'l str], Option<&'l &'l str>) {
    if words.get(1) == Some(&"xtask") {
        return (words, words.get(2));
    }
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    for pair in words[..end].windows(2) {
        let (kind, exists) = match (pair[0], pair[1]) {
            ("-p" | "--package", name) => ("package", known.has_package(name)),
            ("--test", name) => ("test", name == "NAME" || known.has_path(&format!("tests/{name}.rs"))),
            ("--example", name) => ("example", known.has_path(&format!("examples/{name}.rs"))),
            ("--features", name) => ("feature", name.split([',', '/']).all(|name| known.has_word(name))),
            _ => continue,
        };
        if !exists {
            wrong.push(format!("there is no {kind} `{}`", pair[1]));
        }
    }
    let is_command = words.get(1) == Some(&"run") && !words[..end].contains(&"--example");
    (&words[end..], words.get(end + 1).filter(|_| is_command))
}
