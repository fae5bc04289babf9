//! A call to another host: what to run, with which arguments, and where each buffer comes from and goes to.
//!
//! ```text
//! Head · CallBody · CallConfig · argument blob · BufferRecord × B · bytes of the buffers that arrive by value
//! ```
//! The tensors of the blob are views of the call's buffers, named by handle. The caller gives the handles out. Each
//! buffer arrives in one of three ways and leaves in one of four, so that data travels by value or stays where it was made:
//!
//! ```text
//! Fresh ─┐                         ┌─▶ Forgotten
//! Value ─┼─▶ the callable runs ────┼─▶ Returned          its bytes are in the answer
//! Kept  ─┘   over its buffers      ├─▶ Kept              a later call names it by its handle
//!                                  └─▶ ReturnedAndKept
//! ```

use ringlane_task::{
    BlobReader, BlobTensor, BufferHandle, CallConfig, MAX_BLOB_BYTES, MAX_TENSORS, Scalar, WireTensor,
    write_blob,
};

use super::bytes::{Reader, Writer};
use super::error::FrameError;
use super::layout::{BufferRecord, CallBody};
use super::limits::CALL_BUFFERS_BYTES;
use crate::callable::Digest;

/// How a buffer of a call gets to the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival<'f> {
    /// New memory of zeros.
    Fresh {
        /// How many.
        bytes: u64,
    },
    /// Its bytes are in the call.
    Value(&'f [u8]),
    /// The worker has it already, by this handle, and it has this size.
    Kept {
        /// Its size.
        bytes: u64,
    },
}

impl Arrival<'_> {
    /// The size of the buffer.
    pub const fn bytes(&self) -> u64 {
        match self {
            Arrival::Fresh { bytes } | Arrival::Kept { bytes } => *bytes,
            Arrival::Value(value) => value.len() as u64,
        }
    }

    const fn code(&self) -> u8 {
        match self {
            Arrival::Fresh { .. } => 0,
            Arrival::Value(_) => 1,
            Arrival::Kept { .. } => 2,
        }
    }
}

/// What becomes of a buffer after the call. After a call that failed, buffers that had arrived as [`Arrival::Kept`] stay
/// as they are, and the others are forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Leaving {
    /// Nobody needs it.
    Forgotten = 0,
    /// Its bytes come back with the answer.
    Returned = 1,
    /// The worker keeps it under its handle.
    Kept = 2,
    /// Both.
    ReturnedAndKept = 3,
}

impl Leaving {
    /// All of them, by their codes.
    pub const ALL: [Leaving; 4] =
        [Leaving::Forgotten, Leaving::Returned, Leaving::Kept, Leaving::ReturnedAndKept];

    /// Whether the bytes come back.
    pub const fn returns(self) -> bool {
        matches!(self, Leaving::Returned | Leaving::ReturnedAndKept)
    }

    /// Whether the worker keeps it.
    pub const fn keeps(self) -> bool {
        matches!(self, Leaving::Kept | Leaving::ReturnedAndKept)
    }
}

/// A buffer of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallBuffer<'f> {
    /// Its name; tensors of the call refer to it, and later calls if it is kept.
    pub handle: BufferHandle,
    /// How it gets there.
    pub arrives: Arrival<'f>,
    /// What becomes of it.
    pub leaves: Leaving,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'f> {
    /// Its number, which the answer repeats.
    pub sequence: u64,
    /// Which callable.
    pub digest: Digest,
    /// What is asked of its run; valid.
    pub config: CallConfig,
    /// Which member of how many it is: 0 of 1, unless a group is called.
    pub member: (u32, u32),
    /// Its tensors: views of the buffers, within their bounds.
    pub tensors: Vec<BlobTensor>,
    /// Its scalars.
    pub scalars: Vec<Scalar>,
    /// Its buffers; no two have the same handle.
    pub buffers: Vec<CallBuffer<'f>>,
}

impl<'f> Call<'f> {
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<(), FrameError> {
        self.config.validate().map_err(FrameError::Config)?;
        let (member, members) = check_member(self.member)?;
        check_buffers(&self.buffers)?;
        self.check_tensors()?;
        let mut blob = [0; MAX_BLOB_BYTES];
        let used = write_blob(&mut blob, &self.tensors, &self.scalars).map_err(FrameError::Arguments)?;
        writer.fixed(&CallBody {
            digest: self.digest.0,
            argument_bytes: used as u32,
            buffers: self.buffers.len() as u32,
            member,
            members,
        });
        writer.fixed(&self.config);
        writer.padded(&blob[..used]);
        for buffer in &self.buffers {
            writer.fixed(&BufferRecord {
                handle: buffer.handle.into(),
                bytes: buffer.arrives.bytes(),
                arrives: buffer.arrives.code(),
                leaves: buffer.leaves as u8,
                reserved: [0; 6],
            });
        }
        for buffer in &self.buffers {
            if let Arrival::Value(value) = buffer.arrives {
                writer.padded(value);
            }
        }
        Ok(())
    }

