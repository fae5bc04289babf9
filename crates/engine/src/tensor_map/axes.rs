//! Coordinates of a tensor's bytes, in which a view is a box.
//!
//! A tensor's axes are a few strides in bytes, largest first, each a multiple of the next. Dividing an offset by them in turn gives
//! its coordinates: of a row-major matrix its row and its column. A view's *bounds* are a box of such coordinates that holds
//! every byte of the view, so two views whose bounds do not meet share no byte. The bounds of tiles, rows and columns are
//! *exact*: they hold no other byte, so how two such views relate follows from the boxes alone. A view that wraps around an
//! axis (several rows as one dimension, a stride that fits no axis) gets the full width of the axes inside it.
//!
//! The strides come from the views themselves: a view with a stride that fits between those known adds an axis. So the one
//! axis of a vector becomes the two of a matrix when the first tile arrives, and the odd and even elements of a vector are
//! two boxes.

use ringlane_task::Dim;

use crate::overlap::{Region, Relation};

/// The most axes of a tensor. Four strides distinguish views of higher rank, too.
pub(super) const AXES_MAX: usize = 4;

/// A box of coordinates, its last ones included. Along axes that the tensor does not have it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub(super) low: [i32; AXES_MAX],
    pub(super) high: [i32; AXES_MAX],
    /// Whether every byte with these coordinates is the view's.
    pub(super) exact: bool,
}

impl Bounds {
    /// The box that holds nothing and extends nothing.
    pub(super) const EMPTY: Bounds = Bounds { low: [i32::MAX; AXES_MAX], high: [-1; AXES_MAX], exact: false };

    /// How an older view is to this newer one, if the boxes say it.
    #[inline]
    pub(super) fn relation(&self, old: &Bounds) -> Option<Relation> {
        let (mut meet, mut covered) = (true, true);
        for axis in 0..AXES_MAX {
            meet &= (old.low[axis] <= self.high[axis]) & (self.low[axis] <= old.high[axis]);
            covered &= (self.low[axis] <= old.low[axis]) & (old.high[axis] <= self.high[axis]);
        }
        match (meet, self.exact & old.exact) {
            (false, _) => Some(Relation::Disjoint),
            (true, true) => Some(if covered { Relation::Covered } else { Relation::Partial }),
            (true, false) => None,
        }
    }

    /// The smallest box that holds both.
    #[inline]
    pub(super) fn union(&self, other: &Bounds) -> Bounds {
        let mut both = Bounds { exact: false, ..*self };
        for axis in 0..AXES_MAX {
            both.low[axis] = both.low[axis].min(other.low[axis]);
            both.high[axis] = both.high[axis].max(other.high[axis]);
        }
        both
    }

    /// The length along each axis.
    #[inline]
    pub(super) fn lengths(&self) -> [f32; AXES_MAX] {
        core::array::from_fn(|axis| (self.high[axis] - self.low[axis]) as f32 + 1.0)
    }

    /// The product of the lengths.
    #[inline]
    pub(super) fn volume(&self) -> f32 {
        self.lengths().iter().product()
    }
}

/// The axes of a tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    rank: usize,
    strides: [u64; AXES_MAX],
}

impl Axes {
    /// The axes that a first view suggests.
    pub(super) fn of(region: &Region<'_>) -> Axes {
        let mut axes = Axes { rank: 0, strides: [0; AXES_MAX] };
        axes.extend(region);
        axes
    }

    /// Number of axes.
    #[inline]
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Adds the strides of a view that fit between those known; true if there was one. Bounds taken before are of no
    /// use then.
    pub(super) fn extend(&mut self, region: &Region<'_>) -> bool {
        let before = self.rank;
        let element = region.element as u64;
        let strides = |takes: fn(&Dim) -> bool| {
            region
                .dims
                .iter()
                .filter(move |d| d.stride > 0 && takes(d))
                .map(move |d| d.stride as u64 * element)
        };
        // Dimensions of one element say how the tensor is laid out, too.
        for stride in strides(|d| d.len > 1).chain(strides(|d| d.len == 1)).chain([element]) {
            self.add(stride);
        }
        self.rank > before
    }

    /// Whether a view has a stride that would be one more axis.
    #[inline]
    pub(super) fn misses(&self, region: &Region<'_>) -> bool {
        let fits = |stride: u64| stride > 0 && self.room_for(stride).is_some();
        self.rank < AXES_MAX && region.dims.iter().any(|d| fits(d.stride as u64 * region.element as u64))
    }

    fn add(&mut self, stride: u64) {
        if let Some(at) = self.room_for(stride) {
            self.strides.copy_within(at..AXES_MAX - 1, at + 1);
            self.strides[at] = stride;
            self.rank += 1;
        }
    }

    /// Where a stride belongs, if it is not there, there is room, and it divides and is divided as it must.
    fn room_for(&self, stride: u64) -> Option<usize> {
        let axes = &self.strides[..self.rank];
        let at = axes.iter().position(|&axis| axis <= stride).unwrap_or(self.rank);
        let divides = at == 0 || axes[at - 1].is_multiple_of(stride);
        let is_divided = axes.get(at).is_none_or(|&axis| axis != stride && stride.is_multiple_of(axis));
        (self.rank < AXES_MAX && divides && is_divided).then_some(at)
    }

