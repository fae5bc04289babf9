//! Tensor views: which bytes of a buffer a task accesses, as `(offset, shape, strides)`.
//!
//! A view is only created from a whole buffer by steps that keep it inside, so every `TensorView` is in bounds by
//! construction; views from outside pass through [`TensorView::from_parts`].

use alloc::vec::Vec;

use crate::dtype::DType;
use crate::limits::MAX_VIEW_ELEMENTS;
use crate::view_error::ViewError;

/// The most dimensions a view can have.
pub const MAX_RANK: usize = 8;

/// One dimension of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Dim {
    /// Number of elements along this dimension.
    pub len: u32,
    /// Elements from one index to the next; 0 repeats the same element (reads only).
    pub stride: u32,
}

/// A strided window on a buffer.
///
/// ```
/// use ringlane_task::{DType, TensorView};
/// let m = TensorView::contiguous(DType::Float32, &[8, 8]).unwrap();
/// assert!(m.transpose(0, 1).unwrap().tile(&[2, 2], &[4, 4]).unwrap().span_bytes() <= m.span_bytes());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct TensorView {
    // First, so that the pairs of dimensions of an aligned view are the 16-byte pieces that it is copied in (see `Arg`).
    dims: [Dim; MAX_RANK],
    offset_bytes: u64,
    rank: u8,
    dtype: DType,
    flags: u8,
    reserved: [u8; 5],
}

/// The elements are consecutive, in row-major order.
const CONTIGUOUS: u8 = 1;
/// Some element occurs more than once.
const REPEATS: u8 = 2;
/// The view covers every byte of the buffer.
const WHOLE: u8 = 4;

const _: () = assert!(size_of::<TensorView>() == 80 && align_of::<TensorView>() == 8);

type Result<T> = core::result::Result<T, ViewError>;

impl TensorView {
    /// The whole of a row-major buffer of this shape.
    pub fn contiguous(dtype: DType, shape: &[u32]) -> Result<Self> {
        if shape.len() > MAX_RANK {
            return Err(ViewError::TooManyDims { rank: shape.len() });
        }
        let mut dims = [Dim::default(); MAX_RANK];
        let mut stride = 1u64;
        for (axis, &len) in shape.iter().enumerate().rev() {
            if len == 0 {
                return Err(ViewError::Empty { axis });
            }
            let narrow = u32::try_from(stride).map_err(|_| ViewError::stride(stride))?;
            dims[axis] = Dim { len, stride: narrow };
            stride = stride
                .checked_mul(len as u64)
                .filter(|&elements| elements <= MAX_VIEW_ELEMENTS)
                .ok_or_else(|| ViewError::elements(shape.iter().copied()))?;
        }
        Ok(TensorView {
            offset_bytes: 0,
            dims,
            rank: shape.len() as u8,
            dtype,
            flags: CONTIGUOUS | WHOLE,
            reserved: [0; 5],
        })
    }

    /// A view from outside, checked against the size of its buffer.
    pub fn from_parts(dtype: DType, offset_bytes: u64, dims: &[Dim], buffer_bytes: u64) -> Result<Self> {
        if dims.len() > MAX_RANK {
            return Err(ViewError::TooManyDims { rank: dims.len() });
        }
        if let Some(axis) = dims.iter().position(|d| d.len == 0) {
            return Err(ViewError::Empty { axis });
        }
        let element_bytes = dtype.size_bytes();
        if !offset_bytes.is_multiple_of(element_bytes as u64) {
            return Err(ViewError::Misaligned { offset_bytes, element_bytes });
        }
        let mut all = [Dim::default(); MAX_RANK];
        all[..dims.len()].copy_from_slice(dims);
        let elements = dims.iter().try_fold(1u64, |n, d| n.checked_mul(d.len as u64));
        if elements.is_none_or(|n| n > MAX_VIEW_ELEMENTS) {
            return Err(ViewError::elements(dims.iter().map(|d| d.len)));
        }
        let rank = dims.len() as u8;
        let view = TensorView { offset_bytes, dims: all, rank, dtype, flags: 0, reserved: [0; 5] };
        // The sum of eight products of two 32-bit numbers fits into 128 bits.
        let last: u128 = dims.iter().map(|d| (d.len as u128 - 1) * d.stride as u128).sum();
        let end = offset_bytes as u128 + (last + 1) * element_bytes as u128;
        if end > buffer_bytes as u128 {
            let end_bytes = u64::try_from(end).unwrap_or(u64::MAX);
            return Err(ViewError::PastEnd { end_bytes, buffer_bytes });
        }
        let whole = view.is_dense() && view.bytes() == buffer_bytes;
        Ok(view.flagged(whole))
    }

