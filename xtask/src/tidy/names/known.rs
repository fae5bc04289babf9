//! What the tree has that a page can name: paths, words of the code, types with their files, functions, options, commands.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenTree;

use super::super::tokens::{Level, as_block, is_mark, is_word, levels};
use super::super::tree::File;

/// Keywords after which a type's name comes.
const TYPES: [&str; 4] = ["struct", "enum", "trait", "type"];

/// What the tree has.
#[derive(Default)]
pub struct Known {
    paths: BTreeSet<String>,
    /// Identifiers, and the words of strings and of files that are no Rust.
    words: BTreeSet<String>,
    identifiers: BTreeSet<String>,
    /// By type, the words of the files that define it or implement something for it.
    members: BTreeMap<String, BTreeSet<String>>,
    options: BTreeSet<String>,
    commands: BTreeSet<String>,
    packages: BTreeSet<String>,
}

impl Known {
    /// Collects what these files have, and the paths that exist.
    pub fn of(files: &[File], paths: BTreeSet<String>) -> Self {
        let mut known = Known { paths, ..Known::default() };
        for file in files.iter() {
            if file.name() == "Cargo.toml" {
                known.packages.extend(package(&file.text));
            }
            match file.ending() {
                Some("rs") => levels(&file.text).into_iter().for_each(|levels| known.read_rust(&levels)),
                // Samples are compiled: what they define can be named.
                Some("md") => {
                    levels(&samples(&file.text)).into_iter().for_each(|levels| known.read_rust(&levels))
                }
                // The bodies of kernels for GPUs, and what they can use.
                Some("h" | "cuh") => {
                    add_words(&file.text, &mut known.identifiers);
                    add_words(&file.text, &mut known.words);
                }
                // The package, its plugin for pytest with its options, and scripts.
                Some("py") => {
                    add_words(&file.text, &mut known.identifiers);
                    add_words(&file.text, &mut known.words);
                    known.options.extend(added_options(&file.text));
                }
                _ => add_words(&file.text, &mut known.words),
            }
        }
        known
    }

    fn read_rust(&mut self, levels: &[Level]) {
        let (mut words, mut types) = (BTreeSet::new(), BTreeSet::new());
        let has_options =
            levels.iter().any(|level| matches!(&level[..], [first, ..] if is_word(first, "arg")));
        for level in levels.iter().filter(|level| !is_documentation(level)) {
            for token in level {
                match token {
                    TokenTree::Ident(name) => {
                        words.extend([name.to_string(), snake_case(&name.to_string())]);
                        self.identifiers.insert(name.to_string());
                    }
                    TokenTree::Literal(literal) => {
                        let literal = literal.to_string();
                        add_words(&literal, &mut words);
                        // The name of an option, or another name for it.
                        let name = literal.trim_matches('"');
                        if has_options && is_option_name(name) {
                            self.options.insert(name.into());
                        }
                    }
                    _ => {}
                }
            }
            let is_type = |name: &String| name.starts_with(|c: char| c.is_ascii_uppercase());
            types.extend(after(level, &TYPES).chain(implemented(level)).filter(is_type));
            self.options.extend(long_options(level));
            self.commands.extend(subcommands(level));
        }
        for name in types {
            self.members.entry(name).or_default().extend(words.iter().cloned());
        }
        self.words.extend(words);
    }

    /// Whether a file or folder has this path, or one that ends with it; `*` is any part of a name.
    pub fn has_path(&self, path: &str) -> bool {
        let wanted: Vec<_> = path.trim_end_matches('/').split('/').collect();
        self.paths.iter().any(|path| {
            let parts: Vec<_> = path.split('/').collect();
            let tail = parts.len().checked_sub(wanted.len()).map(|from| &parts[from..]);
            tail.is_some_and(|tail| tail.iter().zip(&wanted).all(|(part, wanted)| matches(part, wanted)))
        })
    }

    /// Whether the root has this folder.
    pub fn has_root(&self, folder: &str) -> bool {
        self.paths.contains(folder)
    }

    /// Whether there is a package of this name.
    pub fn has_package(&self, name: &str) -> bool {
        self.packages.contains(name)
    }

    /// Whether the code has this word, as a name or in a text that it prints or reads.
    pub fn has_word(&self, word: &str) -> bool {
        self.words.contains(&word.replace('-', "_"))
    }

    /// Whether the code has this name outside of strings, as that of a function, say.
    pub fn has_identifier(&self, name: &str) -> bool {
        self.identifiers.contains(name)
    }

    /// Whether this type, if it is one of ours, has such a member.
    pub fn has_member(&self, owner: &str, member: &str) -> bool {
        self.members.get(owner).is_none_or(|words| words.contains(member))
    }

    /// Whether a command has an option `--name`.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.contains(name)
    }

    /// Whether there is a subcommand of this name.
    pub fn has_command(&self, name: &str) -> bool {
        self.commands.contains(name)
    }
}

/// The options that a Python file adds to a command: `add("--name", …)`.
fn added_options(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("add(\"--").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_string)
}

