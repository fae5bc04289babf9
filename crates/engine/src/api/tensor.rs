//! Handles: a tensor or a task, valid only inside the scope that made it.
//!
//! The lifetime `'s` ties a handle to its scope at compile time; the run number and the generation inside it catch at
//! run time what lifetimes cannot see: a handle of an outer run in a run that is nested inside it, and handles that
//! crossed a process or language boundary. A handle is one word, and one comparison checks it: every argument of every
//! submit carries one.

#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::panic::Location;

use ringlane_task::{Access, DType, TaskId, TensorView, ViewError};

use super::arg::Arg;
use crate::fault::{Error, Result};
pub use crate::live_runs::RunNumber;

/// A tensor's name inside the engine: an index, and what makes a stale or foreign one visible.
// Aligned like a view, so that an argument has no gap between the two: with one, it is copied piece by piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(align(8))]
pub struct TensorRef {
    /// Index of the tensor's record.
    pub id: u32,
    /// What that record carried when the handle was made.
    pub tag: TensorTag,
}

/// The run that a tensor belongs to, and how often its record had been reused in that run, modulo 2^16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorTag(u32);

impl TensorTag {
    /// Of a record that a run uses for the first time.
    pub(crate) const fn first(run: RunNumber) -> Self {
        TensorTag((run.0 as u32) << 16)
    }

    /// Of the same record for the next tensor.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        TensorTag(self.0 & !0xffff | (self.0 as u16).wrapping_add(1) as u32)
    }

    pub(crate) const fn run(self) -> RunNumber {
        RunNumber((self.0 >> 16) as u16)
    }

    pub(crate) const fn generation(self) -> u32 {
        self.0 & 0xffff
    }
}

/// A task's name inside the engine: the run that it belongs to above its id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskHandle(u64);

impl TaskHandle {
    const RUN_SHIFT: u32 = 48;

    #[inline]
    pub(crate) const fn new(run: RunNumber, task: TaskId) -> Self {
        TaskHandle((run.0 as u64) << Self::RUN_SHIFT | task.0)
    }

    /// Of the task with this number, from the handle of the first task of its ring.
    #[inline]
    pub(crate) const fn numbered(self, local: u32) -> Self {
        TaskHandle(self.0 | local as u64)
    }

    pub(crate) const fn run(self) -> RunNumber {
        RunNumber((self.0 >> Self::RUN_SHIFT) as u16)
    }

    pub(crate) const fn task(self) -> TaskId {
        TaskId(self.0 & ((1 << Self::RUN_SHIFT) - 1))
    }
}

const _: () = assert!(size_of::<TensorRef>() == 8 && size_of::<TaskHandle>() == 8);

/// A tensor, or a view of one, usable until the scope `'s` ends.
///
/// ```
/// use ringlane_engine::prelude::*;
/// # fn body<'s>(o: &mut Orch<'s, '_>) -> Result<()> {
/// let m = o.alloc(f32, [64, 64])?;
/// let tile = m.tile(&[0, 32], &[32, 32])?;
/// assert_eq!(tile.shape(), [32, 32]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tensor<'s> {
    // Not in the order of an `Arg`, so that the two are copied apart: the view in pieces that are aligned there.
    pub(crate) view: TensorView,
    pub(crate) tensor: TensorRef,
    pub(crate) scope: PhantomData<&'s ()>,
}

impl<'s> Tensor<'s> {
    pub(crate) fn new(tensor: TensorRef, view: TensorView) -> Self {
        Tensor { tensor, view, scope: PhantomData }
    }

    /// The same tensor through another view; one that cannot be made is refused with the line that asked for it. Inlined
    /// like its callers, so that only the way of a refusal carries the line.
    #[inline]
    #[track_caller]
    fn with(self, view: Result<TensorView, ViewError>) -> Result<Self> {
        match view {
            Ok(view) => Ok(Tensor { view, ..self }),
            Err(error) => Err(Error::from(error).at(Location::caller())),
        }
    }

