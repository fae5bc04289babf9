//! Tensors as kernels see them: slices, and strided windows that are indexable, bounded and of a rank known at compile time.
//!
//! A borrow of an argument rests on what the code that made the [`Args`] promised: the bytes are inside their space, the engine
//! orders the task against every conflicting access of other tasks, no two arguments of a task overlap where one is written,
//! each is taken once, and blocks get disjoint parts of what is split.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use ringlane_task::{Dim, Element};

use super::args::{Args, Part, Wants};
use super::kernel::KernelError;

/// Base address and layout of a strided view; the shared part of [`View`] and [`ViewMut`].
#[derive(Clone, Copy)]
struct Layout<T, const R: usize> {
    base: *mut T,
    dims: [Dim; R],
}

impl<T, const R: usize> Layout<T, R> {
    /// Of an argument; an error if it has another rank.
    #[inline]
    fn of(part: &Part) -> Result<Self, KernelError> {
        let dims = part.dims[..part.rank].try_into().map_err(|_| wrong_rank(R, part.rank))?;
        Ok(Layout { base: part.base.cast(), dims })
    }

    #[inline]
    #[track_caller]
    fn at(&self, index: [usize; R]) -> *mut T {
        let mut offset = 0usize;
        for (axis, (&i, dim)) in index.iter().zip(&self.dims).enumerate() {
            assert!(i < dim.len as usize, "index {i} of axis {axis} with length {}", dim.len);
            offset += i * dim.stride as usize;
        }
        // SAFETY: every index is within its dimension (asserted above), and all such elements of an argument are in one
        // allocation.
        unsafe { self.base.add(offset) }
    }

    #[track_caller]
    fn row(&self, outer: &[usize]) -> (*mut T, usize) {
        let given = outer.len();
        assert!(
            given + 1 == R,
            "a row of a view of rank {R} is at {} indices, {given} given",
            R.saturating_sub(1)
        );
        assert!(self.dims[R - 1].stride == 1 || self.dims[R - 1].len == 1, "the rows are not contiguous");
        let mut index = [0usize; R];
        index[..outer.len()].copy_from_slice(outer);
        (self.at(index), self.dims[R - 1].len as usize)
    }

    fn shape(&self) -> [usize; R] {
        self.dims.map(|d| d.len as usize)
    }
}

/// A strided view that is read.
///
/// ```
/// use ringlane_engine::prelude::*;
/// kernel! { static TRACE = aiv fn(m: View<f32, 2>, out: &mut [f32]) {
///     let [rows, cols] = m.shape();
///     out[0] = (0..rows.min(cols)).map(|i| m[[i, i]]).sum();
/// } }
/// # let _ = TRACE.name();
/// ```
#[derive(Clone, Copy)]
pub struct View<'a, T, const R: usize> {
    layout: Layout<T, R>,
    life: PhantomData<&'a [T]>,
}

/// A strided view that is written.
///
/// ```
/// use ringlane_engine::prelude::*;
/// kernel! { static EYE = aiv fn(m: ViewMut<f32, 2>) {
///     let mut m = m;
///     let [rows, cols] = m.shape();
///     (0..rows.min(cols)).for_each(|i| m[[i, i]] = 1.0);
/// } }
/// # let _ = EYE.name();
/// ```
pub struct ViewMut<'a, T, const R: usize> {
    layout: Layout<T, R>,
    life: PhantomData<&'a mut [T]>,
}

// SAFETY: a `View` is a shared borrow of `T`s and a `ViewMut` an exclusive one; `Element` types are `Send + Sync`.
unsafe impl<T: Element, const R: usize> Send for View<'_, T, R> {}
// SAFETY: as above.
unsafe impl<T: Element, const R: usize> Sync for View<'_, T, R> {}
// SAFETY: as above.
unsafe impl<T: Element, const R: usize> Send for ViewMut<'_, T, R> {}

impl<'a, T: Element, const R: usize> View<'a, T, R> {
    /// The lengths of the dimensions.
    pub fn shape(&self) -> [usize; R] {
        self.layout.shape()
    }

    /// One contiguous row: the elements under all leading indices. Panics if rows are strided.
    #[track_caller]
    pub fn row(&self, outer: &[usize]) -> &'a [T] {
        let (start, len) = self.layout.row(outer);
        // SAFETY: `row` checked the indices and that `len` elements follow each other; nobody writes what it borrows.
        unsafe { core::slice::from_raw_parts(start, len) }
    }
}

impl<T: Element, const R: usize> ViewMut<'_, T, R> {
    /// The lengths of the dimensions.
    pub fn shape(&self) -> [usize; R] {
        self.layout.shape()
    }

    /// The same elements, to read.
    pub fn as_view(&self) -> View<'_, T, R> {
        View { layout: self.layout, life: PhantomData }
    }

    /// One contiguous row: the elements under all leading indices. Panics if rows are strided.
    #[track_caller]
    pub fn row(&mut self, outer: &[usize]) -> &mut [T] {
        let (start, len) = self.layout.row(outer);
        // SAFETY: `row` checked the indices and that `len` elements follow each other; `&mut self` makes the
        // borrow exclusive.
        unsafe { core::slice::from_raw_parts_mut(start, len) }
    }
}

