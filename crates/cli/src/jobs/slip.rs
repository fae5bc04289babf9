//! What a case in a process of its own hands to its parent: a file in memory that both have open.
//!
//! ```text
//! 0           8           16          24             40     4136
//! │ submitted │ in a task │ length of │ rate of the │ path │ answer, as JSON, once the case is over
//! │           │           │ path      │ clock       │      │
//! ```
//! But for the clock the child writes and the parent reads whenever it likes: no one waits for the other, and what a process that died has written
//! stays. A number that is half written is a wrong picture on a screen and nothing worse; an answer that is half written
//! is no JSON, and so none.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ringlane_chip_cpu::{ClockSource, CpuClock};
use ringlane_node::inherited;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use crate::errors::CliError;
use crate::told::Answer;

const SUBMITTED_AT: u64 = 0;
const IN_TASK_AT: u64 = 8;
const DIR_LENGTH_AT: u64 = 16;
const CLOCK_HZ_AT: u64 = 24;
const CLOCK_ERROR_AT: u64 = 32;
const DIR_AT: u64 = 40;
/// Longer than any path that a run directory can have: a configuration holds 1,023 bytes.
const DIR_BYTES_MAX: u64 = 4096;
const ANSWER_AT: u64 = DIR_AT + DIR_BYTES_MAX;

/// The file.
#[derive(Debug)]
pub struct Slip {
    file: File,
}

/// Which case a process is to run, and where its slip is: `I:FD`, the hidden value that a parent gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The case, counted from 0 in the order of all cases.
    pub case: usize,
    /// The descriptor that the process inherits.
    pub descriptor: i32,
}

impl Place {
    /// Reads the value of the option.
    pub fn parse(text: &str) -> Result<Self, CliError> {
        let parsed = text.split_once(':').and_then(|(case, descriptor)| {
            Some(Place { case: case.parse().ok()?, descriptor: descriptor.parse().ok()? })
        });
        parsed.ok_or_else(|| Self::refuse(text))
    }

    /// Nobody gives this by hand.
    pub fn refuse(text: &str) -> CliError {
        CliError::bad_value(
            "--case-of-parent",
            text,
            "what --jobs gives to its own processes",
            "leave it out; --jobs 2 runs cases side by side",
        )
    }
}

impl Slip {
    /// A new one, for a child.
    pub fn create() -> io::Result<Self> {
        let memory = memfd_create("ringlane-case", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, ANSWER_AT)?;
        Ok(Slip { file: memory.into() })
    }

    /// Tells the child the rate of this machine's clock: to measure it takes a good part of the time of a short case, and so
    /// all cases of a command have the same.
    pub fn tell_clock(&self, clock: &CpuClock) -> io::Result<()> {
        if clock.source() == ClockSource::Tsc {
            self.file.write_all_at(&clock.freq_hz().to_ne_bytes(), CLOCK_HZ_AT)?;
            self.file.write_all_at(&clock.error_ppm().to_bits().to_ne_bytes(), CLOCK_ERROR_AT)?;
        }
        Ok(())
    }

    /// Takes the rate of the clock, if it is told.
    fn adopt_clock(&self) {
        CpuClock::adopt(self.word(CLOCK_HZ_AT), f64::from_bits(self.word(CLOCK_ERROR_AT)));
    }

    /// The one that this process was started with. Called once, before anything is opened.
    pub fn of_this_process(descriptor: i32) -> Result<Self, CliError> {
        let slip = Slip { file: inherited(descriptor).map_err(CliError::Node)?.into() };
        slip.adopt_clock();
        Ok(slip)
    }

    /// A descriptor of it for a child to inherit.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// So many tasks are submitted, and so many run at this moment.
    pub fn update(&self, submitted: u64, running: usize) {
        // There is nobody to tell of an error but the reader, who sees no progress.
        let _ = self.file.write_all_at(&submitted.to_ne_bytes(), SUBMITTED_AT);
        let _ = self.file.write_all_at(&(running as u64).to_ne_bytes(), IN_TASK_AT);
    }

    /// The case has a directory.
    pub fn begun(&self, dir: &Path) {
        let bytes = dir.as_os_str().as_bytes();
        if bytes.len() as u64 <= DIR_BYTES_MAX && self.file.write_all_at(bytes, DIR_AT).is_ok() {
            let _ = self.file.write_all_at(&(bytes.len() as u64).to_ne_bytes(), DIR_LENGTH_AT);
        }
    }

    /// The case is over.
    pub fn hand_over(&self, answer: &Answer) -> io::Result<()> {
        self.file.write_all_at(&serde_json::to_vec(answer)?, ANSWER_AT)
    }

    /// How many tasks are submitted.
    pub fn submitted(&self) -> u64 {
        self.word(SUBMITTED_AT)
    }

    /// Whether a task ran when the child looked last.
    pub fn is_in_task(&self) -> bool {
        self.word(IN_TASK_AT) != 0
    }

    /// The case's directory, if it has come so far.
    pub fn dir(&self) -> Option<PathBuf> {
        let length = self.word(DIR_LENGTH_AT);
        let mut bytes = vec![0; usize::try_from(length.min(DIR_BYTES_MAX)).ok()?];
        self.file.read_exact_at(&mut bytes, DIR_AT).ok()?;
        (!bytes.is_empty()).then(|| OsStr::from_bytes(&bytes).into())
    }

    /// The answer, if it was handed over whole.
    pub fn answer(&self) -> Option<Answer> {
        let length = self.file.metadata().ok()?.len().checked_sub(ANSWER_AT)?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, ANSWER_AT).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    fn word(&self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at).map_or(0, |()| u64::from_ne_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::told::{Note, Told};
    use ringlane_trace::{Manifest, UtcTime};

    #[test]
    fn a_new_slip_says_nothing() {
        let slip = Slip::create().unwrap();
        assert_eq!((slip.submitted(), slip.is_in_task(), slip.dir()), (0, false, None));
        assert!(slip.answer().is_none());
    }

    #[test]
    fn what_is_written_is_read() {
        let slip = Slip::create().unwrap();
        slip.update(7, 2);
        slip.begun(Path::new("outputs/x"));
        assert_eq!((slip.submitted(), slip.is_in_task()), (7, true));
        assert_eq!(slip.dir().unwrap(), Path::new("outputs/x"));
        let manifest = Manifest::new("vector", "small", "cpu", UtcTime::from_unix_seconds(0));
        // Digits enough that a reader that rounds would give another number.
        let walls_us = vec![0.1 + 0.2, 1e-300, 123_456_789.123_456_79];
        let told = Told {
            manifest,
            dir: "outputs/x".into(),
            walls_us: walls_us.clone(),
            peak_rss_bytes: 1,
            recorded: None,
            modelled: None,
        };
        let notes = vec![Note::SayOnce("once".into())];
        slip.hand_over(&Answer { told: Some(told), notes: notes.clone(), refusal: None }).unwrap();
        let answer = slip.answer().unwrap();
        assert_eq!((answer.told.unwrap().walls_us, answer.notes), (walls_us, notes));
    }

    #[test]
    fn half_an_answer_is_none() {
        let slip = Slip::create().unwrap();
        slip.hand_over(&Answer::default()).unwrap();
        assert!(slip.answer().is_some());
        ftruncate(&slip.file, slip.file.metadata().unwrap().len() - 1).unwrap();
        assert!(slip.answer().is_none());
    }

    #[test]
    fn a_place_is_a_case_and_a_descriptor() {
        assert_eq!(Place::parse("3:7").unwrap(), Place { case: 3, descriptor: 7 });
        for text in ["", "3", "3:", ":7", "-1:7", "3:x"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