/// The name of the package that a manifest describes.
fn package(manifest: &str) -> Option<String> {
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \""))?;
    Some(name.trim_end_matches('"').into())
}

/// Whether a name matches a pattern in which `*` is any text.
fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => name == pattern,
    }
}

/// Whether a level is the inside of `#[doc = "…"]`.
fn is_documentation(level: &Level) -> bool {
    matches!(&level[..], [doc, equals, ..] if is_word(doc, "doc") && is_mark(equals, '='))
}

/// The Rust samples of a page.
fn samples(page: &str) -> String {
    let mut is_sample = false;
    let lines = page.lines().filter(|line| match line.strip_prefix("```") {
        Some(language) => {
            is_sample = language.starts_with("rust");
            false
        }
        None => is_sample,
    });
    lines.flat_map(|line| [line.strip_prefix("# ").unwrap_or(line), "\n"]).collect()
}

/// The words of a text, with and without what joins them to file names: `run.json` is also `run` and `json`.
fn add_words(text: &str, words: &mut BTreeSet<String>) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let names = text.split(|c: char| !is_part(c) && !"-.".contains(c));
    for name in names.map(|name| name.trim_matches(['-', '.'])).filter(|name| !name.is_empty()) {
        words.extend(name.split(|c| !is_part(c)).map(String::from));
        words.insert(name.replace('-', "_"));
    }
}

/// A name as it is printed where it is a command or the value of an option: `lost_wake_up` for `LostWakeUp`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// The names that come after one of these keywords.
fn after<'l>(level: &'l Level, keywords: &'l [&str]) -> impl Iterator<Item = String> + 'l {
    let is_keyword = |token: &TokenTree| keywords.iter().any(|keyword| is_word(token, keyword));
    let starts = level.iter().enumerate().filter(move |(_, token)| is_keyword(token));
    starts.filter_map(|(at, _)| {
        level[at + 1..].iter().take(2).find_map(|token| match token {
            TokenTree::Ident(name) => Some(name.to_string()),
            _ => None,
        })
    })
}

/// The names between `impl` and its block: the trait and the type, with their parameters.
fn implemented(level: &Level) -> impl Iterator<Item = String> + '_ {
    let starts = level.iter().enumerate().filter(|(_, token)| is_word(token, "impl"));
    starts.flat_map(|(at, _)| {
        let head =
            level[at + 1..].iter().take_while(|token| as_block(token).is_none() && !is_mark(token, ';'));
        head.filter_map(|token| match token {
            TokenTree::Ident(name) => Some(name.to_string()),
            _ => None,
        })
    })
}

fn is_option_name(text: &str) -> bool {
    text.len() > 1 && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The fields that `#[arg(long)]` makes options.
fn long_options(level: &Level) -> Vec<String> {
    let mut options = Vec::new();
    let mut is_long = false;
    for (at, token) in level.iter().enumerate() {
        match token {
            TokenTree::Group(attribute) if at > 0 && is_mark(&level[at - 1], '#') => {
                is_long |= asks_for_long(attribute.stream().into_iter().collect());
            }
            TokenTree::Ident(name) if level.get(at + 1).is_some_and(|next| is_mark(next, ':')) => {
                options.extend(std::mem::take(&mut is_long).then(|| name.to_string().replace('_', "-")));
            }
            _ => {}
        }
    }
    options
}

/// Whether an attribute is `arg(…, long, …)`; with `long = "…"` the option has that name and not the field's.
fn asks_for_long(attribute: Level) -> bool {
    let [name, TokenTree::Group(arguments), ..] = &attribute[..] else { return false };
    let arguments: Level = arguments.stream().into_iter().collect();
    let is_bare = |at: usize| !arguments.get(at + 1).is_some_and(|next| is_mark(next, '='));
    let mut words = arguments.iter().enumerate();
    is_word(name, "arg") && words.any(|(at, token)| is_word(token, "long") && is_bare(at))
}

/// The commands of every enum that derives `Subcommand`.
fn subcommands(level: &Level) -> Vec<String> {
    let mut commands = Vec::new();
    let mut derived = false;
    for (at, token) in level.iter().enumerate() {
        if let TokenTree::Group(attribute) = token
            && at > 0
            && is_mark(&level[at - 1], '#')
        {
            let mut derives = attribute.stream().into_iter().filter_map(|token| match token {
                TokenTree::Group(group) => Some(group.stream()),
                _ => None,
            });
            derived |= derives.any(|names| names.into_iter().any(|name| is_word(&name, "Subcommand")));
        }
        if let Some(body) = as_block(token)
            && std::mem::take(&mut derived)
        {
            commands.extend(variants(body.stream()));
        }
    }
    commands
}

/// The variants of an enum, as a command line names them.
fn variants(body: proc_macro2::TokenStream) -> Vec<String> {
    let mut variants = Vec::new();
    let mut expected = true;
    for token in body {
        match &token {
            TokenTree::Ident(name) if expected => {
                variants.push(snake_case(&name.to_string()).replace('_', "-"));
                expected = false;
            }
            token => expected |= is_mark(token, ','),
        }
    }
    variants
}
