//! Every `unsafe` block and implementation says why it is sound, close above.
//!
//! Clippy's `undocumented_unsafe_blocks` is stricter about the position but does not check macros, nor at code
//! that is compiled only under another `cfg`; this rule sees all of it.

use super::Finding;
use super::tokens::{Level, as_block, is_word, line_of};
use super::tree::File;

/// Lines of code that may be between the comment and the keyword: a statement that rustfmt broke.
const CODE_LINES_BETWEEN_MAX: usize = 5;

/// The findings of unsafe code on one level that has no reason.
pub fn unexplained(file: &File, level: &Level) -> Vec<Finding> {
    let pairs = level.windows(2).filter(|pair| is_word(&pair[0], "unsafe"));
    let claims = pairs.filter(|pair| is_word(&pair[1], "impl") || as_block(&pair[1]).is_some());
    let unexplained = claims.map(|pair| line_of(&pair[0])).filter(|&line| !is_explained(&file.text, line));
    let remedy = "say above it, after `// SAFETY:`, why the callee's conditions hold";
    unexplained.map(|line| Finding::new(file, line, "`unsafe` without a reason", remedy)).collect()
}

/// Whether `SAFETY:` is on the line or in a comment close above it.
fn is_explained(text: &str, line: usize) -> bool {
    let above: Vec<_> = text.lines().take(line).collect();
    let mut code_lines = 0;
    for line in above.iter().rev() {
        let comment = line.find("//").map_or("", |at| &line[at..]);
        if comment.contains("SAFETY:") {
            return true;
        }
        code_lines += usize::from(!line.trim_start().starts_with("//"));
        if code_lines > CODE_LINES_BETWEEN_MAX + 1 {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    #[test]
    fn an_unsafe_block_or_implementation_without_a_reason_is_found() {
        let text = "unsafe impl Send for T {}\nfn f() {\n    unsafe { g() }\n}\n";
        let wrong = "`unsafe` without a reason";
        assert_eq!(found(&[("a.rs", text)]), [format!("a.rs:1: {wrong}"), format!("a.rs:3: {wrong}")]);
    }

    #[test]
    fn a_reason_of_several_lines_above_the_statement_counts() {
        let text = "fn f() {\n    // SAFETY: one,\n    // two.\n    let a =\n        b(unsafe { g() });\n}\n";
        assert_eq!(found(&[("a.rs", text)]), [""; 0]);
    }

    #[test]
    fn a_reason_far_above_does_not_count() {
        let text = format!("// SAFETY: long ago\n{}fn f() {{ unsafe {{ g() }} }}\n", "fn a() {}\n".repeat(6));
        assert_eq!(found(&[("a.rs", &text)]), ["a.rs:8: `unsafe` without a reason"]);
    }

    #[test]
    fn unsafe_functions_traits_and_prose_need_none() {
        let text = "/// unsafe { }\nunsafe fn f() {}\nunsafe trait T {}\nconst A: &str = \"unsafe { }\";\n";
        assert_eq!(found(&[("a.rs", text)]), [""; 0]);
    }
}
