//! The memory seam: what the engine does with the bytes of tensors, on any chip.
//!
//! The engine decides *where* a tensor is, as an address in one of the run's spaces. It reads and writes the bytes there
//! only through [`Memory`], so that a chip may keep them where the host cannot reach them:
//!
//! | when | operation |
//! |---|---|
//! | a run begins and ends | external buffers are copied in, and out again if tasks may write them |
//! | `o.alloc`, `o.upload`, a fresh output | `zero`, `copy_in`, `zero` |
//! | `o.read`, the dump instrument | `gather` |
//!
//! A chip whose memory the host sees has [`DirectMemory`]: its operations are plain loads and stores, compiled into the
//! callers. On such a chip external buffers are used where they are and nothing is gathered before it is copied.
//!
//! Every operation may fail. A failure ends the run with [`DeviceMemory`](crate::Fault::DeviceMemory): tasks that are
//! running finish, no other starts, and recordings are written.

use core::fmt;
use core::ops::Range;

use ringlane_task::TensorView;

use crate::api::buffers::{Buffers, Permission};
use crate::fault::{Error, Fault, Result};
use crate::limits::{RINGS, STAGING_BYTES};
use crate::observe::{TensorArgument, space_name};
use crate::seams::Chip;

/// An address range that argument records point into: a heap ring or an external buffer. The addresses are those of the chip's
/// [`Memory`], which alone says whether the host may dereference them.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// First byte.
    pub base: *mut u8,
    /// Length.
    pub bytes: u64,
}

// SAFETY: a range of addresses is plain data; code that dereferences one answers for the access.
unsafe impl Send for Space {}
// SAFETY: as above.
unsafe impl Sync for Space {}

/// The address ranges of one run, by index.
#[derive(Clone, Debug, Default)]
pub struct Spaces(pub(crate) Vec<Space>);

impl Spaces {
    /// The same spaces, each at another address: for a chip that keeps the bytes elsewhere.
    pub fn moved(&self, to: impl Fn(Space) -> *mut u8) -> Self {
        Spaces(self.0.iter().map(|&space| Space { base: to(space), ..space }).collect())
    }
}

/// Why a chip could not carry out an operation on its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryError(String);

impl MemoryError {
    /// An error with this reason.
    pub fn new(reason: impl fmt::Display) -> Self {
        MemoryError(reason.to_string())
    }
}

/// What an operation on a chip's memory answers.
pub type MemoryResult = Result<(), MemoryError>;

/// An operation on a chip's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOp {
    /// Zeroes bytes.
    Zero,
    /// Copies bytes of the host into the chip's memory.
    CopyIn,
    /// Copies bytes of the chip's memory to the host.
    CopyOut,
    /// Copies a view to the host, its elements one after another.
    Gather,
}

/// The memory of a chip.
///
/// Addresses are those of the run's spaces: the heap rings that the chip gave to
/// [`Table::in_memory`](crate::table::Table::in_memory) and what [`Chip::external`] gave. Only
/// the chip gives them a meaning. Operations are called by the submitter and by the cores that hold a task, at the same time
/// where there are several threads, and have taken effect when they return.
///
/// # Safety of the operations
/// The caller names bytes inside one space, and for the length of the call nobody else touches them in a way that conflicts.
#[allow(clippy::missing_safety_doc)]
pub trait Memory: Sync {
    /// Whether the host may dereference the addresses of the spaces. If it may not, everything is copied.
    fn host_sees(&self) -> bool;
    /// Zeroes bytes.
    unsafe fn zero(&self, at: *mut u8, bytes: usize) -> MemoryResult;
    /// Copies bytes of the host in.
    unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult;
    /// Copies bytes out to the host.
    unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult;
    /// Copies the view that is counted from `base` out to the host, its elements one after another in row-major order; `into`
    /// has room for exactly them. By default piece by piece.
    unsafe fn gather(&self, base: *const u8, view: &TensorView, mut into: &mut [u8]) -> MemoryResult {
        let mut result = Ok(());
        view.for_each_run(|start, bytes| {
            let (piece, rest) = core::mem::take(&mut into).split_at_mut(bytes as usize);
            into = rest;
            if result.is_ok() {
                // SAFETY: the caller's promise for the view holds for each of its runs.
                result = unsafe { self.copy_out(base.wrapping_add(start as usize), piece) };
            }
        });
        result
    }
    /// Where kernels that run in this process find the bytes of the run's spaces. The same for the whole run.
    fn kernel_spaces<'s>(&'s self, spaces: &'s Spaces) -> &'s Spaces {
        spaces
    }
}

