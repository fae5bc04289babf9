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

/// A box of cells: the first and the last along each axis.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    rank: usize,
    range: [(u64, u64); MAX_RANK],
}

/// The grid.
#[derive(Clone, Debug)]
pub struct Grid {
    rank: usize,
    /// Largest stride first.
    axes: [Axis; MAX_RANK],
}

#[derive(Clone, Copy, Debug, Default)]
struct Axis {
    /// Bytes from one index to the next.
    stride: u64,
    /// Indices before the next larger axis steps on; a box that goes further wraps around.
    around: u64,
    /// Indices of one cell.
    cell: u64,
    /// Cells that the widest tile filed so far spans.
    span: u64,
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
            grid.axes[grid.rank] = Axis { stride, around: u64::MAX, cell: dim.len as u64, span: 1 };
            grid.rank += 1;
        }
        grid.axes[..grid.rank].sort_unstable_by_key(|a| core::cmp::Reverse(a.stride));
        for i in 1..grid.rank {
            let (outer, inner) = (grid.axes[i - 1].stride, grid.axes[i].stride);
            if !outer.is_multiple_of(inner) {
                return None;
            }
            grid.axes[i].around = outer / inner;
        }
        (grid.rank > 0).then_some(grid)
    }

    /// The cells that a region touches; `None` if it is no box of the grid.
    pub fn locate(&self, region: &Region<'_>) -> Option<Cells> {
        let axes = &self.axes[..self.rank];
        let (mut first, mut len) = ([0u64; MAX_RANK], [1u64; MAX_RANK]);
        let mut offset = region.offset;
        for (first, axis) in first.iter_mut().zip(axes) {
            (*first, offset) = (offset / axis.stride, offset % axis.stride);
        }
        let element = region.element as u64;
        if offset + element > axes[self.rank - 1].stride {
            return None;
        }
        for dim in region.dims.iter().filter(|d| d.len > 1) {
            let axis = axes.iter().position(|a| a.stride == dim.stride as u64 * element)?;
            if len[axis] > 1 {
                return None;
            }
            len[axis] = dim.len as u64;
        }
        let mut cells = Cells { rank: self.rank, range: [(0, 0); MAX_RANK] };
        for (i, axis) in axes.iter().enumerate() {
            if first[i] + len[i] > axis.around {
                return None;
            }
            cells.range[i] = (first[i] / axis.cell, (first[i] + len[i] - 1) / axis.cell);
        }
        Some(cells)
    }

    /// The cell to file a tile under; `None` if it spans too many.
    pub fn file(&mut self, tile: &Cells) -> Option<u64> {
        let span = |range: &(u64, u64)| range.1 - range.0 + 1;
        if tile.range[..self.rank].iter().map(span).product::<u64>() > SPAN_MAX {
            return None;
        }
        let mut cell = 0;
        for (axis, range) in self.axes[..self.rank].iter_mut().zip(&tile.range) {
            axis.span = axis.span.max(span(range));
            cell = mix(cell, range.0);
        }
        Some(cell)
    }

    /// The cells whose tiles could meet this one; `None`: too many, walk all tiles.
    pub fn neighbourhood(&self, tile: &Cells) -> Option<Cells> {
        let (mut cells, mut visits) = (*tile, 1u64);
        for (range, axis) in cells.range.iter_mut().zip(&self.axes[..self.rank]) {
            range.0 = range.0.saturating_sub(axis.span - 1);
            visits = visits.saturating_mul(range.1 - range.0 + 1);
        }
        (visits <= VISIT_MAX).then_some(cells)
    }
}

impl Cells {
    /// Calls `f` with each cell.
    #[inline(always)]
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
