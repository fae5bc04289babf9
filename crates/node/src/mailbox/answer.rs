//! The answer in a mailbox: nothing if all went well, or three texts of bounded length.

use core::sync::atomic::{AtomicU32, Ordering};

use zerocopy::IntoBytes;

use super::layout::{TIMES, Words};
use super::region::Region;
use crate::call_error::CallError;
use crate::error::NodeError;
use crate::limits::{ERROR_DETAIL_BYTES, ERROR_HINT_BYTES, ERROR_NAME_BYTES};

/// How a call went, as its child reports it: nanoseconds of the child's monotonic clock, 0 where it did not come so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// When it was read and found right.
    pub accepted_ns: u64,
    /// When the callable began.
    pub run_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// The run on a chip, if the callable made one.
    pub chip: Option<ChipTimes>,
}

/// A run on a chip, or on a node below, that a call made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChipTimes {
    /// When it began, in nanoseconds of the child's monotonic clock.
    pub start_ns: u64,
    /// How long it took, in the chip's ticks.
    pub ticks: u64,
    /// Ticks of the chip in a second.
    pub freq_hz: u64,
    /// Whether it left a directory.
    pub recorded: HasRunDir,
}

/// Whether a run left a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HasRunDir {
    /// It did not.
    #[default]
    No,
    /// It did.
    Yes,
}

impl Region {
    /// Writes how the call went.
    pub fn write_times(&self, times: &CallTimes) {
        let chip = times.chip.unwrap_or_default();
        let recorded = u64::from(chip.recorded == HasRunDir::Yes);
        let all = [
            times.accepted_ns,
            times.run_ns,
            times.end_ns,
            chip.start_ns,
            chip.ticks,
            chip.freq_hz,
            recorded,
        ];
        for (word, value) in self.layout().times.0.words.iter().zip(all) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Reads how the call went. Any value there is a time; its user checks whether it is plausible.
    pub fn read_times(&self) -> CallTimes {
        let mut all = [0; TIMES];
        for (value, word) in all.iter_mut().zip(&self.layout().times.0.words) {
            *value = word.load(Ordering::Relaxed);
        }
        let [accepted_ns, run_ns, end_ns, start_ns, ticks, freq_hz, recorded] = all;
        let recorded = if recorded == 1 { HasRunDir::Yes } else { HasRunDir::No };
        let chip = (freq_hz != 0).then_some(ChipTimes { start_ns, ticks, freq_hz, recorded });
        CallTimes { accepted_ns, run_ns, end_ns, chip }
    }

    /// Writes why the call of this number failed. Texts that are too long are cut.
    pub fn write_error(&self, sequence: u64, error: &CallError) {
        let block = &self.layout().error;
        let [name, detail, hint, reserved] = &block.lengths;
        write(&block.name, name, &error.name);
        write(&block.detail, detail, &error.detail);
        write(&block.hint, hint, &error.hint);
        reserved.store(0, Ordering::Relaxed);
        self.layout().set_answered(sequence);
    }

    /// Reads why the call of this number failed.
    pub fn read_error(&self, sequence: u64) -> Result<CallError, NodeError> {
        self.layout().check_header()?;
        self.layout().check_answered(sequence)?;
        let block = &self.layout().error;
        let [name, detail, hint, reserved] = &block.lengths;
        let reserved = reserved.load(Ordering::Relaxed);
        if reserved != 0 {
            return Err(NodeError::corrupt("error.reserved", reserved));
        }
        Ok(CallError {
            name: read::<{ ERROR_NAME_BYTES / 8 }>(&block.name, name, "error.name")?,
            detail: read::<{ ERROR_DETAIL_BYTES / 8 }>(&block.detail, detail, "error.detail")?,
            hint: read::<{ ERROR_HINT_BYTES / 8 }>(&block.hint, hint, "error.hint")?,
        })
    }
}

fn write<const N: usize>(words: &Words<N>, length: &AtomicU32, text: &str) {
    let text = &text[..text.floor_char_boundary(N * 8)];
    words.store(text.as_bytes());
    length.store(text.len() as u32, Ordering::Relaxed);
}

/// A text, if its length fits and it is UTF-8; otherwise the length, or where the text is no UTF-8.
fn read<const N: usize>(
    words: &Words<N>,
    length: &AtomicU32,
    field: &'static str,
) -> Result<String, NodeError> {
    let length = length.load(Ordering::Relaxed);
    let mut copy = [0u64; N];
    words.load(&mut copy);
    let bytes = copy.as_bytes().get(..length as usize).ok_or(NodeError::corrupt(field, length))?;
    let text =
        str::from_utf8(bytes).map_err(|error| NodeError::corrupt(field, error.valid_up_to() as u64))?;
    Ok(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_arrives_as_it_was_written() {
        let region = Region::create().unwrap();
        let error = CallError::new("Odd", "a \u{1F980} walks sideways", "");
        region.write_error(7, &error);
        assert_eq!(region.read_error(7), Ok(error));
        assert_eq!(region.read_error(8), Err(NodeError::CorruptMailbox { field: "answered", value: 7 }));
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_at_a_character() {
        let region = Region::create().unwrap();
        region.write_error(1, &CallError::new("é".repeat(100), "x".repeat(3000), "é".repeat(300)));
        let error = region.read_error(1).unwrap();
        assert_eq!([error.name.len(), error.detail.len(), error.hint.len()], [64, 1024, 512]);
    }

    #[test]
    fn lengths_and_texts_that_cannot_be_are_corrupt() {
        let region = Region::create().unwrap();
        for (at, byte, field) in
            [(321, 1, "error.name"), (336 + 3, 0xff, "error.name"), (332, 1, "error.reserved")]
        {
            region.write_error(1, &CallError::new("Name", "detail", "hint"));
            rustix::io::pwrite(&region, &[byte], at).unwrap();
            let error = region.read_error(1).unwrap_err();
            assert!(
                matches!(error, NodeError::CorruptMailbox { field: named, .. } if named == field),
                "{at}"
            );
        }
    }
}
