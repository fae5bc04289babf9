//! How a worker on another host begins and ends: what it is, and why it leaves.

use super::answer::{HostTime, lengths, read_error, write_error};
use super::bytes::{Reader, Writer, cut};
use super::error::FrameError;
use super::layout::{GoodbyeBody, HelloBody};
use super::limits::{HOST_BYTES, MAX_LEVEL};
use crate::call_error::CallError;
use crate::callable::Digest;

/// What a rank is. Both sides say it first; a scheduler refuses a worker of another build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello<'f> {
    /// Identifies the build of the executable.
    pub build: Digest,
    /// The name of its host.
    pub host: &'f str,
    /// Its process.
    pub process: u32,
    /// Its level: 3 has chips below it.
    pub level: u32,
    /// How many chips it offers.
    pub chips: u32,
    /// How many workers for plain functions it offers.
    pub functions: u32,
    /// What its clock shows as it says this.
    pub clock: HostTime,
}

impl<'f> Hello<'f> {
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<(), FrameError> {
        let host = cut(self.host, HOST_BYTES);
        if self.level > MAX_LEVEL {
            let (value, most) = (self.level.into(), MAX_LEVEL.into());
            return Err(FrameError::FrameTooLarge { field: "level", value, most });
        }
        writer.fixed(&HelloBody {
            build: self.build.0,
            clock_ns: self.clock.0,
            level: self.level,
            chips: self.chips,
            functions: self.functions,
            process: self.process,
            host_bytes: host.len() as u32,
            reserved: 0,
        });
        writer.padded(host.as_bytes());
        Ok(())
    }

    pub(super) fn read(reader: &mut Reader<'f>) -> Result<Self, FrameError> {
        let body: HelloBody = reader.fixed("hello")?;
        if body.reserved != 0 {
            return Err(FrameError::corrupt("hello.reserved", body.reserved));
        }
        if body.level > MAX_LEVEL {
            return Err(FrameError::corrupt("level", body.level));
        }
        Ok(Hello {
            build: Digest(body.build),
            host: reader.text("host", body.host_bytes, HOST_BYTES)?,
            process: body.process,
            level: body.level,
            chips: body.chips,
            functions: body.functions,
            clock: HostTime(body.clock_ns),
        })
    }
}

/// A worker's last frame: after a shutdown, or because it cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goodbye {
    /// How many calls it has answered.
    pub calls: u64,
    /// Why it cannot go on, if that is why it leaves.
    pub error: Option<CallError>,
}

impl Goodbye {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let error = self.error.as_ref();
        let status = u32::from(error.is_some());
        writer.fixed(&GoodbyeBody { calls: self.calls, status, reserved: 0, texts: lengths(error) });
        write_error(error, writer);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, FrameError> {
        let body: GoodbyeBody = reader.fixed("goodbye")?;
        if body.reserved != 0 {
            return Err(FrameError::corrupt("goodbye.reserved", body.reserved));
        }
        Ok(Goodbye { calls: body.calls, error: read_error(body.status, body.texts, reader)? })
    }
}
