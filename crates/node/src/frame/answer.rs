//! The answer of another host: when the call ran, what came of it, and the buffers that come back or stay.
//!
//! ```text
//! Head · AnswerBody · name · detail · hint · BufferRecord × B · bytes of the buffers that come back by value
//! ```

use ringlane_task::{BufferHandle, MAX_TENSORS};

use super::bytes::{Reader, Writer, cut};
use super::error::FrameError;
use super::layout::{AnswerBody, BufferRecord, Texts};
use super::limits::CALL_BUFFERS_BYTES;
use crate::call_error::CallError;
use crate::limits::{ERROR_DETAIL_BYTES, ERROR_HINT_BYTES, ERROR_NAME_BYTES};
use crate::mailbox::{CallTimes, ChipTimes, HasRunDir};

/// A moment on the clock of the host that wrote it: nanoseconds since some start of its own. Moments of two hosts are
/// comparable only after the offset between their clocks was measured, with pings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostTime(pub u64);

impl HostTime {
    /// Now, on this host's monotonic clock.
    pub fn now() -> Self {
        HostTime(crate::clock::now_ns())
    }
}

/// How a buffer of an answer comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'f> {
    /// Its bytes; the worker has forgotten it.
    Value(&'f [u8]),
    /// It stayed there, with this many bytes.
    Kept {
        /// Its size.
        bytes: u64,
    },
    /// Its bytes, and it stayed there as well.
    ValueAndKept(&'f [u8]),
}

impl<'f> Outcome<'f> {
    /// The size of the buffer.
    pub const fn bytes(&self) -> u64 {
        match self {
            Outcome::Kept { bytes } => *bytes,
            Outcome::Value(value) | Outcome::ValueAndKept(value) => value.len() as u64,
        }
    }

    /// The bytes, if they came back.
    pub const fn value(&self) -> Option<&'f [u8]> {
        match self {
            Outcome::Kept { .. } => None,
            Outcome::Value(value) | Outcome::ValueAndKept(value) => Some(value),
        }
    }

    /// As a call's leaving is coded.
    const fn code(&self) -> u8 {
        match self {
            Outcome::Value(_) => 1,
            Outcome::Kept { .. } => 2,
            Outcome::ValueAndKept(_) => 3,
        }
    }
}

/// A buffer of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBuffer<'f> {
    /// Its name, as the call gave it.
    pub handle: BufferHandle,
    /// How it comes back.
    pub outcome: Outcome<'f>,
}

/// The answer to a call or to a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'f> {
    /// The number of the call.
    pub sequence: u64,
    /// When it was where, on the worker's clock.
    pub times: CallTimes,
    /// The buffers that are returned or kept, or why the call failed.
    pub result: Result<Vec<AnswerBuffer<'f>>, CallError>,
}

impl<'f> Answer<'f> {
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<(), FrameError> {
        let (status, buffers, error) = match &self.result {
            Ok(buffers) => (0, buffers.as_slice(), None),
            Err(error) => (1, &[][..], Some(error)),
        };
        check(buffers)?;
        check_times(&self.times)?;
        let chip = self.times.chip.unwrap_or_default();
        writer.fixed(&AnswerBody {
            accepted_ns: self.times.accepted_ns,
            run_ns: self.times.run_ns,
            end_ns: self.times.end_ns,
            chip_start_ns: chip.start_ns,
            chip_ticks: chip.ticks,
            chip_freq_hz: chip.freq_hz,
            recorded: u64::from(chip.recorded == HasRunDir::Yes),
            status,
            buffers: buffers.len() as u32,
            texts: lengths(error),
        });
        write_error(error, writer);
        for buffer in buffers {
            writer.fixed(&BufferRecord {
                handle: buffer.handle.into(),
                bytes: buffer.outcome.bytes(),
                arrives: 0,
                leaves: buffer.outcome.code(),
                reserved: [0; 6],
            });
        }
        buffers.iter().filter_map(|buffer| buffer.outcome.value()).for_each(|value| writer.padded(value));
        Ok(())
    }

    pub(super) fn read(sequence: u64, reader: &mut Reader<'f>) -> Result<Self, FrameError> {
        let body: AnswerBody = reader.fixed("answer")?;
        let times = read_times(&body)?;
        let error = read_error(body.status, body.texts, reader)?;
        let most = if error.is_some() { 0 } else { MAX_TENSORS };
        if body.buffers as usize > most {
            return Err(FrameError::corrupt("buffers", body.buffers));
        }
        let buffers = read_buffers(body.buffers, reader)?;
        check(&buffers)?;
        Ok(Answer { sequence, times, result: error.map_or(Ok(buffers), Err) })
    }
}

/// A chip without a frequency cannot have run.
fn check_times(times: &CallTimes) -> Result<(), FrameError> {
    match times.chip {
        Some(ChipTimes { freq_hz: 0, .. }) => Err(FrameError::corrupt("chip_freq_hz", 0u64)),
        _ => Ok(()),
    }
}

