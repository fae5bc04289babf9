//! `heat`: the explicit heat equation on a square grid, a five-point stencil over time steps, on tiles with halos.
//!
//! ```text
//! u'[i][j] = u[i][j] + ⅛·((u[i-1][j] + u[i+1][j]) + (u[i][j-1] + u[i][j+1]) - 4·u[i][j])
//! ```
//! The outermost cells of the grid are fixed. There are two buffers: a sweep over the tiles reads one of them and writes
//! the other, then they change places. A task reads its tile grown by the halo on all four sides, clipped at the border
//! of the grid, as one view, and advances its tile by as many steps as the halo is wide:
//!
//! ```text
//! ┌───────────┐   halo 2: the first of two steps computes the tile and one cell around it, in scratch memory,
//! │ ┌───────┐ │   the second the tile. Cells near a seam are computed by several tasks.
//! │ │ tile  │ │
//! │ └───────┘ │   The last sweep takes the steps that are left, with a halo of that width.
//! └───────────┘
//! ```
//! So a task depends on the tasks of the sweep before whose tiles its halo reaches (the eight around its own, or more if
//! the halo is wider than a tile, which is allowed), and on those that read what it overwrites. A wider halo means
//! fewer, longer tasks.
//!
//! Every cell is computed by the same expression in every task, so the halo and the tile do not change a bit of the
//! result.
//!
//! Golden: a double loop over the whole grid in f32, step by step; every cell is equal. A tolerance would hide a stale
//! halo: the differences that it causes fade as heat does.

use core::ops::Range;

use ringlane_engine::prelude::*;

use crate::cost;
use crate::golden::{Check, Golden, Tolerance};
use crate::rng::Rng;
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::{in_scopes, pieces};

/// Share of the difference to each neighbour that flows in one step; above a quarter the scheme is unstable.
const RATE: f32 = 0.125;
/// Operations for each cell and step.
const FLOPS_PER_CELL: f64 = 7.0;
/// Tasks in one scope: half of a window of 64, so that two scopes are in flight.
const TASKS_PER_SCOPE: usize = 32;

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "heat",
    about: "heat equation, a five-point stencil over time steps: each tile reads a halo around it",
    params: &[
        Param { name: "n", default: "128", about: "rows and columns of the grid, its fixed border included" },
        Param { name: "steps", default: "8", about: "time steps" },
        Param { name: "tile", default: "32", about: "rows and columns of a tile" },
        Param {
            name: "halo",
            default: "1",
            about: "cells read around a tile, and steps that a task advances it",
        },
    ],
    cases: &[
        Case { name: "small", about: "4×4 tiles, a task for each step", set: &[] },
        Case {
            name: "ragged",
            about: "neither a multiple of the tile nor of the halo",
            set: &[("n", "101"), ("steps", "11"), ("tile", "28"), ("halo", "3")],
        },
        Case {
            name: "wide",
            about: "halos wider than the tiles",
            set: &[("n", "64"), ("steps", "50"), ("tile", "8"), ("halo", "20")],
        },
        Case {
            name: "medium",
            about: "8×8 tiles, two steps in a task",
            set: &[("n", "512"), ("steps", "32"), ("tile", "64"), ("halo", "2")],
        },
        Case {
            name: "large",
            about: "16×16 tiles, four steps in a task",
            set: &[("n", "2048"), ("steps", "32"), ("tile", "128"), ("halo", "4")],
        },
    ],
    kernels: &[&DIFFUSE],
    build: &|settings| {
        // A grid without inner cells has nothing to compute.
        let n = settings.u32("n", 3..=1 << 14)?;
        let steps = settings.u32("steps", 1..=1 << 20)?;
        let size = |name| settings.u32(name, 1..=1 << 14);
        let (tile, halo) = (size("tile")?, size("halo")?);
        Ok(Box::new(Heat { n, steps, tile, halo, seed: settings.seed, ids: None }))
    },
};

/// A rectangle of cells: a range of rows and a range of columns.
type Area = [Range<u32>; 2];