impl<M: Memory + ?Sized> Memory for &M {
    fn host_sees(&self) -> bool {
        (**self).host_sees()
    }
    unsafe fn zero(&self, at: *mut u8, bytes: usize) -> MemoryResult {
        // SAFETY: the caller's promise; so below.
        unsafe { (**self).zero(at, bytes) }
    }
    unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult {
        // SAFETY: as above.
        unsafe { (**self).copy_in(from, at) }
    }
    unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult {
        // SAFETY: as above.
        unsafe { (**self).copy_out(at, into) }
    }
    unsafe fn gather(&self, base: *const u8, view: &TensorView, into: &mut [u8]) -> MemoryResult {
        // SAFETY: as above.
        unsafe { (**self).gather(base, view, into) }
    }
    fn kernel_spaces<'s>(&'s self, spaces: &'s Spaces) -> &'s Spaces {
        (**self).kernel_spaces(spaces)
    }
}

/// Memory that the host reads and writes where it is. Its operations never fail.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectMemory;

impl Memory for DirectMemory {
    #[inline(always)]
    fn host_sees(&self) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn zero(&self, at: *mut u8, bytes: usize) -> MemoryResult {
        // SAFETY: the caller's promise.
        unsafe { at.write_bytes(0, bytes) };
        Ok(())
    }
    #[inline(always)]
    unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult {
        // SAFETY: the caller's promise; no slice of the host overlaps bytes that nobody else touches.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), at, from.len()) };
        Ok(())
    }
    #[inline(always)]
    unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult {
        // SAFETY: as above.
        unsafe { core::ptr::copy_nonoverlapping(at, into.as_mut_ptr(), into.len()) };
        Ok(())
    }
}

/// A chip's memory with the spaces of the run: how the engine names bytes, by space and offset.
///
/// All of its operations are unsafe for one reason: the bytes are inside their space, and for the length of the call nobody
/// else touches them in a way that conflicts.
#[derive(Clone, Copy)]
pub(crate) struct RunMemory<'s, M> {
    pub(crate) memory: M,
    pub(crate) spaces: &'s Spaces,
}

