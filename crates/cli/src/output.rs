//! Printing that cannot panic: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::path::Path;

use serde::Serialize;

use crate::errors::CliError;
pub use ringlane_insight::text::printable;

/// Prints results, as they are. A reader that has gone away (`ringlane list | head -1`) is no error.
pub fn results(text: &str) -> Result<(), CliError> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::CannotPrint(error)),
        _ => Ok(()),
    }
}

/// An answer as JSON, in one line: what `--json` prints.
pub fn json(answer: &impl Serialize) -> String {
    let text = serde_json::to_string(answer).expect("names, strings and numbers");
    format!("{text}\n")
}

/// Says something on standard error, in one piece, so that nothing that others say gets in between; there is no way to report it if
/// that fails. Paths and names in it may hold anything: a terminal obeys none of it.
pub fn say(text: impl Display) {
    let _ = stderr().lock().write_all(format!("{}\n", printable_lines(&text.to_string())).as_bytes());
}

/// A path as a line of text shows it: a file's name may hold anything, ends of lines too.
pub fn path_text(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// Text of several lines with what a terminal would obey written as escapes, but for the ends of its lines.
fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}