kernel! {
    /// Advances a tile by some steps. The view is the tile, at (top, left), with a halo of as many cells as steps.
    static DIFFUSE = aiv fn(view: View<f32, 2>, tile: ViewMut<f32, 2>, top: u32, left: u32, steps: u32) {
        let mut tile = tile;
        let area = area_at([top, left], tile.shape().map(|len| len as u32));
        let rows: Vec<&[f32]> = (0..view.shape()[0]).map(|i| view.row(&[i])).collect();
        if steps == 1 {
            step_tile(&rows, area, &mut tile);
        } else {
            let scratch = steps_in_scratch(&rows, &area, steps);
            step_tile(&scratch.chunks_exact(view.shape()[1]).collect::<Vec<_>>(), area, &mut tile);
        }
    }
    cuda include_str!("heat.cuh")
    cost Cost::Roofline { flops: diffuse_flops, bytes: cost::all_bytes }
}

/// All steps but the last. A step computes only the cells that the steps after it need; the others are stale.
fn steps_in_scratch(rows: &[&[f32]], tile: &Area, steps: u32) -> Vec<f32> {
    let shape = [rows.len(), rows[0].len()];
    let mut now = rows.concat();
    let mut next = now.clone();
    for margin in (1..steps).rev() {
        let [computed, cols] = grown(tile, margin, shape.map(|len| len as u32));
        let rows: Vec<&[f32]> = now.chunks_exact(shape[1]).collect();
        for i in computed {
            let row = &mut next[i as usize * shape[1]..][..shape[1]];
            step_row(&rows, i, &cols, &mut row[cols.start as usize..cols.end as usize]);
        }
        core::mem::swap(&mut now, &mut next);
    }
    now
}

/// One step of a tile.
fn step_tile(rows: &[&[f32]], [computed, cols]: Area, tile: &mut ViewMut<'_, f32, 2>) {
    for (at, i) in computed.enumerate() {
        step_row(rows, i, &cols, tile.row(&[at]));
    }
}

/// One step of the cells `cols` of row `i`. The outermost cells of a view stay as they are; a step computes them only
/// where they are the border of the grid.
fn step_row(rows: &[&[f32]], i: u32, cols: &Range<u32>, result: &mut [f32]) {
    let (i, start, end) = (i as usize, cols.start as usize, cols.end as usize);
    let row = rows[i];
    result.copy_from_slice(&row[start..end]);
    if i == 0 || i + 1 == rows.len() {
        return;
    }
    let inner = start.max(1)..end.min(row.len() - 1);
    let (above, below) = (&rows[i - 1][inner.clone()], &rows[i + 1][inner.clone()]);
    let (left, right) = (&row[inner.start - 1..inner.end - 1], &row[inner.start + 1..inner.end + 1]);
    for (j, cell) in result[inner.start - start..inner.end - start].iter_mut().enumerate() {
        *cell += RATE * ((above[j] + below[j]) + (left[j] + right[j]) - 4.0 * *cell);
    }
}

/// The area of this shape at a place.
fn area_at(start: [u32; 2], shape: [u32; 2]) -> Area {
    [0, 1].map(|axis| start[axis]..start[axis] + shape[axis])
}

/// An area grown by `margin` cells on all four sides, clipped to a grid of this shape.
fn grown(area: &Area, margin: u32, shape: [u32; 2]) -> Area {
    [0, 1].map(|axis| {
        area[axis].start.saturating_sub(margin)..area[axis].end.saturating_add(margin).min(shape[axis])
    })
}

/// The operations of DIFFUSE: each step computes one cell less on each side.
fn diffuse_flops(args: &Args<'_>) -> f64 {
    let shape =
        |index| args.tensor(index).map_or([0; 2], |view| [0, 1].map(|axis| view.len(axis).unwrap_or(0)));
    let [top, left, steps] = [0, 1, 2].map(|index| args.scalar::<u32>(index).unwrap_or(0));
    let tile = area_at([top, left], shape(1));
    let cells =
        |margin| grown(&tile, margin, shape(0)).iter().map(|range| range.len() as f64).product::<f64>();
    FLOPS_PER_CELL * (0..steps).map(cells).sum::<f64>()
}

