//! Frames: what a scheduler and a worker on another host say to each other, as bytes.
//!
//! ```text
//! scheduler                                   worker
//!   ◀───────────────────────────── Hello ──     what it is: build, host, level, chips, clock
//!   ── Ping ──▶ ◀── Pong ────────────────       the offset of its clock
//!   ── SetUp ───▶ ◀── Answer ────────────       what its runs are asked for
//!   ── Call ─────────────────────────────▶      runs a callable over buffers that arrive by value or are there already
//!   ◀──────────────────────────── Answer ──     when, and the buffers that come back or stay
//!   ── Fetch ───▶ ◀── Answer ────────────       a buffer that stayed, by value
//!   ── Forget ───────────────────────────▶      buffers that nobody needs any more
//!   ── Shutdown ─────────────────────────▶
//!   ◀─────────────────────────── Goodbye ──
//! ```
//! A frame is `magic, version, kind, bytes, sequence` and a body. Numbers are little-endian, every part is filled up with
//! zeros to a multiple of eight, every length is explicit. The sender is not trusted: a count is checked against its
//! limit before memory is taken for it, a length against the frame, a view against its buffer. What is accepted encodes
//! to the same bytes again. Nothing here does input or output.
//!
//! ```
//! use ringlane_node::frame::{Frame, HostTime};
//! let mut bytes = Vec::new();
//! Frame::Ping { sequence: 7, sent: HostTime(99) }.encode(&mut bytes).unwrap();
//! assert_eq!(Frame::decode(&bytes), Ok(Frame::Ping { sequence: 7, sent: HostTime(99) }));
//! assert!(Frame::decode(&bytes[..40]).is_err());
//! ```

mod answer;
mod bytes;
mod call;
mod error;
mod greeting;
mod layout;
pub mod limits;
#[cfg(test)]
mod tests;

use ringlane_task::BufferHandle;
use zerocopy::{FromBytes, IntoBytes};

pub use answer::{Answer, AnswerBuffer, HostTime, Outcome};
pub use call::{Arrival, Call, CallBuffer, Leaving};
pub use error::FrameError;
pub use greeting::{Goodbye, Hello};
pub use layout::{MAGIC, VERSION};

use bytes::{Reader, Writer};
use layout::{ForgetBody, Head, Moments, SetUpBody, WireHandle};
use limits::{FORGET_HANDLES, MAX_FRAME_BYTES, MIN_FRAME_BYTES};

use crate::limits::RUN_REQUEST_BYTES;

const _: () = assert!(size_of::<Head>() as u64 == MIN_FRAME_BYTES);

