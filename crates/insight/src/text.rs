//! Text of a run as it may be shown: names come from files and can hold anything.

/// Text with the characters that a terminal would obey written as escapes, so that they are seen and do nothing.
///
/// ```
/// use ringlane_insight::text::printable;
/// assert_eq!(printable("a\x1b[31m\nµ\u{9b}\u{202e}<b>"), "a\\u{1b}[31m\\nµ\\u{9b}\\u{202e}<b>");
/// assert_eq!(printable("日本 \\ \"QK\""), "日本 \\ \"QK\"");
/// ```
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match is_obeyed(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
        shown
    })
}

/// Control characters, those that end a line, and those that turn the direction of what follows.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || turns
}
