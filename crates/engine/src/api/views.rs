//! Strided windows as kernels see them: indexable, bounded, of a rank known at compile time.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use ringlane_task::{Dim, Element};

/// Base address and layout of a strided view; the shared part of [`View`] and [`ViewMut`].
#[derive(Clone, Copy)]
struct Layout<T, const R: usize> {
    base: *mut T,
    dims: [Dim; R],
}

impl<T, const R: usize> Layout<T, R> {
    #[inline]
    #[track_caller]
    fn at(&self, index: [usize; R]) -> *mut T {
        let mut offset = 0usize;
        for (axis, (&i, dim)) in index.iter().zip(&self.dims).enumerate() {
            assert!(i < dim.len as usize, "index {i} of axis {axis} with length {}", dim.len);
            offset += i * dim.stride as usize;
        }
        // SAFETY: every index is within its dimension (asserted above), and the code that built the layout vouched
        // that all such elements lie in one allocation.
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
    /// # Safety
    /// Every element the dims describe from `base` is valid for reads for `'a`, and nobody writes it meanwhile.
    pub(crate) unsafe fn new(base: *mut T, dims: [Dim; R]) -> Self {
        View { layout: Layout { base, dims }, life: PhantomData }
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> [usize; R] {
        self.layout.shape()
    }

    /// One contiguous row: the elements under all leading indices. Panics if rows are strided.
    #[track_caller]
    pub fn row(&self, outer: &[usize]) -> &'a [T] {
        let (start, len) = self.layout.row(outer);
        // SAFETY: `row` checked the indices and that `len` elements follow each other; `new` vouched for reads.
        unsafe { core::slice::from_raw_parts(start, len) }
    }
}

impl<'a, T: Element, const R: usize> ViewMut<'a, T, R> {
    /// # Safety
    /// Every element the dims describe from `base` is valid for reads and writes for `'a`, distinct indices
    /// are distinct elements, and nobody else touches them meanwhile.
    pub(crate) unsafe fn new(base: *mut T, dims: [Dim; R]) -> Self {
        ViewMut { layout: Layout { base, dims }, life: PhantomData }
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> [usize; R] {
        self.layout.shape()
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
        // SAFETY: `at` checked the index; `new` vouched for the element.
        unsafe { &*self.layout.at(index) }
    }
}

impl<T: Element, const R: usize> Index<[usize; R]> for ViewMut<'_, T, R> {
    type Output = T;
    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; R]) -> &T {
        // SAFETY: `at` checked the index; `new` vouched for the element.
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

impl<'a, T: Element> SharedMut<'a, T> {
    /// # Safety
    /// `len` elements from `base` are valid for reads and writes for `'a`.
    pub(crate) unsafe fn new(base: *mut T, len: usize) -> Self {
        SharedMut { base, len, life: PhantomData }
    }

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
