//! What part of a buffer an argument is, as the artifacts tell it.

use core::ops::Range;

use ringlane_task::{DType, Dim, MAX_RANK, TensorView};

use crate::text::Text;

/// Type, place, shape and strides of a tensor argument; `offset` in bytes, strides in elements.
///
/// ```
/// use ringlane_task::{DType, TensorView};
/// use ringlane_trace::rows::ViewRow;
/// let tile = TensorView::contiguous(DType::Float32, &[64, 64]).unwrap().tile(&[16, 0], &[16, 32]).unwrap();
/// let row = ViewRow::from(&tile);
/// assert_eq!((row.offset, row.is_contiguous(), row.bytes()), (16 * 64 * 4, false, Some(2048)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViewRow {
    /// Type of the elements.
    pub dtype: DType,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    rank: u8,
    /// Beyond `rank` all are zero, so that equal views compare equal.
    dims: [(u32, u32); MAX_RANK],
}

impl ViewRow {
    /// A view with these dimensions, outermost first; `None` if there are more than [`MAX_RANK`].
    pub fn new(dtype: DType, offset: u64, dims: &[Dim]) -> Option<Self> {
        let mut row = ViewRow { dtype, offset, rank: dims.len() as u8, dims: [(0, 0); MAX_RANK] };
        for (to, from) in row.dims.get_mut(..dims.len())?.iter_mut().zip(dims) {
            *to = (from.len, from.stride);
        }
        Some(row)
    }

    /// Lengths of the dimensions, outermost first.
    pub fn shape(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + '_ {
        self.pairs().iter().map(|&(len, _)| u64::from(len))
    }

    /// Distances between neighbours along each dimension, in elements.
    pub fn strides(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + '_ {
        self.pairs().iter().map(|&(_, stride)| u64::from(stride))
    }

    fn pairs(&self) -> &[(u32, u32)] {
        &self.dims[..usize::from(self.rank)]
    }

    /// Bytes of the elements; `None` if that is more than can be counted.
    pub fn bytes(&self) -> Option<u64> {
        // A length of 0 makes the product 0, however large the others are.
        if self.shape().any(|len| len == 0) {
            return Some(0);
        }
        self.shape().try_fold(self.dtype.size_bytes() as u64, u64::checked_mul)
    }

    /// The bytes of its tensor from the first that it touches to the last; `None` if that is more than can be counted.
    ///
    /// ```
    /// use ringlane_task::{DType, TensorView};
    /// use ringlane_trace::rows::ViewRow;
    /// let tile = TensorView::contiguous(DType::Float32, &[64, 64]).unwrap().tile(&[16, 0], &[2, 32]).unwrap();
    /// assert_eq!(ViewRow::from(&tile).byte_range(), Some(4096..4096 + 256 + 128));
    /// ```
    pub fn byte_range(&self) -> Option<Range<u64>> {
        let element = self.dtype.size_bytes() as u64;
        let last = self.pairs().iter().try_fold(0u64, |last, &(len, stride)| {
            last.checked_add(u64::from(len).saturating_sub(1).checked_mul(u64::from(stride))?)
        });
        let bytes = if self.bytes() == Some(0) { 0 } else { last?.checked_add(1)?.checked_mul(element)? };
        Some(self.offset..self.offset.checked_add(bytes)?)
    }

    /// Whether the elements lie one after the other.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = Some(1u64);
        let in_order = self.pairs().iter().rev().all(|&(len, stride)| {
            let fits = len == 1 || expected == Some(u64::from(stride));
            expected = expected.and_then(|elements| elements.checked_mul(u64::from(len)));
            fits
        });
        in_order || self.bytes() == Some(0)
    }

    /// Dtype, shape, strides and offset, without braces.
    pub(crate) fn write(&self, text: &mut Text) {
        self.write_form(text);
        text.number(self.offset);
    }

    /// As `write`, up to the offset's number.
    pub(crate) fn write_form(&self, text: &mut Text) {
        text.raw("\"dtype\":\"").raw(self.dtype.as_str()).raw("\",\"shape\":").numbers(self.shape());
        text.raw(",\"strides\":").numbers(self.strides()).raw(",\"offset\":");
    }

    /// Whether all but the offset is equal.
    #[inline]
    pub(crate) fn has_form_of(&self, other: &ViewRow) -> bool {
        self.dtype == other.dtype && self.pairs() == other.pairs()
    }

    /// A number that is likely to differ where the form does.
    #[inline]
    pub(crate) fn form_hash(&self) -> u64 {
        let mix = |hash: u64, &(len, stride): &(u32, u32)| {
            (hash ^ (u64::from(len) | u64::from(stride) << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        self.pairs().iter().fold(self.dtype as u64, mix)
    }
}

impl From<&TensorView> for ViewRow {
    fn from(view: &TensorView) -> Self {
        let mut row = ViewRow {
            dtype: view.dtype(),
            offset: view.offset_bytes(),
            rank: view.rank() as u8,
            dims: [(0, 0); MAX_RANK],
        };
        for (to, from) in row.dims.iter_mut().zip(view.dims()) {
            *to = (from.len, from.stride);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_agrees_with_the_view_it_was_made_of() {
        let whole = TensorView::contiguous(DType::Int16, &[4, 1, 6]).unwrap();
        let views = [
            whole,
            whole.tile(&[1, 0, 0], &[2, 1, 6]).unwrap(),
            whole.tile(&[0, 0, 1], &[4, 1, 2]).unwrap(),
            whole.transpose(0, 2).unwrap(),
            whole.slice(0, 2, 1).unwrap(),
        ];
        for view in &views {
            let row = ViewRow::from(view);
            assert_eq!(ViewRow::new(view.dtype(), view.offset_bytes(), view.dims()), Some(row));
            assert_eq!(
                (row.is_contiguous(), row.bytes()),
                (view.is_contiguous(), Some(view.bytes())),
                "{view:?}"
            );
        }
    }

    #[test]
    fn a_shape_past_all_counting_has_no_number_of_bytes() {
        let large = [Dim { len: u32::MAX, stride: 0 }; MAX_RANK];
        assert_eq!(ViewRow::new(DType::Float64, 0, &large).unwrap().bytes(), None);
        assert_eq!(ViewRow::new(DType::Float64, 0, &[Dim { len: 0, stride: 0 }; MAX_RANK + 1]), None);
    }
}
