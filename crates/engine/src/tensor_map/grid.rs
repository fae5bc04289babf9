//! A tensor's grid: files tiles by the cell their first element lies in.
//!
//! The first tile of a tensor gives the grid: its strides, largest first, are the axes, and its lengths the size of
//! a cell. A region whose strides are among those axes is a box of coordinates; it is filed under the cell of its
//! first corner, and the grid remembers how many cells the widest tile spans. A lookup visits the cells its own box
//! touches, and before them as many as the widest tile could reach back. Regular tilings (every tile is one cell)
//! visit exactly one.
//!
//! What does not fit (other strides, boxes that wrap around a row, tiles of very many cells) is *wide*.

use ringlane_task::MAX_RANK;

use crate::overlap::Region;

/// Cells that a filed tile may span in all, and along one axis.
const SPAN_MAX: u64 = 16;
/// Cells that a lookup visits; beyond it walks all tiles instead.
const VISIT_MAX: u64 = 64;

/// A box in grid coordinates: first index and length along each axis.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    first: u64,
    len: u64,
}

/// The grid.
#[derive(Clone, Debug)]
pub struct Grid {
    rank: usize,
    /// Byte stride, cell length and widest span of each axis, largest stride first.
    axes: [Axis; MAX_RANK],
}

#[derive(Clone, Copy, Debug, Default)]
struct Axis {
    stride: u64,
    cell: u64,
    span: u64,
}

/// The cells a lookup visits.
#[derive(Debug)]
pub struct Cells {
    rank: usize,
    range: [(u64, u64); MAX_RANK],
}

impl Grid {
    /// The grid that this tile suggests; `None` if its strides do not divide each other.
    pub fn for_tile(region: &Region<'_>) -> Option<Grid> {
        let mut grid = Grid { rank: 0, axes: [Axis::default(); MAX_RANK] };
        for dim in region.dims.iter().filter(|d| d.stride > 0) {
            let stride = dim.stride as u64 * region.element as u64;
            if grid.axes[..grid.rank].iter().any(|a| a.stride == stride) {
                continue;
            }
            grid.axes[grid.rank] = Axis { stride, cell: dim.len as u64, span: 1 };
            grid.rank += 1;
        }
        grid.axes[..grid.rank].sort_unstable_by_key(|a| core::cmp::Reverse(a.stride));
        let nested = grid.axes[..grid.rank].windows(2).all(|w| w[0].stride.is_multiple_of(w[1].stride));
        (grid.rank > 0 && nested).then_some(grid)
    }

    /// The box of a region, if it is one.
    fn extents(&self, region: &Region<'_>) -> Option<[Extent; MAX_RANK]> {
        let mut extents = [Extent::default(); MAX_RANK];
        let mut offset = region.offset;
        for (extent, axis) in extents.iter_mut().zip(&self.axes[..self.rank]) {
            *extent = Extent { first: offset / axis.stride, len: 1 };
            offset %= axis.stride;
        }
        let element = region.element as u64;
        if offset + element > self.axes[self.rank - 1].stride {
            return None;
        }
        for dim in region.dims.iter().filter(|d| d.len > 1) {
            let stride = dim.stride as u64 * element;
            let axis = self.axes[..self.rank].iter().position(|a| a.stride == stride)?;
            if extents[axis].len > 1 {
                return None;
            }
            extents[axis].len = dim.len as u64;
        }
        let fits = (1..self.rank).all(|i| {
            let around = self.axes[i - 1].stride / self.axes[i].stride;
            extents[i].first + extents[i].len <= around
        });
        fits.then_some(extents)
    }

    /// The cell to file a tile under; `None` if it is wide.
    pub fn file(&mut self, region: &Region<'_>) -> Option<u64> {
        let extents = self.extents(region)?;
        let mut spans = [1u64; MAX_RANK];
        for ((span, extent), axis) in spans.iter_mut().zip(&extents).zip(&self.axes[..self.rank]) {
            *span = (extent.first + extent.len - 1) / axis.cell - extent.first / axis.cell + 1;
        }
        if spans[..self.rank].iter().product::<u64>() > SPAN_MAX {
            return None;
        }
        let mut cell = 0;
        for ((axis, span), extent) in self.axes[..self.rank].iter_mut().zip(spans).zip(&extents) {
            axis.span = axis.span.max(span);
            cell = mix(cell, extent.first / axis.cell);
        }
        Some(cell)
    }

    /// The cells whose tiles could meet this region; `None`: too many, walk all tiles.
    pub fn neighbourhood(&self, region: &Region<'_>) -> Option<Cells> {
        let extents = self.extents(region)?;
        let mut cells = Cells { rank: self.rank, range: [(0, 0); MAX_RANK] };
        let mut visits = 1u64;
        for ((range, extent), axis) in cells.range.iter_mut().zip(&extents).zip(&self.axes[..self.rank]) {
            let last = (extent.first + extent.len - 1) / axis.cell;
            let first = (extent.first / axis.cell).saturating_sub(axis.span - 1);
            *range = (first, last);
            visits = visits.saturating_mul(last - first + 1);
        }
        (visits <= VISIT_MAX).then_some(cells)
    }
}

impl Cells {
    /// Calls `f` with each cell.
    pub fn for_each(&self, mut f: impl FnMut(u64)) {
        let mut at = [0u64; MAX_RANK];
        for (at, range) in at.iter_mut().zip(&self.range) {
            *at = range.0;
        }
        loop {
            f(at[..self.rank].iter().fold(0, |cell, &index| mix(cell, index)));
            let Some(axis) = (0..self.rank).rev().find(|&d| at[d] < self.range[d].1) else { return };
            at[axis] += 1;
            for (at, range) in at.iter_mut().zip(&self.range).take(self.rank).skip(axis + 1) {
                *at = range.0;
            }
        }
    }
}

/// Folds one more index into a cell's name.
fn mix(cell: u64, index: u64) -> u64 {
    (cell.rotate_left(21) ^ index).wrapping_mul(0xff51_afd7_ed55_8ccd)
}
