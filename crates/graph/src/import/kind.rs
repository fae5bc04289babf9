//! The kind of a task, from its name: what all tasks of one kind have in common.

/// The kind of a task without any name.
const NAMELESS: &str = "task";

/// The kind that a name says: the name without the number at its end, `blur` of `blur_17`, `individuals` of
/// `individuals_ID0000001`. A name with other digits in its last word keeps the number, as `gemm_32x32` does.
///
/// ```
/// use ringlane_graph::import::kind_of_name;
/// assert_eq!(kind_of_name("blur_17"), "blur");
/// assert_eq!(kind_of_name("gemm_32x32"), "gemm_32x32");
/// ```
pub fn kind_of_name(name: &str) -> &str {
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if before.len() == name.len() {
        return if name.is_empty() { NAMELESS } else { name };
    }
    let word = before.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    // `32x32`: the letters before the number belong to it.
    if word.len() < before.len() && word.ends_with(|c: char| c.is_ascii_digit()) {
        return name;
    }
    let is_between = |c: char| matches!(c, '_' | '-' | '.' | '#' | ':' | '/' | ' ' | '[' | '(');
    let kind = before.trim_end_matches(is_between);
    let kind = match kind.len() < before.len() || !before.ends_with("ID") {
        true => kind,
        false => before.strip_suffix("ID").unwrap_or(before).trim_end_matches(is_between),
    };
    if kind.is_empty() { NAMELESS } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_end_are_no_part_of_a_kind() {
        for (name, kind) in [
            ("n17", "n"),
            ("individuals_ID0000001", "individuals"),
            ("mProject-12", "mProject"),
            ("aten::mm", "aten::mm"),
            ("conv2d", "conv2d"),
            ("conv2d_3", "conv2d"),
            ("layer 3", "layer"),
            ("gemm_32x32", "gemm_32x32"),
            ("17", "task"),
            ("_1", "task"),
            ("ID7", "task"),
            ("", "task"),
            ("größe 2", "größe"),
        ] {
            assert_eq!(kind_of_name(name), kind, "{name}");
        }
    }
}
