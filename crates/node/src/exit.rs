//! How a child ended, and what it said last.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::limits::{CAPTURED_OUTPUT_BYTES, CAPTURED_OUTPUT_LINES};

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Which process it was.
    pub pid: u32,
    /// Its exit status, or the signal that ended it.
    pub status: ExitStatus,
    /// The last lines that it printed, bounded, without control characters.
    pub captured_output: String,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ", self.pid)?;
        match (self.status.code(), self.status.signal()) {
            (_, Some(signal)) => match name_of(signal) {
                Some(name) => write!(f, "was killed by signal {signal} ({name})")?,
                None => write!(f, "was killed by signal {signal}")?,
            },
            (Some(code), None) => write!(f, "ended with status {code}")?,
            (None, None) => f.write_str("ended")?,
        }
        write!(f, "; {}", crate::error::said(&self.captured_output))
    }
}

fn name_of(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        31 => "SIGSYS",
        _ => return None,
    })
}

/// The last bytes of what a child prints.
#[derive(Debug, Default)]
pub(crate) struct CapturedOutput(Vec<u8>);

impl CapturedOutput {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let surplus = self.0.len().saturating_sub(CAPTURED_OUTPUT_BYTES);
        self.0.drain(..surplus);
    }

    /// The last lines, one after another, with control characters escaped.
    pub(crate) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(CAPTURED_OUTPUT_LINES)..];
        last.iter().map(|line| harmless(line)).collect::<Vec<_>>().join(" | ")
    }
}

fn harmless(line: &str) -> String {
    let one = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    line.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_says_the_signal_by_number_and_name_and_the_captured_output() {
        let exit = |raw, words: &str| {
            Exit { pid: 7, status: ExitStatus::from_raw(raw), captured_output: words.into() }.to_string()
        };
        assert_eq!(exit(9, ""), "process 7 was killed by signal 9 (SIGKILL); no output");
        assert_eq!(exit(3 << 8, "oh | no"), "process 7 ended with status 3; captured output: oh | no");
        assert_eq!(exit(40, ""), "process 7 was killed by signal 40; no output");
    }

    #[test]
    fn only_the_last_lines_are_kept_and_none_can_move_a_cursor() {
        let mut words = CapturedOutput::default();
        for number in 0..10_000 {
            words.add(format!("line {number}\n").as_bytes());
        }
        assert!(words.0.len() <= CAPTURED_OUTPUT_BYTES);
        assert!(words.text().ends_with("line 9998 | line 9999"));
        assert_eq!(words.text().split(" | ").count(), CAPTURED_OUTPUT_LINES);
        words.add(b"\xff\x1b[2J\n");
        assert!(words.text().ends_with("\u{fffd}\\u{1b}[2J"), "{}", words.text());
    }
}