impl<T: Element, const R: usize> Index<[usize; R]> for View<'_, T, R> {
    type Output = T;
    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; R]) -> &T {
        // SAFETY: `at` checked the index; nobody else writes what it borrows.
        unsafe { &*self.layout.at(index) }
    }
}

impl<T: Element, const R: usize> Index<[usize; R]> for ViewMut<'_, T, R> {
    type Output = T;
    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; R]) -> &T {
        // SAFETY: `at` checked the index; nobody else writes what it borrows.
        unsafe { &*self.layout.at(index) }
    }
}

impl<T: Element, const R: usize> IndexMut<[usize; R]> for ViewMut<'_, T, R> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: [usize; R]) -> &mut T {
        // SAFETY: `at` checked the index; `&mut self` makes the borrow exclusive.
        unsafe { &mut *self.layout.at(index) }
    }
}

/// A tensor that several blocks of one task may write at the same time.
///
/// Reads and writes are `unsafe`: the kernel vouches that blocks do not race on an element.
///
/// ```
/// use ringlane_engine::prelude::*;
/// kernel! { static COUNTDOWN = aiv fn(y: SharedMut<u32>, block: Block) {
///     let place = (block.count - 1 - block.index.0) as usize;
///     // SAFETY: every block has another place.
///     unsafe { y.set(place, block.index.0) };
/// } }
/// # let _ = COUNTDOWN.name();
/// ```
pub struct SharedMut<'a, T> {
    base: *mut T,
    len: usize,
    life: PhantomData<&'a [core::cell::Cell<T>]>,
}

impl<T: Element> SharedMut<'_, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads an element. Panics past the end.
    ///
    /// # Safety
    /// No other block writes this element at the same time.
    pub unsafe fn get(&self, index: usize) -> T {
        assert!(index < self.len, "index {index} of a shared tensor of {}", self.len);
        // SAFETY: the index is in bounds; the caller vouches that nobody writes it now.
        unsafe { self.base.add(index).read() }
    }

    /// Writes an element. Panics past the end.
    ///
    /// # Safety
    /// No other block touches this element at the same time.
    pub unsafe fn set(&self, index: usize, value: T) {
        assert!(index < self.len, "index {index} of a shared tensor of {}", self.len);
        // SAFETY: the index is in bounds; the caller vouches that nobody else touches it now.
        unsafe { self.base.add(index).write(value) }
    }
}

impl<'a> Args<'a> {
    /// The next argument as a slice that is read.
    #[inline]
    pub(super) fn next_slice<T: Element>(&mut self) -> Result<&'a [T], KernelError> {
        let part = self.next_tensor(T::DTYPE, true, Wants::Read)?;
        // SAFETY: the record is a contiguous tensor of `T` (checked) inside its space; the engine orders this
        // task against every writer of these bytes, and no argument of this task that is written overlaps it.
        Ok(unsafe { core::slice::from_raw_parts(part.base.cast(), part.elements()) })
    }

    /// The next argument as a slice that is written.
    #[inline]
    pub(super) fn next_slice_mut<T: Element>(&mut self) -> Result<&'a mut [T], KernelError> {
        let part = self.next_tensor(T::DTYPE, true, Wants::Alone)?;
        // SAFETY: as for `next_slice`; in addition the argument is written, so the engine orders this task against
        // every reader too, each argument is taken once, and blocks get disjoint parts (checked at submit).
        Ok(unsafe { core::slice::from_raw_parts_mut(part.base.cast(), part.elements()) })
    }

    /// The next argument as a strided view that is read.
    #[inline]
    pub(super) fn next_view<T: Element, const R: usize>(&mut self) -> Result<View<'a, T, R>, KernelError> {
        let part = self.next_tensor(T::DTYPE, false, Wants::Read)?;
        Ok(View { layout: Layout::of(&part)?, life: PhantomData })
    }

    /// The next argument as a strided view that is written. Being written, it shows no element twice (checked at submit).
    #[inline]
    pub(super) fn next_view_mut<T: Element, const R: usize>(
        &mut self,
    ) -> Result<ViewMut<'a, T, R>, KernelError> {
        let part = self.next_tensor(T::DTYPE, false, Wants::Alone)?;
        Ok(ViewMut { layout: Layout::of(&part)?, life: PhantomData })
    }

    /// The next argument as a tensor that other blocks may write too: the kernel's own `unsafe` accesses answer for those.
    #[inline]
    pub(super) fn next_shared<T: Element>(&mut self) -> Result<SharedMut<'a, T>, KernelError> {
        let part = self.next_tensor(T::DTYPE, true, Wants::Shared)?;
        Ok(SharedMut { base: part.base.cast(), len: part.elements(), life: PhantomData })
    }
}

#[cold]
fn wrong_rank(wanted: usize, rank: usize) -> KernelError {
    KernelError::new(format_args!("the kernel takes a view of rank {wanted} here, the argument has {rank}"))
}
