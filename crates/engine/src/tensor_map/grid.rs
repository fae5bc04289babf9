//! A tensor's grid: files parts of about one size by the cell that their first corner is in.
//!
//! A part that spans a few cells at most, and is not much smaller than one, is admitted; the grid remembers the most cells that
//! an admitted part spans along each axis. A lookup visits the cells that its own box touches, and before them as many as the
//! widest part could reach back. Regular tilings (every tile is one cell) visit exactly one.

use core::ops::BitOr;

use super::axes::{AXES_MAX, Bounds};
use super::reach::{Probe, Reach, shift_for};

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
    /// From coordinates to steps of a reach.
    shift: [u8; AXES_MAX],
    /// Cells that the widest part filed so far spans.
    span: [i32; AXES_MAX],
    volume: f32,
}

impl Grid {
    /// A grid of `rank` axes whose cells have the size of this part.
    pub(super) fn for_part(bounds: &Bounds, rank: usize) -> Grid {
        let cell: [i32; AXES_MAX] =
            core::array::from_fn(|axis| (bounds.high[axis] - bounds.low[axis]).saturating_add(1));
        let shift = cell.map(|cell| shift_for(SPAN_MAX as u64 * cell as u64));
        Grid { rank, cell, shift, span: [1; AXES_MAX], volume: bounds.volume() }
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

    /// The name of the cell to file a part under, and how far the part reaches from there; `None` if the part is too large or
    /// too small for the grid.
    #[inline]
    pub(super) fn admit(&mut self, bounds: &Bounds) -> Option<(u32, Reach)> {
        let cells = self.cells(bounds);
        let span = |axis: usize| cells.last[axis] - cells.first[axis] + 1;
        if (0..self.rank).any(|axis| span(axis) > SPAN_MAX) || bounds.volume() * CELL_PARTS_MAX < self.volume
        {
            return None;
        }
        for axis in 0..self.rank {
            self.span[axis] = self.span[axis].max(span(axis));
        }
        let corner = &cells.first[..self.rank];
        let ends = corner.iter().enumerate().map(|(axis, &at)| self.steps(bounds, axis, at));
        Some((name(corner), Reach::of(ends)))
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

    /// What the reach of cells must have for their parts to meet a box, as far as one axis says it: for cells at this place along
    /// it, which the box reaches into or beyond.
    #[inline]
    pub(super) fn probe(&self, bounds: &Bounds, axis: usize, at: i32) -> Probe {
        Probe::along(axis, self.steps(bounds, axis, at))
    }

    /// The near and far end of a box along an axis, in steps from the corner of cells at this place.
    #[inline]
    fn steps(&self, bounds: &Bounds, axis: usize, at: i32) -> (u32, u32) {
        let corner = (at * self.cell[axis]) as u32;
        let steps = |coordinate: i32| (coordinate as u32).saturating_sub(corner) >> self.shift[axis];
        (steps(bounds.low[axis]), steps(bounds.high[axis]))
    }
}

impl Cells {
    /// The name of the first one.
    #[inline]
    pub(super) fn first(&self) -> u32 {
        name(&self.first[..self.rank])
    }

    /// Calls `visit` with each row of cells along the last axis.
    #[inline]
    pub(super) fn for_each_row(&self, mut visit: impl FnMut(&Row<'_>)) {
        let (mut at, outer) = (self.first, self.rank - 1);
        loop {
            visit(&Row {
                name: name(&at[..self.rank]),
                outer: &at[..outer],
                first: at[outer],
                last: self.last[outer],
            });
            let Some(axis) = (0..outer).rev().find(|&axis| at[axis] < self.last[axis]) else { return };
            at[axis] += 1;
            at[axis + 1..].copy_from_slice(&self.first[axis + 1..]);
        }
    }
}

/// Some cells that follow each other along the last axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// The name of the first. Those of the others follow it.
    pub(super) name: u32,
    /// Where they are along the other axes.
    outer: &'a [i32],
    first: i32,
    last: i32,
}

impl Row<'_> {
    /// Calls `visit` with the name of each cell, and what its reach must have for its parts to meet the box.
    #[inline]
    pub(super) fn for_each(&self, grid: &Grid, bounds: &Bounds, mut visit: impl FnMut(u32, Probe)) {
        let along = self.outer.iter().enumerate().map(|(axis, &at)| grid.probe(bounds, axis, at));
        let outer = along.fold(Probe::default(), Probe::bitor);
        for at in self.first..=self.last {
            let name = self.name.wrapping_add((at - self.first) as u32);
            visit(name, outer | grid.probe(bounds, self.outer.len(), at));
        }
    }
}

/// A cell's number in the table of cells. Two cells may have one name; neighbours along the last axis have names that
/// follow each other, so that a lookup finds them in one cache line.
#[inline]
fn name(at: &[i32]) -> u32 {
    at.iter().fold(0, |name: u32, &index| name.wrapping_mul(0x9e37_79b1).wrapping_add(index as u32))
}
