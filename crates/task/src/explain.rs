//! The form of all errors of Ringlane: a name to search for, what happened, the numbers that led to it, and what to
//! do.
//!
//! An error type provides these four with [`Explain`], and [`display_explained!`](crate::display_explained)
//! implements `Display` with them, so that `{error}` alone is enough to act on:
//!
//! ```text
//! ViewOutOfBounds: a view exceeds its tensor: axis 0: 2..5 of 4 (hint: check the start and length of the tile)
//! ```
//!
//! A hint names what its reader can change: methods for the author of a program, options for the user of the command.
//! Only `main` knows which of the two a process has, so it is a property of the process ([`Reader`]).

use alloc::string::String;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

/// An error that a person can act on.
///
/// ```
/// use ringlane_task::{DType, Explain, TensorView};
/// let error = TensorView::contiguous(DType::Float32, &[4]).unwrap().tile(&[2], &[3]).unwrap_err();
/// assert_eq!(error.name(), "ViewOutOfBounds");
/// assert_eq!(error.summary(), "a view exceeds its tensor");
/// assert!(error.detail().contains("2..5"));
/// assert!(!error.hint().is_empty());
/// assert!(error.to_string().starts_with("ViewOutOfBounds: a view exceeds its tensor: axis 0: 2..5 of 4 (hint: "));
/// ```
pub trait Explain: core::error::Error {
    /// The error's name, the same in the library, on the command line and in `run.json`.
    fn name(&self) -> &'static str;
    /// What happened, in a few words that hold for every error of this name.
    fn summary(&self) -> String;
    /// The numbers and locations that led to it.
    fn detail(&self) -> String;
    /// What to do about it, ready to paste where that is possible.
    fn hint(&self) -> String;
}

/// Writes an error as `Display` shows it: all of it, on one line, without control characters.
pub fn write_explained(error: &dyn Explain, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}: {}", error.name(), printable(&error.summary()))?;
    write_reasons(&error.detail(), &error.hint(), f)
}

/// Writes the part after an error's name and summary: `: DETAIL (hint: HINT)`, each only if it is not empty.
pub fn write_reasons(detail: &str, hint: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !detail.is_empty() {
        write!(f, ": {}", printable(detail))?;
    }
    if hint.is_empty() { Ok(()) } else { write!(f, " (hint: {})", printable(hint)) }
}

/// Implements `Display` for error types with their [`Explain`].
///
/// ```
/// #[derive(Debug)]
/// struct NoRoad;
/// impl std::error::Error for NoRoad {}
/// ringlane_task::display_explained!(NoRoad);
/// impl ringlane_task::Explain for NoRoad {
///     fn name(&self) -> &'static str { "NoRoad" }
///     fn summary(&self) -> String { "there is no road".to_string() }
///     fn detail(&self) -> String { "from 3 to 4".to_string() }
///     fn hint(&self) -> String { "go by 5".to_string() }
/// }
/// assert_eq!(NoRoad.to_string(), "NoRoad: there is no road: from 3 to 4 (hint: go by 5)");
/// ```
#[macro_export]
macro_rules! display_explained {
    ($($error:ty),+) => {$(
        impl ::core::fmt::Display for $error {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::write_explained(self, f)
            }
        }
    )+};
}

/// The same, and `std::error::Error` without a source: everything that a plain error needs.
///
/// ```
/// #[derive(Debug)]
/// struct NoRoad;
/// ringlane_task::explained_error!(NoRoad);
/// impl ringlane_task::Explain for NoRoad {
///     fn name(&self) -> &'static str { "NoRoad" }
///     fn summary(&self) -> String { "there is no road".to_string() }
///     fn detail(&self) -> String { "from 3 to 4".to_string() }
///     fn hint(&self) -> String { "go by 5".to_string() }
/// }
/// let error: Box<dyn std::error::Error> = Box::new(NoRoad);
/// assert!(error.to_string().starts_with("NoRoad: there is no road"));
/// ```
#[macro_export]
macro_rules! explained_error {
    ($($error:ty),+) => {
        $crate::display_explained!($($error),+);
        $(impl ::core::error::Error for $error {})+
    };
}

/// Text with control characters replaced by escapes, so that they are visible and have no effect on a terminal.
/// Paths, names and texts of kernels and files can contain any of them.
///
/// ```
/// use ringlane_task::printable;
/// assert_eq!(printable("a\x1b[31m\nµ\u{9b}\u{202e}<b>"), "a\\u{1b}[31m\\nµ\\u{9b}\\u{202e}<b>");
/// assert_eq!(printable("日本 \\ \"QK\""), "日本 \\ \"QK\"");
/// ```
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match is_control(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
        shown
    })
}

/// Control characters, those that end a line, and those that change the direction of text.
fn is_control(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || turns
}

/// The reader of the hints of a process, which determines what they name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// The author of a program: methods and functions. The default.
    #[default]
    Program,
    /// The user of the command: its options.
    Command,
}

/// Whether the hints of this process are for the user of the command. Set once, before any error; it orders no other
/// memory.
static IS_COMMAND: AtomicBool = AtomicBool::new(false);

impl Reader {
    /// The reader of the hints of this process.
    ///
    /// ```
    /// use ringlane_task::Reader;
    /// assert_eq!(Reader::current(), Reader::Program);
    /// ```
    pub fn current() -> Self {
        if IS_COMMAND.load(Ordering::Relaxed) { Reader::Command } else { Reader::Program }
    }

    /// Makes this the reader of the hints of this process. To be called by `main`, before anything can fail.
    ///
    /// ```
    /// use ringlane_task::{Reader, Resource};
    /// Reader::Command.make_current();
    /// assert_eq!(Resource::TaskWindow.setting(32), "--ring-task-window 32");
    /// assert_eq!(Resource::Heap.setting("64,1024,64,64"), "--ring-heap 64,1024,64,64");
    /// ```
    pub fn make_current(self) {
        IS_COMMAND.store(self == Reader::Command, Ordering::Relaxed);
    }

    /// The text for the reader of this process: the method, or the option.
    ///
    /// ```
    /// use ringlane_task::Reader;
    /// assert_eq!(Reader::choose("`set_output_prefix`", "-o DIR"), "`set_output_prefix`");
    /// ```
    pub fn choose<'a>(method: &'a str, option: &'a str) -> &'a str {
        match Reader::current() {
            Reader::Program => method,
            Reader::Command => option,
        }
    }
}