fn read_times(body: &AnswerBody) -> Result<CallTimes, FrameError> {
    let recorded = match body.recorded {
        0 => HasRunDir::No,
        1 => HasRunDir::Yes,
        other => return Err(FrameError::corrupt("recorded", other)),
    };
    let (start_ns, ticks, freq_hz) = (body.chip_start_ns, body.chip_ticks, body.chip_freq_hz);
    let chip = ChipTimes { start_ns, ticks, freq_hz, recorded };
    if freq_hz == 0 && chip != ChipTimes::default() {
        return Err(FrameError::corrupt("chip_freq_hz", freq_hz));
    }
    let chip = (freq_hz != 0).then_some(chip);
    Ok(CallTimes { accepted_ns: body.accepted_ns, run_ns: body.run_ns, end_ns: body.end_ns, chip })
}

fn check(buffers: &[AnswerBuffer<'_>]) -> Result<(), FrameError> {
    if buffers.len() > MAX_TENSORS {
        let (value, most) = (buffers.len() as u64, MAX_TENSORS as u64);
        return Err(FrameError::FrameTooLarge { field: "buffers of an answer", value, most });
    }
    let all = buffers.iter().map(|buffer| buffer.outcome.bytes());
    let value = all.fold(0u64, u64::saturating_add);
    if value > CALL_BUFFERS_BYTES {
        let most = CALL_BUFFERS_BYTES;
        return Err(FrameError::FrameTooLarge { field: "bytes of an answer's buffers", value, most });
    }
    for (index, buffer) in buffers.iter().enumerate() {
        if buffers[..index].iter().any(|earlier| earlier.handle == buffer.handle) {
            return Err(FrameError::corrupt("handle of two buffers", buffer.handle.id));
        }
    }
    Ok(())
}

fn read_buffers<'f>(count: u32, reader: &mut Reader<'f>) -> Result<Vec<AnswerBuffer<'f>>, FrameError> {
    let records = (0..count).map(|_| reader.fixed::<BufferRecord>("buffer record"));
    let records: Vec<_> = records.collect::<Result<_, _>>()?;
    let buffers = records.into_iter().map(|record| {
        if record.reserved != [0; 6] {
            return Err(FrameError::corrupt("reserved bytes of a buffer", record.reserved[0]));
        }
        if record.arrives != 0 {
            return Err(FrameError::corrupt("arrival of an answer's buffer", record.arrives));
        }
        let outcome = match record.leaves {
            1 => Outcome::Value(reader.padded("value of a buffer", record.bytes)?),
            2 => Outcome::Kept { bytes: record.bytes },
            3 => Outcome::ValueAndKept(reader.padded("value of a buffer", record.bytes)?),
            code => return Err(FrameError::corrupt("outcome of a buffer", code)),
        };
        Ok(AnswerBuffer { handle: record.handle.into(), outcome })
    });
    buffers.collect()
}

/// The lengths of an error's texts as they travel: cut where they are too long, zero where there is no error.
pub(super) fn lengths(error: Option<&CallError>) -> Texts {
    let Some([name, detail, hint]) = error.map(texts) else { return Texts::default() };
    Texts {
        name_bytes: name.len() as u32,
        detail_bytes: detail.len() as u32,
        hint_bytes: hint.len() as u32,
        reserved: 0,
    }
}

pub(super) fn write_error(error: Option<&CallError>, writer: &mut Writer<'_>) {
    error.map(texts).into_iter().flatten().for_each(|text| writer.padded(text.as_bytes()));
}

/// An error, if the status says that there is one.
pub(super) fn read_error(
    status: u32,
    lengths: Texts,
    reader: &mut Reader<'_>,
) -> Result<Option<CallError>, FrameError> {
    if lengths.reserved != 0 {
        return Err(FrameError::corrupt("error.reserved", lengths.reserved));
    }
    match status {
        0 if lengths == Texts::default() => Ok(None),
        0 => Err(FrameError::corrupt("error of a success", lengths.name_bytes)),
        1 => Ok(Some(CallError {
            name: reader.text("error.name", lengths.name_bytes, ERROR_NAME_BYTES)?.to_string(),
            detail: reader.text("error.detail", lengths.detail_bytes, ERROR_DETAIL_BYTES)?.to_string(),
            hint: reader.text("error.hint", lengths.hint_bytes, ERROR_HINT_BYTES)?.to_string(),
        })),
        _ => Err(FrameError::corrupt("status", status)),
    }
}

fn texts(error: &CallError) -> [&str; 3] {
    [
        cut(&error.name, ERROR_NAME_BYTES),
        cut(&error.detail, ERROR_DETAIL_BYTES),
        cut(&error.hint, ERROR_HINT_BYTES),
    ]
}