impl<M: Memory> RunMemory<'_, M> {
    #[inline]
    fn address(&self, space: u32, offset: u64) -> *mut u8 {
        // Not `add`: the host may not see an allocation there.
        self.spaces.0[space as usize].base.wrapping_add(offset as usize)
    }

    #[inline]
    pub(crate) unsafe fn zero(&self, space: u32, offset: u64, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        let done = unsafe { self.memory.zero(self.address(space, offset), bytes as usize) };
        done.map_err(|error| error.of(MemoryOp::Zero, space, bytes))
    }

    #[inline]
    pub(crate) unsafe fn copy_in(&self, from: &[u8], space: u32, offset: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        let done = unsafe { self.memory.copy_in(from, self.address(space, offset)) };
        done.map_err(|error| error.of(MemoryOp::CopyIn, space, from.len() as u64))
    }

    pub(crate) unsafe fn copy_out(&self, space: u32, offset: u64, into: &mut [u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        let done = unsafe { self.memory.copy_out(self.address(space, offset), into) };
        done.map_err(|error| error.of(MemoryOp::CopyOut, space, into.len() as u64))
    }

    /// Copies the external buffers of a run to where the chip keeps them, unless it has what they hold.
    pub(crate) unsafe fn copy_buffers_in(&self, buffers: &Buffers<'_>, chip: &impl Chip) -> Result<()> {
        for (buffer, host) in buffers.spaces().enumerate().filter(|(buffer, _)| !chip.holds(*buffer)) {
            // SAFETY: the run borrows the buffer, and the caller says that no task writes it.
            let from = unsafe { core::slice::from_raw_parts(host.base, host.bytes as usize) };
            // SAFETY: the chip's copy is as large; the caller's promise.
            unsafe { self.copy_in(from, (RINGS + buffer) as u32, 0) }?;
        }
        Ok(())
    }

    /// Copies back what tasks may have written.
    pub(crate) unsafe fn copy_buffers_out(&self, buffers: &Buffers<'_>, chip: &impl Chip) -> Result<()> {
        let may_be_written = |buffer: &(usize, Space)| buffers.entry(buffer.0).1 == Permission::ReadWrite;
        for (buffer, host) in buffers.spaces().enumerate().filter(may_be_written) {
            let Range { start, end } = chip.written(buffer);
            let end = end.min(host.bytes);
            if start >= end {
                continue;
            }
            // SAFETY: the run borrows the buffer mutably, and the caller says that nobody uses it.
            let into = unsafe { core::slice::from_raw_parts_mut(host.base, host.bytes as usize) };
            // SAFETY: the chip's copy is as large; the caller's promise.
            unsafe {
                self.copy_out((RINGS + buffer) as u32, start, &mut into[start as usize..end as usize])
            }?;
        }
        Ok(())
    }

    /// Hands the bytes of a view to `sink` in logical order: its runs where they are, or gathered, a bounded part at a time.
    #[inline]
    pub(crate) unsafe fn read(
        &self,
        space: u32,
        view: &TensorView,
        mut sink: impl FnMut(&[u8]),
    ) -> Result<()> {
        if !self.memory.host_sees() {
            // SAFETY: the caller's promise.
            return unsafe { self.read_hidden(space, view, &mut sink) };
        }
        let base = self.address(space, 0);
        view.for_each_run(|start, bytes| {
            // SAFETY: the caller's promise, and the host sees the memory.
            sink(unsafe { core::slice::from_raw_parts(base.wrapping_add(start as usize), bytes as usize) });
        });
        Ok(())
    }

    /// As `read`, for memory that the host does not see.
    #[cold]
    unsafe fn read_hidden(&self, space: u32, view: &TensorView, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut staging = vec![0; view.bytes().min(STAGING_BYTES) as usize];
        // SAFETY: the caller's promise.
        unsafe { self.read_gathered(space, view, &mut staging, sink) }
    }

    unsafe fn read_gathered(
        &self,
        space: u32,
        view: &TensorView,
        staging: &mut [u8],
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let bytes = view.bytes();
        if let Some(staging) = staging.get_mut(..bytes as usize) {
            // SAFETY: the caller's promise.
            unsafe { self.memory.gather(self.address(space, 0), view, staging) }
                .map_err(|error| error.of(MemoryOp::Gather, space, bytes))?;
            sink(staging);
            return Ok(());
        }
        let axis = view.dims().iter().position(|dim| dim.len > 1).expect("staging has room for an element");
        let len = view.dims()[axis].len;
        let each = (staging.len() as u64 * u64::from(len) / bytes).max(1) as u32;
        for start in (0..len).step_by(each as usize) {
            let part = view.slice(axis, start, each.min(len - start)).expect("inside the view");
            // SAFETY: a part of the caller's view.
            unsafe { self.read_gathered(space, &part, staging, sink) }?;
        }
        Ok(())
    }
}