    /// The window of `len[i]` elements from `start[i]` along each dimension.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let x = o.upload(&[0u32, 1, 2, 3, 4, 5], [2, 3])?;
    /// assert_eq!(o.read::<u32>(x.tile(&[0, 1], &[2, 2])?)?, [1, 2, 4, 5]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn tile(self, start: &[u32], len: &[u32]) -> Result<Self> {
        self.with(self.view.tile(start, len))
    }

    /// The window of `len` elements from `start` along one dimension.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let x = o.upload(&[0u32, 1, 2, 3, 4, 5], [2, 3])?;
    /// assert_eq!(o.read::<u32>(x.slice(1, 2, 1)?)?, [2, 5]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn slice(self, axis: usize, start: u32, len: u32) -> Result<Self> {
        self.with(self.view.slice(axis, start, len))
    }

    /// The elements at one index of a dimension, which is dropped.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let x = o.upload(&[0u32, 1, 2, 3, 4, 5], [2, 3])?;
    /// assert_eq!(x.select(0, 1)?.shape(), [3]);
    /// assert_eq!(o.read::<u32>(x.select(0, 1)?)?, [3, 4, 5]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn select(self, axis: usize, index: u32) -> Result<Self> {
        self.with(self.view.select(axis, index))
    }

    /// The same elements with two dimensions exchanged.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let x = o.upload(&[0u32, 1, 2, 3, 4, 5], [2, 3])?;
    /// assert_eq!(x.transpose(0, 1)?.shape(), [3, 2]);
    /// assert_eq!(o.read::<u32>(x.transpose(0, 1)?)?, [0, 3, 1, 4, 2, 5]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn transpose(self, a: usize, b: usize) -> Result<Self> {
        self.with(self.view.transpose(a, b))
    }

    /// The same elements under another shape; only for contiguous views.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let x = o.upload(&[0u32, 1, 2, 3, 4, 5], [2, 3])?;
    /// assert_eq!(x.reshape(&[3, 2])?.select(0, 1)?.shape(), [2]);
    /// assert_eq!(o.read::<u32>(x.reshape(&[3, 2])?.select(0, 1)?)?, [2, 3]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn reshape(self, shape: &[u32]) -> Result<Self> {
        self.with(self.view.reshape(shape))
    }

    /// The view repeated `len` times along a new leading dimension; only for reads.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let x = o.upload(&[0u32, 1, 2, 3, 4, 5], [2, 3])?;
    /// let row = x.select(0, 0)?;
    /// assert_eq!(o.read::<u32>(row.broadcast(2)?)?, [0, 1, 2, 0, 1, 2]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn broadcast(self, len: u32) -> Result<Self> {
        self.with(self.view.broadcast(len))
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> Vec<u32> {
        self.view.shape()
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.view.dtype()
    }

    /// The handle's view.
    pub fn view(&self) -> &TensorView {
        &self.view
    }

    /// As an argument that is read.
    #[inline]
    pub fn read(self) -> Arg<'s> {
        Arg::tensor(self, Access::Input)
    }

    /// As an argument that is overwritten without being read (`output_existing`).
    #[inline]
    pub fn write(self) -> Arg<'s> {
        Arg::tensor(self, Access::OutputExisting)
    }

    /// As an argument that is read and written.
    #[inline]
    pub fn inout(self) -> Arg<'s> {
        Arg::tensor(self, Access::InOut)
    }

    /// As an overwritten argument of which each block gets its own part along `axis`.
    #[inline]
    pub fn out_split(self, axis: u8) -> Arg<'s> {
        self.write().split(axis)
    }
}

/// A submitted task, nameable until the scope `'s` ends.
#[derive(Clone, Copy, Debug)]
pub struct Task<'s> {
    pub(crate) task: TaskHandle,
    pub(crate) scope: PhantomData<&'s ()>,
}

impl Task<'_> {
    pub(crate) fn new(task: TaskHandle) -> Self {
        Task { task, scope: PhantomData }
    }
}