/// One message between a scheduler and a worker on another host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one at a time is on the stack, and most are calls")]
pub enum Frame<'f> {
    /// A worker introduces itself.
    Hello(Hello<'f>),
    /// Run something.
    Call(Call<'f>),
    /// Make ready for runs that are asked for this.
    SetUp {
        /// Its number, which the answer repeats.
        sequence: u64,
        /// What they are asked for, in an encoding that is not decoded here.
        run_request: &'f [u8],
    },
    /// What came of a set-up, of a call or of a fetch.
    Answer(Answer<'f>),
    /// Give the bytes of a buffer that was kept.
    Fetch {
        /// Its number, which the answer repeats.
        sequence: u64,
        /// The buffer; it stays.
        handle: BufferHandle,
    },
    /// These buffers are not needed any more.
    Forget(Vec<BufferHandle>),
    /// What does your clock show?
    Ping {
        /// Its number, which the echo repeats.
        sequence: u64,
        /// When it was sent, on the sender's clock.
        sent: HostTime,
    },
    /// The echo of a ping.
    Pong {
        /// The number of the ping.
        sequence: u64,
        /// When the ping was sent, on the pinger's clock.
        sent: HostTime,
        /// When it was echoed, on the echo's clock.
        echoed: HostTime,
    },
    /// It is enough.
    Shutdown,
    /// A worker's captured output.
    Goodbye(Goodbye),
}

impl<'f> Frame<'f> {
    /// The name of its kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Frame::Hello(_) => "hello",
            Frame::Call(_) => "call",
            Frame::Answer(_) => "answer",
            Frame::Fetch { .. } => "fetch",
            Frame::Forget(_) => "forget",
            Frame::Ping { .. } => "ping",
            Frame::Pong { .. } => "pong",
            Frame::Shutdown => "shutdown",
            Frame::Goodbye(_) => "goodbye",
            Frame::SetUp { .. } => "set-up",
        }
    }

    const fn code(&self) -> u32 {
        match self {
            Frame::Hello(_) => 1,
            Frame::Call(_) => 2,
            Frame::Answer(_) => 3,
            Frame::Fetch { .. } => 4,
            Frame::Forget(_) => 5,
            Frame::Ping { .. } => 6,
            Frame::Pong { .. } => 7,
            Frame::Shutdown => 8,
            Frame::Goodbye(_) => 9,
            Frame::SetUp { .. } => 10,
        }
    }

    pub(crate) const fn sequence(&self) -> u64 {
        match self {
            Frame::Call(call) => call.sequence,
            Frame::Answer(answer) => answer.sequence,
            Frame::SetUp { sequence, .. }
            | Frame::Fetch { sequence, .. }
            | Frame::Ping { sequence, .. }
            | Frame::Pong { sequence, .. } => *sequence,
            Frame::Hello(_) | Frame::Forget(_) | Frame::Shutdown | Frame::Goodbye(_) => 0,
        }
    }

    /// Bytes that travel by value: they decide how large a frame is.
    fn value_bytes(&self) -> u64 {
        let add = u64::saturating_add;
        match self {
            Frame::Call(call) => call.buffers.iter().fold(0, |sum, buffer| match buffer.arrives {
                Arrival::Value(value) => add(sum, value.len() as u64),
                Arrival::Fresh { .. } | Arrival::Kept { .. } => sum,
            }),
            Frame::Answer(Answer { result: Ok(buffers), .. }) => {
                let values = buffers.iter().filter_map(|buffer| buffer.outcome.value());
                values.fold(0, |sum, value| add(sum, value.len() as u64))
            }
            _ => 0,
        }
    }

    /// Writes the frame into `out`, whose content it replaces. After an error there is nothing in it.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        out.clear();
        let result = self.write(out);
        if result.is_err() {
            out.clear();
        }
        result
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        // Before the values are copied; what is beside them is small.
        check_size(self.value_bytes())?;
        let (kind, sequence) = (self.code(), self.sequence());
        let mut writer = Writer::new(out);
        writer.fixed(&Head { magic: MAGIC, version: VERSION, kind, bytes: 0, sequence });
        self.write_body(&mut writer)?;
        let bytes = out.len() as u64;
        check_size(bytes)?;
        let head = Head { magic: MAGIC, version: VERSION, kind, bytes, sequence };
        out[..size_of::<Head>()].copy_from_slice(head.as_bytes());
        Ok(())
    }

    fn write_body(&self, writer: &mut Writer<'_>) -> Result<(), FrameError> {
        match self {
            Frame::Hello(hello) => hello.write(writer)?,
            Frame::Call(call) => call.write(writer)?,
            Frame::Answer(answer) => answer.write(writer)?,
            Frame::SetUp { run_request, .. } => write_set_up(run_request, writer)?,
            Frame::Fetch { handle, .. } => writer.fixed(&WireHandle::from(*handle)),
            Frame::Forget(handles) => write_forget(handles, writer)?,
            Frame::Ping { sent, .. } => writer.fixed(&Moments { sent_ns: sent.0, echoed_ns: 0 }),
            Frame::Pong { sent, echoed, .. } => {
                writer.fixed(&Moments { sent_ns: sent.0, echoed_ns: echoed.0 });
            }
            Frame::Shutdown => {}
            Frame::Goodbye(goodbye) => goodbye.write(writer),
        }
        Ok(())
    }

    /// Reads a frame, which is all of `bytes`, and checks everything in it. They need no alignment.
    pub fn decode(bytes: &'f [u8]) -> Result<Self, FrameError> {
        let head = read_head(bytes)?;
        let mut reader = Reader::new(&bytes[size_of::<Head>()..]);
        let frame = Self::read_body(head.kind, head.sequence, &mut reader)?;
        reader.end()?;
        if frame.sequence() != head.sequence {
            return Err(FrameError::corrupt("sequence", head.sequence));
        }
        Ok(frame)
    }

    fn read_body(kind: u32, sequence: u64, reader: &mut Reader<'f>) -> Result<Self, FrameError> {
        Ok(match kind {
            1 => Frame::Hello(Hello::read(reader)?),
            2 => Frame::Call(Call::read(sequence, reader)?),
            3 => Frame::Answer(Answer::read(sequence, reader)?),
            4 => Frame::Fetch { sequence, handle: reader.fixed::<WireHandle>("handle")?.into() },
            5 => Frame::Forget(read_forget(reader)?),
            6 => {
                let moments: Moments = reader.fixed("ping")?;
                if moments.echoed_ns != 0 {
                    return Err(FrameError::corrupt("echo of a ping", moments.echoed_ns));
                }
                Frame::Ping { sequence, sent: HostTime(moments.sent_ns) }
            }
            7 => {
                let moments: Moments = reader.fixed("pong")?;
                let (sent, echoed) = (HostTime(moments.sent_ns), HostTime(moments.echoed_ns));
                Frame::Pong { sequence, sent, echoed }
            }
            8 => Frame::Shutdown,
            9 => Frame::Goodbye(Goodbye::read(reader)?),
            10 => Frame::SetUp { sequence, run_request: read_set_up(reader)? },
            _ => return Err(FrameError::corrupt("kind", kind)),
        })
    }
}

