//! A file fits a sitting, a function fits a screen.

use super::Finding;
use super::tokens::{Level, as_block, is_mark, is_word, line_of};
use super::tree::File;

/// Lines above which a file is shown by `--verbose`.
const FILE_LINES_GROWING: usize = 300;
/// Most lines of a file.
const FILE_LINES_MAX: usize = 500;
/// Most lines of a function, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

const _: () = assert!(FUNCTION_LINES_MAX < FILE_LINES_GROWING && FILE_LINES_GROWING < FILE_LINES_MAX);

/// The Rust files that are allowed but long, with their lines.
pub fn growing(files: &[File]) -> impl Iterator<Item = (&File, usize)> {
    let sizes = files.iter().filter(|file| file.is("rs")).map(|file| (file, file.text.lines().count()));
    sizes.filter(|&(_, lines)| lines > FILE_LINES_GROWING)
}

/// The finding of a file that is too long.
pub fn long_file(file: &File) -> Option<Finding> {
    let lines = file.text.lines().count();
    let wrong = format!("{lines} lines, more than {FILE_LINES_MAX}");
    (lines > FILE_LINES_MAX)
        .then(|| Finding::new(file, FILE_LINES_MAX + 1, wrong, "split the file by what it holds"))
}

/// The findings of the functions on one level that are too long.
pub fn long_functions(file: &File, level: &Level) -> Vec<Finding> {
    let functions = (0..level.len()).filter_map(|at| function_at(level, at));
    let long = functions.filter(|&(_, _, lines)| lines > FUNCTION_LINES_MAX);
    long.map(|(name, line, lines)| {
        let wrong = format!("`{name}` has {lines} lines, more than {FUNCTION_LINES_MAX}");
        Finding::new(file, line, wrong, "give its parts names of their own")
    })
    .collect()
}

/// Name, first line and number of lines of the function whose `fn` is this token, if it is one with a body.
fn function_at(level: &Level, at: usize) -> Option<(String, usize, usize)> {
    let (keyword, rest) = level[at..].split_first()?;
    let name = rest.first().filter(|_| is_word(keyword, "fn"))?;
    // `fn (u8)` is a type; `fn $name` is a function of a macro.
    let name = match name {
        proc_macro2::TokenTree::Ident(name) => name.to_string(),
        mark if is_mark(mark, '$') => format!("${}", rest.get(1)?),
        _ => return None,
    };
    let end = rest.iter().find(|token| is_mark(token, ';') || as_block(token).is_some())?;
    let last = as_block(end)?.span_close().end().line;
    let first = line_of(keyword);
    Some((name, first, last - first + 1))
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    #[test]
    fn a_file_over_500_lines_is_found_and_one_of_500_is_not() {
        assert_eq!(found(&[("a.rs", &"// a\n".repeat(500))]), [""; 0]);
        assert_eq!(found(&[("a.rs", &"// a\n".repeat(501))]), ["a.rs:501: 501 lines, more than 500"]);
    }

    #[test]
    fn a_function_over_70_lines_is_found_and_one_of_70_is_not() {
        assert_eq!(found(&[("a.rs", &function(70))]), [""; 0]);
        assert_eq!(found(&[("a.rs", &function(71))]), ["a.rs:1: `long` has 71 lines, more than 70"]);
    }

    #[test]
    fn long_functions_in_modules_and_macros_are_found_too() {
        let nested = format!("mod m {{\nmacro_rules! m {{ () => {{\n{}}} }}\n}}\n", function(80));
        assert_eq!(found(&[("a.rs", &nested)]), ["a.rs:3: `long` has 80 lines, more than 70"]);
    }

    #[test]
    fn a_declaration_without_a_body_does_not_borrow_the_next_one() {
        let text = format!("trait T {{ fn a(f: fn (u8));\n const X: u8 = {{\n{} 1 }}; }}\n", "\n".repeat(90));
        assert_eq!(found(&[("a.rs", &text)]), [""; 0]);
    }

    #[test]
    fn files_over_300_lines_are_growing() {
        let files = [300, 301].map(|n| File { path: format!("{n}.rs"), text: "\n".repeat(n) });
        assert_eq!(growing(&files).map(|(file, _)| file.path.as_str()).collect::<Vec<_>>(), ["301.rs"]);
    }
}