    /// The window of `len` elements from `start` along each dimension.
    pub fn tile(&self, start: &[u32], len: &[u32]) -> Result<Self> {
        for given in [start.len(), len.len()] {
            if given != self.rank() {
                return Err(ViewError::RankMismatch { given, rank: self.rank() });
            }
        }
        let (mut view, mut whole) = (*self, self.is_whole());
        for (axis, (&start, &len)) in start.iter().zip(len).enumerate() {
            whole &= view.cut(axis, start, len)?;
        }
        Ok(view.flagged(whole))
    }

    /// The window of `len` elements from `start` along one dimension.
    pub fn slice(&self, axis: usize, start: u32, len: u32) -> Result<Self> {
        let mut view = *self;
        let whole = view.cut(axis, start, len)? && self.is_whole();
        Ok(view.flagged(whole))
    }

    /// Restricts a dimension to `len` elements from `start`; returns whether that is all of it.
    fn cut(&mut self, axis: usize, start: u32, len: u32) -> Result<bool> {
        let dim = self.dim(axis)?;
        let end = start as u64 + len as u64;
        if len == 0 {
            return Err(ViewError::Empty { axis });
        }
        if end > dim.len as u64 {
            return Err(ViewError::OutOfBounds { axis, start: start as u64, end, len: dim.len as u64 });
        }
        self.dims[axis].len = len;
        self.offset_bytes += start as u64 * dim.stride as u64 * self.dtype.size_bytes() as u64;
        Ok(len == dim.len)
    }

    /// The view with its flags updated.
    fn flagged(mut self, whole: bool) -> Self {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        self.flags =
            flag(self.is_dense(), CONTIGUOUS) | flag(self.repeats_an_element(), REPEATS) | flag(whole, WHOLE);
        self
    }

    /// The elements at one index of a dimension, which is dropped.
    pub fn select(&self, axis: usize, index: u32) -> Result<Self> {
        let mut view = self.slice(axis, index, 1)?;
        let whole = view.is_whole();
        view.dims.copy_within(axis + 1.., axis);
        view.rank -= 1;
        view.dims[view.rank as usize] = Dim::default();
        Ok(view.flagged(whole))
    }

    /// The same elements with two dimensions swapped.
    pub fn transpose(&self, a: usize, b: usize) -> Result<Self> {
        self.dim(a)?;
        self.dim(b)?;
        let mut view = *self;
        view.dims.swap(a, b);
        Ok(view.flagged(self.is_whole()))
    }

    /// The same elements under another shape; only for contiguous views.
    pub fn reshape(&self, shape: &[u32]) -> Result<Self> {
        let mut view = TensorView::contiguous(self.dtype, shape)?;
        let (from, to, contiguous) = (self.elements(), view.elements(), self.is_contiguous());
        if from != to || !contiguous {
            return Err(ViewError::NotReshapable { from, to, contiguous });
        }
        view.offset_bytes = self.offset_bytes;
        Ok(view.flagged(self.is_whole()))
    }

    /// A new leading dimension that repeats the view `len` times (stride 0; reads only).
    pub fn broadcast(&self, len: u32) -> Result<Self> {
        if self.rank() == MAX_RANK {
            return Err(ViewError::TooManyDims { rank: MAX_RANK + 1 });
        }
        if len == 0 {
            return Err(ViewError::Empty { axis: 0 });
        }
        if self.elements().saturating_mul(len as u64) > MAX_VIEW_ELEMENTS {
            return Err(ViewError::elements([len].into_iter().chain(self.shape())));
        }
        let mut view = *self;
        view.dims.copy_within(..MAX_RANK - 1, 1);
        view.dims[0] = Dim { len, stride: 0 };
        view.rank += 1;
        Ok(view.flagged(self.is_whole()))
    }

    /// Part `index` of `count` along `axis`: equal parts, the last ones shorter or empty (`None`).
    pub fn part(&self, axis: usize, index: u32, count: u32) -> Option<Self> {
        let len = self.dims().get(axis)?.len;
        let each = len.div_ceil(count.max(1));
        let start = each.checked_mul(index).filter(|&start| start < len)?;
        self.slice(axis, start, each.min(len - start)).ok()
    }

