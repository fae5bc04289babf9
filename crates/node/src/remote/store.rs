//! The buffers that a worker holds for its scheduler, by handle.

use std::collections::HashMap;

use ringlane_task::BufferHandle;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use crate::call_error::CallError;
use crate::frame::{AnswerBuffer, Arrival, Call, CallBuffer, Outcome};

/// Memory is taken in pieces of this size, so that a buffer begins where any element type can.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// The bytes of one buffer; they begin at a multiple of 64.
pub struct Buffer {
    lines: Vec<Line>,
    bytes: usize,
}

impl Buffer {
    /// Zeros, which cost memory only once they are touched. Fails where there is no room.
    fn zeros(bytes: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes).ok()?;
        let lines = Line::new_vec_zeroed(bytes.div_ceil(size_of::<Line>())).ok()?;
        Some(Buffer { lines, bytes })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.lines.as_bytes()[..self.bytes]
    }

    /// Its bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.lines.as_mut_bytes()[..self.bytes]
    }
}

/// The buffers of a worker.
#[derive(Default)]
pub struct Store {
    buffers: HashMap<BufferHandle, Buffer>,
}

impl Store {
    /// A buffer, if it is here.
    pub fn get(&self, handle: BufferHandle) -> Option<&Buffer> {
        self.buffers.get(&handle)
    }

    /// A buffer, to be written, if it is here.
    pub fn get_mut(&mut self, handle: BufferHandle) -> Option<&mut Buffer> {
        self.buffers.get_mut(&handle)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.buffers.len()
    }

    /// Gives a buffer up; one that is not here is no error.
    pub(super) fn forget(&mut self, handle: BufferHandle) {
        self.buffers.remove(&handle);
    }

    /// Makes all buffers of a call be here. After an error it is as if the call had not come.
    pub(super) fn place(&mut self, call: &Call<'_>) -> Result<(), CallError> {
        for (index, buffer) in call.buffers.iter().enumerate() {
            if let Err(error) = self.place_one(buffer) {
                self.take_back(&call.buffers[..index]);
                return Err(error);
            }
        }
        Ok(())
    }

    fn place_one(&mut self, buffer: &CallBuffer<'_>) -> Result<(), CallError> {
        let here = self.buffers.get(&buffer.handle).map(|here| here.bytes as u64);
        let bytes = buffer.arrives.bytes();
        match (buffer.arrives, here) {
            (Arrival::Kept { .. }, Some(size)) if size == bytes => Ok(()),
            (Arrival::Kept { .. }, Some(size)) => {
                Err(lost(buffer.handle, &format!("{size} bytes, not {bytes}")))
            }
            (Arrival::Kept { .. }, None) => Err(lost(buffer.handle, "not here")),
            (Arrival::Fresh { .. } | Arrival::Value(_), Some(_)) => Err(lost(buffer.handle, "here already")),
            (Arrival::Fresh { .. } | Arrival::Value(_), None) => {
                let mut memory = Buffer::zeros(bytes).ok_or_else(|| {
                    CallError::new(
                        "NoRemoteMemory",
                        format!("{bytes} bytes for a buffer"),
                        "send less in one call",
                    )
                })?;
                if let Arrival::Value(value) = buffer.arrives {
                    memory.bytes_mut().copy_from_slice(value);
                }
                self.buffers.insert(buffer.handle, memory);
                Ok(())
            }
        }
    }

    /// Undoes what placing these has done.
    pub(super) fn take_back(&mut self, buffers: &[CallBuffer<'_>]) {
        let placed = buffers.iter().filter(|buffer| !matches!(buffer.arrives, Arrival::Kept { .. }));
        placed.for_each(|buffer| self.forget(buffer.handle));
    }

    /// What an answer says of the buffers of a call that went well.
    pub(super) fn outcomes(&self, buffers: &[CallBuffer<'_>]) -> Vec<AnswerBuffer<'_>> {
        let outcome = |buffer: &CallBuffer<'_>| {
            let bytes = self.get(buffer.handle)?.bytes();
            let outcome = match (buffer.leaves.returns(), buffer.leaves.keeps()) {
                (true, true) => Outcome::ValueAndKept(bytes),
                (true, false) => Outcome::Value(bytes),
                (false, true) => Outcome::Kept { bytes: bytes.len() as u64 },
                (false, false) => return None,
            };
            Some(AnswerBuffer { handle: buffer.handle, outcome })
        };
        buffers.iter().filter_map(outcome).collect()
    }
}

/// A handle that does not name what its sender thinks.
pub(super) fn lost(handle: BufferHandle, why: &str) -> CallError {
    let BufferHandle { id, generation } = handle;
    let detail = format!("buffer {id} of generation {generation} is {why}");
    CallError::new("UnknownHandle", detail, "create a buffer once, and use it until it is forgotten")
}