/// Refuses a frame of a size that no frame has; a receiver asks this before it takes memory for one.
pub fn check_size(bytes: u64) -> Result<(), FrameError> {
    if bytes > MAX_FRAME_BYTES {
        let most = MAX_FRAME_BYTES;
        return Err(FrameError::FrameTooLarge { field: "bytes of a frame", value: bytes, most });
    }
    Ok(())
}

fn read_head(bytes: &[u8]) -> Result<Head, FrameError> {
    let have_bytes = bytes.len() as u64;
    check_size(have_bytes)?;
    let (head, _) = Head::read_from_prefix(bytes).map_err(|_| FrameError::FrameTruncated {
        field: "head",
        need_bytes: MIN_FRAME_BYTES,
        have_bytes,
    })?;
    if head.magic != MAGIC {
        return Err(FrameError::corrupt("magic", u64::from_le_bytes(head.magic)));
    }
    if head.version != VERSION {
        return Err(FrameError::UnknownFrameVersion { version: head.version });
    }
    if head.bytes > have_bytes {
        return Err(FrameError::FrameTruncated { field: "frame", need_bytes: head.bytes, have_bytes });
    }
    if head.bytes < have_bytes {
        return Err(FrameError::corrupt("bytes", head.bytes));
    }
    Ok(head)
}

fn write_set_up(run_request: &[u8], writer: &mut Writer<'_>) -> Result<(), FrameError> {
    let (bytes, most) = (run_request.len() as u64, RUN_REQUEST_BYTES as u64);
    if bytes > most {
        return Err(FrameError::FrameTooLarge { field: "bytes of a run request", value: bytes, most });
    }
    writer.fixed(&SetUpBody { bytes });
    writer.padded(run_request);
    Ok(())
}

fn read_set_up<'f>(reader: &mut Reader<'f>) -> Result<&'f [u8], FrameError> {
    let SetUpBody { bytes } = reader.fixed("set-up")?;
    if bytes > RUN_REQUEST_BYTES as u64 {
        return Err(FrameError::corrupt("bytes of a run request", bytes));
    }
    reader.padded("run request", bytes)
}

fn write_forget(handles: &[BufferHandle], writer: &mut Writer<'_>) -> Result<(), FrameError> {
    if handles.len() > FORGET_HANDLES {
        let (value, most) = (handles.len() as u64, FORGET_HANDLES as u64);
        return Err(FrameError::FrameTooLarge { field: "handles to forget", value, most });
    }
    writer.fixed(&ForgetBody { count: handles.len() as u32, reserved: 0 });
    handles.iter().for_each(|&handle| writer.fixed(&WireHandle::from(handle)));
    Ok(())
}

fn read_forget(reader: &mut Reader<'_>) -> Result<Vec<BufferHandle>, FrameError> {
    let body: ForgetBody = reader.fixed("forget")?;
    if body.count as usize > FORGET_HANDLES {
        return Err(FrameError::corrupt("handles to forget", body.count));
    }
    if body.reserved != 0 {
        return Err(FrameError::corrupt("forget.reserved", body.reserved));
    }
    (0..body.count).map(|_| Ok(reader.fixed::<WireHandle>("handle")?.into())).collect()
}