    /// The view moved by `bytes`: converts a view of a tensor to a view of the memory that contains it.
    pub const fn shifted(mut self, bytes: u64) -> Self {
        self.offset_bytes += bytes;
        self
    }

    fn dim(&self, axis: usize) -> Result<Dim> {
        self.dims().get(axis).copied().ok_or(ViewError::NoSuchAxis { axis, rank: self.rank() })
    }

    /// First byte of the view in its buffer.
    #[inline]
    pub const fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// Number of dimensions.
    #[inline]
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// The dimensions, outermost first.
    #[inline]
    pub fn dims(&self) -> &[Dim] {
        &self.dims[..self.rank as usize]
    }

    /// The first two dimensions; zeros in place of those that it does not have.
    #[inline]
    pub const fn first_dims(&self) -> [Dim; 2] {
        [self.dims[0], self.dims[1]]
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> Vec<u32> {
        self.dims().iter().map(|d| d.len).collect()
    }

    /// Type of the elements.
    #[inline]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements of the view.
    #[inline]
    pub fn elements(&self) -> u64 {
        self.dims().iter().map(|d| d.len as u64).product()
    }

    /// Bytes of the elements (not the bytes they span).
    pub fn bytes(&self) -> u64 {
        self.elements() * self.dtype.size_bytes() as u64
    }

    /// Bytes from the first to the last accessed one.
    #[inline]
    pub fn span_bytes(&self) -> u64 {
        let last: u64 = self.dims().iter().map(|d| (d.len as u64 - 1) * d.stride as u64).sum();
        (last + 1) * self.dtype.size_bytes() as u64
    }

    /// Whether the elements are consecutive, in row-major order.
    #[inline]
    pub const fn is_contiguous(&self) -> bool {
        self.flags & CONTIGUOUS != 0
    }

    /// Whether an element occurs more than once, as in a broadcast.
    #[inline]
    pub const fn repeats(&self) -> bool {
        self.flags & REPEATS != 0
    }

    /// Rank, data type and flags in one word, for quick comparisons.
    #[inline]
    pub const fn signature(&self) -> u32 {
        // With the byte after them, which is 0: a single load.
        u32::from_le_bytes([self.rank, self.dtype as u8, self.flags, self.reserved[0]])
    }

    /// The signature of an acceptable view, and a mask of its relevant bits: the data type, the rank if one is given,
    /// contiguous if required, and for a written view that no element occurs twice.
    pub const fn signature_of(dtype: DType, rank: Option<u8>, contiguous: bool, written: bool) -> (u32, u32) {
        let (rank, rank_mask) = match rank {
            Some(rank) => (rank, u8::MAX),
            None => (0, 0),
        };
        let dense = if contiguous { CONTIGUOUS } else { 0 };
        let mask = dense | if written { REPEATS } else { 0 };
        let want = u32::from_le_bytes([rank, dtype as u8, dense, 0]);
        (want, u32::from_le_bytes([rank_mask, u8::MAX, mask, 0]))
    }

    /// A [`signature_of`](Self::signature_of) that only views of whole, contiguous tensors have.
    pub const fn simple_signature_of((want, mask): (u32, u32)) -> (u32, u32) {
        let simple = u32::from_le_bytes([0, 0, CONTIGUOUS | WHOLE, 0]);
        (want | simple, mask | simple)
    }

    /// Whether the view covers every byte of the buffer it was created from.
    #[inline]
    pub const fn is_whole(&self) -> bool {
        self.flags & WHOLE != 0
    }

    fn is_dense(&self) -> bool {
        let mut expected = 1u64;
        for dim in self.dims().iter().rev() {
            if dim.len != 1 && dim.stride as u64 != expected {
                return false;
            }
            expected *= dim.len as u64;
        }
        true
    }

    fn repeats_an_element(&self) -> bool {
        self.dims().iter().any(|d| d.stride == 0 && d.len > 1) || self.overlaps_itself()
    }

    /// Whether two indices can refer to the same element because a stride is smaller than the extent of the inner
    /// dimensions.
    fn overlaps_itself(&self) -> bool {
        let mut sorted: [Dim; MAX_RANK] = self.dims;
        let dims = &mut sorted[..self.rank as usize];
        if self.is_dense() {
            return false;
        }
        dims.sort_unstable_by_key(|d| d.stride);
        let mut reach = 0u64;
        for dim in dims.iter().filter(|d| d.len > 1) {
            if dim.stride as u64 <= reach {
                return true;
            }
            reach += (dim.len as u64 - 1) * dim.stride as u64;
        }
        false
    }

    /// Calls `run(first_byte, bytes)` for each contiguous piece, in row-major order.
    ///
    /// ```
    /// use ringlane_task::{DType, TensorView};
    /// let tile = TensorView::contiguous(DType::UInt8, &[4, 4]).unwrap().tile(&[1, 1], &[2, 2]).unwrap();
    /// let mut runs = vec![];
    /// tile.for_each_run(|start, bytes| runs.push((start, bytes)));
    /// assert_eq!(runs, [(5, 2), (9, 2)]);
    /// ```
    pub fn for_each_run(&self, mut run: impl FnMut(u64, u64)) {
        let size = self.dtype.size_bytes() as u64;
        let (mut width, mut outer) = (1u64, self.rank());
        while outer > 0 {
            let dim = self.dims[outer - 1];
            if dim.len != 1 && dim.stride as u64 != width {
                break;
            }
            width *= dim.len as u64;
            outer -= 1;
        }
        let mut index = [0u32; MAX_RANK];
        loop {
            let at: u64 = (0..outer).map(|d| index[d] as u64 * self.dims[d].stride as u64).sum();
            run(self.offset_bytes + at * size, width * size);
            let Some(axis) = (0..outer).rev().find(|&d| index[d] + 1 < self.dims[d].len) else { return };
            index[axis] += 1;
            index[axis + 1..outer].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn matrix() -> TensorView {
        TensorView::contiguous(DType::Float32, &[4, 6]).unwrap()
    }

    #[test]
    fn a_tile_that_leaves_its_buffer_is_refused() {
        assert!(matrix().tile(&[0, 3], &[4, 4]).is_err());
        assert!(matrix().tile(&[0, u32::MAX], &[1, u32::MAX]).is_err());
        assert!(matrix().tile(&[0], &[1]).is_err());
    }

    #[test]
    fn a_view_from_outside_is_checked_to_the_byte() {
        let dims = [Dim { len: 4, stride: 6 }, Dim { len: 6, stride: 1 }];
        assert_eq!(TensorView::from_parts(DType::Float32, 0, &dims, 96), Ok(matrix()));
        assert!(TensorView::from_parts(DType::Float32, 0, &dims, 95).is_err());
        assert!(TensorView::from_parts(DType::Float32, 2, &dims, 200).is_err());
        let huge = [Dim { len: u32::MAX, stride: u32::MAX }; 8];
        assert!(TensorView::from_parts(DType::Float64, u64::MAX - 7, &huge, u64::MAX).is_err());
    }

    #[test]
    fn parts_tile_the_view_and_the_last_may_be_empty() {
        let view = TensorView::contiguous(DType::UInt8, &[5]).unwrap();
        let parts: Vec<_> =
            (0..4).map(|i| view.part(0, i, 4).map(|p| (p.offset_bytes(), p.elements()))).collect();
        assert_eq!(parts, vec![Some((0, 2)), Some((2, 2)), Some((4, 1)), None]);
    }

    #[test]
    fn a_view_of_more_elements_than_can_be_counted_is_refused() {
        let dims = [Dim { len: u32::MAX, stride: 0 }; 8];
        assert!(TensorView::from_parts(DType::UInt8, 0, &dims, 1).is_err());
        assert!(matrix().broadcast(u32::MAX).unwrap().broadcast(u32::MAX).is_err());
    }

    #[test]
    fn a_view_knows_whether_it_covers_the_whole_buffer() {
        let turned = matrix().transpose(0, 1).unwrap();
        assert!(matrix().is_whole() && turned.is_whole() && matrix().reshape(&[24]).unwrap().is_whole());
        assert!(matrix().tile(&[0, 0], &[4, 6]).unwrap().is_whole());
        assert!(
            !matrix().tile(&[0, 0], &[4, 5]).unwrap().is_whole()
                && !matrix().select(0, 1).unwrap().is_whole()
        );
    }

    #[test]
    fn a_view_with_an_element_twice_is_flagged() {
        assert!(matrix().broadcast(2).unwrap().repeats());
        assert!(!matrix().transpose(0, 1).unwrap().repeats());
        let dims = [Dim { len: 3, stride: 1 }, Dim { len: 2, stride: 2 }];
        assert!(TensorView::from_parts(DType::UInt8, 0, &dims, 8).unwrap().repeats());
    }
}