    /// The bounds of a region whose offset counts from the tensor's start.
    #[inline]
    pub(super) fn bounds(&self, region: &Region<'_>) -> Bounds {
        let mut bounds = Bounds { low: [0; AXES_MAX], high: [0; AXES_MAX], exact: true };
        let element = region.element as u64;
        let stride_of = |dim: &Dim| dim.stride as u64 * element;
        let reach_of = |dim: &Dim| (dim.len as u64 - 1) * stride_of(dim);
        let (mut offset, mut reach) = (region.offset, region.dims.iter().map(reach_of).sum::<u64>());
        let mut outer = u64::MAX;
        for (axis, &stride) in self.strides[..self.rank].iter().enumerate() {
            let (mut steps, mut aligned) = (0, true);
            for dim in region.dims.iter().filter(|d| d.len > 1 && (stride..outer).contains(&stride_of(d))) {
                bounds.exact &= stride_of(dim) == stride && steps == 0;
                steps += reach_of(dim);
                aligned &= stride_of(dim) == stride || stride_of(dim).is_multiple_of(stride);
            }
            let (first, rest) = (offset / stride, offset % stride);
            bounds.low[axis] = coordinate(first);
            if !aligned || rest + (reach - steps) + element > stride {
                // It wraps around: its bytes are anywhere between its first and its last.
                bounds.high[axis] = coordinate((offset + reach + element - 1) / stride);
                for inner in axis + 1..self.rank {
                    bounds.high[inner] = coordinate(self.strides[inner - 1] / self.strides[inner] - 1);
                }
                return Bounds { exact: false, ..bounds };
            }
            bounds.high[axis] = coordinate(first + steps / stride);
            (offset, reach, outer) = (rest, reach - steps, stride);
        }
        bounds.exact &= offset == 0 && element == outer && bounds.high.iter().all(|&high| high < i32::MAX);
        bounds
    }
}

/// A coordinate, the largest one for all that are beyond it.
#[inline]
fn coordinate(index: u64) -> i32 {
    index.min(i32::MAX as u64) as i32
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use ringlane_task::{DType, TensorView};

    use super::*;

    fn bounds(axes: &Axes, view: &TensorView) -> ([i32; AXES_MAX], [i32; AXES_MAX]) {
        let bounds = axes.bounds(&Region::of(view));
        (bounds.low, bounds.high)
    }

    #[test]
    fn tiles_rows_columns_and_steps_of_a_matrix_are_boxes() {
        let matrix = TensorView::contiguous(DType::Float32, &[8, 16]).unwrap();
        let axes = Axes::of(&Region::of(&matrix));
        let tile = matrix.tile(&[2, 4], &[3, 5]).unwrap();
        assert_eq!(bounds(&axes, &tile), ([2, 4, 0, 0], [4, 8, 0, 0]));
        assert_eq!(bounds(&axes, &tile.transpose(0, 1).unwrap()), bounds(&axes, &tile));
        assert_eq!(bounds(&axes, &matrix.select(0, 7).unwrap()), ([7, 0, 0, 0], [7, 15, 0, 0]));
        assert_eq!(bounds(&axes, &matrix.select(1, 9).unwrap()), ([0, 9, 0, 0], [7, 9, 0, 0]));
    }

    #[test]
    fn bounds_are_exact_where_the_view_is_all_of_the_box() {
        let matrix = TensorView::contiguous(DType::Float32, &[8, 16]).unwrap();
        let axes = Axes::of(&Region::of(&matrix));
        let exact = |view: &TensorView| axes.bounds(&Region::of(view)).exact;
        assert!(exact(&matrix.tile(&[2, 4], &[3, 5]).unwrap()) && exact(&matrix.select(1, 3).unwrap()));
        let two = |stride| [Dim { len: 2, stride }];
        let part = |dtype, offset, stride| TensorView::from_parts(dtype, offset, &two(stride), 512).unwrap();
        assert!(exact(&part(DType::Float32, 0, 16)) && !exact(&part(DType::Float32, 0, 32)));
        assert!(!exact(&part(DType::Float16, 0, 32)) && !exact(&part(DType::Float32, 0, 2)));
    }

    #[test]
    fn a_view_that_wraps_around_has_the_full_width() {
        let matrix = TensorView::contiguous(DType::Float32, &[8, 16]).unwrap();
        let axes = Axes::of(&Region::of(&matrix));
        let flat = matrix.reshape(&[128]).unwrap().slice(0, 20, 40).unwrap();
        assert_eq!(bounds(&axes, &flat), ([1, 0, 0, 0], [3, 15, 0, 0]));
    }

    #[test]
    fn strides_that_fit_become_axes_and_no_others() {
        let vector = TensorView::contiguous(DType::Float32, &[96]).unwrap();
        let mut axes = Axes::of(&Region::of(&vector));
        assert_eq!(axes.rank(), 1);
        let every_second = [Dim { len: 48, stride: 2 }];
        let odd = TensorView::from_parts(DType::Float32, 4, &every_second, 384).unwrap();
        assert!(axes.misses(&Region::of(&odd)) && axes.extend(&Region::of(&odd)));
        assert_eq!(bounds(&axes, &odd), ([0, 1, 0, 0], [47, 1, 0, 0]));
        let every_third = [Dim { len: 32, stride: 3 }];
        let third = TensorView::from_parts(DType::Float32, 0, &every_third, 384).unwrap();
        assert!(!axes.misses(&Region::of(&third)) && !axes.extend(&Region::of(&third)));
        assert_eq!(bounds(&axes, &third), ([0, 0, 0, 0], [46, 1, 0, 0]));
    }
}
