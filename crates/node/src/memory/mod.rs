//! Memory that a node shares with the processes below it: what its tensors live in.
//!
//! ```text
//! level 4   memory 0 ──────┬───────────────┐          a file without a name, as long as it may ever get, sealed;
//! level 3   memory 0, 1 ◀──┘   memory 0, 1 ◀          only pages that are touched exist
//! level 2   memory 0, 1, …
//! ```
//! A process has the memories of all nodes above it, in order, and its own if it is a node. A tensor is named by the number of
//! its memory and an offset, which are the same in every process that has it.

mod dense;
mod mapping;
mod pieces;

use std::sync::{Arc, Mutex, PoisonError};

use ringlane_engine::api::buffers::{BufferId, Buffers, Permission};
use ringlane_engine::memory::Space;
use ringlane_engine::prelude::{Element, Result};
use ringlane_engine::{Error, Fault};
use ringlane_task::{DType, TensorView};

pub(crate) use dense::{gather, scatter};
pub(crate) use mapping::Mapping;
use pieces::Pieces;

use crate::error::NodeError;
use crate::limits::MEMORIES_MAX;

/// The memory of one node.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) mapping: Mapping,
    pieces: Mutex<Pieces>,
}

/// A part of a memory; it goes back when it is dropped, and is zero when it is had again.
#[derive(Debug)]
pub(crate) struct Piece {
    memory: Arc<Memory>,
    offset: u64,
    bytes: u64,
}

impl Memory {
    /// Memory of at most this many bytes.
    pub(crate) fn create(bytes: u64) -> Result<Arc<Self>, NodeError> {
        let mapping = Mapping::create(bytes)?;
        let pieces = Mutex::new(Pieces::new(Mapping::HEAD_BYTES, mapping.bytes()));
        Ok(Arc::new(Memory { mapping, pieces }))
    }

    /// A part of it, all zero.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64) -> Result<Piece> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        match pieces.take(bytes) {
            Some(offset) => Ok(Piece { memory: self.clone(), offset, bytes }),
            None => Err(Fault::OutOfMemory { what: "a tensor in the node's memory", bytes }.into()),
        }
    }
}

impl Piece {
    /// Where it is in this process.
    pub(crate) fn space(&self) -> Space {
        Space { base: self.memory.mapping.at(self.offset), bytes: self.bytes }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // The kernel takes the pages back, so that they are zero when they are touched again.
        self.memory.mapping.clear(self.offset, self.bytes);
        let mut pieces = self.memory.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.give_back(self.offset, self.bytes);
    }
}

/// The memories that a process has: those of the nodes above it, outermost first, and then its own.
#[derive(Clone, Debug, Default)]
pub struct Memories {
    above: Vec<Arc<Mapping>>,
    own: Option<Arc<Memory>>,
}

impl Memories {
    /// Those that other processes made; what they are is checked.
    pub(crate) fn adopt(files: Vec<std::os::fd::OwnedFd>) -> Result<Self, NodeError> {
        if files.len() > MEMORIES_MAX {
            return Err(NodeError::corrupt("memories", files.len() as u64));
        }
        let above: Result<_, _> = files.into_iter().map(|file| Mapping::adopt(file).map(Arc::new)).collect();
        Ok(Memories { above: above?, own: None })
    }

    /// These and one of its own.
    pub(crate) fn with_own(&self, own: Arc<Memory>) -> Self {
        Memories { above: self.above.clone(), own: Some(own) }
    }

    /// All of them, by number.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &Mapping> {
        let own = self.own.iter().map(|own| &own.mapping);
        let all: Vec<&Mapping> = self.above.iter().map(|above| &**above).chain(own).collect();
        all.into_iter()
    }

    /// The bell of the node right above: the last that was adopted.
    pub(crate) fn bell_above(&self) -> Option<&Mapping> {
        self.above.last().map(|above| &**above)
    }

    /// Which memory an address is in, and where there; `None` if it is in none.
    pub(crate) fn locate(&self, address: *const u8) -> Option<(u32, u64)> {
        let found = |(number, mapping): (usize, &Mapping)| Some((number as u32, mapping.offset_of(address)?));
        self.all().enumerate().find_map(found)
    }

    /// The memory with this number.
    pub(crate) fn get(&self, number: u32) -> Option<&Mapping> {
        self.all().nth(number as usize)
    }
}

/// The external buffers of a node's run: like [`Buffers`], in memory that the node's children see too.
#[derive(Debug)]
pub struct SharedBuffers {
    buffers: Buffers<'static>,
    memory: Arc<Memory>,
}

