//! External buffers: a user's own data, lent to a run.
//!
//! A run borrows them mutably, so nothing else can touch the data while tasks do; after the run they hold the
//! results.

use core::any::Any;
use core::marker::PhantomData;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use ringlane_task::{DType, Dim, Element, TensorView, ViewError};

use super::dynamic::DynamicError;
use crate::fault::{Fault, Result};
use crate::limits::ALIGNMENT;
use crate::memory::Space;
use crate::seams::External;

/// Names an external buffer of one [`Buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId {
    set: u32,
    index: u32,
}

/// Whether tasks may write a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// They may only read it.
    Read,
    /// They may read and write it.
    ReadWrite,
}

#[derive(Debug)]
struct Buffer {
    space: Space,
    view: TensorView,
    permission: Permission,
    owner: Owner,
    contents: Contents,
}

/// What a buffer holds, as numbers: a chip that kept a copy of the buffer may use it if the number is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// When the run begins.
    pub before: u64,
    /// When it has ended: another number if its tasks may write the buffer.
    pub after: u64,
}

/// Who a buffer's memory belongs to.
#[derive(Debug)]
enum Owner {
    /// Its lender, who may have borrowed it from Rust, so that nobody else changes it.
    Lender { is_borrowed: bool },
    /// The buffer: it is freed with it.
    Buffer,
    /// This, which goes with the buffer and gives the memory back then.
    Kept { _owner: Box<dyn Any + Send + Sync> },
}

/// The external buffers of a run.
///
/// ```
/// use ringlane_engine::prelude::*;
/// let mut results = [0.0f32; 4];
/// let mut data = Buffers::new();
/// let x = data.add(&[4], &[1.0f32, 2.0, 3.0, 4.0])?;    // copied in, owned
/// let y = data.lend_mut(&[4], &mut results)?;           // used in place
/// assert_eq!(data.get::<f32>(x)?, [1.0, 2.0, 3.0, 4.0]);
/// # let _ = y;
/// # Ok::<(), ringlane_engine::Error>(())
/// ```
#[derive(Debug)]
pub struct Buffers<'d> {
    set: u32,
    list: Vec<Buffer>,
    life: PhantomData<&'d mut [u8]>,
}

