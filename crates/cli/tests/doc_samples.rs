//! What the pages show is what the command prints: source lines in samples, the number of instruments, hello's profile.
//!
//! Lines of the scenes' sources move whenever a scene is edited. `RINGLANE_BLESS=1 cargo test -p ringlane-cli --test
//! doc_samples` writes the right ones into the pages.

mod common;

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use common::Sandbox;
use ringlane_insight::Instrument;
use ringlane_trace::scopes::Scopes;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README and every page below `docs/`.
fn pages() -> Vec<PathBuf> {
    let mut found = vec![repository().join("README.md"), repository().join("docs")];
    let mut pages = Vec::new();
    while let Some(path) = found.pop() {
        if path.is_dir() {
            found.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// Where in a text a source line is named, and what is written around it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Around {
    before: String,
    file: String,
    after: String,
}

/// A text whose spaces do not depend on the widths of columns.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::new();
    for c in text.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if c != ' ' || !squeezed.ends_with(' ') {
            squeezed.push(c);
        }
    }
    squeezed
}

/// Numbers as `#`: those before a place are often times and sizes.
fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if c != '#' || !shown.ends_with('#') {
            shown.push(c);
        }
    }
    shown
}

/// Every `crates/….rs:LINE` of a text: the digits of its line, and what is around it.
fn places(text: &str) -> Vec<(Range<usize>, Around)> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let mut found = Vec::new();
    for (dot, _) in text.match_indices(".rs:") {
        let digits = dot + ".rs:".len();
        let end = digits + text[digits..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - digits);
        let start = text[..dot]
            .rfind(|c| !is_path(c))
            .map_or(0, |at| at + text[at..].chars().next().unwrap().len_utf8());
        if end == digits || !text[start..].starts_with("crates/") {
            continue;
        }
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = end + text[end..].find('\n').unwrap_or(text.len() - end);
        let before = without_numbers(&squeezed(&text[line_start..start]));
        let skip = before.chars().count().saturating_sub(16);
        let around = Around {
            before: before.chars().skip(skip).collect(),
            file: text[start..dot].to_string(),
            after: squeezed(text[end..line_end].trim_end()).chars().take(12).collect(),
        };
        found.push((digits..end, around));
    }
    found
}

/// What the commands of the samples print and leave, on a chip where nothing depends on timing.
fn printed() -> String {
    let sandbox = Sandbox::new();
    let mut text = String::new();
    let mut run = |arguments: &str| {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let answer = sandbox.ringlane(&arguments);
        text += &answer.stdout;
        text += &answer.stderr;
    };
    run("run stream --case short --param tasks=200 --threads 1 -o logged --log info");
    run("run fanin --case small -p a2a3sim --ring-task-window 16 --scope-stats -o fatal");
    run("scopes fatal");
    run("run paged_attention --case small -p a2a3sim --scope-stats --dep-gen -o pa");
    run("scopes pa");
    run("deps pa --task 2:1");
    run(
        "run stream --case short --param tasks=2000 -p a2a3sim --ring-task-window 64 --scope-stats -o stream",
    );
    for dir in ["fatal", "stream"] {
        text += &fs::read_to_string(sandbox.path().join(dir).join("scope_stats.json")).unwrap();
    }
    // What SIGUSR1 makes a run print, which the scopes of the same program are read from.
    let scopes = Scopes::read(sandbox.path().join("stream")).unwrap().scopes;
    for depth in 0..=4 {
        let scope = scopes.iter().find(|scope| scope.depth == depth).unwrap();
        text += &format!("\nscope {depth}: {}\n", scope.site);
    }
    text
}

#[test]
fn every_source_line_in_a_sample_is_the_one_that_the_command_prints() {
    let text = printed();
    let mut real = HashMap::<Around, Vec<&str>>::new();
    for (digits, around) in places(&text) {
        real.entry(around).or_default().push(&text[digits]);
    }
    let mut wrong = Vec::new();
    for path in pages() {
        let mut page = fs::read_to_string(&path).unwrap();
        let mut seen = HashMap::<Around, usize>::new();
        let mut corrections = Vec::new();
        for (digits, around) in places(&page) {
            let nth = seen.entry(around.clone()).or_default();
            match real.get(&around).and_then(|lines| lines.get(*nth)) {
                Some(line) if **line == page[digits.clone()] => {}
                Some(line) => corrections.push((digits, line.to_string())),
                None => wrong.push(format!("{}: no sample of the test prints {around:?}", path.display())),
            }
            *nth += 1;
        }
        for (digits, line) in corrections.into_iter().rev() {
            wrong.push(format!("{}: line {} is now {line}", path.display(), &page[digits.clone()]));
            page.replace_range(digits, &line);
        }
        if std::env::var_os("RINGLANE_BLESS").is_some() {
            fs::write(&path, page).unwrap();
        }
    }
    assert!(
        wrong.is_empty(),
        "RINGLANE_BLESS=1 writes the right lines into the pages:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_pages_count_and_name_every_instrument() {
    let number = ["no", "one", "two", "three", "four", "five", "six", "seven"][Instrument::ALL.len()];
    for page in ["README.md", "docs/diagnostics/README.md", "docs/diagnostics/adding-an-instrument.md"] {
        let text = fs::read_to_string(repository().join(page)).unwrap().to_lowercase();
        assert!(text.contains(&format!("{number} instruments")), "{page}");
        for instrument in Instrument::ALL {
            assert!(text.contains(instrument.as_str()), "{page} does not name {}", instrument.as_str());
        }
    }
    for page in pages() {
        let text = squeezed(&fs::read_to_string(&page).unwrap().to_lowercase());
        for other in ["four instruments", "five instruments", "sixth instrument", "seven instruments"] {
            assert!(!text.contains(other), "{}: {other}", page.display());
        }
    }
}

#[test]
fn hello_is_built_with_the_workspaces_release_profile() {
    let profile = |manifest: &str| {
        let text = fs::read_to_string(repository().join(manifest)).unwrap();
        let (_, rest) = text.split_once("[profile.release]\n").expect("a release profile");
        let lines = rest.lines().take_while(|line| !line.is_empty() && !line.starts_with('['));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(profile("examples/hello/Cargo.toml"), profile("Cargo.toml"));
}