impl SharedBuffers {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        SharedBuffers { buffers: Buffers::new(), memory: memory.clone() }
    }

    /// Adds a buffer of this shape and copies `values` into it.
    pub fn add<T: Element>(&mut self, shape: &[u32], values: &[T]) -> Result<BufferId> {
        let view = TensorView::contiguous(T::DTYPE, shape)?;
        if view.elements() != values.len() as u64 {
            let (elements, given) = (view.elements(), values.len() as u64);
            return Err(Fault::BufferLength { elements, given }.into());
        }
        let id = self.add_zeroed(T::DTYPE, shape)?;
        let (_, space, _) = self.buffers.place(id)?;
        #[allow(unsafe_code)]
        // SAFETY: the new piece has exactly the bytes of `values`, and is ours alone.
        unsafe {
            core::ptr::copy_nonoverlapping(values.as_ptr().cast(), space.base, view.bytes() as usize);
        }
        Ok(id)
    }

    /// Adds a buffer and copies its bytes into it.
    pub(crate) fn add_bytes(&mut self, dtype: DType, shape: &[u32], bytes: &[u8]) -> Result<BufferId> {
        let view = TensorView::contiguous(dtype, shape)?;
        if view.bytes() != bytes.len() as u64 {
            let (elements, given) = (view.elements(), (bytes.len() / dtype.size_bytes()) as u64);
            return Err(Fault::BufferLength { elements, given }.into());
        }
        let id = self.add_zeroed(dtype, shape)?;
        let (_, space, _) = self.buffers.place(id)?;
        #[allow(unsafe_code)]
        // SAFETY: the new piece has exactly this many bytes, and is ours alone.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), space.base, bytes.len());
        }
        Ok(id)
    }

    /// None yet, in the same memory.
    pub(crate) fn none_yet(&self) -> Self {
        SharedBuffers::new(&self.memory)
    }

    /// Adds a buffer of this shape, all zero.
    pub fn add_zeroed(&mut self, dtype: DType, shape: &[u32]) -> Result<BufferId> {
        let view = TensorView::contiguous(dtype, shape)?;
        let piece = self.memory.take(view.bytes())?;
        let base = piece.space().base;
        #[allow(unsafe_code)]
        // SAFETY: the piece begins at a page and has the bytes of the view as long as it is there, and it goes with the
        // buffer, wherever that goes; nobody has it but the run that borrows them.
        unsafe {
            self.buffers.keep_at(base, dtype, shape, Permission::ReadWrite, Box::new(piece))
        }
    }

    /// Adds a copy of another run's buffer.
    pub fn add_copy(&mut self, from: &Buffers<'_>, id: BufferId) -> Result<BufferId> {
        let (view, _) = from.bytes(id)?;
        let copy = self.add_zeroed(view.dtype(), &view.shape())?;
        self.buffers.copy_from(copy, from, id)?;
        Ok(copy)
    }

    /// The values of a buffer.
    pub fn get<T: Element>(&self, id: BufferId) -> Result<&[T]> {
        self.buffers.get(id)
    }

    /// As a run takes them.
    pub fn buffers(&mut self) -> &mut Buffers<'static> {
        &mut self.buffers
    }
}

/// Refuses buffers that the node's children do not see.
pub(crate) fn check_shared(memories: &Memories, buffers: &Buffers<'_>) -> Result<(), Error> {
    let stranger = |space: &Space| space.bytes > 0 && memories.locate(space.base).is_none();
    match buffers.spaces().position(|space| stranger(&space)) {
        None => Ok(()),
        Some(buffer) => Err(Fault::NotShared { buffer }.into()),
    }
}

#[cfg(test)]
mod tests {
    use ringlane_task::Explain;

    use super::*;

    fn offset_of(buffers: &mut SharedBuffers, id: BufferId) -> u64 {
        let (_, space, _) = buffers.buffers.place(id).unwrap();
        buffers.memory.mapping.offset_of(space.base).unwrap()
    }

    #[test]
    fn a_piece_is_zero_when_it_is_had_again() {
        let memory = Memory::create(1 << 20).unwrap();
        let first = {
            let mut buffers = SharedBuffers::new(&memory);
            let id = buffers.add(&[2000], &[7u32; 2000]).unwrap();
            assert_eq!(buffers.get::<u32>(id).unwrap(), [7; 2000]);
            offset_of(&mut buffers, id)
        };
        let mut buffers = SharedBuffers::new(&memory);
        let id = buffers.add_zeroed(DType::UInt32, &[2000]).unwrap();
        assert_eq!(offset_of(&mut buffers, id), first);
        assert_eq!(buffers.get::<u32>(id).unwrap(), [0; 2000]);
    }

    #[test]
    fn buffers_that_are_taken_out_keep_their_memory() {
        let memory = Memory::create(1 << 20).unwrap();
        let mut buffers = SharedBuffers::new(&memory);
        let id = buffers.add(&[2], &[7u32, 8]).unwrap();
        let taken = core::mem::take(buffers.buffers());
        drop(buffers);
        let mut others = SharedBuffers::new(&memory);
        others.add(&[2], &[1u32, 2]).unwrap();
        assert_eq!(taken.get::<u32>(id).unwrap(), [7, 8]);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_does_fits_afterwards() {
        let memory = Memory::create(1 << 20).unwrap();
        let mut buffers = SharedBuffers::new(&memory);
        assert!(buffers.add_zeroed(DType::UInt8, &[1 << 20]).is_err());
        assert!(buffers.add_zeroed(DType::UInt8, &[1 << 19]).is_ok());
        assert!(buffers.add::<u8>(&[4], &[1, 2, 3]).is_err());
    }

    #[test]
    fn an_address_is_found_in_the_memory_it_is_in_and_a_buffer_elsewhere_is_refused() {
        let (above, own) = (Memory::create(1 << 20).unwrap(), Memory::create(1 << 20).unwrap());
        let file = above.mapping.file().try_clone().unwrap();
        let memories = Memories::adopt(vec![file]).unwrap().with_own(own.clone());
        let mut shared = SharedBuffers::new(&own);
        let id = shared.add_zeroed(DType::UInt8, &[5]).unwrap();
        let (_, space, _) = shared.buffers().place(id).unwrap();
        assert_eq!(memories.locate(space.base), Some((1, offset_of(&mut shared, id))));
        assert_eq!(memories.get(0).unwrap().bytes(), 1 << 20);
        assert!(check_shared(&memories, shared.buffers()).is_ok());
        let mut elsewhere = Buffers::new();
        elsewhere.add(&[1], &[1u8]).unwrap();
        assert_eq!(check_shared(&memories, &elsewhere).unwrap_err().name(), "NotShared");
    }
}