impl Default for Buffers<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'d> Buffers<'d> {
    /// No buffers yet.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Buffers { set: NEXT.fetch_add(1, Ordering::Relaxed), list: Vec::new(), life: PhantomData }
    }

    /// Adds a buffer of this shape and copies `values` into it.
    pub fn add<T: Element>(&mut self, shape: &[u32], values: &[T]) -> Result<BufferId> {
        let view = checked_view::<T>(shape, values.len())?;
        let id = self.add_zeroed(T::DTYPE, shape)?;
        let space = self.list[id.index as usize].space;
        // SAFETY: the new buffer has exactly the bytes of `values` (the shape was checked) and is ours alone.
        unsafe { core::ptr::copy_nonoverlapping(values.as_ptr().cast(), space.base, view.bytes() as usize) };
        Ok(id)
    }

    /// Adds a buffer of this shape, all zero.
    pub fn add_zeroed(&mut self, dtype: DType, shape: &[u32]) -> Result<BufferId> {
        let view = TensorView::contiguous(dtype, shape)?;
        let layout = layout_of(view.bytes())?;
        // SAFETY: `layout_of` never gives a size of zero (views are not empty).
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() {
            return Err(out_of_memory(view.bytes()));
        }
        Ok(self.push(base, view, Permission::ReadWrite, Owner::Buffer))
    }

    /// Lends a slice that tasks may read and write in place.
    pub fn lend_mut<T: Element>(&mut self, shape: &[u32], values: &'d mut [T]) -> Result<BufferId> {
        let view = checked_view::<T>(shape, values.len())?;
        Ok(self.push(
            values.as_mut_ptr().cast(),
            view,
            Permission::ReadWrite,
            Owner::Lender { is_borrowed: true },
        ))
    }

    /// Lends a slice that tasks may only read; a submit that writes it is refused.
    pub fn lend<T: Element>(&mut self, shape: &[u32], values: &'d [T]) -> Result<BufferId> {
        let view = checked_view::<T>(shape, values.len())?;
        Ok(self.push(
            values.as_ptr().cast_mut().cast(),
            view,
            Permission::Read,
            Owner::Lender { is_borrowed: true },
        ))
    }

    /// Lends memory that is known by its address: what another process shares, say.
    ///
    /// # Safety
    /// For `'d` the bytes of the view, counted from `base`, are there, aligned for its type and valid for what is
    /// permitted, and nobody else touches them in a way that conflicts with that.
    pub unsafe fn lend_at(
        &mut self,
        base: *mut u8,
        dtype: DType,
        shape: &[u32],
        permission: Permission,
    ) -> Result<BufferId> {
        let view = TensorView::contiguous(dtype, shape)?;
        Ok(self.push(base, view, permission, Owner::Lender { is_borrowed: false }))
    }

    /// Lends memory with gaps, or in another order, that is known by its address: element `i` of axis `a` is `strides[a]`
    /// elements after element `i - 1`. Nothing is copied. Refused if it shares bytes with another buffer of this set and either
    /// may be written: tasks on one would not be ordered against tasks on the other. Buffers whose elements interleave count as
    /// sharing bytes.
    ///
    /// ```
    /// use ringlane_engine::api::buffers::{Buffers, Permission};
    /// use ringlane_engine::prelude::DType;
    /// let mut rows = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    /// let mut data = Buffers::new();
    /// let base = rows.as_mut_ptr().cast();
    /// // The transpose of two rows of three.
    /// // SAFETY: the bytes are those of `rows`, which nobody else uses meanwhile.
    /// let x = unsafe { data.lend_strided(base, DType::Float32, &[3, 2], &[1, 3], Permission::Read) }?;
    /// let error = unsafe { data.lend_strided(base, DType::Float32, &[6], &[1], Permission::ReadWrite) }.unwrap_err();
    /// # use ringlane_engine::prelude::Explain;
    /// assert_eq!(error.name(), "BufferOverlap");
    /// # let _ = x;
    /// # Ok::<(), ringlane_engine::Error>(())
    /// ```
    ///
    /// # Safety
    /// For `'d` the bytes of the view, from the first element to the last, are there, aligned for the type and valid for what
    /// is permitted, and nobody else touches them in a way that conflicts with that. (On a chip whose memory the host does not
    /// see, bytes between the elements are copied too.)
    pub unsafe fn lend_strided(
        &mut self,
        base: *mut u8,
        dtype: DType,
        shape: &[u32],
        strides: &[u32],
        permission: Permission,
    ) -> Result<BufferId> {
        if strides.len() != shape.len() {
            return Err(ViewError::RankMismatch { given: strides.len(), rank: shape.len() }.into());
        }
        let address = base.addr() as u64;
        if !address.is_multiple_of(dtype.size_bytes() as u64) {
            let element_bytes = dtype.size_bytes();
            return Err(ViewError::Misaligned { offset_bytes: address, element_bytes }.into());
        }
        let dims: Vec<Dim> = shape.iter().zip(strides).map(|(&len, &stride)| Dim { len, stride }).collect();
        // Its own last byte is the end of the buffer, once the shape is known to be possible.
        let span = TensorView::from_parts(dtype, 0, &dims, u64::MAX)?.span_bytes();
        let view = TensorView::from_parts(dtype, 0, &dims, span)?;
        let end = address
            .checked_add(span)
            .ok_or(ViewError::PastEnd { end_bytes: u64::MAX, buffer_bytes: span })?;
        let shares = |other: &Buffer| {
            let first = other.space.base.addr() as u64;
            let writes = permission == Permission::ReadWrite || other.permission == Permission::ReadWrite;
            writes && address < first + other.space.bytes && first < end
        };
        if let Some(other) = self.list.iter().position(shares) {
            return Err(Fault::Dynamic(DynamicError::BufferOverlap { buffer: self.list.len(), other }).into());
        }
        Ok(self.push(base, view, permission, Owner::Lender { is_borrowed: false }))
    }

    /// As [`lend_at`](Self::lend_at), of memory that lives as long as `owner`, which is dropped with the buffer.
    ///
    /// # Safety
    /// As for `lend_at`, as long as `owner` lives.
    pub unsafe fn keep_at(
        &mut self,
        base: *mut u8,
        dtype: DType,
        shape: &[u32],
        permission: Permission,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<BufferId> {
        let view = TensorView::contiguous(dtype, shape)?;
        Ok(self.push(base, view, permission, Owner::Kept { _owner: owner }))
    }

    fn push(&mut self, base: *mut u8, view: TensorView, permission: Permission, owner: Owner) -> BufferId {
        let index = self.list.len() as u32;
        let (space, contents) = (Space { base, bytes: view.span_bytes() }, Contents::new());
        self.list.push(Buffer { space, view, permission, owner, contents });
        BufferId { set: self.set, index }
    }

    /// The values of a buffer.
    pub fn get<T: Element>(&self, id: BufferId) -> Result<&[T]> {
        let index = self.index_of(id)?;
        let Buffer { space, view, .. } = &self.list[index];
        if view.dtype() != T::DTYPE {
            return Err(Fault::ReadDType { tensor: view.dtype(), asked: T::DTYPE }.into());
        }
        in_one_piece(view)?;
        // SAFETY: the buffer holds `elements()` values of `T`, aligned; no run borrows it while `&self` lives.
        Ok(unsafe { core::slice::from_raw_parts(space.base.cast(), view.elements() as usize) })
    }

    /// What a buffer is, and its bytes.
    pub fn bytes(&self, id: BufferId) -> Result<(TensorView, &[u8])> {
        let Buffer { space, view, .. } = &self.list[self.index_of(id)?];
        in_one_piece(view)?;
        // SAFETY: the buffer has this many bytes, all of them written; no run borrows it while `&self` lives.
        Ok((*view, unsafe { core::slice::from_raw_parts(space.base, view.bytes() as usize) }))
    }

    /// What a buffer is, where it is, and what may be done to it there. Before each run that follows it must be called again, if
    /// the memory was written since: a chip may keep a copy of what it has seen.
    pub fn place(&mut self, id: BufferId) -> Result<(TensorView, Space, Permission)> {
        let index = self.index_of(id)?;
        let Buffer { space, view, permission, contents, .. } = &mut self.list[index];
        *contents = Contents::new();
        Ok((*view, *space, *permission))
    }

    /// Overwrites a buffer with another of the same type and shape.
    pub fn copy_from(&mut self, id: BufferId, from: &Buffers<'_>, other: BufferId) -> Result<()> {
        let index = self.index_of(id)?;
        let Buffer { space, view, permission, contents, .. } = &mut self.list[index];
        let (given, bytes) = from.bytes(other)?;
        if given != *view {
            return Err(Fault::BufferLength { elements: view.elements(), given: given.elements() }.into());
        }
        if *permission == Permission::Read {
            return Err(Fault::ReadOnly { kernel: "a copy".to_string(), arg: id.index as usize }.into());
        }
        // SAFETY: the buffer has this many bytes, `&mut self` is all there is of it, and values of one type are copied.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), space.base, bytes.len()) };
        *contents = Contents::new();
        Ok(())
    }

    /// Number of buffers.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn index_of(&self, id: BufferId) -> Result<usize> {
        let known = id.set == self.set && (id.index as usize) < self.list.len();
        if known {
            Ok(id.index as usize)
        } else {
            Err(Fault::UnknownBuffer { buffers: self.list.len() }.into())
        }
    }

    /// Where the buffers are.
    pub fn spaces(&self) -> impl Iterator<Item = Space> + '_ {
        self.list.iter().map(|b| b.space)
    }

    /// The buffers, for a chip that is about to run tasks on them.
    pub(crate) fn externals(&self) -> impl Iterator<Item = External> + '_ {
        self.list.iter().map(|buffer| External {
            host: buffer.space,
            permission: buffer.permission,
            // Memory that was lent by its address may change between runs without a trace.
            contents: match buffer.owner {
                Owner::Buffer | Owner::Lender { is_borrowed: true } => Some(buffer.contents),
                Owner::Lender { is_borrowed: false } | Owner::Kept { .. } => None,
            },
        })
    }

    /// A run begins, whose tasks may write the buffers.
    pub(crate) fn begin_run(&mut self) {
        for Buffer { permission, contents, .. } in &mut self.list {
            contents.before = contents.after;
            if *permission == Permission::ReadWrite {
                contents.after = Contents::new().after;
            }
        }
    }

    pub(crate) fn entry(&self, index: usize) -> (TensorView, Permission) {
        (self.list[index].view, self.list[index].permission)
    }
}

