//! How far a run is: one moving line on a terminal, nothing anywhere else.

use std::fmt::Display;
use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

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
pub struct Bar(Option<ProgressBar>);

impl Bar {
    /// A line for a run of this name.
    pub fn start(progress: Progress, label: &str) -> Self {
        if progress == Progress::Hidden {
            return Bar(None);
        }
        let bar = ProgressBar::new_spinner().with_message(label.to_string());
        let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} tasks, {per_sec}, {elapsed}");
        Bar(Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))))
    }

    /// Whether there is a line to see.
    pub fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// So many tasks are submitted.
    pub fn update(&self, submitted: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(submitted);
            bar.tick();
        }
    }

    /// Says something on standard error, above the line.
    pub fn say(&self, text: impl Display) {
        match &self.0 {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
