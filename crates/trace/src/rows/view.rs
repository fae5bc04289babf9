//! What part of a buffer an argument is, as the artifacts store it.

use core::ops::Range;

use ringlane_task::{DType, Dim, MAX_RANK, TensorView};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::field::Field;
use super::quick::Quick;
use crate::text::Text;

/// Lengths or strides of a view, one for each dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sizes {
    rank: u8,
    /// Beyond `rank` all are zero, so that equal sizes compare equal.
    sizes: [u32; MAX_RANK],
}

impl Sizes {
    /// These sizes; `None` if there are more than [`MAX_RANK`].
    pub fn new(sizes: impl IntoIterator<Item = u32>) -> Option<Self> {
        let mut all = Sizes::default();
        for size in sizes {
            *all.sizes.get_mut(usize::from(all.rank))? = size;
            all.rank += 1;
        }
        Some(all)
    }

    /// The sizes, outermost first.
    pub fn as_slice(&self) -> &[u32] {
        &self.sizes[..usize::from(self.rank)]
    }
}

impl Field for Sizes {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.list(self.as_slice(), |text, &size| {
            text.number(size);
        });
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        let mut all = Sizes::default();
        text.list(|text| {
            *all.sizes.get_mut(usize::from(all.rank))? = text.small()?;
            all.rank += 1;
            Some(())
        })?;
        Some(all)
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let sizes = Vec::<u32>::deserialize(from)?;
        let rank = sizes.len();
        Sizes::new(sizes).ok_or_else(|| D::Error::custom(format_args!("{rank} dimensions")))
    }
}

row! { object
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
        dtype: DType,
        /// Lengths of the dimensions, outermost first.
        shape: Sizes,
        /// Distances between neighbours along each dimension, in elements.
        strides: Sizes,
        /// Bytes from the start of the buffer.
        offset: u64,
    }
    checked by ranks_of
}

fn ranks_of(view: &ViewRow) -> Result<(), String> {
    let (shape, strides) = (view.shape.rank, view.strides.rank);
    if shape == strides { Ok(()) } else { Err(format!("{shape} lengths and {strides} strides")) }
}

impl ViewRow {
    /// A view with these dimensions, outermost first; `None` if there are more than [`MAX_RANK`].
    pub fn new(dtype: DType, offset: u64, dims: &[Dim]) -> Option<Self> {
        let shape = Sizes::new(dims.iter().map(|dim| dim.len))?;
        let strides = Sizes::new(dims.iter().map(|dim| dim.stride))?;
        Some(ViewRow { dtype, shape, strides, offset })
    }

    /// The same, if it has as many lengths as strides.
    pub(crate) fn checked(self) -> Result<Self, String> {
        ranks_of(&self).map(|()| self)
    }

    /// Lengths of the dimensions, outermost first.
    pub fn shape(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + '_ {
        self.shape.as_slice().iter().map(|&len| u64::from(len))
    }

    /// Distances between neighbours along each dimension, in elements.
    pub fn strides(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + '_ {
        self.strides.as_slice().iter().map(|&stride| u64::from(stride))
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
        let last = self.shape().zip(self.strides()).try_fold(0u64, |last, (len, stride)| {
            last.checked_add(len.saturating_sub(1).checked_mul(stride)?)
        });
        let bytes = if self.bytes() == Some(0) { 0 } else { last?.checked_add(1)?.checked_mul(element)? };
        Some(self.offset..self.offset.checked_add(bytes)?)
    }

    /// Whether the elements are contiguous.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = Some(1u64);
        let in_order = self.shape().zip(self.strides()).rev().all(|(len, stride)| {
            let fits = len == 1 || expected == Some(stride);
            expected = expected.and_then(|elements| elements.checked_mul(len));
            fits
        });
        in_order || self.bytes() == Some(0)
    }
}

impl From<&TensorView> for ViewRow {
    fn from(view: &TensorView) -> Self {
        // A view has as many dimensions as fit.
        ViewRow::new(view.dtype(), view.offset_bytes(), view.dims()).unwrap_or_else(|| unreachable!())
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
