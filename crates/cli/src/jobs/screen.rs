//! What a person sees of cases side by side: a moving line for each worker, and whole lines above them.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::limits::PRINTED_LINE_BYTES;
use crate::output::{printable, say};
use crate::progress::Progress;

/// The lines at the foot of a terminal; nothing anywhere else.
pub struct Screen(Option<Lines>);

struct Lines {
    all: MultiProgress,
    workers: Vec<ProgressBar>,
    cases: ProgressBar,
}

impl Screen {
    /// Lines for this many workers and one for all cases.
    pub fn new(progress: Progress, workers: usize, cases: usize) -> Self {
        if progress == Progress::Hidden {
            return Screen(None);
        }
        let all = MultiProgress::new();
        let styled = |bar: ProgressBar, template| {
            let style = ProgressStyle::with_template(template);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        };
        let worker = |number: usize| {
            let template = "{spinner} {prefix}: {msg}: {human_pos} tasks, {per_sec}, {elapsed}";
            let bar = styled(ProgressBar::new_spinner(), template);
            all.add(bar.with_prefix(format!("worker {}", number + 1)))
        };
        let workers = (0..workers).map(worker).collect();
        let cases = all.add(styled(ProgressBar::new(cases as u64), "{pos} of {len} cases, {elapsed}"));
        Screen(Some(Lines { all, workers, cases }))
    }

    /// No lines.
    pub const fn none() -> Self {
        Screen(None)
    }

    /// A worker begins with a case.
    pub fn begin(&self, worker: usize, label: &str) {
        if let Some(lines) = &self.0 {
            let bar = &lines.workers[worker];
            bar.reset();
            bar.set_message(label.to_string());
        }
    }

    /// A worker's case has submitted this many tasks.
    pub fn update(&self, worker: usize, submitted: u64) {
        if let Some(lines) = &self.0 {
            lines.workers[worker].set_position(submitted);
            lines.workers[worker].tick();
        }
    }

    /// The line of all cases moves on.
    pub fn tick(&self) {
        if let Some(lines) = &self.0 {
            lines.cases.tick();
        }
    }

    /// A worker has ended its case.
    pub fn end(&self, worker: usize) {
        if let Some(lines) = &self.0 {
            lines.workers[worker].finish_and_clear();
            lines.cases.inc(1);
        }
    }

    /// Says something above the lines.
    pub fn above(&self, speak: impl FnOnce()) {
        match &self.0 {
            Some(lines) => lines.all.suspend(speak),
            None => speak(),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(lines) = &self.0 {
            lines.workers.iter().chain([&lines.cases]).for_each(ProgressBar::finish_and_clear);
        }
    }
}

/// What a process prints, put together to whole lines that begin with its name.
#[derive(Debug)]
pub struct Printed {
    label: String,
    rest: Vec<u8>,
}

impl Printed {
    /// Nothing yet.
    pub fn by(label: &str) -> Self {
        Printed { label: label.to_string(), rest: Vec::new() }
    }

    /// Says the lines that these bytes complete. A line without end is cut where it is too long to keep.
    pub fn add(&mut self, bytes: &[u8], screen: &Screen) {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.say(&line[..end], screen);
        }
        if self.rest.len() > PRINTED_LINE_BYTES {
            self.finish(screen);
        }
    }

    /// Says what is left.
    pub fn finish(&mut self, screen: &Screen) {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.say(&rest, screen);
        }
    }

    fn say(&self, line: &[u8], screen: &Screen) {
        let line = printable(&String::from_utf8_lossy(line));
        screen.above(|| say(format_args!("{}: {line}", self.label)));
    }
}
