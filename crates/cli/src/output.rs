//! Printing that cannot panic: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};

use crate::errors::CliError;

/// Prints results, as they are. A reader that has gone away (`ringlane list | head -1`) is no error.
pub fn results(text: &str) -> Result<(), CliError> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::CannotPrint(error)),
        _ => Ok(()),
    }
}

/// Says something on standard error; there is nobody to tell if that fails.
pub fn say(text: impl Display) {
    let _ = writeln!(stderr().lock(), "{text}");
}

/// Text from a file as it may be shown: control characters, which a terminal would obey, are written as escapes.
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match is_obeyed(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
        shown
    })
}

/// Control characters, and those that turn the direction of what follows.
fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_and_the_rest_is_as_it_is() {
        assert_eq!(printable("a\x1b[31m\nµ\u{9b}\u{202e}<b>"), "a\\u{1b}[31m\\nµ\\u{9b}\\u{202e}<b>");
    }
}