struct Heat {
    n: u32,
    steps: u32,
    tile: u32,
    halo: u32,
    seed: u64,
    ids: Option<[BufferId; 2]>,
}

impl Heat {
    fn input(&self) -> Vec<f32> {
        Rng::new(self.seed).signed((self.n * self.n) as usize)
    }

    /// The buffer that the last sweep writes.
    fn result(&self) -> Result<BufferId> {
        made(&self.ids).map(|ids| ids[self.steps.div_ceil(self.halo) as usize % 2])
    }
}

impl Program for Heat {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let shape = [self.n, self.n];
        self.ids = Some([data.add(&shape, &self.input())?, data.add_zeroed(f32, &shape)?]);
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let [from, to] = made(&self.ids)?;
        let (mut from, mut to) = (o.external(from)?, o.external(to)?);
        let side = pieces(self.n, self.tile);
        for (_, steps) in pieces(self.steps, self.halo) {
            let tiles = side.clone().flat_map(|rows| side.clone().map(move |cols| (rows, cols)));
            in_scopes(o, tiles, TASKS_PER_SCOPE, |o, ((i, rows), (j, cols))| {
                let view = grown(&area_at([i, j], [rows, cols]), steps, [self.n; 2]);
                let [top, left] = [i - view[0].start, j - view[1].start];
                let read =
                    from.tile(&[i - top, j - left], &[view[0].len() as u32, view[1].len() as u32])?.read();
                let written = to.tile(&[i, j], &[rows, cols])?.write();
                o.submit(&DIFFUSE, [read, written, scalar(top), scalar(left), scalar(steps)]).map(drop)
            })?;
            core::mem::swap(&mut from, &mut to);
        }
        Ok(())
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let want = plain_heat(self.input(), self.n as usize, self.steps);
        let got = data.get::<f32>(self.result()?)?;
        let mut check = Check::new();
        got.iter().zip(&want).for_each(|(&got, &want)| check.value(got, want.into(), Tolerance::EXACT));
        Ok(check.finish())
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.result().into_iter().collect()
    }
}

/// A grid of `n` rows after some steps, each a double loop over all inner cells.
fn plain_heat(mut grid: Vec<f32>, n: usize, steps: u32) -> Vec<f32> {
    let mut next = grid.clone();
    for _ in 0..steps {
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                let at = i * n + j;
                let vertical = grid[at - n] + grid[at + n];
                let horizontal = grid[at - 1] + grid[at + 1];
                next[at] = grid[at] + RATE * (vertical + horizontal - 4.0 * grid[at]);
            }
        }
        core::mem::swap(&mut grid, &mut next);
    }
    grid
}

#[cfg(test)]
mod tests {
    use core::f64::consts::PI;

    use super::*;

    /// With a cold border, a product of sines keeps its shape and shrinks by a known factor in each step.
    #[test]
    fn the_plain_loop_decays_a_product_of_sines_as_theory_says() {
        let (n, steps) = (33, 40);
        let wave = |i: usize, waves: f64| (waves * PI * i as f64 / (n - 1) as f64).sin();
        for (down, across) in [(1.0, 1.0), (2.0, 3.0), (5.0, 1.0)] {
            let at = |cell: usize| wave(cell / n, down) * wave(cell % n, across);
            let grid = plain_heat((0..n * n).map(|cell| at(cell) as f32).collect(), n, steps);
            let loss = |waves: f64| 4.0 * (waves * PI / (2 * (n - 1)) as f64).sin().powi(2);
            let factor = (1.0 - f64::from(RATE) * (loss(down) + loss(across))).powi(steps as i32);
            let error = |(cell, &got): (usize, &f32)| (f64::from(got) - factor * at(cell)).abs();
            let worst = grid.iter().enumerate().map(error).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{down} × {across}: {worst}");
        }
    }

    #[test]
    fn an_area_grows_on_all_sides_and_not_over_the_border() {
        assert_eq!(grown(&area_at([4, 8], [2, 2]), 3, [10, 12]), [1..9, 5..12]);
        assert_eq!(grown(&area_at([0, 0], [10, 12]), 99, [10, 12]), [0..10, 0..12]);
    }
}