impl TensorArgument<'_> {
    /// Hands its bytes to `sink` in logical order, piece by piece. If the chip's memory fails, `sink` gets no more of them and
    /// the run ends with that. Of a task that is being submitted, and of a recorded argument, it gets none.
    ///
    /// # Safety
    /// It comes from [`ObservedTask::args`](crate::observe::ObservedTask::args), and nothing writes these bytes meanwhile.
    #[inline]
    pub unsafe fn read(&self, sink: impl FnMut(&[u8])) {
        let Some((task, memory)) = self.bytes else { return };
        let memory = RunMemory { memory, spaces: task.spaces() };
        // SAFETY: the view was checked against its tensor, which is inside this space; nobody writes it now.
        if let Err(error) = unsafe { memory.read(self.record.space, &self.view(), sink) } {
            task.table().abort_run(error);
        }
    }
}

impl MemoryError {
    #[cold]
    pub(crate) fn of(self, operation: MemoryOp, space: u32, bytes: u64) -> Error {
        Fault::DeviceMemory { operation, space, bytes, reason: self.0 }.into()
    }
}

impl MemoryOp {
    /// What was to be done, for an error.
    pub(crate) fn of_bytes(self, bytes: u64, space: u32) -> String {
        let space = space_name(space);
        match self {
            MemoryOp::Zero => format!("zeroing {bytes} bytes of {space}"),
            MemoryOp::CopyIn => format!("copying {bytes} bytes into {space}"),
            MemoryOp::CopyOut => format!("copying {bytes} bytes out of {space}"),
            MemoryOp::Gather => format!("gathering {bytes} bytes of {space}"),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use ringlane_task::DType;

    /// Host memory that pretends to be out of sight.
    struct Hidden;

    impl Memory for Hidden {
        fn host_sees(&self) -> bool {
            false
        }
        unsafe fn zero(&self, at: *mut u8, bytes: usize) -> MemoryResult {
            // SAFETY: the caller's promise; so below.
            unsafe { DirectMemory.zero(at, bytes) }
        }
        unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult {
            // SAFETY: as above.
            unsafe { DirectMemory.copy_in(from, at) }
        }
        unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult {
            // SAFETY: as above.
            unsafe { DirectMemory.copy_out(at, into) }
        }
    }

    fn read(memory: impl Memory, spaces: &Spaces, view: &TensorView) -> (Vec<u8>, usize) {
        let (mut bytes, mut largest) = (Vec::new(), 0);
        // SAFETY: the test's own bytes.
        let done = unsafe {
            RunMemory { memory, spaces }.read(0, view, |piece| {
                bytes.extend_from_slice(piece);
                largest = largest.max(piece.len());
            })
        };
        done.unwrap();
        (bytes, largest)
    }

    #[test]
    fn a_view_of_memory_out_of_sight_reads_as_one_in_sight_a_bounded_part_at_a_time() {
        let side = 1200u32;
        let mut bytes: Vec<u32> = (0..side * side).collect();
        let base = bytes.as_mut_ptr().cast::<u8>();
        let spaces = Spaces(vec![Space { base, bytes: u64::from(side) * u64::from(side) * 4 }]);
        let whole = TensorView::contiguous(DType::UInt32, &[side, side]).unwrap();
        let tile = whole.tile(&[3, 5], &[1100, 1000]).unwrap();
        let views = [
            whole,
            whole.reshape(&[1, side * side]).unwrap(),
            tile,
            tile.transpose(0, 1).unwrap(),
            whole.slice(0, 7, 1).unwrap().broadcast(300).unwrap(),
        ];
        for view in &views {
            let (seen, _) = read(DirectMemory, &spaces, view);
            let (gathered, largest) = read(Hidden, &spaces, view);
            assert_eq!(seen.len() as u64, view.bytes());
            assert!(seen == gathered, "{view:?}");
            assert!(largest as u64 <= STAGING_BYTES, "{largest}");
        }
    }
}