    pub(super) fn read(sequence: u64, reader: &mut Reader<'f>) -> Result<Self, FrameError> {
        let body: CallBody = reader.fixed("call")?;
        if body.argument_bytes as usize > MAX_BLOB_BYTES {
            return Err(FrameError::corrupt("argument_bytes", body.argument_bytes));
        }
        if body.buffers as usize > MAX_TENSORS {
            return Err(FrameError::corrupt("buffers", body.buffers));
        }
        let member = check_member((body.member, body.members))?;
        let config: CallConfig = reader.fixed("config")?;
        config.validate().map_err(FrameError::Config)?;
        let blob = reader.padded("arguments", body.argument_bytes.into())?;
        let arguments = BlobReader::open(blob).map_err(FrameError::Arguments)?;
        if arguments.len_bytes() != blob.len() {
            return Err(FrameError::corrupt("argument_bytes", body.argument_bytes));
        }
        let buffers = read_buffers(body.buffers, reader)?;
        check_buffers(&buffers)?;
        let tensors = arguments.tensors().enumerate().map(|(index, tensor)| resolve(tensor, index, &buffers));
        let tensors = tensors.collect::<Result<_, _>>()?;
        let scalars = arguments.scalars().collect();
        let digest = Digest(body.digest);
        Ok(Call { sequence, digest, config, member, tensors, scalars, buffers })
    }

    /// What a reader would refuse is not sent.
    fn check_tensors(&self) -> Result<(), FrameError> {
        let tensors = self.tensors.iter().map(WireTensor::new).enumerate();
        tensors
            .map(|(index, tensor)| resolve(tensor, index, &self.buffers))
            .try_for_each(|tensor| tensor.map(drop))
    }
}

fn check_member((member, members): (u32, u32)) -> Result<(u32, u32), FrameError> {
    if member < members { Ok((member, members)) } else { Err(FrameError::corrupt("member", member)) }
}

/// What both sides hold the buffers of a call to.
fn check_buffers(buffers: &[CallBuffer<'_>]) -> Result<(), FrameError> {
    if buffers.len() > MAX_TENSORS {
        let (value, most) = (buffers.len() as u64, MAX_TENSORS as u64);
        return Err(FrameError::FrameTooLarge { field: "buffers of a call", value, most });
    }
    let all = buffers.iter().map(|buffer| buffer.arrives.bytes());
    let value = all.fold(0u64, u64::saturating_add);
    if value > CALL_BUFFERS_BYTES {
        let most = CALL_BUFFERS_BYTES;
        return Err(FrameError::FrameTooLarge { field: "bytes of a call's buffers", value, most });
    }
    for (index, buffer) in buffers.iter().enumerate() {
        if buffers[..index].iter().any(|earlier| earlier.handle == buffer.handle) {
            return Err(FrameError::corrupt("handle of two buffers", buffer.handle.id));
        }
    }
    Ok(())
}

/// A tensor, within the bounds of its buffer.
fn resolve(tensor: WireTensor, index: usize, buffers: &[CallBuffer<'_>]) -> Result<BlobTensor, FrameError> {
    let handle = tensor.buffer();
    let buffer = buffers.iter().find(|buffer| buffer.handle == handle);
    let buffer = buffer.ok_or(FrameError::corrupt("buffer of a tensor", handle.id))?;
    tensor.resolve(index, buffer.arrives.bytes()).map_err(FrameError::Arguments)
}

fn read_buffers<'f>(count: u32, reader: &mut Reader<'f>) -> Result<Vec<CallBuffer<'f>>, FrameError> {
    let records = (0..count).map(|_| reader.fixed::<BufferRecord>("buffer record"));
    let records: Vec<_> = records.collect::<Result<_, _>>()?;
    let buffers = records.into_iter().map(|record| {
        if record.reserved != [0; 6] {
            return Err(FrameError::corrupt("reserved bytes of a buffer", record.reserved[0]));
        }
        let arrives = match record.arrives {
            0 => Arrival::Fresh { bytes: record.bytes },
            1 => Arrival::Value(reader.padded("value of a buffer", record.bytes)?),
            2 => Arrival::Kept { bytes: record.bytes },
            code => return Err(FrameError::corrupt("arrival of a buffer", code)),
        };
        let leaves = Leaving::ALL.get(usize::from(record.leaves)).copied();
        let leaves = leaves.ok_or(FrameError::corrupt("leaving of a buffer", record.leaves))?;
        Ok(CallBuffer { handle: record.handle.into(), arrives, leaves })
    });
    buffers.collect()
}
