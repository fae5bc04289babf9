//! How far a run is: one moving line on a terminal, nothing anywhere else.

use std::fmt::Display;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};

use crate::jobs::JobMessage;
use crate::output::say;

/// Whether a run shows how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// On standard error.
    Shown,
    /// Not at all.
    Hidden,
}

impl Progress {
    /// Shown to people, not to programs.
    pub fn for_people() -> Self {
        if stderr().is_terminal() { Progress::Shown } else { Progress::Hidden }
    }
}

/// The line of one run.
pub struct Bar(Line);

enum Line {
    Hidden,
    Shown(ProgressBar),
    /// Shown by another process, which reads it here.
    Parents(Arc<JobMessage>),
}

impl Bar {
    /// A line for a run of this name.
    pub fn start(progress: Progress, label: &str) -> Self {
        if progress == Progress::Hidden {
            return Bar(Line::Hidden);
        }
        let bar = ProgressBar::new_spinner().with_message(label.to_string());
        let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} tasks, {per_sec}, {elapsed}");
        Bar(Line::Shown(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))))
    }

    /// A line that the process shows that wants this run.
    pub fn for_parent(message: &Arc<JobMessage>) -> Self {
        Bar(Line::Parents(message.clone()))
    }

    /// Whether the line is shown anywhere.
    pub fn is_shown(&self) -> bool {
        !matches!(self.0, Line::Hidden)
    }

    /// This many tasks are submitted, and this many run at this moment.
    pub fn update(&self, submitted: u64, running: usize) {
        match &self.0 {
            Line::Hidden => {}
            Line::Shown(bar) => {
                bar.set_position(submitted);
                bar.tick();
            }
            Line::Parents(message) => message.update(submitted, running),
        }
    }

    /// Says something on standard error, above the line.
    pub fn say(&self, text: impl Display) {
        match &self.0 {
            Line::Shown(bar) => bar.suspend(|| say(text)),
            Line::Hidden | Line::Parents(_) => say(text),
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        match &self.0 {
            Line::Hidden => {}
            Line::Shown(bar) => bar.finish_and_clear(),
            Line::Parents(message) => message.update(message.submitted(), 0),
        }
    }
}

/// The line of a file that is read, with how much of it is left.
pub struct ByteBar(Option<ProgressBar>);

impl ByteBar {
    /// A line for this many bytes; 0 if that is not known, as of a pipe.
    pub fn start(progress: Progress, label: &str, bytes: u64) -> Self {
        if progress == Progress::Hidden {
            return ByteBar(None);
        }
        let (bar, template) = match bytes {
            0 => (ProgressBar::new_spinner(), "{spinner} {msg}: {bytes}, {bytes_per_sec}, {elapsed}"),
            bytes => (
                ProgressBar::new(bytes),
                "{msg} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            ),
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        ByteBar(Some(bar.with_message(label.to_string()).with_style(style)))
    }

    /// This many more bytes are read.
    pub fn advance(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes);
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// The line of a command that does a known number of things.
pub struct Steps(Option<ProgressBar>);

impl Steps {
    /// A line for `total` things of this name.
    pub fn start(progress: Progress, what: &str, total: usize) -> Self {
        if progress == Progress::Hidden {
            return Steps(None);
        }
        let bar = ProgressBar::new(total as u64).with_message(what.to_string());
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} {msg}, {elapsed}");
        Steps(Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))))
    }

    /// This many are done.
    pub fn update(&self, done: usize) {
        if let Some(bar) = &self.0 {
            bar.set_position(done as u64);
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
