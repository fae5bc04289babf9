//! A tensor's grid: files parts of about one size by the cell that their first corner is in.
//!
//! A part that spans a few cells at most, and is not much smaller than one, is admitted; the grid remembers the most cells that
//! an admitted part spans along each axis. A lookup visits the cells that its own box touches, and before them as many as the
//! widest part could reach back. Regular tilings (every tile is one cell) visit exactly one.

use super::axes::{AXES_MAX, Bounds};

/// Cells that an admitted part may span along one axis: a tile with its halo spans three.
const SPAN_MAX: i32 = 3;
/// A cell is at most this many times as large as an admitted part: so at most this many parts that do not overlap share one.
const CELL_PARTS_MAX: f32 = 64.0;

/// A box of cells: the first and the last along each axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    rank: usize,
    first: [i32; AXES_MAX],
    last: [i32; AXES_MAX],
}

/// The grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    rank: usize,
    /// Coordinates of one cell along each axis.
    cell: [i32; AXES_MAX],
    /// Cells that the widest part filed so far spans.
    span: [i32; AXES_MAX],
    volume: f32,
}

impl Grid {
    /// A grid of `rank` axes whose cells have the size of this part.
    pub(super) fn for_part(bounds: &Bounds, rank: usize) -> Grid {
        let cell = core::array::from_fn(|axis| (bounds.high[axis] - bounds.low[axis]).saturating_add(1));
        Grid { rank, cell, span: [1; AXES_MAX], volume: bounds.volume() }
    }

    /// The cells that a box touches.
    #[inline]
    pub(super) fn cells(&self, bounds: &Bounds) -> Cells {
        let mut cells = Cells { rank: self.rank, first: [0; AXES_MAX], last: [0; AXES_MAX] };
        for axis in 0..self.rank {
            // Unsigned, which divides faster.
            let (low, high, cell) =
                (bounds.low[axis] as u32, bounds.high[axis] as u32, self.cell[axis] as u32);
            let (first, rest) = (low / cell, low % cell);
            cells.first[axis] = first as i32;
            cells.last[axis] = if high - low < cell - rest { first as i32 } else { (high / cell) as i32 };
        }
        cells
    }

    /// The name of the cell to file a part under; `None` if the part is too large or too small for the grid.
    #[inline]
    pub(super) fn admit(&mut self, bounds: &Bounds) -> Option<u32> {
        let cells = self.cells(bounds);
        let span = |axis: usize| cells.last[axis] - cells.first[axis] + 1;
        if (0..self.rank).any(|axis| span(axis) > SPAN_MAX) || bounds.volume() * CELL_PARTS_MAX < self.volume
        {
            return None;
        }
        for axis in 0..self.rank {
            self.span[axis] = self.span[axis].max(span(axis));
        }
        Some(name(&cells.first[..self.rank]))
    }

    /// The cells whose parts could meet a box, and their number.
    #[inline]
    pub(super) fn neighbourhood(&self, bounds: &Bounds) -> (Cells, u64) {
        let (mut cells, mut count) = (self.cells(bounds), 1u64);
        for axis in 0..self.rank {
            cells.first[axis] = (cells.first[axis] - (self.span[axis] - 1)).max(0);
            count = count.saturating_mul((cells.last[axis] - cells.first[axis]) as u64 + 1);
        }
        (cells, count)
    }
}

impl Cells {
    /// Calls `visit` with the name of each cell.
    #[inline]
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32)) {
        let mut at = self.first;
        loop {
            visit(name(&at[..self.rank]));
            let Some(axis) = (0..self.rank).rev().find(|&axis| at[axis] < self.last[axis]) else { return };
            at[axis] += 1;
            at[axis + 1..].copy_from_slice(&self.first[axis + 1..]);
        }
    }
}

/// A cell's number in the table of cells. Two cells may have one name; neighbours along the last axis have names that
/// follow each other, so that a lookup finds them in one cache line.
#[inline]
fn name(at: &[i32]) -> u32 {
    at.iter().fold(0, |name: u32, &index| name.wrapping_mul(0x9e37_79b1).wrapping_add(index as u32))
}