impl Drop for Buffers<'_> {
    fn drop(&mut self) {
        for buffer in self.list.iter().filter(|b| matches!(b.owner, Owner::Buffer)) {
            let layout = layout_of(buffer.space.bytes).expect("the layout existed when it was allocated");
            // SAFETY: allocated by `add_zeroed` with this layout, and freed only here.
            unsafe { dealloc(buffer.space.base, layout) };
        }
    }
}

impl Contents {
    /// Contents that no buffer had before.
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Contents { before: number, after: number }
    }
}

/// Refuses the values of a buffer with gaps as a slice.
fn in_one_piece(view: &TensorView) -> Result<()> {
    let refused = || Fault::NotInOnePiece { bytes: view.bytes() }.into();
    if view.is_contiguous() { Ok(()) } else { Err(refused()) }
}

fn layout_of(bytes: u64) -> Result<Layout> {
    usize::try_from(bytes)
        .ok()
        .and_then(|bytes| Layout::from_size_align(bytes.max(1), ALIGNMENT as usize).ok())
        .ok_or_else(|| out_of_memory(bytes))
}

fn out_of_memory(bytes: u64) -> crate::Error {
    Fault::OutOfMemory { what: "an external buffer", bytes }.into()
}

pub(super) fn checked_view<T: Element>(shape: &[u32], given: usize) -> Result<TensorView> {
    let view = TensorView::contiguous(T::DTYPE, shape)?;
    if view.elements() != given as u64 {
        return Err(Fault::BufferLength { elements: view.elements(), given: given as u64 }.into());
    }
    Ok(view)
}
